/* SPDX-License-Identifier: MIT */
/* test_tracker.c - wrappers: the filter forwards, the tracker records; interned texts, the map, the dump. */
#include "clump.h"
#include "filter.h"
#include "memdump.h"
#include "os.h"
#include "retail.h"
#include "said.h"
#include "seeded.h"
#include "tracker.h"

#include <criterion/criterion.h>
#include <string.h>

enum { BYTES = 1 << 20 };

static char memory[BYTES] __attribute__((aligned(4096)));
static retail_pool heap;
static tracker t;

static void set_up(void)
{
    cr_assert_eq(retail_init_in_place(&heap, NULL, memory, BYTES, "heap"), POOL_OK);
    tracker_init(&t, &heap.base, "tracked");
    said_start();
}

TestSuite(tracker, .init = set_up);

static void *get_from(size_t size, const char *tag, const char *file, int line)
{
    void *p;
    pool_request r = {.size = size, .align = 16, .tag = tag, .file = file, .line = line, .flag = 1};
    cr_assert_eq(pool_alloc(&t.filter.base, &r, &p), POOL_OK);
    return p;
}

Test(tracker, a_record_says_where_the_block_came_from)
{
    char tag[] = "u8", path[] = "/home/me/game/src/loader.cpp";
    uintptr_t words[] = {0x1000, 0x2000, 0x3000};
    uint32_t stack = tracker_stack(&t, words, 3);
    pool_request r = {
        .size = 100, .align = 32, .tag = tag, .file = path, .line = 77, .flag = 1, .stack = stack};
    void *p;
    cr_assert_eq(pool_alloc(&t.filter.base, &r, &p), POOL_OK);
    memset(tag, 'x', 2); /* nothing of the caller's is kept */
    memset(path, 'x', sizeof path - 1);
    const tracker_record *record = tracker_find(&t, p);
    tracker_source from = tracker_source_of(&t, record);
    cr_assert_eq(record->size, 100);
    cr_assert_eq(record->serial, 1);
    cr_assert_eq(from.align, 32);
    cr_assert_eq(from.line, 77);
    cr_assert_eq(from.flag, 1);
    cr_assert_str_eq(from.tag, "u8");
    cr_assert_str_eq(from.file, "loader.cpp", "the last component of the path");
    cr_assert_str_eq(from.name, "-");
    size_t count;
    const uintptr_t *kept = tracker_stack_words(&t, record->stack, &count);
    cr_assert_eq(count, 3);
    cr_assert_eq(kept[2], 0x3000);
    cr_assert_eq(tracker_stack(&t, words, 3), stack, "the same stack has the same number");
    cr_assert_neq(tracker_stack(&t, words, 2), stack);
    char text[256];
    pool_describe(&t.filter.base, p, text, sizeof text);
    cr_assert_not_null(strstr(text, "100 bytes, align 32, u8 -, loader.cpp:77, flag 1"), "%s", text);
    pool_describe(&t.filter.base, (char *)p + 1, text, sizeof text);
    cr_assert_not_null(strstr(text, "no record"));
}

Test(tracker, free_and_resize_follow_the_block)
{
    void *p = get_from(100, "a", "f.c", 1), *q;
    cr_assert_eq(pool_resize(&t.filter.base, p, &(pool_request){.size = 5000, .align = 16, .tag = "b"}, &q),
                 POOL_OK);
    cr_assert_null(tracker_find(&t, p));
    cr_assert_str_eq(tracker_source_of(&t, tracker_find(&t, q)).tag, "b", "recorded anew");
    cr_assert_eq(pool_resize(&t.filter.base, q, &(pool_request){.size = BYTES * 2}, &p), POOL_NOMEM);
    cr_assert_eq(tracker_find(&t, q)->size, 5000, "a failed resize changes nothing");
    cr_assert_eq(pool_resize(&t.filter.base, q, &(pool_request){.size = 0}, &p), POOL_ZERO);
    cr_assert(pool_check_empty(&t.filter.base));
    p = get_from(10, NULL, NULL, 0);
    cr_assert_not(pool_check_empty(&t.filter.base), "unlike the heap below");
    cr_assert_eq(pool_free(&t.filter.base, p), POOL_OK);
    cr_assert(pool_check_empty(&t.filter.base));
    cr_assert_eq(heap.heap.used, 0);
}

