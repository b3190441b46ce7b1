/* SPDX-License-Identifier: MIT */
/*
 * pools.h - floor F4: the pools of the process by id: Global 0, System 1, then what the rules name.
 */
#ifndef POOLMEM_POOLS_H
#define POOLMEM_POOLS_H

#include "pool.h"
#include "thread.h"

typedef struct pool_spec {
    const char *name;
    const char *parent; /* NULL: Global */
    pool_kind kind;     /* the file names heap, retail and clump; the API all five */
    uint64_t size;      /* limit of a heap, size of a fixed pool, low reserve of a hunk; 0 none */
    pool_over over;
    uint64_t high, chunk; /* of a hunk: high reserve; of an arena: least bytes of a further chunk */
} pool_spec;

/* Global and System; false: no memory for them. Called by boot_first only. */
bool pools_boot(void);
/* Makes a pool or, when the name exists, gives it the new settings. Returns its id or -1 (table full, or a
   fixed-size pool that its parent cannot hold). Parents are created on demand with default settings. Takes
   the registry lock. */
int pools_define(const pool_spec *spec);
/* A new limit (heaps) and policy. */
void pools_set_limit(pool *p, uint64_t limit, pool_over over);
/* Gives a pool's memory back; its row stays, so that a pool of that name and kind may come again.
   POOL_BUSY: children or live blocks; POOL_UNSUPPORTED: built in; POOL_STALE: removed already. */
pool_status pools_remove(pool *p);
/* Id by exact name, -1 none. */
int pools_find(const char *name);
const char *pools_name(uint32_t id);
uint32_t pools_count(void);
/* The pool with this id, whatever its kind; NULL none. */
pool *pools_get(uint32_t id);
/* Who pays for it; NULL for Global. */
pool *pools_parent(const pool *p);
/* A front for a thread; NULL: no memory. */
front *pools_front(thread *t, uint32_t id);
/* The fixed-size pool that lives at an address of the world, the deepest one; NULL: none does. */
pool *pools_fixed(const void *p);
/* The fixed-size pool whose range holds an address, the deepest one; NULL: none does. Slow. */
pool *pools_by_range(const void *p);
/* The fixed-size pool at any address: of the world, or a hunk, which has its memory from the system. */
INLINE pool *pools_fixed_anywhere(const void *p)
{
    return world_owns(p) ? pools_fixed(p) : pools_by_range(p);
}
/* The pool that holds an address, NULL none. */
pool *pools_of(const void *p);

void pools_fork_locks(lock_visit *visit);
void pools_fork_child(void);

#endif
