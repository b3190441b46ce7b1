/* SPDX-License-Identifier: MIT */
/*
 * sharing.c - does the allocator put blocks of two threads on one cache line? In the manner of
 * `cache-thrash` (blocks each thread makes itself) and `cache-scratch` (blocks one thread made and handed
 * out, which the others free before they make their own).
 *
 * Writing to a private line costs next to nothing; a shared one bounces between the cores, and the run is
 * several times as long.
 */
#include "work.h"

#define OBJECT 8
#define WRITES 1000

typedef struct team {
    uint64_t rounds;
    void **given; /* a block for each thread, or NULL */
} team;

static uint64_t block_scribble(volatile char *p)
{
    for (unsigned i = 0; i < WRITES; i++)
        for (unsigned k = 0; k < OBJECT; k++)
            p[k] = (char)(p[k] + 1);
    return (uint64_t)(unsigned char)p[OBJECT - 1];
}

static uint64_t sharing_main(unsigned number, void *shared)
{
    const team *t = shared;
    uint64_t sum = 0;
    if (t->given)
        free(t->given[number]);
    for (uint64_t i = 0; i < t->rounds; i++) {
        char *p = must_malloc(OBJECT);
        for (unsigned k = 0; k < OBJECT; k++)
            p[k] = (char)i;
        sum += block_scribble(p);
        free(p);
    }
    return sum;
}

static work_result sharing(const work_args *a, bool given)
{
    void *block[64];
    unsigned n = a->threads ? a->threads : 2;
    team t = {work_count(a, 80e3 / n), given ? block : NULL};
    for (unsigned i = 0; i < n && given; i++)
        block[i] = must_malloc(OBJECT);
    uint64_t sum = threads_run(n, sharing_main, &t);
    return (work_result){t.rounds * n, sum, 0};
}

static work_result run_thrash(const work_args *a)
{
    return sharing(a, false);
}
static work_result run_scratch(const work_args *a)
{
    return sharing(a, true);
}

const work work_table[] = {{"cache-thrash", run_thrash}, {"cache-scratch", run_scratch}, {NULL, NULL}};
