/* SPDX-License-Identifier: MIT */
/* test_registry.c - the pool tree: containment, names, lookups, limits; random trees against a plain model.
 */
#include "registry.h"
#include "seeded.h"

#include <criterion/criterion.h>
#include <string.h>

static const pool_ops no_ops;
static registry r;

static pool *make_pool(pool *p, const char *name, pool *parent, uintptr_t first, uintptr_t last)
{
    pool_init(p, &no_ops, POOL_RETAIL, name, parent);
    p->first = first;
    p->last = last;
    return p;
}

static const pool *parent_of(const pool *p)
{
    const registry_record *record = registry_record_of(&r, p);
    return record && record->parent ? record->parent->pool : NULL;
}

Test(registry, names_follow_the_originals_rule)
{
    static const char *const pairs[][2] = {{"Level Dynamic & LUA Pool", "Level-Dynamic-&"},
                                           {"World Level Pool", "World-Level-Poo"},
                                           {"Sector Pool 2", "Sector-Pool-2"},
                                           {"a_b c", "a-b-c"},
                                           {"", ""}};
    char got[POOL_NAME_MAX + 1];
    registry_init(&r, 8, REGISTRY_RETAIL_NAMES);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        registry_normalise(&r, pairs[i][0], got);
        cr_assert_str_eq(got, pairs[i][1]);
    }
    r.options = 0;
    registry_normalise(&r, "a_b c", got);
    cr_assert_str_eq(got, "a_b c");
    registry_done(&r);
}

Test(registry, names_cut_to_the_same_15_characters_give_the_first_in_the_tree)
{
    pool low, high;
    registry_init(&r, 8, REGISTRY_RETAIL_NAMES);
    registry_add(&r, make_pool(&high, "h", NULL, 3000, 3999), "World Level Pool 2");
    registry_add(&r, make_pool(&low, "l", NULL, 1000, 1999), "World Level Pool 1");
    cr_assert_eq(registry_find_name(&r, "World Level Pool 2"), &low);
    registry_done(&r);
}

Test(registry, late_parent_adopts_and_removed_one_hands_on)
{
    pool outer, middle, low, high;
    registry_init(&r, 8, 0);
    registry_add(&r, make_pool(&high, "high", NULL, 3000, 3999), "high");
    registry_add(&r, make_pool(&low, "low", NULL, 1000, 1999), "low");
    registry_add(&r, make_pool(&outer, "outer", NULL, 1, 9999), "outer");
    cr_assert_eq(parent_of(&low), &outer);
    registry_add(&r, make_pool(&middle, "middle", NULL, 900, 2999), "middle");
    cr_assert_eq(parent_of(&low), &middle);
    cr_assert_eq(parent_of(&middle), &outer);
    cr_assert_eq(parent_of(&high), &outer);
    cr_assert_eq(registry_record_of(&r, &middle)->above->pool, &high);
    cr_assert_eq(registry_record_of(&r, &high)->below->pool, &middle);
    cr_assert_null(registry_check(&r));
    cr_assert_eq(registry_remove(&r, &middle), POOL_OK);
    cr_assert_eq(parent_of(&low), &outer);
    cr_assert_eq(registry_remove(&r, &middle), POOL_NOT_FOUND);
    cr_assert_null(registry_check(&r));
    registry_done(&r);
}

Test(registry, child_may_start_or_end_with_its_parent)
{
    pool outer, low, high;
    for (int order = 0; order < 2; order++) {
        registry_init(&r, 8, 0);
        make_pool(&outer, "o", NULL, 1000, 9999);
        make_pool(&low, "l", NULL, 1000, 1999);
        make_pool(&high, "h", NULL, 9000, 9999);
        registry_add(&r, order ? &low : &outer, "1");
        registry_add(&r, order ? &outer : &low, "2");
        registry_add(&r, &high, "3");
        cr_assert_eq(parent_of(&low), &outer);
        cr_assert_eq(parent_of(&high), &outer);
        cr_assert_eq(registry_find_address(&r, 1000), &low);
        cr_assert_eq(registry_find_address(&r, 2000), &outer);
        cr_assert_null(registry_check(&r));
        registry_done(&r);
    }
}

Test(registry, lookups_give_the_deepest)
{
    pool outer, inner, wrapper;
    registry_init(&r, 8, REGISTRY_RETAIL_NAMES);
    registry_add(&r, make_pool(&outer, "o", NULL, 1000, 9999), "Outer Pool");
    registry_add(&r, make_pool(&inner, "i", NULL, 2000, 2999), "Inner_Pool");
    cr_assert_eq(registry_find_address(&r, 1000), &outer);
    cr_assert_eq(registry_find_address(&r, 2000), &inner);
    cr_assert_eq(registry_find_address(&r, 2999), &inner);
    cr_assert_eq(registry_find_address(&r, 3000), &outer);
    cr_assert_null(registry_find_address(&r, 999));
    cr_assert_null(registry_find_address(&r, 10000));
    cr_assert_eq(registry_find_range(&r, 2100, 2200), &inner);
    cr_assert_eq(registry_find_range(&r, 2100, 3200), &outer);
    cr_assert_null(registry_find_range(&r, 2100, 10000));
    cr_assert_eq(registry_find_name(&r, "Inner Pool"), &inner);
    cr_assert_eq(registry_find_name(&r, "Outer-Pool"), &outer);
    cr_assert_null(registry_find_name(&r, "Pool"));
    cr_assert_eq(registry_add(&r, make_pool(&wrapper, "w", NULL, 2000, 2999), "Inner Pool"), POOL_OK,
                 "the same range nests, the same name is allowed");
    cr_assert_eq(registry_find_name(&r, "Inner Pool"), &inner, "the first in tree order");
    cr_assert_eq(parent_of(&wrapper), &inner);
    registry_done(&r);
}

