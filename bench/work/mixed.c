/* SPDX-License-Identifier: MIT */
/*
 * mixed.c - many sizes at once, most of them small, in the manner of `shbench` (sh6bench, sh8bench).
 *
 * Blocks of one size after the other are made in bursts, the smaller the longer the burst; the newest are
 * freed at once in both orders, the rest stays until its place in a large ring comes round again. sh6 is one
 * thread; sh8 is four, and each burst goes through a place that all share, so others free it.
 */
#include "work.h"

#define RING  20000
#define BURST 24
#define SIZES 30

typedef struct stage {
    uint64_t rounds;
    void **exchange; /* shared slots, or NULL for one thread */
} stage;

#define EXCHANGE 512

static uint64_t burst_free(void **burst, unsigned n, bool newest_first)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < n; i++)
        sum += stamped_free(burst[newest_first ? n - 1 - i : i]);
    return sum;
}

static uint64_t place_put(void **place, void *block)
{
    void *old = __atomic_exchange_n(place, block, __ATOMIC_ACQ_REL);
    return old ? stamped_free(old) : 0;
}

static uint64_t mixed_main(unsigned number, void *shared)
{
    const stage *s = shared;
    void **ring = calloc(RING, sizeof *ring), *burst[BURST];
    size_t at = 0;
    uint64_t rng = rng_seed(number + 31), sum = 0;
    for (uint64_t r = 0; r < s->rounds; r++) {
        for (unsigned k = 0; k < SIZES; k++) {
            size_t size = 8 + k * k + (size_t)(rng_next(&rng) >> 61);
            unsigned n = BURST - k * 20 / SIZES, dropped = n / 2;
            for (unsigned i = 0; i < n; i++)
                burst[i] = stamped_alloc(size, r + i);
            sum += burst_free(burst, dropped, (r + k) & 1);
            for (unsigned i = dropped; i < n; i++, at = (at + 1) % RING)
                sum +=
                    place_put(s->exchange && (i & 1) ? &s->exchange[(at * 7 + number) % EXCHANGE] : &ring[at],
                              burst[i]);
        }
    }
    for (size_t i = 0; i < RING; i++)
        sum += ring[i] ? stamped_free(ring[i]) : 0;
    free(ring);
    return sum;
}

static work_result run_sh6(const work_args *a)
{
    stage s = {work_count(a, 36e3), NULL};
    uint64_t sum = mixed_main(0, &s);
    return (work_result){s.rounds * SIZES * 14, sum, 0};
}

static work_result run_sh8(const work_args *a)
{
    static void *exchange[EXCHANGE];
    unsigned n = a->threads ? a->threads : 4;
    stage s = {work_count(a, 40e3 / n), exchange};
    uint64_t sum = threads_run(n, mixed_main, &s);
    for (unsigned i = 0; i < EXCHANGE; i++)
        sum += place_put(&exchange[i], NULL);
    return (work_result){s.rounds * n * SIZES * 14, sum, 0};
}

const work work_table[] = {{"sh6bench", run_sh6}, {"sh8bench", run_sh8}, {NULL, NULL}};
