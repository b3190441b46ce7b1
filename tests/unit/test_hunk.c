/* SPDX-License-Identifier: MIT */
/* test_hunk.c - the hunk: the figures of its specification, both ends, temp, listing, misuse, a property
 * test. */
#include "arena.h"
#include "fault.h"
#include "hunk.h"
#include "said.h"
#include "seeded.h"

#define LOW  HUNK_SIDE_LOW
#define HIGH HUNK_SIDE_HIGH

static void sound(hunk *h)
{
    said_start();
    cr_assert(hunk_check(h), "%s", said_last);
}

static void *expect_alloc(hunk *h, hunk_side side, int64_t size, size_t offset, size_t mark, size_t commit)
{
    void *p;
    cr_assert_eq(hunk_alloc(h, side, size, "test", &p), POOL_OK);
    cr_assert_eq((size_t)((char *)p - h->end[side].base), offset);
    cr_assert_eq(h->end[side].mark, mark);
    cr_assert_eq(h->end[side].commit, commit);
    sound(h);
    return p;
}

static void expect_status(hunk *h, hunk_side side, int64_t size, pool_status want)
{
    hunk_end before = h->end[side];
    void *p = h;
    cr_assert_eq(hunk_alloc(h, side, size, "bad", &p), want);
    cr_assert_null(p);
    cr_assert_eq(memcmp(&before, &h->end[side], sizeof before), 0);
    sound(h);
}

Test(hunk, the_specified_sequence)
{
    hunk h = {0};
    cr_assert_eq(hunk_init(&h, NULL), POOL_OK);
    cr_assert_eq(h.end[LOW].reserve, 1u << 30);
    cr_assert_eq(h.end[HIGH].reserve, 32u << 20);
    expect_alloc(&h, LOW, 1, 16, 32, 65536);
    expect_alloc(&h, LOW, 16, 48, 64, 65536);
    memset(expect_alloc(&h, LOW, 65456, 80, 65536, 65536), 0xff, 65456);
    memset(expect_alloc(&h, LOW, 1, 65552, 65568, 131072), 0xff, 16);
    cr_assert_eq(hunk_free_to_mark(&h, LOW, 64), POOL_OK);
    cr_assert_eq(h.end[LOW].mark, 64);
    cr_assert_eq(h.end[LOW].commit, 131072);
    for (size_t i = 64; i < 131072; i++)
        cr_assert_eq(h.end[LOW].base[i], 0);
    expect_alloc(&h, LOW, 0, 80, 80, 131072);
    expect_alloc(&h, HIGH, (32 << 20) - 16, 16, 32u << 20, 32u << 20);
    expect_status(&h, HIGH, 1, POOL_LIMIT);
    expect_status(&h, HIGH, 0, POOL_LIMIT);
    hunk_free(&h);
}

Test(hunk, first_allocation_that_fits_exactly_commits_one_step)
{
    hunk h = {0};
    hunk_init(&h, NULL);
    expect_alloc(&h, LOW, 65520, 16, 65536, 65536);
    hunk_free(&h);
}

Test(hunk, head_and_names)
{
    hunk h = {0};
    void *p;
    hunk_init(&h, NULL);
    hunk_alloc(&h, LOW, 20, "abc", &p);
    const hunk_head *head = (hunk_head *)p - 1;
    cr_assert_eq(head->sentinel, 0x1df001ed);
    cr_assert_eq(head->size, 48);
    cr_assert_eq(memcmp(head->name, "abc\0\0\0\0\0", 8), 0);
    hunk_alloc(&h, LOW, 20, "longer than eight", &p);
    cr_assert_eq(memcmp(((hunk_head *)p - 1)->name, "longer t", 8), 0);
    hunk_alloc(&h, LOW, 20, NULL, &p);
    cr_assert_eq(memcmp(((hunk_head *)p - 1)->name, "unused\0", 8), 0);
    hunk_free(&h);
}

