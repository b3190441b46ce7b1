/* SPDX-License-Identifier: MIT */
/*
 * test_report.c - the picture a report takes and the four formats, on a mapping made by hand; and that no
 * mapping, however damaged, is read outside its bytes.
 */
#include "report_bed.h"
#include "seeded.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static stats_header *h;
static size_t bytes;
static report *r;

static void setup(void)
{
    h = bed_create(&bytes);
    r = bed_report(h, bytes);
    cr_assert_not_null(r);
}

static void teardown(void)
{
    free(r);
    free(h);
}

TestSuite(report, .init = setup, .fini = teardown);

static const char *format(report_format f)
{
    return bed_format(r, f);
}

#define contains(text, part) cr_assert_not_null(strstr((text), (part)), "%s not in: %s", (part), (text))

/* The rows have been changed. */
static void take_again(void)
{
    free(r);
    r = bed_report(h, bytes);
}

Test(report, adds_up_tallies_by_site_and_pool)
{
    cr_assert_eq(r->pools[2].stats.allocs, 30);
    cr_assert_eq(r->pools[2].stats.alloc_bytes, 10200);
    cr_assert_eq(r->pools[0].stats.reallocs, 3);
    cr_assert_eq(r->total.allocs, 47);
    cr_assert_eq(r->total.alloc_bytes, 11270);
    cr_assert_eq(r->unattributed_allocs, 10);
    cr_assert_eq(r->memo_hits, 47 + 3 - 7);
}

Test(report, sorts_sites_by_bytes_within_their_pool)
{
    const report_site *s = &r->sites[r->pools[2].site_first];
    cr_assert_eq(r->pools[2].site_count, 2);
    cr_assert_eq(s[0].bytes, 9000);
    cr_assert_eq(s[1].bytes, 1200);
    cr_assert_eq(s[1].allocs, 10);
}

Test(report, frees_are_allocs_less_live_blocks)
{
    cr_assert_eq(r->pools[2].stats.live_blocks, 3);
    cr_assert_eq(r->pools[2].stats.frees, 27);
    cr_assert_eq(r->pools[1].stats.frees, 0, "more live than counted is no negative count");
}

Test(report, reconciles)
{
    uint64_t committed = 4096 * 10;
    cr_assert_eq(r->total.committed_bytes, committed);
    cr_assert_eq(r->total.live_bytes + r->total.free_bytes + r->overhead_bytes, r->committed_bytes);
    cr_assert_eq(r->overhead_bytes, 4 * 128 + 4 * 96);
}

Test(report, orders_the_tree_parents_first)
{
    uint32_t want[] = {0, 1, 2, 3};
    cr_assert_arr_eq(r->order, want, sizeof want);
    cr_assert_eq(r->pools[3].depth, 2);
    stats_pools(h)[1].parent = 3; /* System below Strings */
    take_again();
    uint32_t then[] = {0, 2, 3, 1};
    cr_assert_arr_eq(r->order, then, sizeof then);
}

Test(report, survives_a_circle_of_parents)
{
    stats_pools(h)[2].parent = 3;
    take_again();
    contains(format(FORMAT_FOLDED), "luaM_malloc_ ");
    contains(format(FORMAT_HEAP), "@");
}

Test(report, json_has_every_field_of_the_schema)
{
    static const char *const keys[] = {
        "poolmem",   "schema",         "pid",           "exe",        "reason",     "sequence",
        "uptime_ns", "process",        "rss_bytes",     "live_bytes", "unwound",    "committed_bytes",
        "memo_hits", "overhead_bytes", "foreign_frees", "pools",      "name",       "parent",
        "kind",      "limit_bytes",    "live_blocks",   "peak_bytes", "allocs",     "frees",
        "reallocs",  "alloc_bytes",    "failed",        "over_limit", "free_bytes", "largest_free_bytes",
        "sites",     "bytes",          "frames"};
    const char *text = format(FORMAT_JSON);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        char key[64];
        sprintf(key, "\"%s\":", keys[i]);
        contains(text, key);
    }
    contains(text, "\"name\": \"Strings;\\\"x\\\"\", \"parent\": \"Lua\"");
    contains(text, "\"luaM_malloc_+0x10 (/usr/lib/liblua5.4.so.0)\", \"luaH_new+0x10 (");
    contains(text, "\"reason\": \"signal\"");
    cr_assert_null(strstr(text, "live_exact\": false"));
    cr_assert_eq(text[strlen(text) - 1], '\n');
}

