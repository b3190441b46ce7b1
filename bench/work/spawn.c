/* SPDX-License-Identifier: MIT */
/*
 * spawn.c - many short threads: what does the first allocation of a thread cost, and what stays behind when
 * it ends?
 *
 * A few threads live at a time. Each makes some hundred blocks of mixed sizes, frees most and leaves the
 * rest to the main thread, which frees them when the thread is gone.
 */
#include "work.h"

#define AT_ONCE 4
#define BLOCKS  160
#define LEFT    16

typedef struct visitor {
    uint64_t number, sum;
    void *left[LEFT];
} visitor;

static void *visitor_main(void *arg)
{
    visitor *v = arg;
    void *block[BLOCKS];
    uint64_t rng = rng_seed(v->number);
    for (unsigned i = 0; i < BLOCKS; i++)
        block[i] = stamped_alloc(rng_range(&rng, 8, 600), v->number + i);
    for (unsigned i = 0; i < LEFT; i++)
        v->left[i] = block[i * 10];
    for (unsigned i = 0; i < BLOCKS; i++)
        if (i % 10)
            v->sum += stamped_free(block[i]);
    return NULL;
}

static work_result run_spawn(const work_args *a)
{
    uint64_t rounds = work_count(a, 5000) / AT_ONCE + 1, sum = 0;
    for (uint64_t r = 0; r < rounds; r++) {
        visitor v[AT_ONCE];
        pthread_t thread[AT_ONCE];
        for (unsigned t = 0; t < AT_ONCE; t++) {
            v[t] = (visitor){.number = r * AT_ONCE + t};
            thread[t] = thread_start(visitor_main, &v[t]);
        }
        for (unsigned t = 0; t < AT_ONCE; t++) {
            pthread_join(thread[t], NULL);
            for (unsigned i = 0; i < LEFT; i++)
                sum += stamped_free(v[t].left[i]);
            sum += v[t].sum;
        }
    }
    return (work_result){rounds * AT_ONCE, sum, 0};
}

const work work_table[] = {{"threads", run_spawn}, {NULL, NULL}};
