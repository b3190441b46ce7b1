/* SPDX-License-Identifier: MIT */
/* test_retail_pool.c - the pool kind `retail`: the interface over the heap, and pools shared by threads. */
#include "clump.h"
#include "retail.h"
#include "said.h"
#include "seeded.h"
#include "tracker.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <string.h>

enum { BYTES = 1 << 20 };

static char memory[BYTES] __attribute__((aligned(4096)));
static retail_pool p;

static void set_up(void)
{
    said_start();
    cr_assert_eq(retail_init_in_place(&p, NULL, memory, BYTES, "pool"), POOL_OK);
}

TestSuite(retail_pool, .init = set_up);

static void *get(size_t size)
{
    return pool_get(&p.base, size, 16);
}

Test(retail_pool, figures_are_the_heaps)
{
    pool_stats stats;
    void *block = get(1000);
    get(100);
    pool_get_stats(&p.base, &stats);
    cr_assert_eq(stats.live_bytes, 1024 + 128);
    cr_assert_eq(stats.live_blocks, 2);
    cr_assert_eq(stats.allocs, 2);
    cr_assert_eq(stats.alloc_bytes, 1100);
    cr_assert_eq(stats.committed_bytes, BYTES);
    cr_assert_eq(stats.free_bytes, BYTES - 1024 - 1024 - 128);
    cr_assert_eq(stats.largest_free_bytes, rheap_largest_run(&p.heap));
    cr_assert_eq(retail_true_free(&p), stats.free_bytes - rheap_table_blocks(&p.heap) * 1024);
    cr_assert_eq(stats.unusable_bytes, stats.free_bytes - retail_true_free(&p));
    pool_free(&p.base, block);
    pool_get_stats(&p.base, &stats);
    cr_assert_eq(stats.live_bytes, 128);
    cr_assert_eq(stats.peak_bytes, 1024 + 128);
    cr_assert_eq(stats.frees, 1);
    cr_assert_not(pool_check_empty(&p.base), "never, as the original's");
}

Test(retail_pool, counts_do_not_drift_over_reallocations)
{
    void *block = get(10), *moved;
    for (unsigned size = 1; size < 5000; size += 37, block = moved)
        cr_assert_eq(pool_resize(&p.base, block, &(pool_request){.size = size}, &moved), POOL_OK);
    cr_assert_eq(p.base.counts.live_blocks, 1);
    cr_assert_eq(p.base.counts.live_bytes, p.heap.used);
    cr_assert_eq(pool_free(&p.base, block), POOL_OK);
    cr_assert_eq(p.base.counts.live_blocks + p.base.counts.live_bytes, 0);
}

Test(retail_pool, default_alignment_is_16)
{
    for (int i = 0; i < 20; i++)
        cr_assert_eq((uintptr_t)pool_get(&p.base, 1, 0) % 16, 0);
    void *out;
    cr_assert_eq(pool_alloc(&p.base, &(pool_request){.size = 1, .align = 2048}, &out), POOL_ALIGN);
}

Test(retail_pool, pointers_of_others_are_refused)
{
    void *out;
    get(100);
    cr_assert_eq(pool_free(&p.base, said_all), POOL_FOREIGN);
    cr_assert_eq(pool_free(&p.base, memory), POOL_INVALID, "the descriptor");
    cr_assert_eq(pool_free(&p.base, memory + 1024), POOL_INVALID, "the table");
    cr_assert_eq(pool_resize(&p.base, said_all, &(pool_request){.size = 1}, &out), POOL_FOREIGN);
    cr_assert_eq(pool_resize(&p.base, memory + 8, &(pool_request){.size = 1}, &out), POOL_INVALID);
    cr_assert_eq(pool_size(&p.base, said_all), 0);
    char text[128];
    pool_describe(&p.base, said_all, text, sizeof text);
    cr_assert_not_null(strstr(text, "not the start of a live block"));
}

static unsigned told;

static void no_memory(pool *of, const pool_request *r, void *arg)
{
    cr_assert_eq(of, &p.base);
    told += arg == &told;
}

