/* SPDX-License-Identifier: MIT */
/* test_arena.c - the arena: the figures of its specification, marks, growth, misuse, a property test. */
#include "arena.h"
#include "fault.h"
#include "said.h"
#include "seeded.h"

static void make(arena *a, int64_t size, const arena_options *o)
{
    memset(a, 0, sizeof *a);
    cr_assert(arena_init(a, size, o));
}

static void sound(arena *a)
{
    said_start();
    cr_assert(arena_check(a), "%s", said_last);
}

static void expect_alloc(arena *a, int64_t n, ptrdiff_t offset, size_t used)
{
    char *p = arena_alloc(a, n);
    cr_assert_not_null(p);
    cr_assert_eq(p - a->first.base, offset, "offset %td, want %td", p - a->first.base, offset);
    cr_assert_eq(arena_used(a), used);
    for (int64_t i = 0; i < n; i++)
        cr_assert_eq(p[i], 0);
    memset(p, 0xee, (size_t)n);
    sound(a);
}

static void expect_full(arena *a, int64_t n, const char *line)
{
    size_t used = arena_used(a);
    said_start();
    cr_assert_null(arena_alloc(a, n));
    said_expect(line);
    cr_assert_eq(arena_used(a), used);
    sound(a);
}

Test(arena, the_specified_sequence)
{
    arena a = {0};
    cr_assert(arena_init(&a, 32, NULL));
    expect_alloc(&a, 1, 0, 1);
    expect_alloc(&a, 8, 8, 16);
    expect_alloc(&a, 3, 16, 19);
    expect_full(&a, 9, "arena full: 19 of 32 bytes used, asked for 9 more");
    arena_mark m = arena_get_mark(&a);
    cr_assert_eq(m.used, 19);
    expect_alloc(&a, 8, 24, 32);
    cr_assert_eq(arena_peak(&a), 32);
    expect_alloc(&a, 0, 32, 32);
    expect_full(&a, 1, "arena full: 32 of 32 bytes used, asked for 1 more");
    cr_assert_eq(arena_restore(&a, m), POOL_OK);
    cr_assert_eq(arena_used(&a), 19);
    expect_alloc(&a, 5, 24, 29);
    cr_assert_eq(arena_peak(&a), 32);
    expect_full(&a, -1, "arena full: 29 of 32 bytes used, asked for -1 more");
    arena_reset(&a);
    cr_assert_eq(arena_used(&a), 0);
    cr_assert_eq(arena_peak(&a), 32);
    expect_alloc(&a, 32, 0, 32);
    arena_free(&a);
}

Test(arena, init_refuses_what_is_no_size_and_a_second_init)
{
    arena a = {0};
    cr_assert_not(arena_init(&a, 0, NULL));
    cr_assert_not(arena_init(&a, -5, NULL));
    cr_assert_not(arena_init(&a, INT64_MAX, NULL));
    cr_assert(arena_init(&a, 64, NULL));
    cr_assert_not(arena_init(&a, 64, NULL));
    arena_free(&a);
    cr_assert_null(a.first.base);
    arena_free(&a);
    arena_reset(&a);
    cr_assert_null(arena_alloc(&a, 1));
    cr_assert_null(arena_alloc(&a, 0));
    cr_assert_eq(arena_size(&a), 0);
}

Test(arena, sizes_do_not_wrap_and_an_odd_end_is_kept)
{
    arena a;
    make(&a, 33, NULL);
    expect_alloc(&a, 33, 0, 33);
    cr_assert_null(arena_alloc(&a, 0)); /* rounded up it would start behind the end */
    cr_assert_null(arena_alloc(&a, INT64_MAX));
    cr_assert_null(arena_alloc(&a, INT64_MIN));
    arena_free(&a);
}

