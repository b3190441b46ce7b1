/* SPDX-License-Identifier: MIT */
/*
 * test_retail.c - the retail heap: the nine properties on random sequences, every invariant after every
 * operation, and the pitfalls of the original as tests of what this one does instead.
 */
#include "heap_bed.h"

#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>

/* --- property tests -------------------------------------------------------------------------------- */

static void expect_sound(const bed *b)
{
    const char *wrong = rheap_check(&b->heap);
    cr_assert_null(wrong, "seed %llu, operation %u: %s", (unsigned long long)b->seed, b->operations, wrong);
}

static void expect_sum(const bed *b)
{
    expect_sound(b);
    cr_assert_eq(b->heap.used, bed_live_bytes(b), "used is not the sum of the live sizes");
}

static void run_sequence(uint64_t seed, unsigned operations, unsigned check_every)
{
    bed b;
    bed_make(&b, seed);
    for (unsigned i = 0; i < operations; i++) {
        bed_step(&b);
        if (i % check_every == 0)
            expect_sum(&b);
    }
    expect_sum(&b);
    bed_free_all(&b);
    expect_sound(&b);
    uint32_t table = b.heap.records ? rheap_table_blocks(&b.heap) * RHEAP_BLOCK : 0;
    cr_assert_eq(b.heap.used, 0);
    cr_assert(b.heap.core <= table + (RHEAP_GIVE_BACK - 1) * RHEAP_BLOCK,
              "with nothing in use the core goes down to the table, or to 7 free blocks above it");
    bed_drop(&b);
}

Test(retail, properties_hold_after_every_operation)
{
    uint64_t seed = bed_first_seed("retail properties");
    for (unsigned i = 0; i < 60; i++)
        run_sequence(seed + i, 2000, 1);
}

Test(retail, properties_hold_on_long_sequences)
{
    uint64_t seed = bed_first_seed("retail long sequences") + 1000;
    for (unsigned i = 0; i < 24; i++)
        run_sequence(seed + i, 100000, 997);
}

Test(retail, the_same_sequence_gives_the_same_places)
{
    uint64_t seed = bed_first_seed("retail twice") + 2000;
    for (unsigned i = 0; i < 20; i++) {
        uint64_t print[2];
        for (int pass = 0; pass < 2; pass++) {
            bed b;
            bed_make(&b, seed + i);
            for (unsigned n = 0; n < 5000; n++)
                bed_step(&b);
            print[pass] = b.fingerprint;
            bed_drop(&b);
        }
        cr_assert_eq(print[0], print[1], "seed %llu", (unsigned long long)seed + i);
    }
}

/* --- pitfalls -------------------------------------------------------------------------------------- */

Test(retail, core_is_padded_before_it_is_tested)
{
    bed b; /* the original lets the block end 976 bytes past such a heap and grows its table */
    uint32_t at;
    bed_make_sized(&b, 1, 3000);
    cr_assert_eq(rheap_alloc(&b.heap, 8, 8, &at), POOL_NOMEM);
    cr_assert_eq(b.heap.core, 24);
    cr_assert_eq(b.heap.used, 0);
    bed_drop(&b);
}

Test(retail, table_covers_the_heap_and_never_grows)
{
    bed b;
    uint32_t at, blocks = 0;
    bed_make_sized(&b, 1, 4 << 20);
    while (rheap_alloc(&b.heap, RHEAP_BLOCK, 16, &at) == POOL_OK)
        blocks++;
    cr_assert_eq(blocks, b.heap.usable / RHEAP_BLOCK - rheap_table_blocks(&b.heap));
    cr_assert_eq(b.heap.records, b.heap.usable / RHEAP_BLOCK + 1);
    cr_assert_eq(b.heap.used, blocks * RHEAP_BLOCK);
    expect_sound(&b);
    bed_drop(&b);
}

Test(retail, sizes_that_would_wrap_are_refused)
{
    bed b;
    uint32_t at, kept;
    bed_make_sized(&b, 1, 65536);
    cr_assert_eq(rheap_alloc(&b.heap, 100, 16, &kept), POOL_OK);
    for (uint32_t size = UINT32_MAX - 2048; size >= UINT32_MAX - 2048; size++) {
        cr_assert_neq(rheap_alloc(&b.heap, size, 16, &at), POOL_OK);
        cr_assert_neq(rheap_realloc(&b.heap, kept, size, 16, &at), POOL_OK);
        cr_assert_eq(at, 0);
    }
    cr_assert_eq(b.heap.used, 112 + 16);
    expect_sound(&b);
    bed_drop(&b);
}