Test(tracker, unknown_pointers_are_told)
{
    void *untracked = pool_get(&heap.base, 64, 16);
    cr_assert_eq(pool_free(&t.filter.base, untracked), POOL_OK, "told, then forwarded");
    cr_assert_not_null(strstr(said_all, "has no record of it"));
    cr_assert_eq(pool_free(&t.filter.base, untracked), POOL_DOUBLE_FREE, "the heap's own answer");
    cr_assert_eq(t.unknown, 2);
    pool_set_option(&t.filter.base, POOL_OPTION_STRICT, 1);
    untracked = pool_get(&heap.base, 64, 16);
    cr_assert_eq(pool_free(&t.filter.base, untracked), POOL_INVALID);
    cr_assert_neq(pool_size(&heap.base, untracked), 0);
}

Test(tracker, leaks_are_reported_in_address_order)
{
    get_from(100, "Texture", "/x/gfx.cpp", 10);
    get_from(2000, "World", "/x/world.cpp", 20);
    pool_free(&t.filter.base, get_from(300, "Gone", "/x/gone.cpp", 30));
    cr_assert_eq(pool_report_leaks(&t.filter.base), 2);
    char *texture = strstr(said_all, "100 bytes"), *world = strstr(said_all, "2000 bytes");
    cr_assert(texture && world && texture < world);
    cr_assert_not_null(strstr(said_all, "Texture -, gfx.cpp:10"));
    cr_assert_null(strstr(said_all, "Gone"));
    said_start();
    cr_assert_eq(pool_destroy(&t.filter.base), POOL_OK, "told again, then destroyed with what it wraps");
    cr_assert_not_null(strstr(said_all, "world.cpp:20"));
    cr_assert_null(heap.heap.base);
}

static bool refuse(void)
{
    return false;
}

Test(tracker, running_out_of_memory_for_records_loses_records_not_blocks)
{
    void *live[3000];
    os_fault_hook = refuse;
    for (int i = 0; i < 3000; i++)
        live[i] = pool_get(&t.filter.base, 16, 16);
    os_fault_hook = NULL;
    cr_assert_eq(t.lost, 3000);
    for (int i = 0; i < 3000; i++) {
        cr_assert_not_null(live[i]);
        cr_assert_eq(pool_free(&t.filter.base, live[i]), POOL_OK);
    }
    cr_assert_str_eq(said_all, "", "frees of what was lost are excused");
    cr_assert_eq(t.unknown, 0);
    cr_assert_eq(tracker_stack(&t, (uintptr_t[]){1}, 1), 1);
    cr_assert_not_null(tracker_find(&t, get_from(16, "later", "f.c", 1)));
}

static int calls_left;

static bool fail_now_and_then(void)
{
    return calls_left-- > 0;
}

Test(tracker, failing_at_any_growth_keeps_it_sound)
{
    for (int n = 0; n < 40; n++) {
        set_up();
        calls_left = n;
        os_fault_hook = fail_now_and_then;
        void *live[4000];
        for (int i = 0; i < 4000; i++)
            live[i] = pool_get(&t.filter.base, 16, 16);
        os_fault_hook = NULL;
        cr_assert(pool_check(&t.filter.base), "%s", said_all);
        cr_assert_eq(t.live + t.lost, 4000);
        for (int i = 0; i < 4000; i++)
            cr_assert_eq(pool_free(&t.filter.base, live[i]), POOL_OK);
        cr_assert_eq(t.live, 0);
        cr_assert_eq(t.unknown, 0);
        tracker_done(&t);
        pool_destroy(&heap.base);
    }
}