Test(report, json_replaces_bytes_that_are_no_utf8)
{
    strcpy(stats_pools(h)[2].name, "a\xc3\xa9\xff\xe2\x82\x01");
    take_again();
    contains(format(FORMAT_JSON), "\"name\": \"a\xc3\xa9\\ufffd\\ufffd\\ufffd\\u0001\"");
}

static void expect_narrow(const char *text)
{
    for (const char *end; *text; text = end + 1) {
        end = strchr(text, '\n');
        cr_assert_not_null(end);
        cr_assert_leq(end - text, 100, "%.*s", (int)(end - text), text);
    }
}

Test(report, text_fits_100_columns)
{
    const char *text = format(FORMAT_TEXT);
    contains(text, "lua5.4 (pid 42), report 3 (signal), up 2.0 s, RSS 1.00 MiB");
    contains(text, "\n  Lua  ");
    contains(text, "\n    Strings;");
    contains(text, "luaM_malloc_+0x10 (liblua5.4.so.0) < luaH_new+0x10\n");
    expect_narrow(text);
}

/* The widths of frames vary, so that lines end everywhere. */
Test(report, text_ends_a_cut_stack_in_dots)
{
    stats_site *s = &stats_sites(h)[STATS_POOLS];
    cr_assert_null(strstr(format(FORMAT_TEXT), " < ..."));
    for (uint32_t shape = 0; shape < 1u << STATS_SITE_FRAMES; shape += 5) {
        s->frame_count = STATS_SITE_FRAMES;
        for (uint32_t i = 0; i < STATS_SITE_FRAMES; i++)
            s->frames[i] = shape >> i & 1 ? 2 : i % 2;
        const char *text = format(FORMAT_TEXT);
        expect_narrow(text);
        for (const char *cut = text; (cut = strstr(cut, " <\n")); cut++)
            cr_assert_eq(strspn(cut + 3, " "), 29, "%s", text);
    }
    for (uint32_t i = 0; i < STATS_SITE_FRAMES; i++)
        s->frames[i] = i % 2 * 2;
    contains(format(FORMAT_TEXT), " < ...\n");
}

Test(report, text_counts_one_as_one)
{
    stats_tallies(h)[4].allocs = 1;
    take_again();
    contains(format(FORMAT_TEXT), "\nStrings;\"x\": 1 call asked for 70 B; 1 call-site\n");
    contains(format(FORMAT_TEXT), "\nLua: 30 calls asked for 9.96 KiB; 2 call-sites\n");
    r->source.top = 1;
    contains(format(FORMAT_TEXT), "; the top 1 of 2 call-sites\n");
}

Test(report, text_says_what_is_not_resident)
{
    r->source.rss_bytes = 16384;
    const char *text = format(FORMAT_TEXT);
    contains(
        text,
        "= committed 40.5 KiB\n"
        "  RSS of the whole process is only 16.0 KiB: at least 24.5 KiB of the committed is not resident\n");
    expect_narrow(text);
}

Test(report, text_says_when_nothing_has_changed_since_the_mark)
{
    h->mark_ns = 2500000000;
    strcpy(h->mark, "loaded");
    for (uint32_t i = 0; i < r->pool_count; i++) {
        stats_pools(h)[i].mark_live_bytes = r->pools[i].stats.live_bytes;
        stats_pools(h)[i].mark_live_blocks = r->pools[i].stats.live_blocks;
        stats_pools(h)[i].mark_allocs = r->pools[i].stats.allocs;
    }
    contains(format(FORMAT_TEXT), "since mark 'loaded', 0.5 s ago\npool                          live bytes"
                                  "      blocks      allocs\nno change\n");
    stats_pools(h)[2].mark_allocs--;
    cr_assert_null(strstr(format(FORMAT_TEXT), "no change"));
}

