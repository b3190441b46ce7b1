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
    pool_kind kind;     /* heap, retail or clump */
    uint64_t size;      /* limit of a heap, size of a fixed pool; 0 none */
    pool_over over;
} pool_spec;

/* Global and System; false: no memory for them. Called by boot_first only. */
bool pools_boot(void);
/* Makes a pool or, when the name exists, gives it the new settings. Returns its id or -1 (table full, or a
   fixed-size pool that its parent cannot hold). Parents are created on demand with default settings. Takes
   the registry lock. */
int pools_define(const pool_spec *spec);
/* Id by exact name, -1 none. */
int pools_find(const char *name);
const char *pools_name(uint32_t id);
uint32_t pools_count(void);
/* The pool with this id, whatever its kind; NULL none. */
pool *pools_get(uint32_t id);
/* A front for a thread; NULL: no memory. */
front *pools_front(thread *t, uint32_t id);
/* The fixed-size pool that lives at an address of the world, the deepest one; NULL: none does. */
pool *pools_fixed(const void *p);
/* The pool that holds an address of the world, NULL none. */
pool *pools_of(const void *p);

bool pools_fork_prepare(void); /* false: this thread held the lock already */
void pools_fork_done(void);

#endif