Test(retail_pool, no_memory_calls_the_handler)
{
    void *out, *block = get(100);
    p.on_no_memory = no_memory;
    p.on_no_memory_arg = &told;
    cr_assert_eq(pool_alloc(&p.base, &(pool_request){.size = BYTES}, &out), POOL_NOMEM);
    cr_assert_eq(pool_alloc(&p.base, &(pool_request){.size = (size_t)1 << 40}, &out), POOL_NOMEM);
    cr_assert_eq(pool_resize(&p.base, block, &(pool_request){.size = UINT32_MAX}, &out), POOL_NOMEM);
    cr_assert_null(out);
    cr_assert_eq(told, 3);
    cr_assert_null(pool_get(&p.base, 0, 16));
    cr_assert_eq(told, 3, "size 0 is no fault");
}

Test(retail_pool, nests_in_its_parent_and_gives_the_block_back)
{
    retail_pool inner;
    uint32_t used = p.heap.used;
    cr_assert_eq(retail_init_in_parent(&inner, &p.base, BYTES, "inner"), POOL_NOMEM);
    cr_assert_eq(retail_init_in_parent(&inner, &p.base, 100000, "inner"), POOL_OK);
    cr_assert(pool_contains(&p.base, inner.block));
    cr_assert_eq(retail_from_pool(&inner.base), &inner);
    void *block = pool_get(&inner.base, 100, 16);
    cr_assert_eq(pool_report_leaks(&inner.base), 1);
    cr_assert_not_null(strstr(said_all, "128 bytes"));
    pool_set_option(&inner.base, POOL_OPTION_STRICT, 1);
    cr_assert_eq(pool_destroy(&inner.base), POOL_BUSY);
    pool_free(&inner.base, block);
    cr_assert_eq(pool_destroy(&inner.base), POOL_OK);
    cr_assert_eq(p.heap.used, used);
    cr_assert_eq(pool_set_option(&p.base, POOL_OPTION_COUNT_FREES, 1), POOL_OK, "taken and ignored");
    cr_assert_eq(pool_set_option(&p.base, 99, 1), POOL_UNSUPPORTED);
}

/* --- threads --------------------------------------------------------------------------------------- */

enum { THREADS = 4, STEPS = 20000 };

struct worker {
    pthread_t thread;
    pool *pool;
    uint64_t random;
};

static void *work(void *arg)
{
    struct worker *w = arg;
    char *held[32] = {0};
    for (int i = 0; i < STEPS; i++) {
        char **slot = &held[seeded_below(&w->random, 32)];
        uint32_t size = 1 + seeded_below(&w->random, 700);
        void *moved;
        if (seeded_below(&w->random, 4) == 0) {
            if (pool_resize(w->pool, *slot, &(pool_request){.size = size, .tag = "t"}, &moved) == POOL_OK)
                *slot = moved;
        } else if (*slot) {
            pool_free(w->pool, *slot);
            *slot = NULL;
        } else {
            *slot = pool_get(w->pool, size, 16);
        }
        if (*slot)
            memset(*slot, (int)i, 1);
    }
    for (int i = 0; i < 32; i++)
        pool_free(w->pool, held[i]);
    return NULL;
}

static void run_threads(pool *shared)
{
    struct worker workers[THREADS];
    uint64_t seed = seeded_first("retail threads");
    shared->flags |= POOL_SHARED;
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.pool = shared, .random = seed + (uint64_t)i};
        cr_assert_eq(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(workers[i].thread, NULL);
}

Test(retail_pool, threads_share_one_heap)
{
    run_threads(&p.base);
    cr_assert(pool_check(&p.base));
    cr_assert_eq(p.heap.used, 0);
    cr_assert_eq(p.base.counts.live_blocks, 0);
}

Test(retail_pool, threads_share_one_tracker)
{
    static tracker t;
    p.base.flags |= POOL_SHARED;
    tracker_init(&t, &p.base, "tracked");
    run_threads(&t.filter.base);
    cr_assert(pool_check(&t.filter.base));
    cr_assert_eq(t.live, 0);
    cr_assert_eq(p.heap.used, 0);
}

Test(retail_pool, threads_share_one_clump)
{
    static clump c;
    cr_assert_eq(clump_init_in_parent(&c, &p.base, 900000, "c"), POOL_OK);
    pool_set_option(&c.base, POOL_OPTION_COUNT_FREES, 1);
    run_threads(&c.base);
    cr_assert(pool_check(&c.base));
}
