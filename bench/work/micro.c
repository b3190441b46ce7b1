/* SPDX-License-Identifier: MIT */
/*
 * micro.c - the smallest questions one can ask an allocator, one thread each.
 *
 * pair: one block out, one block back, at once. sizes: the same over many sizes, pair-small over small ones.
 * lifo, fifo: a window of blocks filled, then emptied from the top or from the bottom. random: one of a few
 * thousand blocks, chosen at random, is replaced by one of another size; `random-1000` does it over fewer,
 * `random-two` in two threads at once, each over its own, `wide` over a set larger than the caches. calloc:
 * zeroed blocks, as interpreters and parsers ask for them.
 */
#include "work.h"

#define WINDOW 1000
#define SLOTS  2048
#define WIDE   400000

static work_result run_pair(const work_args *a)
{
    uint64_t n = work_count(a, 80e6), sum = 0;
    for (uint64_t i = 0; i < n; i++) {
        void *p = stamped_alloc(48, i);
        keep(p);
        sum += stamped_free(p);
    }
    return (work_result){n, sum, 0};
}

static work_result run_sizes(const work_args *a)
{
    uint64_t n = work_count(a, 40e6), sum = 0, rng = rng_seed(1);
    for (uint64_t i = 0; i < n; i++) {
        void *p = stamped_alloc(8 + (rng_next(&rng) >> 54), i);
        keep(p);
        sum += stamped_free(p);
    }
    return (work_result){n, sum, 0};
}

static work_result run_pair_small(const work_args *a)
{
    uint64_t n = work_count(a, 60e6), sum = 0, rng = rng_seed(4);
    for (uint64_t i = 0; i < n; i++) {
        void *p = stamped_alloc(16 + (rng_next(&rng) >> 32) % 113, i);
        keep(p);
        sum += stamped_free(p);
    }
    return (work_result){n, sum, 0};
}

static work_result run_window(const work_args *a, bool lifo)
{
    static void *window[WINDOW];
    uint64_t rounds = work_count(a, 50e3), sum = 0;
    for (uint64_t r = 0; r < rounds; r++) {
        for (unsigned i = 0; i < WINDOW; i++)
            window[i] = stamped_alloc(64, r + i);
        for (unsigned i = 0; i < WINDOW; i++)
            sum += stamped_free(window[lifo ? WINDOW - 1 - i : i]);
    }
    return (work_result){rounds * WINDOW, sum, 0};
}

static work_result run_lifo(const work_args *a)
{
    return run_window(a, true);
}
static work_result run_fifo(const work_args *a)
{
    return run_window(a, false);
}

static work_result replace(uint64_t n, size_t slots, size_t largest, unsigned seed)
{
    void **slot = must_malloc(slots * sizeof *slot);
    uint64_t sum = 0, rng = rng_seed(seed);
    for (size_t i = 0; i < slots; i++)
        slot[i] = stamped_alloc(rng_range(&rng, 8, largest), i);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t r = rng_next(&rng);
        size_t k = (size_t)((r >> 40) % slots);
        sum += stamped_free(slot[k]);
        slot[k] = stamped_alloc(8 + (r & 0xffff) % (largest - 7), i);
    }
    for (size_t i = 0; i < slots; i++)
        sum += stamped_free(slot[i]);
    free(slot);
    return (work_result){n + slots, sum, 0};
}

static work_result run_random(const work_args *a)
{
    return replace(work_count(a, 60e6), SLOTS, 128, 2);
}
static work_result run_random_1000(const work_args *a)
{
    return replace(work_count(a, 60e6), 1000, 128, 2);
}

static uint64_t replace_in_thread(unsigned number, void *shared)
{
    return replace(*(uint64_t *)shared, 1000, 128, 2 + number).sum;
}
static work_result run_random_two(const work_args *a)
{
    uint64_t n = work_count(a, 60e6);
    return (work_result){n, threads_run(2, replace_in_thread, &n), 0};
}

static work_result run_wide(const work_args *a)
{
    return replace(work_count(a, 6e6), WIDE, 400, 2);
}

static work_result run_calloc(const work_args *a)
{
    enum { KEPT = 512 };
    static uint64_t *kept[KEPT];
    uint64_t n = work_count(a, 25e6), sum = 0, rng = rng_seed(3);
    for (uint64_t i = 0; i < n; i++) {
        size_t words = rng_range(&rng, 1, 40), k = i % KEPT;
        if (kept[k])
            sum += kept[k][0];
        free(kept[k]);
        kept[k] = calloc(words, sizeof **kept);
        if (!kept[k] || kept[k][0] || kept[k][words - 1])
            abort();
        kept[k][0] = i;
        kept[k][words - 1] = i;
    }
    for (unsigned k = 0; k < KEPT; k++)
        free(kept[k]);
    return (work_result){n, sum, 0};
}

const work work_table[] = {{"pair", run_pair},
                           {"pair-small", run_pair_small},
                           {"sizes", run_sizes},
                           {"lifo", run_lifo},
                           {"fifo", run_fifo},
                           {"random", run_random},
                           {"random-1000", run_random_1000},
                           {"random-two", run_random_two},
                           {"wide", run_wide},
                           {"calloc", run_calloc},
                           {NULL, NULL}};