Test(retail, alignment_above_a_block_is_refused)
{
    bed b;
    uint32_t at;
    bed_make_sized(&b, 1, 65536);
    cr_assert_eq(rheap_alloc(&b.heap, 10, 2048, &at), POOL_ALIGN);
    cr_assert_eq(rheap_alloc(&b.heap, 10, 24, &at), POOL_ALIGN);
    cr_assert_eq(rheap_alloc(&b.heap, 10, 0, &at), POOL_ALIGN);
    cr_assert_eq(rheap_alloc(&b.heap, 10, 1024, &at), POOL_OK);
    cr_assert_eq(at % 1024, 0);
    bed_drop(&b);
}

Test(retail, misuse_of_free_is_told_and_ignored)
{
    bed b;
    uint32_t small, other, run, at;
    bed_make_sized(&b, 1, 65536);
    cr_assert_eq(rheap_alloc(&b.heap, 64, 16, &small), POOL_OK);
    cr_assert_eq(rheap_alloc(&b.heap, 64, 16, &other), POOL_OK);
    cr_assert_eq(rheap_alloc(&b.heap, 9000, 16, &run), POOL_OK);
    cr_assert_eq(rheap_free(&b.heap, small + 8), POOL_INVALID);
    cr_assert_eq(rheap_free(&b.heap, small + 1), POOL_INVALID);
    cr_assert_eq(rheap_free(&b.heap, small + 128), POOL_DOUBLE_FREE, "a free fragment of the block");
    cr_assert_eq(rheap_free(&b.heap, run + 1024), POOL_INVALID);
    cr_assert_eq(rheap_free(&b.heap, 8), POOL_INVALID, "the table");
    cr_assert_eq(rheap_free(&b.heap, 60000), POOL_INVALID, "never handed out");
    cr_assert_eq(rheap_free(&b.heap, 70000), POOL_FOREIGN);
    cr_assert_eq(rheap_free(&b.heap, 0), POOL_OK, "null");
    expect_sound(&b);
    cr_assert_eq(rheap_free(&b.heap, small), POOL_OK);
    cr_assert_eq(rheap_free(&b.heap, small), POOL_DOUBLE_FREE);
    cr_assert_eq(rheap_realloc(&b.heap, small, 10, 1, &at), POOL_DOUBLE_FREE);
    cr_assert_eq(rheap_free(&b.heap, run), POOL_OK);
    cr_assert_eq(rheap_free(&b.heap, run), POOL_DOUBLE_FREE, "given back to the core");
    cr_assert_eq(rheap_free(&b.heap, other), POOL_OK);
    cr_assert_eq(rheap_free(&b.heap, other), POOL_DOUBLE_FREE, "its block is a free run now");
    cr_assert_eq(b.heap.used, 0);
    expect_sound(&b);
    bed_drop(&b);
}

Test(retail, failing_realloc_loses_nothing)
{
    bed b;
    uint32_t one, two, three, at;
    bed_make_sized(&b, 1, 8192);
    rheap_alloc(&b.heap, 1024, 16, &one);
    rheap_alloc(&b.heap, 2048, 16, &two);
    rheap_alloc(&b.heap, 3072, 16, &three);
    memset(rheap_pointer(&b.heap, two), 0x5a, 2048);
    rheap_free(&b.heap, one);
    rheap before = b.heap;
    cr_assert_eq(rheap_realloc(&b.heap, two, 5000, 16, &at), POOL_NOMEM);
    cr_assert_eq(memcmp(&before, &b.heap, sizeof before), 0);
    cr_assert_eq(rheap_size(&b.heap, two), 2048);
    rheap_free(&b.heap, three);
    cr_assert_eq(rheap_realloc(&b.heap, two, 5000, 16, &at), POOL_OK);
    cr_assert_eq(at, one, "it slides down into the free run before it");
    for (int i = 0; i < 2048; i++)
        cr_assert_eq(b.heap.base[at + i], 0x5a);
    bed_drop(&b);
}

Test(retail, shrinking_to_a_class_that_cannot_be_had_keeps_the_block)
{
    bed b;
    uint32_t one, at, fill;
    bed_make_sized(&b, 1, 4096); /* one block of table, two of memory */
    rheap_alloc(&b.heap, 300, 16, &one);
    while (rheap_alloc(&b.heap, 1024, 16, &fill) == POOL_OK)
        ;
    cr_assert_eq(rheap_realloc(&b.heap, one, 100, 16, &at), POOL_NOMEM);
    cr_assert_eq(rheap_size(&b.heap, one), 512);
    cr_assert_eq(rheap_realloc(&b.heap, fill ? fill : one + 1024, 600, 16, &at), POOL_OK);
    expect_sound(&b);
    bed_drop(&b);
}