Test(arena, alignment_on_request)
{
    arena a;
    make(&a, 8192, NULL);
    arena_alloc(&a, 1);
    for (size_t align = 1; align <= 1024; align *= 2) {
        void *p = arena_alloc_aligned(&a, 3, align);
        cr_assert_not_null(p);
        cr_assert_eq((uintptr_t)p % align, 0);
    }
    cr_assert_null(arena_alloc_aligned(&a, 8, 3));
    cr_assert_null(arena_alloc_aligned(&a, 8, 0));
    sound(&a);
    arena_free(&a);
}

Test(arena, memory_is_zero_again_after_restore)
{
    arena a;
    make(&a, 64, NULL);
    arena_mark m = arena_get_mark(&a);
    expect_alloc(&a, 64, 0, 64); /* leaves it dirty */
    cr_assert_eq(arena_restore(&a, m), POOL_OK);
    expect_alloc(&a, 64, 0, 64);
    arena_free(&a);
}

Test(arena, nested_marks_tell_when_they_are_stale)
{
    arena a;
    make(&a, 1024, NULL);
    arena_alloc(&a, 10);
    arena_mark outer = arena_get_mark(&a);
    arena_alloc(&a, 10);
    arena_mark inner = arena_get_mark(&a);
    cr_assert_eq(arena_restore(&a, outer), POOL_OK);
    cr_assert_eq(arena_restore(&a, inner), POOL_INVALID, "above what is used");
    arena_alloc(&a, 100);
    cr_assert_eq(arena_restore(&a, inner), POOL_STALE, "given back with the outer one");
    cr_assert_eq(arena_used(&a), 116);
    cr_assert_eq(arena_restore(&a, outer), POOL_OK, "a mark may be used again");
    sound(&a);
    arena_mark forged = {.used = 5, .serial = outer.serial};
    cr_assert_eq(arena_restore(&a, forged), POOL_INVALID);
    arena_free(&a);
}

Test(arena, a_loop_of_marks_stays_checked_and_deep_nesting_works)
{
    arena a;
    make(&a, 65536, NULL);
    arena_mark deep[ARENA_MARKS + 10];
    for (int i = 0; i < 1000; i++) {
        arena_mark m = arena_get_mark(&a);
        arena_alloc(&a, 16);
        cr_assert_eq(arena_restore(&a, m), POOL_OK);
    }
    cr_assert_eq(a.marks, 1);
    for (int i = 0; i < ARENA_MARKS + 10; i++) {
        arena_alloc(&a, 16);
        deep[i] = arena_get_mark(&a);
    }
    sound(&a);
    for (int i = ARENA_MARKS + 9; i >= 0; i--) {
        cr_assert_eq(arena_restore(&a, deep[i]), POOL_OK);
        cr_assert_eq(arena_used(&a), 16 * (size_t)(i + 1));
    }
    arena_free(&a);
}

Test(arena, text)
{
    arena a;
    make(&a, 64, NULL);
    cr_assert_str_eq(arena_strdup(&a, "abc"), "abc");
    cr_assert_eq(arena_used(&a), 4);
    cr_assert_null(arena_strdup(&a, NULL));
    cr_assert_str_eq(arena_format(&a, "level %d: %s", 3, "caves"), "level 3: caves");
    cr_assert_eq(arena_used(&a), 8 + 15);
    said_start();
    cr_assert_null(arena_format(&a, "%60d", 1));
    said_expect("arena full: 23 of 64 bytes used, asked for 61 more");
    arena_free(&a);
}

Test(arena, inside_another_pool)
{
    arena outer;
    make(&outer, 4096, NULL);
    arena_options o = {.name = "level", .parent = &outer.pool};
    arena a;
    make(&a, 1000, &o);
    cr_assert(pool_contains(&outer.pool, a.first.base));
    cr_assert_geq(arena_used(&outer), 1000);
    arena b = {0};
    cr_assert_not(arena_init(&b, 5000, &o));
    cr_assert_eq(pool_destroy(&a.pool), POOL_OK);
    arena_free(&outer);
}

