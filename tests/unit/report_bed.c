/* SPDX-License-Identifier: MIT */
/*
 * report_bed.c - see report_bed.h.
 */
#include "report_bed.h"

#include <stdlib.h>
#include <string.h>

enum { POOLS = 4, SITES = STATS_POOLS + 4, FRAMES = 4, MODULES = 2, TALLIES = 8, STRINGS = 256 };

static uint32_t place(size_t *end, size_t bytes)
{
    size_t at = *end;
    *end = round_up(at + bytes, 64);
    return (uint32_t)at;
}

static uint32_t string(stats_header *h, const char *text)
{
    uint32_t at = h->string_bytes;
    strcpy((char *)stats_string(h, at), text);
    h->string_bytes += (uint32_t)strlen(text) + 1;
    return at;
}

static void add_pool(stats_header *h, const char *name, uint32_t parent, uint64_t heap, uint64_t limit)
{
    stats_pool *p = &stats_pools(h)[h->pool_count++];
    strcpy(p->name, name);
    p->parent = parent;
    p->heap = heap;
    p->limit = limit;
    p->peak_bytes = heap * 100 + 50;
    p->committed_bytes = 4096 * heap;
}

static void add_frame(stats_header *h, uint32_t module, const char *symbol, uint64_t offset)
{
    stats_frame *f = &stats_frames(h)[h->frame_count++];
    f->module = module;
    f->symbol = symbol ? string(h, symbol) : 0;
    f->symbol_offset = 16;
    f->offset = offset;
    f->address = 0x7f0000000000 + offset;
}

static void add_site(stats_header *h, uint32_t pool, uint32_t first, uint32_t frames)
{
    stats_site *s = &stats_sites(h)[h->site_count++];
    s->pool = pool;
    s->frame_count = frames;
    for (uint32_t i = 0; i < frames; i++)
        s->frames[i] = first + i;
}

static void add_tally(stats_header *h, uint32_t site, uint64_t allocs, uint64_t bytes)
{
    stats_tallies(h)[h->tally_count++] = (stats_tally){.site = site, .allocs = allocs, .bytes = bytes};
}

static void fill(stats_header *h)
{
    h->string_bytes = 1;
    h->module_count = 1;
    stats_modules(h)[h->module_count++].path = string(h, "/usr/lib/liblua5.4.so.0");
    add_pool(h, "Global", 0, 1, 0);
    add_pool(h, "System", 0, 2, 0);
    add_pool(h, "Lua", 0, 3, 1 << 20);
    add_pool(h, "Strings;\"x\"", 2, 4, 0);
    for (uint32_t i = 0; i < STATS_POOLS; i++)
        add_site(h, i, 0, 0);
    add_frame(h, 1, "luaM_malloc_", 0x1010);
    add_frame(h, 1, "luaH_new", 0x2020);
    add_frame(h, 0, NULL, 0x3030);
    add_site(h, 2, 0, 2); /* luaM_malloc_ < luaH_new */
    add_site(h, 2, 1, 2); /* luaH_new < an unknown place */
    add_site(h, 3, 2, 1);
    add_tally(h, STATS_POOL_GLOBAL, 10, 1000);
    add_tally(h, STATS_POOLS, 5, 500);
    add_tally(h, STATS_POOLS, 5, 700); /* another thread, the same site */
    add_tally(h, STATS_POOLS + 1, 20, 9000);
    add_tally(h, STATS_POOLS + 2, 7, 70);
    stats_tallies(h)[0].reallocs = 3;
    stats_lives(h)[STATS_POOLS] = (stats_live){640, 6};
}

stats_header *bed_create(size_t *bytes)
{
    stats_header plan = {0}, *h;
    size_t end = round_up(sizeof plan, 64);
    plan.pools_at = place(&end, POOLS * sizeof(stats_pool));
    plan.sites_at = place(&end, SITES * sizeof(stats_site));
    plan.lives_at = place(&end, SITES * sizeof(stats_live));
    plan.frames_at = place(&end, FRAMES * sizeof(stats_frame));
    plan.modules_at = place(&end, MODULES * sizeof(stats_module));
    plan.tallies_at = place(&end, TALLIES * sizeof(stats_tally));
    plan.strings_at = place(&end, STRINGS);
    memcpy(plan.magic, STATS_MAGIC, 8);
    plan.version = STATS_VERSION;
    plan.header_bytes = sizeof plan;
    plan.start_ns = 1000000000;
    plan.unwound = 7;
    strcpy(plan.exe, "/usr/bin/lua5.4");
    strcpy(plan.program, "lua5.4");
    h = calloc(1, end);
    *h = plan;
    fill(h);
    *bytes = end;
    return h;
}

bool bed_figures(uint64_t world, uint64_t heap, memory_reader *reader, void *arg, heap_figures *out)
{
    *out = (heap_figures){.live_bytes = heap * 100,
                          .live_blocks = heap,
                          .committed_bytes = 4096 * heap,
                          .free_bytes = 4096 * heap - 100 * heap - 96,
                          .largest_free_bytes = 2048,
                          .overhead_bytes = 128};
    return heap < 100;
}

report *bed_report(stats_header *h, size_t bytes)
{
    report_source s = {.header = h,
                       .bytes = bytes,
                       .figures = bed_figures,
                       .pid = 42,
                       .sequence = 3,
                       .now_ns = 3000000000,
                       .rss_bytes = 1 << 20};
    return report_take(&s, malloc(report_bytes()));
}

const char *bed_format(report *r, report_format f)
{
    static char text[1 << 16];
    sink out;
    sink_open(&out, text, sizeof text - 1, -1);
    report_write(r, f, &out);
    text[out.len] = 0;
    return text;
}