Test(hunk, sizes_and_marks_that_are_refused)
{
    hunk h = {0};
    hunk_init(&h, &(hunk_options){.low = 100000, .high = 1});
    cr_assert_eq(h.end[LOW].reserve, 131072);
    cr_assert_eq(h.end[HIGH].reserve, 65536);
    expect_status(&h, LOW, -1, POOL_OVERFLOW);
    expect_status(&h, LOW, INT64_MIN, POOL_OVERFLOW);
    expect_status(&h, LOW, INT64_MAX, POOL_LIMIT);
    expect_status(&h, LOW, 131072 - 15, POOL_LIMIT);
    expect_status(&h, LOW, 131072, POOL_LIMIT);
    cr_assert_eq(hunk_free_to_mark(&h, LOW, 0), POOL_OK, "an unused hunk and 0");
    cr_assert_eq(hunk_free_to_mark(&h, LOW, 16), POOL_INVALID);
    expect_alloc(&h, LOW, 100, 16, 128, 65536);
    expect_alloc(&h, LOW, 100, 144, 256, 65536);
    cr_assert_eq(hunk_free_to_mark(&h, LOW, -1), POOL_INVALID);
    cr_assert_eq(hunk_free_to_mark(&h, LOW, 64), POOL_INVALID, "no block begins there");
    cr_assert_eq(hunk_free_to_mark(&h, LOW, 257), POOL_INVALID);
    cr_assert_eq(h.end[LOW].mark, 256);
    cr_assert_eq(hunk_free_to_mark(&h, LOW, 128), POOL_OK);
    cr_assert_eq(h.end[LOW].blocks, 1);
    expect_alloc(&h, LOW, 131072 - 128 - 16, 144, 131072, 131072);
    hunk_free(&h);
    hunk_free(&h);
    void *p;
    cr_assert_eq(hunk_alloc(&h, LOW, 1, "x", &p), POOL_INVALID, "no hunk");
}

Test(hunk, init_refuses)
{
    hunk h = {0};
    cr_assert_eq(hunk_init(&h, &(hunk_options){.step = 3000}), POOL_ALIGN);
    cr_assert_eq(hunk_init(&h, &(hunk_options){.low = SIZE_MAX}), POOL_OVERFLOW);
    cr_assert_eq(hunk_init(&h, &(hunk_options){.low = SIZE_LIMIT / 4}), POOL_NOMEM);
    cr_assert_eq(hunk_init(&h, NULL), POOL_OK);
    cr_assert_eq(hunk_init(&h, NULL), POOL_EXISTS);
    hunk_free(&h);
}

Test(hunk, temporary_block)
{
    hunk h = {0};
    arena temp = {0};
    arena_init(&temp, 10000, NULL);
    for (int with_pool = 0; with_pool < 2; with_pool++) {
        hunk_init(&h, &(hunk_options){.temp = with_pool ? &temp.pool : NULL});
        cr_assert_not_null(hunk_temp_alloc(&h, 100));
        memset(h.temp, 1, 100);
        hunk_mark(&h, LOW);
        cr_assert_not_null(h.temp, "the low end leaves it alone");
        hunk_mark(&h, HIGH);
        cr_assert_null(h.temp);
        hunk_temp_alloc(&h, 0);
        expect_alloc(&h, HIGH, 1, 16, 32, 65536);
        cr_assert_null(h.temp);
        hunk_temp_alloc(&h, 5);
        cr_assert_eq(hunk_free_to_mark(&h, HIGH, 0), POOL_OK);
        cr_assert_null(h.temp);
        cr_assert_null(hunk_temp_alloc(&h, -1));
        cr_assert_null(hunk_temp_alloc(&h, INT64_MAX));
        hunk_temp_alloc(&h, 5);
        hunk_free(&h);
    }
    arena_free(&temp);
}

Test(hunk, inside_another_pool_and_with_decommit)
{
    arena outer = {0};
    arena_init(&outer, 400000, NULL);
    memset(outer.first.base, 0xaa, 400000); /* a parent's memory is not clean */
    hunk h = {0};
    cr_assert_eq(hunk_init(&h, &(hunk_options){.parent = &outer.pool, .low = 131072, .high = 65536}),
                 POOL_OK);
    expect_alloc(&h, LOW, 70000, 16, 70016, 131072);
    cr_assert_eq(hunk_free_to_mark(&h, LOW, 0), POOL_OK);
    hunk_free(&h);
    cr_assert_eq(hunk_init(&h, &(hunk_options){.parent = &outer.pool}), POOL_NOMEM);
    cr_assert_eq(hunk_init(&h, &(hunk_options){.parent = &outer.pool, .apart = true}), POOL_OK);
    cr_assert_eq(h.pool.parent, &outer.pool);
    expect_alloc(&h, LOW, 70000, 16, 70016, 131072);
    hunk_free(&h);
    cr_assert_eq(outer.pool.counts.live_blocks, 0, "a hunk apart takes nothing of its parent");
    arena_free(&outer);

    cr_assert_eq(hunk_init(&h, &(hunk_options){.decommit = true}), POOL_OK);
    expect_alloc(&h, LOW, 70000, 16, 70016, 131072);
    expect_alloc(&h, LOW, 200000, 70032, 270032, 327680);
    cr_assert_eq(hunk_free_to_mark(&h, LOW, 70016), POOL_OK);
    cr_assert_eq(h.end[LOW].commit, 131072);
    expect_alloc(&h, LOW, 200000, 70032, 270032, 327680);
    hunk_free(&h);
}