Test(arena, grows_by_chunks_and_shrinks_by_marks)
{
    arena_options o = {.chunk = 256};
    arena a;
    make(&a, 128, &o);
    arena_mark start = arena_get_mark(&a);
    expect_alloc(&a, 100, 0, 100);
    arena_mark m = arena_get_mark(&a);
    char *big = arena_alloc(&a, 1000);
    cr_assert_not_null(big);
    cr_assert_eq(arena_used(&a), 128 + 1000);
    arena_alloc(&a, 200);
    sound(&a);
    pool_stats s = {0};
    pool_get_stats(&a.pool, &s);
    cr_assert_eq(s.live_blocks, 3);
    cr_assert_eq(arena_restore(&a, m), POOL_OK);
    cr_assert_eq(arena_used(&a), 100);
    sound(&a);
    cr_assert_eq(arena_alloc(&a, 900), big, "the spare chunk is used again");
    cr_assert_eq(arena_restore(&a, start), POOL_OK);
    arena_trim(&a);
    cr_assert_eq(arena_size(&a), 128);
    cr_assert_null(a.first.next);
    arena_free(&a);
}

Test(arena, growth_keeps_to_the_limit)
{
    arena_options o = {.chunk = 4096};
    arena a;
    make(&a, 4096, &o);
    a.pool.limit = 10000;
    a.pool.over = OVER_FAIL;
    arena_alloc(&a, 4096);
    cr_assert_not_null(arena_alloc(&a, 4096));
    cr_assert_null(arena_alloc(&a, 4096));
    cr_assert_eq(a.pool.counts.over_limit, 1);
    a.pool.over = OVER_WARN;
    cr_assert_not_null(arena_alloc(&a, 4096));
    arena_free(&a);
}

Test(arena, as_a_pool)
{
    arena a;
    make(&a, 1024, NULL);
    pool *p = &a.pool;
    void *first = pool_get(p, 10, 0), *second = pool_get(p, 10, 64), *out;
    cr_assert_eq((uintptr_t)second % 64, 0);
    cr_assert_eq(pool_size(p, second), 10);
    memset(second, 1, 10);
    cr_assert_eq(pool_resize(p, second, &(pool_request){.size = 100}, &out), POOL_OK);
    cr_assert_eq(out, second, "the last block grows in place");
    cr_assert_eq(((char *)out)[10], 0);
    memset(first, 7, 10);
    cr_assert_eq(pool_resize(p, first, &(pool_request){.size = 20}, &out), POOL_OK);
    cr_assert_neq(out, first);
    cr_assert_eq(memcmp(out, first, 10), 0);
    cr_assert_eq(pool_free(p, first), POOL_OK);
    cr_assert_eq(pool_free(p, &a), POOL_FOREIGN);
    cr_assert_eq(pool_resize(p, &a, &(pool_request){.size = 20}, &out), POOL_FOREIGN);
    cr_assert_eq(pool_set_option(p, POOL_OPTION_STRICT, 1), POOL_OK);
    cr_assert_eq(pool_free(p, first), POOL_UNSUPPORTED);
    cr_assert_eq(pool_set_option(p, 99, 1), POOL_UNSUPPORTED);
    cr_assert_eq(pool_resize(p, first, &(pool_request){.size = 5000}, &out), POOL_NOMEM);
    char line[128];
    pool_describe(p, first, line, sizeof line);
    cr_assert_not_null(strstr(line, "in arena arena"));
    cr_assert_not(pool_check_empty(p));
    cr_assert_eq(pool_report_leaks(p), 3);
    cr_assert_eq(pool_free_bytes(p), 1024 - arena_used(&a));
    arena_reset(&a);
    cr_assert(pool_check_empty(p));
    cr_assert_eq(pool_largest_free(p), 1024);
    pool_stats s = {0};
    pool_get_stats(p, &s);
    cr_assert_eq(s.allocs, 3);
    cr_assert_eq(s.frees, 3);
    cr_assert_eq(s.live_bytes, 0);
    cr_assert(pool_check(p));
    arena_free(&a);
}

