/* SPDX-License-Identifier: MIT */
/* test_manager.c - the heap stack, forwarding to its top, and frees with the wrong pool on top. */
#include "clump.h"
#include "manager.h"
#include "retail.h"

#include <criterion/criterion.h>
#include <string.h>

static char memory[1 << 18] __attribute__((aligned(4096)));
static retail_pool global, sector;
static clump level;
static registry reg;
static manager m;

static void set_up(void)
{
    cr_assert_eq(registry_init(&reg, REGISTRY_RETAIL_RECORDS, REGISTRY_RETAIL_NAMES), POOL_OK);
    cr_assert_eq(retail_init_in_place(&global, NULL, memory, sizeof memory, "Global"), POOL_OK);
    cr_assert_eq(retail_init_in_parent(&sector, &global.base, 100000, "Sector"), POOL_OK);
    cr_assert_eq(clump_init_in_parent(&level, &sector.base, 20000, "Level"), POOL_OK);
    registry_add(&reg, &global.base, "Global Memory");
    registry_add(&reg, &sector.base, "Sector Pool");
    registry_add(&reg, &level.base, "World Level Pool");
    manager_init(&m, &reg, POOL_STACK_RETAIL);
    cr_assert_eq(manager_set_global(&m, &global.base), POOL_OK);
}

TestSuite(manager, .init = set_up);

static void *get(size_t size)
{
    void *p;
    manager_alloc(&m, &(pool_request){.size = size, .align = 16}, &p);
    return p;
}

Test(manager, calls_go_to_the_top)
{
    cr_assert(pool_contains(&global.base, get(100)));
    manager_push(&m, &sector.base);
    cr_assert(pool_contains(&sector.base, get(100)));
    cr_assert_eq(manager_free_bytes(&m), pool_free_bytes(&sector.base));
    cr_assert_eq(manager_largest_free(&m), pool_largest_free(&sector.base));
    manager_push(&m, &level.base);
    cr_assert(pool_contains(&level.base, get(100)));
    cr_assert_eq(manager_largest_free(&m), 0);
    cr_assert_eq(manager_set_option(&m, POOL_OPTION_COUNT_FREES, 1), POOL_OK);
    cr_assert(level.count_frees);
    char text[128];
    cr_assert_gt(manager_describe(&m, level.block, text, sizeof text), 0);
    cr_assert_not_null(strstr(text, "'Level'"));
    cr_assert_eq(manager_pop(&m, &level.base), POOL_OK);
    cr_assert_eq(manager_pop(&m, &sector.base), POOL_OK);
    cr_assert_eq(manager_track_pool(&m, &sector.base), &sector.base);
}

Test(manager, stack_is_bounded_both_ways)
{
    for (int i = 1; i < POOL_STACK_RETAIL; i++)
        cr_assert_eq(manager_push(&m, &sector.base), POOL_OK);
    cr_assert_eq(manager_push(&m, &level.base), POOL_FULL, "the original overwrites the next global");
    cr_assert_eq(pool_stack_top(&m.stack), &sector.base);
    cr_assert_eq(manager_pop(&m, &level.base), POOL_MISMATCH);
    for (int i = 1; i < POOL_STACK_RETAIL; i++)
        cr_assert_eq(manager_pop(&m, NULL), POOL_OK);
    cr_assert_eq(manager_pop(&m, NULL), POOL_EMPTY, "the global pool stays");
    cr_assert_eq(pool_stack_top(&m.stack), &global.base);
    cr_assert_eq(manager_push(&m, NULL), POOL_INVALID);
    cr_assert_eq(m.push_errors, 2);
    cr_assert_eq(m.pop_errors, 2);
}

Test(manager, wrong_pool_on_top_is_mended_and_counted)
{
    void *in_global = get(100), *out;
    manager_push(&m, &sector.base);
    void *in_sector = get(100);
    manager_push(&m, &level.base);
    uint32_t used = sector.heap.used;
    cr_assert_eq(manager_free(&m, in_sector), POOL_OK);
    cr_assert_eq(sector.heap.used, used - 128);
    cr_assert_eq(manager_resize(&m, in_global, &(pool_request){.size = 5000, .align = 16}, &out), POOL_OK);
    cr_assert(pool_contains(&global.base, out), "a block stays in its own pool");
    cr_assert_eq(m.wrong_pool, 2);
    cr_assert_eq(manager_free(&m, &m), POOL_FOREIGN);
    cr_assert_eq(m.unknown, 1);
    m.strict = true;
    cr_assert_eq(manager_free(&m, out), POOL_MISMATCH);
    cr_assert_eq(rheap_size(&global.heap, (uint32_t)((char *)out - global.heap.base)), 5120);
    manager_pop(&m, NULL);
    manager_pop(&m, NULL);
    cr_assert_eq(manager_free(&m, out), POOL_OK);
    cr_assert_eq(m.wrong_pool, 3);
}

Test(manager, global_on_top_does_not_swallow_what_nests_in_it)
{
    manager_push(&m, &sector.base);
    void *p = get(100);
    manager_pop(&m, NULL);
    cr_assert(pool_contains(&global.base, p), "by range it is the global pool's as well");
    cr_assert_eq(manager_free(&m, p), POOL_OK);
    cr_assert_eq(m.wrong_pool, 1);
    cr_assert(pool_check(&global.base) && pool_check(&sector.base));
}

static int told;

static void no_memory(pool *top, const pool_request *r, void *arg)
{
    told++;
    cr_assert_eq(top, &sector.base);
    cr_assert_eq(r->size, 1000000);
    cr_assert_eq(arg, &m);
}

Test(manager, no_memory_goes_to_the_handler_and_gives_null)
{
    m.on_no_memory = no_memory;
    m.on_no_memory_arg = &m;
    manager_push(&m, &sector.base);
    cr_assert_null(get(1000000));
    cr_assert_null(get(0), "no fault");
    cr_assert_eq(told, 1);
}

Test(manager, empty_stack_and_empty_pools)
{
    manager none;
    void *p;
    manager_init(&none, &reg, 1000);
    cr_assert_eq(none.stack.limit, POOL_STACK_MAX);
    cr_assert_eq(manager_alloc(&none, &(pool_request){.size = 1}, &p), POOL_EMPTY);
    cr_assert_eq(manager_free_bytes(&none) + manager_largest_free(&none), 0);
    cr_assert_eq(manager_set_option(&none, 0, 1), POOL_EMPTY);
    cr_assert(manager_check_empty(&none));
    manager_push(&none, &level.base);
    cr_assert(manager_check_empty(&none));
    cr_assert_eq(manager_set_global(&none, &global.base), POOL_EXISTS);
    cr_assert_not(manager_check_empty(&m), "a heap never says it is empty");
    get(10);
    cr_assert_eq(manager_report_leaks(&m), 3, "the sector's block, the clump's and this one");
}