Test(hunk, listing_by_name)
{
    hunk h = {0};
    void *p;
    hunk_init(&h, NULL);
    for (int i = 0; i < 3; i++) {
        hunk_alloc(&h, LOW, 16, "model", &p);
        hunk_alloc(&h, LOW, 32, "texture", &p);
    }
    hunk_alloc(&h, HIGH, 100, "video", &p);
    hunk_row rows[8];
    cr_assert_eq(hunk_list(&h, rows, 8), 3);
    cr_assert_str_eq(rows[0].name, "model");
    cr_assert_eq(rows[0].blocks, 3);
    cr_assert_eq(rows[0].bytes, 96);
    cr_assert_str_eq(rows[1].name, "texture");
    cr_assert_eq(rows[1].bytes, 144);
    cr_assert_eq(rows[2].side, HIGH);
    cr_assert_eq(rows[2].bytes, 128);
    cr_assert_eq(hunk_list(&h, rows, 2), 2);
    cr_assert_str_eq(rows[1].name, "(others)");
    cr_assert_eq(rows[1].blocks, 4);
    cr_assert_eq(hunk_list(&h, rows, 0), 0);
    said_start();
    cr_assert_eq(pool_report_leaks(&h.pool), 7);
    cr_assert_eq(said_lines, 3);
    said_expect("hunk hunk: 1 blocks 'video' hold 128 bytes of its high end");
    hunk_free(&h);
}

Test(hunk, check_names_what_is_trashed)
{
    hunk h = {0};
    char *p, *q;
    hunk_init(&h, NULL);
    hunk_alloc(&h, LOW, 16, "a", (void **)&p);
    hunk_alloc(&h, LOW, 16, "b", (void **)&q);
    said_start();
    p[16] ^= 1; /* one byte past the payload */
    cr_assert_not(hunk_check(&h));
    said_expect("hunk hunk: low end, offset 32: trashed sentinel");
    cr_assert_eq(hunk_free_to_mark(&h, LOW, 32), POOL_OK, "what lies below the damage can still be kept");
    hunk_alloc(&h, LOW, 16, "b", (void **)&q);
    sound(&h);
    q[16] = 1;
    cr_assert_not(hunk_check(&h));
    said_expect("hunk hunk: low end, offset 64: written to above the mark");
    q[16] = 0;
    ((hunk_head *)p - 1)->size = 8;
    cr_assert_not(hunk_check(&h));
    said_expect("hunk hunk: low end, offset 0: bad size");
    hunk_free(&h);
}

