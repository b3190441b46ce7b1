/* SPDX-License-Identifier: MIT */
/*
 * report.h - floor F4: one report: a picture of the published mapping (stats.h) and of the heaps behind it,
 * and the four formats it is written in. The same code runs in the process, from its signal handler, and in
 * the `poolmem` command on somebody else's mapping, so nothing in a mapping is trusted: counts, offsets and
 * strings are checked against its size once and read once.
 * Locking: none. No malloc: the caller gives the memory (report_bytes).
 * Read next: report.c (the picture), then report_text.c.
 */
#ifndef POOLMEM_REPORT_H
#define POOLMEM_REPORT_H

#include "heap_stats.h"
#include "sink.h"
#include "stats.h"

typedef enum report_reason {
    REASON_SIGNAL,
    REASON_EXIT,
    REASON_REQUEST,
    REASON_LIMIT,
    REASON_COUNT
} report_reason;

typedef enum report_format { FORMAT_TEXT, FORMAT_JSON, FORMAT_FOLDED, FORMAT_HEAP } report_format;

/* heap_figures_read, or a test's stand-in. */
typedef bool report_figures(uint64_t world, uint64_t heap, memory_reader *reader, void *arg,
                            heap_figures *out);

/* What a report is made from. */
typedef struct report_source {
    const stats_header *header;
    size_t bytes; /* of the mapping that may be read */
    report_figures *figures;
    memory_reader *reader; /* NULL: this process */
    void *reader_arg;
    report_reason reason;
    uint32_t pid, sequence;
    bool quiet;               /* that it cannot be written is no more than a warning */
    uint64_t now_ns;          /* CLOCK_MONOTONIC */
    uint64_t rss_bytes;       /* 0 unknown */
    unsigned top;             /* call-sites a pool in JSON and text; 0: 100 and 20 */
    const char *pools_object; /* heap profile: path of the object that names the pools, NULL none */
} report_source;

/* A mapping whose layout has been checked; everything is within its bytes. */
typedef struct report_view {
    const stats_header *header;
    const stats_pool *pools;
    const stats_site *sites;
    const stats_live *lives; /* NULL: not tracked */
    const stats_frame *frames;
    const stats_module *modules;
    const stats_tally *tallies;
    const char *strings;
    uint32_t pool_count, site_count, frame_count, module_count, string_bytes, tally_count;
} report_view;

typedef struct report_site {
    uint32_t pool, site;
    uint64_t allocs, bytes, reallocs;
    uint64_t live_bytes, live_blocks; /* only when tracked */
} report_site;

typedef struct report_pool {
    char name[POOL_NAME_MAX + 1];
    uint32_t parent, depth; /* depth 0: the root */
    uint8_t kind;
    bool exact; /* live figures come from the heap itself; else they are what it has committed */
    uint64_t limit_bytes;
    pool_stats stats;
    uint64_t overhead_bytes;
    uint32_t site_first, site_count; /* its slice of report.sites */
} report_pool;

typedef struct report {
    report_source source;
    report_view view;
    char exe[256];     /* path of the program file */
    char program[256]; /* what it was called */
    uint64_t uptime_ns;
    pool_stats total; /* sums over all pools */
    uint64_t overhead_bytes, committed_bytes;
    uint64_t foreign_frees, misuse, unwound, memo_hits, unattributed_allocs, unattributed_bytes;
    uint64_t sites_lost, tallies_lost, track_lost;
    bool exact; /* of all pools */
    uint32_t pool_count;
    report_pool pools[STATS_POOLS];
    uint32_t order[STATS_POOLS]; /* the tree, parents first */
    report_site *sites;          /* by pool, most bytes first */
    uint32_t site_total;
} report;

/* Memory that report_take needs for any mapping. */
size_t report_bytes(void);
/* Takes the picture into `memory`; NULL when the mapping is none of ours. */
report *report_take(const report_source *from, void *memory);

void report_write(const report *r, report_format f, sink *out);
void report_json(const report *r, sink *out);
void report_text(const report *r, sink *out);
void report_folded(const report *r, sink *out);
void report_heap(const report *r, sink *out);

/* An ELF object whose symbols are the pools, at report_pool_code(id) when mapped at REPORT_POOL_CODE. */
void report_object(const report *r, sink *out);
/* Addresses below what any process may map: 16 bytes a pool. */
#define REPORT_POOL_CODE       0x1000u
#define REPORT_POOL_CODE_BYTES (STATS_POOLS * 16u)
INLINE uint64_t report_pool_code(uint32_t pool)
{
    return REPORT_POOL_CODE + pool * 16u + 8u;
}

const char *report_reason_text(report_reason why);
/* By a file name's ending; text when it has none of the four. */
report_format report_format_of(const char *path);
const char *report_base_name(const char *path);

/* One frame of the report, with strings that are bounded and end in NUL. */
typedef struct report_frame_text {
    char symbol[512]; /* "" when no name is known */
    char module[512]; /* path, "" unknown */
    uint64_t symbol_offset, offset, address;
} report_frame_text;
/* False when the site has no such frame. */
bool report_frame_get(const report *r, uint32_t site, unsigned n, report_frame_text *out);
unsigned report_frame_count(const report *r, uint32_t site);

#endif
