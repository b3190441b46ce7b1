/* SPDX-License-Identifier: MIT */
/*
 * churn.c - threads that free each other's blocks at random, in the manner of `mstress` and `rptest`.
 *
 * mstress: each thread keeps some of what it makes, drops the rest soon, and now and then exchanges a block
 * with a shared table; a few blocks are large; several teams of threads follow each other. rptest: each
 * thread keeps a set of blocks with a wide spread of sizes and after each round passes the whole set to the
 * next thread, which frees a part of it.
 */
#include "work.h"

#include <string.h>

#define SHARED  1000
#define THREADS 4
#define ROUNDS  10

static void *shared_slot[SHARED];

/* Mostly small, seldom large: each further doubling is half as likely. */
static size_t size_pick(uint64_t *rng)
{
    uint64_t r = rng_next(rng);
    unsigned doublings = (unsigned)__builtin_ctzll(r | 1u << 11);
    return (size_t)8 << doublings | (r >> 40 & (((size_t)8 << doublings) - 1) & ~7ul);
}

typedef struct kept {
    void **block;
    size_t n, room;
} kept;

static void kept_push(kept *k, void *block)
{
    if (k->n == k->room) {
        k->room = k->room ? k->room * 2 : 64;
        k->block = must_realloc(k->block, k->room * sizeof *k->block);
    }
    k->block[k->n++] = block;
}

static uint64_t slot_exchange(uint64_t *rng, void **mine)
{
    size_t i = rng_range(rng, 0, SHARED - 1);
    *mine = __atomic_exchange_n(&shared_slot[i], *mine, __ATOMIC_ACQ_REL);
    return 0;
}

static uint64_t free_if(void *p)
{
    return p ? stamped_free(p) : 0;
}

static uint64_t stress_main(unsigned number, void *shared)
{
    uint64_t steps = *(uint64_t *)shared, rng = rng_seed(number), sum = 0;
    kept data = {0}, retained = {0};
    for (uint64_t i = 0; i < steps; i++) {
        uint64_t r = rng_next(&rng) >> 33;
        if (r % 100 < 50) {
            kept_push(&data, stamped_alloc(size_pick(&rng), i));
        } else if (r % 100 < 60) {
            kept_push(&retained, stamped_alloc(size_pick(&rng), i));
        } else if (data.n) {
            size_t at = rng_range(&rng, 0, data.n - 1);
            if (r % 100 >= 90)
                slot_exchange(&rng, &data.block[at]);
            else {
                sum += free_if(data.block[at]);
                data.block[at] = data.block[--data.n];
            }
        }
    }
    for (size_t i = 0; i < data.n; i++)
        sum += free_if(data.block[i]);
    for (size_t i = 0; i < retained.n; i++)
        sum += free_if(retained.block[i]);
    free(data.block);
    free(retained.block);
    return sum;
}

static work_result run_mstress(const work_args *a)
{
    unsigned n = a->threads ? a->threads : THREADS;
    uint64_t steps = work_count(a, 12e6 / ROUNDS / THREADS), sum = 0;
    for (unsigned round = 0; round < ROUNDS; round++)
        sum += threads_run(n, stress_main, &steps);
    for (size_t i = 0; i < SHARED; i++) {
        sum += free_if(shared_slot[i]);
        shared_slot[i] = NULL;
    }
    return (work_result){steps * ROUNDS * n, sum, 0};
}

#define SET 3000

typedef struct relay {
    unsigned threads;
    uint64_t rounds;
    size_t largest;
    pthread_barrier_t barrier;
    void *set[64][SET];
} relay;

static uint64_t relay_main(unsigned number, void *shared)
{
    relay *r = shared;
    uint64_t rng = rng_seed(number + 99), sum = 0;
    for (uint64_t round = 0; round < r->rounds; round++) {
        void **set = r->set[(number + round) % r->threads];
        for (unsigned pass = 0; pass < 4; pass++)
            for (size_t i = rng_range(&rng, 0, 3); i < SET; i += rng_range(&rng, 1, 4)) {
                sum += free_if(set[i]);
                set[i] = stamped_alloc(rng_range(&rng, 16, r->largest), i + pass);
            }
        pthread_barrier_wait(&r->barrier);
    }
    return sum;
}

static work_result relay_run(const work_args *a, size_t largest, double rounds)
{
    static relay r;
    uint64_t sum;
    memset(&r, 0, sizeof r);
    r.threads = a->threads ? a->threads : THREADS;
    r.largest = largest;
    r.rounds = work_count(a, rounds / r.threads);
    pthread_barrier_init(&r.barrier, NULL, r.threads);
    sum = threads_run(r.threads, relay_main, &r);
    for (unsigned t = 0; t < r.threads; t++)
        for (size_t i = 0; i < SET; i++)
            sum += free_if(r.set[t][i]);
    pthread_barrier_destroy(&r.barrier);
    return (work_result){r.rounds * r.threads * SET * 8 / 5, sum, 0};
}

static work_result run_rptest(const work_args *a)
{
    return relay_run(a, 8000, 800);
}
static work_result run_rptest_small(const work_args *a)
{
    return relay_run(a, 500, 7200);
}

const work work_table[] = {
    {"mstress", run_mstress}, {"rptest", run_rptest}, {"rptest-small", run_rptest_small}, {NULL, NULL}};
