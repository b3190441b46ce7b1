/* SPDX-License-Identifier: MIT */
/*
 * server.c - a server whose threads come and go while the blocks they made live on, in the manner of
 * `larson`.
 *
 * Each chain holds an array of live blocks. A thread replaces blocks of it at random for a while, then starts
 * a successor that gets the whole array, and ends: so most blocks are freed by another thread than the one
 * that made them, and by then that one is gone. Variants: small blocks, and blocks of mixed sizes.
 */
#include "work.h"

#define CHAINS 4

typedef struct chain {
    void **block;
    size_t blocks, largest;
    uint64_t rng, sum, stamp;
    uint64_t steps;        /* replacements by one thread */
    unsigned left;         /* threads still to come */
    pthread_mutex_t *lock; /* guards finished */
    pthread_cond_t *signal;
    unsigned *finished;
} chain;

static void chain_step(chain *c)
{
    size_t k = rng_range(&c->rng, 0, c->blocks - 1);
    c->sum += stamped_free(c->block[k]);
    c->block[k] = stamped_alloc(rng_range(&c->rng, 8, c->largest), ++c->stamp);
}

static void *chain_main(void *arg)
{
    chain *c = arg;
    for (uint64_t i = 0; i < c->steps; i++)
        chain_step(c);
    if (c->left--) {
        pthread_detach(thread_start(chain_main, c));
        return NULL;
    }
    pthread_mutex_lock(c->lock);
    ++*c->finished;
    pthread_cond_signal(c->signal);
    pthread_mutex_unlock(c->lock);
    return NULL;
}

static void chains_wait(chain *any, unsigned n)
{
    pthread_mutex_lock(any->lock);
    while (*any->finished < n)
        pthread_cond_wait(any->signal, any->lock);
    pthread_mutex_unlock(any->lock);
}

static work_result serve(const work_args *a, size_t blocks, size_t largest, double steps)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static pthread_cond_t signal = PTHREAD_COND_INITIALIZER;
    static chain chains[64];
    unsigned finished = 0, n = a->threads ? a->threads : CHAINS, generations = 24;
    uint64_t each = work_count(a, steps / CHAINS / generations), sum = 0;
    for (unsigned t = 0; t < n; t++) {
        chain *c = &chains[t];
        *c = (chain){must_malloc(blocks * sizeof *c->block),
                     blocks,
                     largest,
                     rng_seed(t),
                     0,
                     0,
                     each,
                     generations - 1,
                     &lock,
                     &signal,
                     &finished};
        for (size_t i = 0; i < blocks; i++)
            c->block[i] = stamped_alloc(rng_range(&c->rng, 8, largest), i);
        pthread_detach(thread_start(chain_main, c));
    }
    chains_wait(chains, n);
    for (unsigned t = 0; t < n; t++) {
        for (size_t i = 0; i < blocks; i++)
            sum += stamped_free(chains[t].block[i]);
        free(chains[t].block);
        sum += chains[t].sum;
    }
    return (work_result){each * generations * n, sum, 0};
}

static work_result run_larson(const work_args *a)
{
    return serve(a, 1000, 500, 50e6);
}
static work_result run_mixed(const work_args *a)
{
    return serve(a, 5000, 4000, 8e6);
}

const work work_table[] = {{"larson", run_larson}, {"larson-mixed", run_mixed}, {NULL, NULL}};