Test(retail, run_that_shrinks_without_a_fragment_stays_as_one_block)
{
    bed b;
    uint32_t run, at;
    bed_make_sized(&b, 1, 5120); /* three blocks of memory */
    cr_assert_eq(rheap_alloc(&b.heap, 3072, 16, &run), POOL_OK);
    cr_assert_eq(rheap_realloc(&b.heap, run, 100, 16, &at), POOL_OK);
    cr_assert_eq(at, run);
    cr_assert_eq(b.heap.used, 1024);
    expect_sound(&b);
    bed_drop(&b);
}

Test(retail, probe_moves_rover_and_core_and_the_pure_query_does_not)
{
    bed b;
    uint32_t low, between, big, top, at;
    bed_make_sized(&b, 1, 65536);
    rheap_alloc(&b.heap, 1024, 16, &low);
    rheap_alloc(&b.heap, 1024, 16, &between);
    rheap_alloc(&b.heap, 40 * 1024, 16, &big);
    rheap_alloc(&b.heap, 1024, 16, &top);
    rheap_free(&b.heap, big);
    rheap_free(&b.heap, low); /* the rover is here */
    rheap before = b.heap;
    cr_assert_eq(rheap_largest_run(&b.heap), 40 * 1024);
    cr_assert_eq(memcmp(&before, &b.heap, sizeof before), 0);
    cr_assert_eq(rheap_largest_probe(&b.heap), 40 * 1024);
    rheap_alloc(&b.heap, 1024, 16, &at);
    cr_assert_eq(at, big, "after the probe the largest run is carved first");
    bed_drop(&b);
}

Test(retail, free_bytes_overstate_and_true_free_does_not)
{
    bed b;
    bed_make_sized(&b, 1, 17217536);
    cr_assert_eq(rheap_free_bytes(&b.heap), 17216512);
    cr_assert_eq(rheap_true_free(&b.heap), 17013760);
    cr_assert_eq(rheap_largest_run(&b.heap), 17013760);
    cr_assert_eq(rheap_largest_probe(&b.heap), 17013760);
    bed_drop(&b);
}

Test(retail, heap_without_usable_bytes_refuses_everything)
{
    bed b;
    uint32_t at;
    bed_make_sized(&b, 1, 1024);
    cr_assert_eq(b.heap.usable, 0);
    cr_assert_eq(rheap_alloc(&b.heap, 8, 8, &at), POOL_NOMEM);
    cr_assert_eq(rheap_largest_probe(&b.heap), 0);
    cr_assert_eq(rheap_largest_run(&b.heap), 0);
    cr_assert_eq(rheap_free(&b.heap, 1024), POOL_FOREIGN);
    expect_sound(&b);
    bed_drop(&b);
}

Test(retail, heaps_over_32_bits_are_refused)
{
    rheap h;
    cr_assert_eq(rheap_init(&h, (void *)4096, (size_t)UINT32_MAX + 1), POOL_OVERFLOW);
}

static bool refuse_memory(void)
{
    return false;
}

Test(retail, no_memory_for_the_bitmaps_is_an_error)
{
    rheap h;
    os_fault_hook = refuse_memory;
    pool_status s = rheap_init(&h, (void *)4096, 65536);
    os_fault_hook = NULL;
    cr_assert_eq(s, POOL_NOMEM);
}

/* --- damage is found ------------------------------------------------------------------------------- */

Test(retail, check_finds_damage)
{
    bed b;
    uint32_t one, two, three;
    bed_make_sized(&b, 1, 65536);
    rheap_alloc(&b.heap, 64, 16, &one);
    rheap_alloc(&b.heap, 64, 16, &two);
    rheap_alloc(&b.heap, 64, 16, &three);
    rheap_free(&b.heap, two);
    expect_sound(&b);
    uint32_t *links = rheap_pointer(&b.heap, two); /* a write after free */
    uint32_t saved = links[0];
    links[0] = 0x41414141;
    cr_assert_not_null(rheap_check(&b.heap));
    links[0] = saved;
    cr_assert_null(rheap_check(&b.heap));
    b.heap.used += 8;
    cr_assert_not_null(rheap_check(&b.heap));
    b.heap.used -= 8;
    b.heap.rover = 2;
    cr_assert_not_null(rheap_check(&b.heap));
    bed_drop(&b);
}