Test(registry, refuses_crossing_ranges_twice_the_same_and_one_too_many)
{
    static pool pools[REGISTRY_RETAIL_RECORDS + 1];
    pool crossing;
    registry_init(&r, REGISTRY_RETAIL_RECORDS, 0);
    for (unsigned i = 0; i < REGISTRY_RETAIL_RECORDS; i++)
        cr_assert_eq(registry_add(&r, make_pool(&pools[i], "p", NULL, i * 100 + 1, i * 100 + 50), "p"),
                     POOL_OK);
    cr_assert_eq(registry_add(&r, make_pool(&pools[512], "p", NULL, 90000, 90001), "p"), POOL_FULL);
    cr_assert_eq(registry_remove(&r, &pools[7]), POOL_OK);
    cr_assert_eq(registry_add(&r, make_pool(&crossing, "x", NULL, 840, 860), "x"), POOL_EXISTS);
    cr_assert_eq(registry_add(&r, &pools[8], "again"), POOL_EXISTS);
    cr_assert_eq(registry_add(&r, &pools[512], "p"), POOL_OK);
    cr_assert_null(registry_check(&r));
    registry_done(&r);
}

Test(registry, pools_without_containment_hang_under_who_pays)
{
    pool root, child, zoneless, inside;
    registry_init(&r, 8, 0);
    make_pool(&root, "Global", NULL, 1000, 1999);
    make_pool(&child, "Lua", &root, 5000, 5999);
    make_pool(&zoneless, "STL", &child, 0, 0);
    make_pool(&inside, "Sector", &root, 1100, 1199);
    registry_add(&r, &zoneless, "STL");
    cr_assert_null(parent_of(&zoneless), "its payers are not there yet");
    registry_add(&r, &root, "Global");
    cr_assert_eq(parent_of(&zoneless), &root, "the nearest payer that is registered");
    registry_add(&r, &child, "Lua");
    registry_add(&r, &inside, "Sector");
    cr_assert_eq(parent_of(&zoneless), &child);
    cr_assert_eq(parent_of(&child), &root);
    cr_assert_eq(parent_of(&inside), &root);
    cr_assert_eq(registry_find_address(&r, 5500), &child);
    cr_assert_eq(registry_find_address(&r, 1150), &inside);
    cr_assert_null(registry_check(&r));
    registry_done(&r);
}

static void collect(void *arg, const char *text, size_t length)
{
    strncat(arg, text, length);
    strcat(arg, "\n");
}

Test(registry, tree_is_printed_by_depth)
{
    pool outer, inner;
    char got[1024] = "";
    registry_init(&r, 8, 0);
    registry_add(&r, make_pool(&inner, "i", NULL, 0x2000, 0x2fff), "Inner");
    registry_add(&r, make_pool(&outer, "o", NULL, 0x1000, 0x9fff), "Outer");
    registry_print(&r, &(lines){collect, got});
    cr_assert_str_eq(got, "Outer                                    retail  1000..9fff 36864\n"
                          "  Inner                                  retail  2000..2fff 4096\n");
    registry_done(&r);
}

/* Random nested ranges: parent and lookup by a search of everything. */
static const pool *deepest(const pool *pools, const bool *in, unsigned n, uintptr_t first, uintptr_t last,
                           const pool *except)
{
    const pool *best = NULL;
    for (unsigned i = 0; i < n; i++) {
        const pool *p = &pools[i];
        bool holds = in[i] && p != except && p->first <= first && last <= p->last;
        if (holds && (!best || p->last - p->first < best->last - best->first))
            best = p;
    }
    return best;
}

Test(registry, random_trees_agree_with_a_plain_search)
{
    enum { POOLS = 64 };
    static pool pools[POOLS];
    bool in[POOLS];
    uint64_t random = seeded_first("registry");
    for (int round = 0; round < 50; round++) {
        registry_init(&r, POOLS, 0);
        memset(in, 0, sizeof in);
        for (unsigned i = 0; i < POOLS;
             i++) { /* distinct ranges of a binary tree of intervals: never crossing */
            unsigned level = seeded_below(&random, 9), width = 1u << (16 - level);
            uintptr_t first = 1 + (uintptr_t)seeded_below(&random, 1u << level) * width + level;
            make_pool(&pools[i], "p", NULL, first, first + width - 1 - 2 * level);
        }
        for (int step = 0; step < 200; step++) {
            unsigned i = seeded_below(&random, POOLS);
            bool clash = false;
            for (unsigned k = 0; k < POOLS; k++)
                clash |= in[k] && k != i && pools[k].first == pools[i].first;
            if (in[i])
                cr_assert_eq(registry_remove(&r, &pools[i]), POOL_OK);
            else if (clash || registry_add(&r, &pools[i], "p") != POOL_OK)
                continue;
            in[i] = !in[i];
            cr_assert_null(registry_check(&r));
            uintptr_t address = seeded_below(&random, 1 << 16);
            cr_assert_eq(registry_find_address(&r, address),
                         deepest(pools, in, POOLS, address, address, NULL));
            if (in[i])
                cr_assert_eq(parent_of(&pools[i]),
                             deepest(pools, in, POOLS, pools[i].first, pools[i].last, &pools[i]));
        }
        registry_done(&r);
    }
}