Test(arena, frames_keep_the_one_before)
{
    frame_arena f = {0};
    cr_assert(frame_arena_init(&f, 256, NULL));
    const char *before = NULL;
    for (int i = 0; i < 10; i++) {
        const char *now = arena_format(frame_arena_begin(&f), "frame %d", i);
        char want[32];
        snprintf(want, sizeof want, "frame %d", i - 1);
        if (before)
            cr_assert_str_eq(before, want);
        before = now;
    }
    frame_arena_free(&f);
}

Test(arena, check_finds_damage)
{
    arena a;
    make(&a, 128, NULL);
    arena_alloc(&a, 10);
    arena_get_mark(&a);
    char *good = a.cursor;
    a.cursor = a.end + 1;
    cr_assert_not(arena_check(&a));
    a.cursor = good;
    a.stack[0].used = 1000;
    said_start();
    cr_assert_not(arena_check(&a));
    said_expect("arena arena: a mark lies above what is used");
    a.stack[0].used = 10;
    a.first.origin = 1;
    cr_assert_not(arena_check(&a));
    a.first.origin = 0;
    sound(&a);
    arena_free(&a);
}

/* Every block keeps its pattern until the mark below it is restored. */
enum { LIVE = 400, DEPTH = 20 };
struct shadow {
    unsigned char *p;
    size_t n;
    unsigned char fill;
};

static void blocks_intact(const struct shadow *live, int n)
{
    for (int i = 0; i < n; i++)
        for (size_t k = 0; k < live[i].n; k++)
            cr_assert_eq(live[i].p[k], live[i].fill);
}

static void random_run(uint64_t *seed, size_t chunk)
{
    arena_options o = {.chunk = chunk};
    arena a;
    make(&a, 2000, &o);
    struct shadow live[LIVE];
    struct {
        arena_mark m;
        int n;
    } marks[DEPTH];
    int n = 0, depth = 0;
    for (int step = 0; step < 300; step++) {
        uint32_t what = seeded_below(seed, 10);
        if (what < 7 && n < LIVE) {
            size_t size = seeded_below(seed, 120), align = (size_t)1 << seeded_below(seed, 8);
            unsigned char *p = arena_alloc_aligned(&a, (int64_t)size, align);
            if (p) {
                cr_assert_eq((uintptr_t)p % align, 0);
                for (size_t k = 0; k < size; k++)
                    cr_assert_eq(p[k], 0);
                live[n] = (struct shadow){p, size, (unsigned char)seeded_next(seed)};
                memset(p, live[n].fill, size);
                n++;
            }
        } else if (what == 7 && depth < DEPTH) {
            marks[depth].m = arena_get_mark(&a);
            marks[depth++].n = n;
        } else if (what == 8 && depth) {
            depth -= (int)seeded_below(seed, (uint32_t)depth);
            depth--;
            cr_assert_eq(arena_restore(&a, marks[depth].m), POOL_OK);
            n = marks[depth].n;
            cr_assert_eq(a.blocks, (uint64_t)n);
        } else if (what == 9 && seeded_below(seed, 10) == 0) {
            arena_reset(&a);
            n = depth = 0;
        }
        sound(&a);
    }
    blocks_intact(live, n);
    arena_free(&a);
}

Test(arena, random_runs_keep_every_block)
{
    uint64_t seed = seeded_first("arena");
    for (int i = 0; i < 40; i++)
        random_run(&seed, i % 2 ? 500 : 0);
}

Test(arena, every_failed_request_leaves_all_as_it_was)
{
    bool met = true;
    for (long n = 1; met; n++) {
        arena a = {0};
        arena_options o = {.chunk = 100};
        fault_arm(n);
        if (arena_init(&a, 100, &o)) {
            for (int i = 0; i < 10; i++) {
                size_t used = arena_used(&a);
                if (!arena_alloc(&a, 90))
                    cr_assert_eq(arena_used(&a), used);
                sound(&a);
            }
        }
        arena_free(&a);
        met = fault_disarm();
    }
}