/* Random operations over a clump: any address, several within 16 bytes. */
Test(tracker, random_sequences_agree_with_a_plain_list)
{
    enum { LIVE = 700 };
    static clump c;
    struct {
        void *p;
        uint32_t size;
    } live[LIVE];
    uint64_t random = seeded_first("tracker");
    for (int round = 0; round < 20; round++) {
        int n = 0;
        clump_init_in_place(&c, NULL, memory, BYTES, "clump");
        pool_set_option(&c.base, POOL_OPTION_COUNT_FREES, 1);
        tracker_init(&t, &c.base, "tracked");
        for (int i = 0; i < 20000; i++) {
            uint32_t size = 1 + seeded_below(&random, 9), k = seeded_below(&random, LIVE);
            pool_request r = {.size = size, .align = 1u << seeded_below(&random, 3), .line = (int)size};
            if (n < LIVE && pool_alloc(&t.filter.base, &r, &live[n].p) == POOL_OK) {
                live[n++].size = size;
            } else if (n) {
                k %= (uint32_t)n;
                cr_assert_eq(tracker_find(&t, live[k].p)->size, live[k].size);
                cr_assert_eq(pool_free(&t.filter.base, live[k].p), POOL_OK);
                cr_assert_null(tracker_find(&t, live[k].p));
                live[k] = live[--n];
            }
            cr_assert_eq(t.live, (uint32_t)n);
            if (i % 500 == 0)
                cr_assert(pool_check(&t.filter.base), "%s", said_all);
        }
        while (n)
            cr_assert_eq(pool_free(&t.filter.base, live[--n].p), POOL_OK);
        cr_assert(pool_check(&t.filter.base), "%s", said_all);
        tracker_done(&t);
        pool_destroy(&c.base);
    }
}

/* --- the dump -------------------------------------------------------------------------------------- */

static void collect(void *arg, const char *text, size_t length)
{
    strncat(arg, text, length);
    strcat(arg, "\n");
}

Test(tracker, dump_names_every_block_of_every_pool)
{
    registry r;
    static char got[8192], want[512];
    uintptr_t words[] = {0xabc, 0xdef};
    registry_init(&r, 8, 0);
    registry_add(&r, &heap.base, "heap");
    registry_add(&r, &t.filter.base, "tracked");
    pool_request request = {.size = 100, .align = 16, .tag = "u8", .file = "a/b.c", .line = 5, .flag = 1};
    request.name = "thing";
    request.stack = tracker_stack(&t, words, 2);
    void *p;
    pool_alloc(&t.filter.base, &request, &p);
    memdump_write(&r, &(lines){collect, got});
    unsigned long first = (unsigned long)(uintptr_t)memory, at = (unsigned long)(uintptr_t)p;
    snprintf(want, sizeof want,
             "# poolmem memdump 1: block address size align tag file line flag name stack serial\n"
             "pool\theap\tretail\t0x%lx\t0x%lx\t1\t128\n"
             "block\t0x%lx\t128\t-\t-\t-\t0\t0\t-\t0\t0\n"
             "pool\ttracked\ttrack\t0x%lx\t0x%lx\t1\t128\n"
             "block\t0x%lx\t100\t16\tu8\tb.c\t5\t1\tthing\t1\t1\n"
             "stack\t1\t0xabc\t0xdef\n"
             "end\n",
             first, first + BYTES - 1, at, first, first + BYTES - 1, at);
    cr_assert_str_eq(got, want);
    got[0] = 0;
    t.dump_to = (lines){collect, got};
    pool_set_option(&t.filter.base, TRACKER_OPTION_DUMP, 1);
    cr_assert_eq(pool_report_leaks(&t.filter.base), 1);
    cr_assert_not_null(strstr(got, "thing"));
    registry_done(&r);
}

/* --- filter ---------------------------------------------------------------------------------------- */

