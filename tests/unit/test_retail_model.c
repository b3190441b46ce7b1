/* SPDX-License-Identifier: MIT */
/*
 * test_retail_model.c - the retail heap beside a plain writing of the same description: the same places,
 * bytes in use, break and rover after each of millions of random operations, refused ones included.
 */
#include "os.h"
#include "plain_heap.h"
#include "retail.h"
#include "seeded.h"

#include <criterion/criterion.h>

enum { SLOTS = 400, KINDS = 4 };

static plain_heap plain;
static rheap heap;
static uint32_t live[SLOTS];
static uint64_t random_state, seed;

static uint32_t below(uint32_t n)
{
    return seeded_below(&random_state, n);
}

static uint32_t pick_size(unsigned kind)
{
    switch (kind) {
    case 0:
        return below(600);
    case 1:
        return below(heap.usable / 8 + 2000);
    case 2:
        return (1u << below(13)) + below(3) - 1;
    default:
        return below(3) ? below(64) : below(12000);
    }
}

static void expect_same(unsigned step, uint32_t got, uint32_t want)
{
    bool same =
        got == want && heap.used == plain.used && heap.core == plain.core && heap.rover == plain.rover;
    cr_assert(same, "seed %llu, step %u: at %u used %u core %u rover %u, expected %u %u %u %u",
              (unsigned long long)seed, step, got, heap.used, heap.core, heap.rover, want, plain.used,
              plain.core, plain.rover);
}

static void step_realloc(unsigned step, uint32_t *slot, uint32_t size, uint32_t align)
{
    uint32_t at;
    bool kept;
    pool_status s = rheap_realloc(&heap, *slot, size, align, &at);
    uint32_t want = plain_realloc(&plain, *slot, size, align, &kept);
    cr_assert_eq(s == POOL_OK || s == POOL_ZERO, want || !kept);
    expect_same(step, at, want);
    *slot = want ? want : kept ? *slot : 0;
}

static void run_step(unsigned step, unsigned kind)
{
    uint32_t *slot = &live[below(SLOTS)], at;
    uint32_t size = pick_size(kind), align = below(2) ? 16 : 1u << below(11);
    if (below(200) == 0) {
        at = rheap_largest_probe(&heap);
        expect_same(step, at, plain_largest(&plain));
    } else if (!*slot) {
        rheap_alloc(&heap, size, align, &at);
        *slot = plain_alloc(&plain, size, align);
        expect_same(step, at, *slot);
    } else if (below(3) == 0) {
        step_realloc(step, slot, size, align);
    } else {
        cr_assert_eq(rheap_free(&heap, *slot), POOL_OK);
        plain_free(&plain, *slot);
        *slot = 0;
        expect_same(step, 0, 0);
    }
}

static void run_heap(unsigned steps, unsigned kind)
{
    size_t bytes = 3000 + below(490 * 1024);
    void *block = os_map(bytes);
    cr_assert_eq(rheap_init(&heap, block, bytes), POOL_OK);
    plain_init(&plain, heap.usable);
    for (int i = 0; i < SLOTS; i++)
        live[i] = 0;
    for (unsigned step = 0; step < steps; step++)
        run_step(step, kind);
    rheap_done(&heap);
    os_unmap(block, bytes);
}

Test(retail_model, every_address_agrees)
{
    random_state = seeded_first("retail beside the plain heap");
    for (unsigned i = 0; i < 400; i++) {
        seed = random_state;
        run_heap(10000, i % KINDS);
    }
}