Test(report, text_says_when_live_figures_could_not_be_read)
{
    stats_pools(h)[3].heap = 100;
    take_again();
    cr_assert_not(r->exact);
    contains(format(FORMAT_TEXT), "upper bounds");
    contains(format(FORMAT_JSON), "\"live_exact\": false");
}

Test(report, shows_what_is_live_by_site_when_tracked)
{
    h->track = 1;
    take_again();
    contains(format(FORMAT_JSON), "\"allocs\": 10, \"bytes\": 1200, \"live_bytes\": 640, \"live_blocks\": 6");
    r->source.reason = REASON_EXIT;
    contains(format(FORMAT_TEXT), "never freed: 640 B in 6 blocks\n  blocks      live      pool called by\n"
                                  "       6     640 B       Lua luaM_malloc_+0x10");
}

Test(report, folded_goes_from_the_root_to_the_innermost_frame)
{
    const char *text = format(FORMAT_FOLDED);
    contains(text, "Global;Lua;luaH_new;luaM_malloc_ 1200\n");
    contains(text, "Global;Lua;unknown+0x3030;luaH_new 9000\n");
    contains(text, "Global;Lua;Strings:\"x\";unknown+0x3030 70\n");
    contains(text, "Global 1000\n");
}

Test(report, heap_profile_carries_names_when_alone)
{
    const char *text = format(FORMAT_HEAP);
    cr_assert_eq(strncmp(text, "--- symbol\nbinary=/usr/bin/lua5.4\n", 34), 0);
    contains(text, "0x1028 pool:Lua\n");
    contains(text, "0x7f000000100f luaM_malloc_\n");
    contains(text, "\n---\nheap profile:     47:    11270 [    47:    11270] @ heapprofile\n");
    contains(text, "    10:     1200 [    10:     1200] @ 0x7f000000100f 0x7f0000002020 0x1028 0x1008\n");
}

Test(report, heap_profile_names_the_object_of_pools)
{
    r->source.pools_object = "/tmp/x.heap.pools.so";
    const char *text = format(FORMAT_HEAP);
    cr_assert_eq(strncmp(text, "heap profile:", 13), 0);
    contains(text, "\nMAPPED_LIBRARIES:\n1000-2000 r-xp 00000000 00:00 0 /tmp/x.heap.pools.so\n");
}

Test(report, refuses_what_is_no_mapping)
{
    report_source s = r->source;
    void *memory = malloc(report_bytes());
    s.bytes = sizeof(stats_header) - 1;
    cr_assert_null(report_take(&s, memory));
    s.bytes = bytes;
    h->magic[0] = 'q';
    cr_assert_null(report_take(&s, memory));
    h->magic[0] = 'p';
    h->version = 99;
    cr_assert_null(report_take(&s, memory));
    free(memory);
}

/* Whatever the bytes say, nothing outside the mapping is read (ASan) and every format ends. */
Test(report, damaged_mappings_are_read_within_their_bytes)
{
    uint64_t state = seeded_first("damaged mappings");
    for (int round = 0; round < 300; round++) {
        free(r);
        free(h);
        h = bed_create(&bytes);
        for (int i = 0; i < 8; i++) {
            size_t span = round % 2 ? bytes : sizeof *h;
            ((unsigned char *)h)[16 + seeded_next(&state) % (span - 16)] ^= 1u << seeded_next(&state) % 8;
        }
        h->version = STATS_VERSION;
        h->header_bytes = sizeof *h;
        r = bed_report(h, bytes);
        for (int f = FORMAT_TEXT; f <= FORMAT_HEAP; f++)
            bed_format(r, f);
    }
}

Test(report, format_follows_the_ending)
{
    cr_assert_eq(report_format_of("/a/b.json"), FORMAT_JSON);
    cr_assert_eq(report_format_of("b.folded"), FORMAT_FOLDED);
    cr_assert_eq(report_format_of("b.x.heap"), FORMAT_HEAP);
    cr_assert_eq(report_format_of("b.txt"), FORMAT_TEXT);
    cr_assert_eq(report_format_of("/a.json/b"), FORMAT_TEXT);
}
