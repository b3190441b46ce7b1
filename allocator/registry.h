/* SPDX-License-Identifier: MIT */
/*
 * registry.h - floor F1: all pools, as a tree; finds one by name, by address and by range.
 *
 * A pool whose range lies inside another's is its child (a fixed-size pool is one block of its parent); a
 * pool with a range of its own, or with none yet, hangs under the pool that pays for it (pool->parent).
 * Siblings stand in address order, those without a range behind them.
 *
 *     All-System [------------------------------------------------------------]
 *       Global-Memory [------------------------------------------------------]
 *         Filter-Pool  [---]    Debug-Heap [-]   Sector-Pool [-------------]
 *                                                   World-Level-Poo [--]
 *
 * Invariants (registry_check): (1) ranges are nested or apart, never crossing; (2) the by-address array is
 * sorted by first byte, the wider range first; (3) a child with a range inside its parent's has no sibling
 * whose range contains it; (4) count records, all reachable from the roots.
 * Locking: every call takes the registry's lock (RANK_REGISTRY); records are never moved, so a pointer to
 * one is good until it is removed. Cost: add and remove rebuild the links, O(n) and up; an address is found
 * by binary search, a name by a walk.
 */
#ifndef POOLMEM_REGISTRY_H
#define POOLMEM_REGISTRY_H

#include "lines.h"
#include "pool.h"

#define REGISTRY_RETAIL_RECORDS 512 /* what the original has room for */
#define REGISTRY_RETAIL_NAME    15  /* characters of a name in the original */

enum registry_options {
    REGISTRY_RETAIL_NAMES = 1 /* 15 characters, blanks and underscores become '-' */
};

typedef struct registry_record {
    pool *pool;                             /* NULL: the record is free */
    struct registry_record *parent, *child; /* child: the lowest */
    struct registry_record *above, *below;  /* neighbours among the siblings, by address */
    uintptr_t first, last;                  /* the pool's range when it was added; 0,0 none */
    char name[POOL_NAME_MAX + 1];           /* normalised */
} registry_record;

typedef struct registry {
    registry_record *records; /* a mapping of cap records */
    registry_record **order;  /* the count records in use: ranges by address, then the others by age */
    registry_record *roots;   /* the lowest record without a parent */
    uint32_t cap, count;
    uint32_t options; /* registry_options */
    lock lock;
} registry;

/* Room for cap pools, in a mapping of its own. */
pool_status registry_init(registry *r, uint32_t cap, uint32_t options);
void registry_done(registry *r);

/* POOL_FULL: no record left; POOL_EXISTS: the pool is there already, or its range crosses another's. A name
   may stand more than once: lookups give the first in tree order. */
pool_status registry_add(registry *r, pool *p, const char *name);
/* The children go to the record's parent. POOL_NOT_FOUND. */
pool_status registry_remove(registry *r, const pool *p);

/* All NULL when there is none. By address: the deepest pool whose range holds it; by range: the deepest that
   holds all of it. */
pool *registry_find_name(registry *r, const char *name);
pool *registry_find_address(registry *r, uintptr_t address);
pool *registry_find_range(registry *r, uintptr_t first, uintptr_t last);
const registry_record *registry_record_of(registry *r, const pool *p);

/* Tree order: a parent before its children, siblings by address. after NULL: the first. depth may be NULL. */
const registry_record *registry_next(const registry *r, const registry_record *after, unsigned *depth);
/* One line a pool, indented by depth: name, kind, range, size. */
void registry_print(registry *r, const lines *to);
/* NULL when every invariant holds, else the first broken one. */
const char *registry_check(registry *r);
/* Writes the name as this registry keeps it; out holds POOL_NAME_MAX + 1 bytes. */
void registry_normalise(const registry *r, const char *name, char *out);

#endif
