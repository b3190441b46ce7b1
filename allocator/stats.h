/* SPDX-License-Identifier: MIT */
/*
 * stats.h - floor F1: the published layout, version 1: one mapping (a memfd) that the process writes and any
 * reader with the right to open it may map. Counters live here, where they are made; the reader adds them up.
 *
 *   header | pools[] | sites[] | lives[] | frames[] | modules[] | strings | tallies[]
 *
 * Invariants: (1) a row is complete before the count that makes it visible is raised (release store; readers
 * load the count with acquire); rows are never removed or moved; (2) a tally has one writer, the thread that
 * owns it, and only grows; its site is stored before its first count; (3) string offset 0 is the empty
 * string; (4) offsets are bytes from the header. What a pool holds right now is not copied here on every
 * call: it stands in the heap's block records, whose place the header tells (heap_stats.h reads them, in this
 * process or in another). After fork the child gets a mapping of its own (publish.c).
 */
#ifndef POOLMEM_STATS_H
#define POOLMEM_STATS_H

#include "base.h"
#include "pool.h"

#define STATS_MAGIC       "poolmem" /* 8 bytes with the NUL */
#define STATS_VERSION     1
#define STATS_POOLS       256
#define STATS_SITES       32768
#define STATS_FRAMES      65536
#define STATS_MODULES     1024
#define STATS_STRINGS     (16u << 20) /* bytes */
#define STATS_TALLIES     (1u << 20)
#define STATS_SITE_FRAMES 12
/* The STATS_ sizes are the most there is; the *_max fields of the header tell what this mapping has. */

/* Ids that always exist; see pools.h. Site n < STATS_POOLS is pool n's base site: calls without a stack. */
enum { STATS_POOL_GLOBAL = 0, STATS_POOL_SYSTEM = 1 };

typedef struct stats_pool {
    char name[POOL_NAME_MAX + 1];
    uint32_t parent; /* pool id; own id for the root */
    uint8_t kind;    /* pool_kind */
    uint8_t over;    /* pool_over */
    uint16_t reserved;
    uint64_t limit;      /* bytes, 0 none */
    uint64_t peak_bytes; /* of what the program can use; exact to a block per front */
    uint64_t committed_bytes;
    uint64_t failed, over_limit; /* requests refused; requests beyond the limit, whatever came of it */
    uint64_t heap;               /* address of the heap in the process (heap_stats.h), 0 for locked kinds */
    pool_stats locked;           /* figures of a locked kind (retail, clump, ...), kept under its lock */
    uint64_t mark_live_bytes, mark_live_blocks, mark_allocs; /* at the last poolmem_mark (header: mark_ns) */
} stats_pool;

/* One call-site: a pool and the frames from the innermost out to the one that decided. */
typedef struct stats_site {
    uint32_t pool;
    uint32_t frame_count;
    uint32_t frames[STATS_SITE_FRAMES]; /* rows of the frame table, innermost first */
} stats_site;

/* What is live of one call-site: kept only when every allocation is tracked (header: track). Many writers,
   relaxed atomic adds; never negative at a quiet moment. */
typedef struct stats_live {
    int64_t bytes, blocks;
} stats_live;

typedef struct stats_frame {
    uint32_t module;        /* row of the module table */
    uint32_t symbol;        /* string offset, demangled; 0 none known */
    uint32_t symbol_offset; /* bytes from the symbol's start */
    uint32_t reserved;
    uint64_t offset; /* bytes from the module's load base (the return address) */
    uint64_t address;
} stats_frame;

typedef struct stats_module {
    uint32_t path; /* string offset */
    uint32_t reserved;
    uint64_t print; /* of its first bytes: tells files apart that had the same path one after the other */
    uint64_t base;
} stats_module;

/* What one thread did at one site. Written by that thread only, with plain stores. */
typedef struct stats_tally {
    uint64_t allocs;
    uint64_t bytes; /* asked for, by allocations and by reallocs */
    uint32_t site;
    uint32_t reserved;
    uint64_t reallocs; /* only in tallies of base sites */
} stats_tally;

typedef struct stats_header {
    char magic[8];
    uint32_t version, header_bytes;
    uint32_t pid, sequence; /* number of the last report */
    uint64_t start_ns;      /* CLOCK_MONOTONIC at start */
    uint64_t address;       /* where the mapping stands in the process */
    uint64_t bytes;         /* of the whole mapping */
    char exe[256];
    char library[16];      /* version of the library */
    char report_path[256]; /* where the last report went: a file or "stderr" */
    uint32_t pool_count, site_count, frame_count, module_count, string_bytes, tally_count;
    uint32_t pool_max, site_max, frame_max, module_max, string_max, tally_max;            /* rows there are */
    uint32_t pools_at, sites_at, lives_at, frames_at, modules_at, strings_at, tallies_at; /* offsets */
    uint32_t signal;    /* number that asks for a report, 0 none */
    uint32_t reported;  /* reports that reached their place */
    uint32_t track;     /* 1: lives[] is kept (POOLMEM_TRACK) */
    uint32_t unwritten; /* reports asked for that could not be written: they have no number */
    uint32_t reserved;
    uint64_t foreign_frees, misuse, sites_lost, tallies_lost;
    uint64_t track_lost; /* allocations that could not be recorded */
    uint64_t unwound;    /* calls that had to be unwound (memo misses) */
    uint64_t faults;     /* faults of ours that degraded to plain allocation */
    uint64_t world;      /* address of struct world in the process (heap.h), for heap_stats.h */
    uint64_t mark_ns;    /* time of the last poolmem_mark, 0 none */
    char mark[64];
    char program[256]; /* the name it was called by, which may be a link's or a script's */
} stats_header;

INLINE void *stats_at(const stats_header *h, uint32_t offset)
{
    return (char *)h + offset;
}
#define stats_pools(h)          ((stats_pool *)stats_at((h), (h)->pools_at))
#define stats_sites(h)          ((stats_site *)stats_at((h), (h)->sites_at))
#define stats_lives(h)          ((stats_live *)stats_at((h), (h)->lives_at))
#define stats_frames(h)         ((stats_frame *)stats_at((h), (h)->frames_at))
#define stats_modules(h)        ((stats_module *)stats_at((h), (h)->modules_at))
#define stats_tallies(h)        ((stats_tally *)stats_at((h), (h)->tallies_at))
#define stats_string(h, offset) ((const char *)stats_at((h), (h)->strings_at + (offset)))

#endif
