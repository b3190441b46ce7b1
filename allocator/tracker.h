/* SPDX-License-Identifier: MIT */
/*
 * tracker.h - floor F3: a wrapper that records every live allocation of a pool (kind `track`): address, size,
 * alignment, tag, source file and line, flag, name, and the number of a call stack.
 *
 *   pages: address -> entry: number of its record  ->  records: [ size serial site stack | ... ]
 *                                                       sites: [ tag file line name flag align | ... ]
 *
 * Texts, sites and stacks are kept once each and stand in the records as numbers (intern.h), so nothing of
 * the caller's needs to outlive the call. The call stack is the caller's business: an array of words kept
 * with tracker_stack, or a number of its own, put into pool_request.stack.
 *
 * An entry says whose it is to the byte (the four low bits of the address are in it), so a free takes it out
 * without a look at the record. Several allocations within 16 bytes hang in a chain through their records.
 * Records are taken in index order, round and round, with at least a quarter of them free: so consecutive
 * allocations write neighbouring records, whatever order the frees came in.
 * Invariants (the check): (1) every entry has a record of its own; (2) the records in use, the bits set and
 * the entries are equally many. When there is no memory for a record the allocation still succeeds and is
 * counted as lost; so many later frees of unknown pointers are excused. Locking: see filter.h. Cost:
 * bench/retail_bench.c; about 43 bytes a record, and 1 KB for each 4 KB page that ever held an allocation.
 */
#ifndef POOLMEM_TRACKER_H
#define POOLMEM_TRACKER_H

#include "filter.h"
#include "intern.h"
#include "lines.h"
#include "page_map.h"

enum tracker_options {
    /* POOL_OPTION_STRICT (1): refuse the free of a pointer that has no record instead of forwarding it */
    TRACKER_OPTION_DUMP = 3 /* leaks are reported as a dump of all records instead of a message each */
};

/* What all allocations of one line of source share. */
typedef struct tracker_site {
    uint32_t tag, file, name; /* numbers of interned texts */
    int32_t line;
    uint32_t flag, align;
} tracker_site;

typedef struct tracker_record {
    uint64_t serial; /* counts the allocations of the tracker, from 1 */
    size_t size;     /* bytes asked for */
    uint32_t site;   /* number of the tracker_site */
    uint32_t stack;  /* as the request had it */
    uint32_t next;   /* entry of another allocation within the same 16 bytes */
} tracker_record;

enum { TRACKER_SITE_CACHE = 256 };

typedef struct tracker {
    filter filter;   /* the pool and what it wraps */
    page_map pages;  /* entries */
    growing records; /* tracker_record, `made` of them */
    growing taken;   /* uint64_t: a bit a record, set while it is in use */
    uint32_t made;   /* records there are, a multiple of 64 */
    uint32_t live;   /* records in use */
    uint32_t rover;  /* word of `taken` where the next free record is looked for */
    intern texts, sites, stacks;
    struct tracker_met {
        const char *tag, *file, *name; /* where the texts lay; believed after a comparison */
        tracker_site site;
        uint32_t id;           /* of the site; 0: empty */
    } met[TRACKER_SITE_CACHE]; /* sites met lately */
    uint64_t serial;
    uint64_t lost;    /* allocations without a record */
    uint64_t excused; /* frees of unknown pointers that may be those */
    uint64_t unknown; /* frees and resizes of pointers without a record */
    bool strict, dump;
    lines dump_to; /* where TRACKER_OPTION_DUMP writes; put NULL: nowhere */
} tracker;

/* Wraps a pool that outlives the tracker. */
void tracker_init(tracker *t, pool *inner, const char *name);
/* Gives the records back; the wrapped pool stays. pool_destroy does this too, after the wrapped pool. */
void tracker_done(tracker *t);
/* The tracker behind the interface, NULL when p is of another kind. */
tracker *tracker_from_pool(pool *p);

/* Keeps a call stack and gives its number for pool_request.stack; 0: no memory. */
uint32_t tracker_stack(tracker *t, const uintptr_t *words, size_t count);
/* The words of a number; valid until the next one is kept. NULL for a number the tracker did not give. */
const uintptr_t *tracker_stack_words(const tracker *t, uint32_t id, size_t *count);

/* The record of a live allocation, NULL when there is none. */
const tracker_record *tracker_find(const tracker *t, const void *block);
/* What is known of where it was made; texts are "-" for none, the file is its last component. */
typedef struct tracker_source {
    const char *tag, *file, *name;
    int line;
    uint32_t flag, align;
} tracker_source;
tracker_source tracker_source_of(const tracker *t, const tracker_record *r);

/* Calls visit for each record in address order; within 16 bytes, the youngest first. */
typedef void tracker_visit(void *arg, uintptr_t address, const tracker_record *r);
void tracker_walk(const tracker *t, tracker_visit *visit, void *arg);

#endif
