/* SPDX-License-Identifier: MIT */
/* test_clump.c - the bump allocator: figures, the count-frees option, misuse, and what the original lacks. */
#include "clump.h"
#include "retail.h"
#include "os.h"
#include "seeded.h"

#include <criterion/criterion.h>

static char block[1 << 16] __attribute__((aligned(4096)));

static void *get(clump *c, size_t size, size_t align)
{
    return pool_get(&c->base, size, align);
}

static long at(const clump *c, const void *p)
{
    return p ? (const char *)p - c->block : -1;
}

Test(clump, offsets_are_aligned_and_sizes_are_not_rounded)
{
    clump c;
    cr_assert_eq(clump_init_in_place(&c, NULL, block, 4096, "c"), POOL_OK);
    cr_assert_eq(at(&c, get(&c, 10, 1)), 0);
    cr_assert_eq(at(&c, get(&c, 4, 16)), 16);
    cr_assert_eq(at(&c, get(&c, 100, 128)), 128);
    cr_assert_eq(at(&c, get(&c, 1, 8)), 232);
    cr_assert_eq(at(&c, get(&c, 3000, 16)), 240);
    cr_assert_eq(c.used, 3240);
    cr_assert_null(get(&c, 5000, 4), "the original hands out memory past the end");
    cr_assert_null(get(&c, SIZE_LIMIT, 1));
    cr_assert_eq(c.used, 3240);
    cr_assert_eq(pool_free_bytes(&c.base), 856);
    cr_assert_eq(pool_largest_free(&c.base), 0);
    cr_assert_eq(c.live, 5);
    cr_assert(pool_check(&c.base));
    cr_assert_eq(pool_destroy(&c.base), POOL_OK);
}

Test(clump, frees_count_only_when_asked_to)
{
    clump c;
    void *p[3];
    clump_init_in_place(&c, NULL, block, 4096, "c");
    for (int i = 0; i < 3; i++)
        p[i] = get(&c, 100, 16);
    cr_assert_eq(pool_free(&c.base, p[0]), POOL_OK);
    cr_assert_eq(c.live, 3, "not counted");
    cr_assert_not(pool_check_empty(&c.base));
    cr_assert_eq(pool_set_option(&c.base, POOL_OPTION_COUNT_FREES, 1), POOL_OK);
    cr_assert_eq(pool_free(&c.base, p[0]), POOL_DOUBLE_FREE);
    cr_assert_eq(pool_free(&c.base, p[1]), POOL_OK);
    cr_assert_eq(pool_free(&c.base, p[2]), POOL_OK);
    cr_assert_eq(c.live, 1, "the free before the option is lost, as in the original");
    cr_assert_eq(c.used, 324);
    pool_destroy(&c.base);
    clump_init_in_place(&c, NULL, block, 4096, "c");
    pool_set_option(&c.base, POOL_OPTION_COUNT_FREES, 1);
    p[0] = get(&c, 100, 16);
    p[1] = get(&c, 100, 16);
    pool_free(&c.base, p[1]);
    pool_free(&c.base, p[0]);
    cr_assert_eq(c.used, 0);
    cr_assert(pool_check_empty(&c.base));
    cr_assert_eq(pool_free(&c.base, p[0]), POOL_INVALID, "live stays at 0");
    cr_assert_eq(at(&c, get(&c, 8, 8)), 0);
    pool_destroy(&c.base);
}

Test(clump, misuse_is_told)
{
    clump c;
    clump_init_in_place(&c, NULL, block, 4096, "c");
    char *p = get(&c, 100, 16);
    void *out;
    cr_assert_eq(pool_free(&c.base, p + 16), POOL_INVALID);
    cr_assert_eq(pool_free(&c.base, block + 8192), POOL_FOREIGN);
    cr_assert_eq(pool_resize(&c.base, p, &(pool_request){.size = 200}, &out), POOL_UNSUPPORTED);
    cr_assert_null(out);
    cr_assert_eq(pool_size(&c.base, p), 100);
    size_t own = (uintptr_t)block & -(uintptr_t)block; /* the loader may place it at any page */
    cr_assert_eq(pool_alloc(&c.base, &(pool_request){.size = 1, .align = 2 * own}, &out), POOL_ALIGN,
                 "more than the block itself has");
    cr_assert_eq(pool_report_leaks(&c.base), 1);
    pool_destroy(&c.base);
}

Test(clump, block_comes_from_the_parent_and_goes_back)
{
    retail_pool parent;
    clump c;
    cr_assert_eq(retail_init_in_place(&parent, NULL, block, sizeof block, "parent"), POOL_OK);
    cr_assert_eq(clump_init_in_parent(&c, &parent.base, 10001, "c"), POOL_OK);
    cr_assert_eq(c.size, 10001, "the size is not rounded");
    cr_assert_eq(parent.heap.used, 10 * 1024);
    cr_assert_eq((uintptr_t)c.block % 128, 0);
    cr_assert(pool_contains(&parent.base, c.block));
    cr_assert_eq(clump_from_pool(&c.base), &c);
    cr_assert_null(clump_from_pool(&parent.base));
    pool_set_option(&c.base, POOL_OPTION_COUNT_FREES, 1);
    pool_set_option(&c.base, POOL_OPTION_STRICT, 1);
    void *p = get(&c, 1, 1);
    cr_assert_eq(pool_destroy(&c.base), POOL_BUSY);
    pool_free(&c.base, p);
    cr_assert_eq(pool_destroy(&c.base), POOL_OK);
    cr_assert_eq(parent.heap.used, 0);
    cr_assert_eq(clump_init_in_parent(&c, &parent.base, sizeof block, "c"), POOL_NOMEM);
    cr_assert_eq(clump_init_in_parent(&c, &parent.base, (size_t)1 << 31, "c"), POOL_OVERFLOW);
    pool_destroy(&parent.base);
}

Test(clump, random_sequences_stay_sound)
{
    uint64_t random = seeded_first("clump");
    for (int round = 0; round < 200; round++) {
        clump c;
        void *live[64];
        int n = 0;
        clump_init_in_place(&c, NULL, block, 1 + seeded_below(&random, sizeof block), "c");
        pool_set_option(&c.base, POOL_OPTION_COUNT_FREES, 1);
        for (int i = 0; i < 2000; i++) {
            void *p = n < 64 ? get(&c, seeded_below(&random, 900), 1u << seeded_below(&random, 8)) : NULL;
            if (p)
                live[n++] = p;
            else if (n)
                cr_assert_eq(pool_free(&c.base, live[--n]), POOL_OK);
            cr_assert_eq(c.live, (uint32_t)n);
            cr_assert(pool_check(&c.base));
        }
        while (n)
            cr_assert_eq(pool_free(&c.base, live[--n]), POOL_OK);
        cr_assert_eq(c.used, 0);
        cr_assert_eq(c.base.counts.live_bytes, 0);
        pool_destroy(&c.base);
    }
}

static bool refuse(void)
{
    return false;
}

Test(clump, no_memory_for_extents_changes_nothing)
{
    clump c;
    clump_init_in_place(&c, NULL, block, 4096, "c");
    os_fault_hook = refuse;
    cr_assert_null(get(&c, 10, 1));
    os_fault_hook = NULL;
    cr_assert_eq(c.used + c.live, 0);
    cr_assert_eq(at(&c, get(&c, 10, 1)), 0);
    pool_destroy(&c.base);
}