Test(hunk, as_a_pool)
{
    hunk h = {0};
    hunk_init(&h, NULL);
    pool *p = &h.pool;
    void *a, *b, *out;
    cr_assert_eq(pool_alloc(p, &(pool_request){.size = 10, .name = "thing"}, &a), POOL_OK);
    cr_assert_eq(pool_alloc(p, &(pool_request){.size = 10, .align = 64}, &out), POOL_ALIGN);
    char line[128];
    pool_describe(p, a, line, sizeof line);
    cr_assert_not_null(strstr(line, "block 'thing' of 16 bytes in hunk hunk"));
    b = pool_get(p, 40, 16);
    cr_assert_eq(pool_size(p, b), 48);
    cr_assert_eq(pool_size(p, (char *)b + 16), 0);
    cr_assert_eq(pool_resize(p, b, &(pool_request){.size = 48}, &out), POOL_OK);
    cr_assert_eq(out, b);
    memset(b, 3, 48);
    cr_assert_eq(pool_resize(p, b, &(pool_request){.size = 100}, &out), POOL_OK);
    cr_assert_eq(memcmp(out, b, 48), 0);
    cr_assert_eq(pool_free(p, (char *)b + 16), POOL_INVALID);
    cr_assert_eq(pool_free(p, &h), POOL_FOREIGN);
    cr_assert_eq(pool_resize(p, &h, &(pool_request){.size = 1}, &out), POOL_FOREIGN);
    cr_assert_eq(pool_free(p, b), POOL_OK);
    pool_set_option(p, POOL_OPTION_STRICT, 1);
    cr_assert_eq(pool_free(p, b), POOL_UNSUPPORTED);
    cr_assert_not(pool_check_empty(p));
    pool_stats s = {0};
    pool_get_stats(p, &s);
    cr_assert_eq(s.live_blocks, 3);
    cr_assert_eq(s.live_bytes, 16 + 48 + 112);
    p->limit = h.end[LOW].mark;
    p->over = OVER_FAIL;
    cr_assert_eq(pool_alloc(p, &(pool_request){.size = 1}, &out), POOL_LIMIT);
    hunk_free_to_mark(&h, LOW, 0);
    cr_assert(pool_check_empty(p));
    pool_get_stats(p, &s);
    cr_assert_eq(s.frees, s.allocs);
    cr_assert_eq(pool_destroy(p), POOL_OK);
}

enum { LIVE = 200 };
struct shadow {
    unsigned char *p, fill;
    size_t n, before; /* bytes, mark before it */
};

static int back_to(hunk *h, hunk_side side, const struct shadow *live, int n, uint64_t *seed)
{
    int keep = (int)seeded_below(seed, (uint32_t)n);
    cr_assert_eq(hunk_free_to_mark(h, side, (int64_t)live[keep].before), POOL_OK);
    return keep;
}

static int one_more(hunk *h, hunk_side side, struct shadow *live, int n, uint64_t *seed)
{
    size_t size = seeded_below(seed, 3000), before = h->end[side].mark;
    void *p;
    if (hunk_alloc(h, side, (int64_t)size, "random", &p) != POOL_OK)
        return n;
    live[n] = (struct shadow){p, (unsigned char)seeded_next(seed), size, before};
    for (size_t k = 0; k < round_up(size, 16); k++)
        cr_assert_eq(live[n].p[k], 0);
    memset(p, live[n].fill, size);
    return n + 1;
}

Test(hunk, random_runs_keep_every_block)
{
    uint64_t seed = seeded_first("hunk");
    for (int run = 0; run < 8; run++) {
        hunk h = {0};
        struct shadow live[2][LIVE];
        int n[2] = {0, 0};
        hunk_init(&h, &(hunk_options){.low = 300000, .high = 100000, .step = 4096, .decommit = run & 1});
        for (int step = 0; step < 200; step++) {
            hunk_side side = (hunk_side)seeded_below(&seed, 2);
            if (n[side] && seeded_below(&seed, 12) == 0)
                n[side] = back_to(&h, side, live[side], n[side], &seed);
            else if (n[side] < LIVE)
                n[side] = one_more(&h, side, live[side], n[side], &seed);
            cr_assert_eq(h.end[side].blocks, (size_t)n[side]);
            sound(&h);
        }
        for (int side = 0; side < 2; side++)
            for (int i = 0; i < n[side]; i++)
                for (size_t k = 0; k < live[side][i].n; k++)
                    cr_assert_eq(live[side][i].p[k], live[side][i].fill);
        hunk_free(&h);
    }
}

Test(hunk, every_failed_request_leaves_all_as_it_was)
{
    bool met = true;
    for (long n = 1; met; n++) {
        hunk h = {0};
        void *p;
        fault_arm(n);
        if (hunk_init(&h, NULL) == POOL_OK) {
            for (int i = 0; i < 5; i++) {
                size_t mark = h.end[LOW].mark;
                if (hunk_alloc(&h, LOW, 60000, "x", &p) != POOL_OK)
                    cr_assert_eq(h.end[LOW].mark, mark);
                hunk_temp_alloc(&h, 1000);
                sound(&h);
            }
        }
        hunk_free(&h);
        met = fault_disarm();
    }
}
