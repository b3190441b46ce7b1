/* SPDX-License-Identifier: MIT */
/* test_budget.c - MakeRoom on a retail Sector Pool: what is evicted, what is held, and when it gives up. */
#include "budget.h"
#include "os.h"

#include <criterion/criterion.h>

enum { THINGS = 16, SECTOR = 17217536 };

static struct thing {
    void *block;
    bool held;
} things[THINGS]; /* the oldest first */
static retail_pool sector;
static budget b;
static void *memory;

static bool evict(void *arg)
{
    for (int i = 0; i < THINGS; i++) {
        if (things[i].block && !things[i].held) {
            pool_free(&sector.base, things[i].block);
            things[i].block = NULL;
            return true;
        }
    }
    return false;
}

static void set_up(void)
{
    memory = os_map(SECTOR);
    cr_assert_eq(retail_init_in_place(&sector, NULL, memory, SECTOR, "Sector"), POOL_OK);
    budget_init(&b, &sector.base, evict, NULL);
    for (int i = 0; i < THINGS; i++)
        things[i].block = pool_get(&sector.base, 1 << 20, 128);
}

TestSuite(budget, .init = set_up);

Test(budget, the_oldest_unheld_go_until_there_is_room)
{
    things[0].held = true; /* 16 MB are taken, 236,544 bytes are left */
    cr_assert_eq(budget_make_room(&b, 200000), POOL_OK);
    cr_assert_eq(b.evictions, 0);
    cr_assert_eq(budget_make_room(&b, 3 << 20), POOL_OK);
    cr_assert_eq(b.evictions, 3);
    cr_assert_not_null(things[0].block);
    cr_assert_null(things[1].block);
    cr_assert_null(things[3].block);
    cr_assert_not_null(things[4].block);
    cr_assert_eq(pool_largest_free(&sector.base), 3 << 20);
}

Test(budget, counters_say_yes_where_the_largest_block_says_no)
{
    static const unsigned evictions[BUDGET_POLICIES] = {1, 1, 0, 0};
    for (unsigned policy = 0; policy < BUDGET_POLICIES; policy++) {
        set_up();
        b.policy = (budget_policy)policy;
        for (int i = 0; i < THINGS; i++) { /* holes of 1 MB between things that are held */
            things[i].held = i % 2 == 0 && i != 14;
            if (i % 2)
                pool_free(&sector.base, things[i].block);
            if (i % 2)
                things[i].block = NULL;
        }
        cr_assert_eq(budget_make_room(&b, 2 << 20), POOL_OK);
        cr_assert_eq(b.evictions, evictions[policy]);
        cr_assert_eq(b.refused_first, evictions[policy]);
    }
}

Test(budget, alloc_evicts_on_when_a_counter_was_too_hopeful)
{
    void *p;
    b.policy = BUDGET_FREE_BYTES;
    cr_assert_eq(budget_alloc(&b, &(pool_request){.size = 3 << 20, .align = 128}, &p), POOL_OK);
    cr_assert_not_null(p);
    cr_assert_eq(b.evictions, 3);
}

Test(budget, gives_up_when_everything_is_held)
{
    void *p;
    for (int i = 0; i < THINGS; i++)
        things[i].held = true;
    cr_assert_eq(budget_make_room(&b, 1 << 20), POOL_NOMEM);
    cr_assert_eq(budget_alloc(&b, &(pool_request){.size = 1 << 20}, &p), POOL_NOMEM);
    cr_assert_null(p);
    cr_assert_eq(b.failures, 2);
    cr_assert_eq(b.evictions, 0);
    b.evict_oldest_unheld = NULL;
    cr_assert_eq(budget_make_room(&b, 1 << 20), POOL_NOMEM);
}

Test(budget, bytes_held_back_are_kept_free)
{
    b.hold_back = 200000;
    cr_assert_eq(budget_make_room(&b, 36544), POOL_OK);
    cr_assert_eq(b.evictions, 0);
    cr_assert_eq(budget_make_room(&b, 36545), POOL_OK);
    cr_assert_eq(b.evictions, 1);
}

Test(budget, intro_movie_shrinks_the_budget_while_the_level_loads)
{
    size_t before = pool_free_bytes(&sector.base);
    cr_assert_eq(budget_hold_intro(&b), POOL_OK);
    cr_assert_eq(budget_hold_intro(&b), POOL_EXISTS);
    cr_assert_eq(b.evictions, 4);
    cr_assert_eq(pool_size(&sector.base, b.intro), 3125 * 1024);
    budget_release_intro(&b);
    cr_assert_eq(pool_free_bytes(&sector.base), before + 4 * (1 << 20));
    budget_release_intro(&b);
}

Test(budget, sizes_of_clumps_and_parts)
{
    cr_assert_eq(budget_global_size(635488), 641842);
    cr_assert_eq(budget_level_size(100), 262144);
    cr_assert_eq(budget_level_size(1000000), 1030000);
    cr_assert_eq(budget_level_size(4000000000), 4120000000, "no wrap");
    budget_part part = {.heap_size = 900000};
    budget_part_loaded(&part, 640000);
    cr_assert_eq(part.heap_size, 640000);
    budget_part_loaded(&part, 500000);
    cr_assert_eq(part.heap_size, 640000, "only the first load measures");
}
