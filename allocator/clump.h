/* SPDX-License-Identifier: MIT */
/*
 * clump.h - floor F2: the original's bump allocator over one block of its parent (kind `clump`).
 *
 *   | a | b |..| c |              |       .. padding that an alignment made
 *   ^ block        ^ used         ^ size
 *
 * A free does nothing until the option "count frees" is on; then the last of the live allocations to go
 * empties the clump. Beside the block, in a mapping of its own, the clump keeps the extent of every
 * allocation: so a free of something that is none, or a second one, is told, and a block's size is known.
 *
 * Invariants (clump's check): (1) used <= size; (2) extents stand in address order, do not overlap and end
 * at used at most; (3) live is the number of allocations since the last reset, less the frees counted.
 * Locking: pool.c's. Cost: alloc about 4 ns; free and size a binary search of the extents, the last first.
 */
#ifndef POOLMEM_CLUMP_H
#define POOLMEM_CLUMP_H

#include "growing.h"
#include "pool.h"

enum {
    CLUMP_ALIGN = 128,        /* of the block within the parent */
    CLUMP_DEFAULT_ALIGN = 16, /* for requests with align 0 */
};
#define CLUMP_SIZE_MAX ((size_t)INT32_MAX)

/* One allocation. */
typedef struct clump_extent {
    uint32_t offset;    /* bytes from the block */
    uint32_t size : 31; /* bytes asked for */
    uint32_t freed : 1; /* free has been called for it, counted or not */
} clump_extent;

typedef struct clump {
    pool base;
    char *block;      /* memory it hands out */
    uint32_t size;    /* bytes of it, as asked for: not rounded */
    uint32_t used;    /* the bump offset */
    uint32_t live;    /* allocations less counted frees */
    bool count_frees; /* POOL_OPTION_COUNT_FREES */
    bool in_parent;   /* destroy gives the block back */
    bool strict;      /* POOL_OPTION_STRICT: destroy refuses while allocations live */
    growing extents;  /* clump_extent, extent_count of them, in address order */
    uint32_t extent_count;
} clump;

/* Takes size bytes from parent, aligned to 128. Sizes above 2 GiB - 1 are refused. */
pool_status clump_init_in_parent(clump *c, pool *parent, size_t size, const char *name);
/* Hands out memory that the caller owns; parent is who pays and may be NULL. */
pool_status clump_init_in_place(clump *c, pool *parent, void *block, size_t size, const char *name);
/* The clump behind the interface, NULL when p is of another kind. */
clump *clump_from_pool(pool *p);

#endif
