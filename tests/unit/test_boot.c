/* SPDX-License-Identifier: MIT */
/* test_boot.c - the replay of the boot: every figure of the console, and how the tree stands afterwards. */
#include "boot.h"
#include "os.h"

#include <criterion/criterion.h>
#include <string.h>

static boot b;

TestSuite(boot);

Test(boot, every_figure_is_the_consoles)
{
    cr_assert_eq(boot_build(&b), POOL_OK);
    for (unsigned i = 0; i < b.figure_count; i++)
        cr_expect_eq(b.figures[i].got, b.figures[i].want, "%s %s: %u (0x%x), expected %u (0x%x)",
                     b.figures[i].name, b.figures[i].what, b.figures[i].got, b.figures[i].got,
                     b.figures[i].want, b.figures[i].want);
    cr_assert_geq(b.figure_count, 22);
    cr_assert_null(boot_check(&b));
    b.figures[3].got++;
    cr_assert_eq(boot_check(&b), &b.figures[3], "the check can fail");
    boot_destroy(&b);
}

Test(boot, the_tree_stands_as_the_console_s)
{
    static const char *const names[] = {"All-System",      "Global-Memory", "Filter-Pool",  "Debug-Heap",
                                        "Level-Dynamic-&", "Sector-Pool",   "Sector-Pool-2"};
    unsigned depth, n = 0;
    cr_assert_eq(boot_build(&b), POOL_OK);
    for (const registry_record *at = registry_next(&b.registry, NULL, &depth); at;
         at = registry_next(&b.registry, at, &depth), n++) {
        cr_assert_str_eq(at->name, names[n]);
        cr_assert_eq(depth, n < 2 ? n : 2);
    }
    cr_assert_eq(n, 7);
    cr_assert_null(registry_check(&b.registry));
    cr_assert_eq(pool_stack_top(&b.manager.stack), &b.global.base);
    boot_destroy(&b);
}

/* The Sector Pool as a level finds it: the sizes of a fight in a small arena. */
Test(boot, clumps_of_a_level_fit_as_they_did)
{
    static const uint32_t sizes[] = {641842, 262144, 2126704, 485812, 265236};
    static clump clumps[5];
    cr_assert_eq(boot_build(&b), POOL_OK);
    cr_assert_eq(pool_largest_free(&b.sector.base), 17013760);
    for (int i = 0; i < 5; i++)
        cr_assert_eq(clump_init_in_parent(&clumps[i], &b.sector.base, sizes[i], "level"), POOL_OK);
    cr_assert_eq(boot_address(&b, clumps[0].block), 0x00f62000 + 1024 + 202752);
    cr_assert_eq(clumps[2].size, 2126704, "the size is not rounded");
    cr_assert_eq(pool_free_bytes(&b.sector.base), 17216512 - 3783680);
    for (int i = 0; i < 5; i++)
        cr_assert_eq(pool_destroy(&clumps[i].base), POOL_OK);
    cr_assert_eq(pool_free_bytes(&b.sector.base), 17216512);
    boot_destroy(&b);
}

static unsigned refused;

static void lua_error(pool *p, const pool_request *r, void *arg)
{
    refused += p == &b.level.base && r->size == 100000;
}

/* The original stores to address 0 before it raises its script's memory error. */
Test(boot, full_level_pool_refuses_and_goes_on)
{
    void *out, *last = NULL;
    cr_assert_eq(boot_build(&b), POOL_OK);
    b.level.on_no_memory = lua_error;
    while (pool_alloc(&b.level.base, &(pool_request){.size = 100000, .align = 8}, &out) == POOL_OK)
        last = out;
    cr_assert_null(out);
    cr_assert_eq(refused, 1);
    cr_assert_eq(pool_resize(&b.level.base, last, &(pool_request){.size = 100000000}, &out), POOL_NOMEM);
    cr_assert_eq(pool_size(&b.level.base, last), 98 * 1024, "the block stays");
    cr_assert_eq(pool_free(&b.level.base, last), POOL_OK);
    cr_assert(pool_check(&b.level.base));
    boot_destroy(&b);
}

static int calls_left;

static bool fail_later(void)
{
    return calls_left-- > 0;
}

Test(boot, out_of_memory_at_any_point_leaves_nothing)
{
    pool_status s = POOL_NOMEM;
    int n = 0;
    for (; s != POOL_OK; n++) {
        calls_left = n;
        os_fault_hook = fail_later;
        s = boot_build(&b);
        os_fault_hook = NULL;
        cr_assert(s == POOL_OK || s == POOL_NOMEM);
        if (s != POOL_OK)
            cr_assert_null(b.mapping);
    }
    cr_assert_gt(n, 8);
    boot_destroy(&b);
}