Test(tracker, filter_forwards_every_call)
{
    filter f;
    void *q;
    filter_init(&f, &heap.base, "filter");
    void *p = pool_get(&f.base, 100, 16);
    cr_assert(pool_contains(&heap.base, p) && pool_contains(&f.base, p));
    cr_assert_eq(pool_size(&f.base, p), 128);
    cr_assert_eq(pool_free_bytes(&f.base), pool_free_bytes(&heap.base));
    cr_assert_eq(pool_largest_free(&f.base), pool_largest_free(&heap.base));
    cr_assert_eq(pool_resize(&f.base, p, &(pool_request){.size = 3000}, &q), POOL_OK);
    cr_assert_eq(pool_size(&heap.base, q), 3072);
    char direct[128], through[128];
    pool_describe(&heap.base, q, direct, sizeof direct);
    pool_describe(&f.base, q, through, sizeof through);
    cr_assert_str_eq(direct, through);
    cr_assert_eq(pool_set_option(&f.base, POOL_OPTION_STRICT, 1), POOL_OK);
    cr_assert(heap.strict);
    cr_assert(pool_check(&f.base));
    cr_assert_eq(pool_report_leaks(&f.base), 1);
    pool_stats stats;
    pool_get_stats(&f.base, &stats);
    cr_assert_eq(stats.committed_bytes, BYTES);
    cr_assert_eq(stats.live_blocks, 1);
    cr_assert_eq(pool_destroy(&f.base), POOL_BUSY, "the wrapped pool refuses");
    cr_assert_eq(pool_free(&f.base, q), POOL_OK);
    cr_assert_eq(pool_destroy(&f.base), POOL_OK);
}

/* --- interned strings ------------------------------------------------------------------------------ */

Test(tracker, interned_strings_are_kept_once)
{
    intern n = {0};
    char text[32];
    size_t size;
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < 5000; i++) {
            snprintf(text, sizeof text, "text %u", i);
            cr_assert_eq(intern_text(&n, text), i + 1, "one address, ever another text");
        }
    }
    cr_assert_str_eq(intern_get(&n, 1234, &size), "text 1233");
    cr_assert_eq(size, 9);
    cr_assert_null(intern_get(&n, 0, &size));
    cr_assert_null(intern_get(&n, 5001, &size));
    cr_assert_eq(intern_text(&n, NULL), 0);
    cr_assert_eq(intern_bytes(&n, "a\0b", 3), 5001);
    cr_assert_eq(intern_bytes(&n, "a\0c", 3), 5002);
    intern_done(&n);
}

static void sum_words(void *arg, uintptr_t address, uint32_t word)
{
    uintptr_t *sum = arg;
    cr_assert_gt(address, sum[1], "in address order");
    sum[0] += word;
    sum[1] = address;
}

Test(tracker, map_covers_the_address_space)
{
    page_map m = {0};
    static const uintptr_t at[] = {16, 4096 + 32, (uintptr_t)3 << 30, ((uintptr_t)1 << 47) - 16};
    uintptr_t sum[2] = {0, 0};
    cr_assert_null(page_map_find(&m, 16));
    for (uint32_t i = 4; i-- > 0;)
        *page_map_make(&m, at[i]) = 1u << i;
    for (uint32_t i = 0; i < 4; i++)
        cr_assert_eq(*page_map_find(&m, at[i] + 15), 1u << i);
    cr_assert_null(page_map_find(&m, 1 << 20));
    cr_assert_null(page_map_make(&m, (uintptr_t)1 << 47), "not an address of a process");
    page_map_walk(&m, sum_words, sum);
    cr_assert_eq(sum[0], 15);
    page_map_done(&m);
}

Test(tracker, a_wrapper_round_a_shared_pool_is_shared)
{
    tracker outer;
    filter outermost;
    heap.base.flags |= POOL_SHARED;
    tracker_init(&outer, &heap.base, "tracker");
    cr_assert(outer.filter.base.flags & POOL_SHARED, "its records have no other lock");
    filter_init(&outermost, &outer.filter.base, "filter");
    cr_assert(outermost.base.flags & POOL_SHARED);
    cr_assert_not(outer.filter.base.flags & POOL_SHARED, "of wrappers only the outermost takes its lock");
    void *p = pool_get(&outermost.base, 100, 16);
    cr_assert_not_null(p);
    cr_assert_eq(pool_free(&outermost.base, p), POOL_OK);
    heap.base.flags &= (uint8_t)~POOL_SHARED;
}

Test(tracker, a_dump_keeps_its_lines_whatever_the_texts_hold)
{
    char got[1024] = "", *at;
    get_from(40, "a\tb", "dir/c\nd.c", 3);
    memdump_pool(&t.filter.base, &(lines){collect, got});
    cr_assert_not_null(at = strstr(got, "\nblock\t"));
    cr_assert_not_null(strstr(at, "\ta b\tc d.c\t3\t"), "%s", got);
}
