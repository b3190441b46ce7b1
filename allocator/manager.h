/* SPDX-License-Identifier: MIT */
/*
 * manager.h - floor F3: the original's memory manager: a bounded stack of pools, every call forwarded to the
 * one on top, and the registry beside it.
 *
 * Where the original frees into whatever pool is current, this one looks up whose memory it is: a free or
 * resize with the wrong pool on top is done at the owner, counted and told (strict: refused). A request
 * that no pool can serve goes to the handler and gives NULL.
 *
 * Invariants: (1) the stack holds at most limit pools; (2) the bottom is the global pool once it is set.
 * Locking: none; a manager belongs to one thread, its pools may be shared. Read next: boot.h.
 */
#ifndef POOLMEM_MANAGER_H
#define POOLMEM_MANAGER_H

#include "pool_stack.h"
#include "registry.h"

typedef void manager_handler(pool *top, const pool_request *r, void *arg);

typedef struct manager {
    pool_stack stack;
    pool *global;                  /* bottom of the stack */
    registry *registry;            /* whose memory is this? may be NULL: then only the top is asked */
    bool strict;                   /* refuse a free at the wrong pool instead of mending it */
    manager_handler *on_no_memory; /* may be NULL */
    void *on_no_memory_arg;
    /* what went wrong so far */
    uint64_t wrong_pool; /* frees and resizes with another pool on top than the owner */
    uint64_t unknown;    /* frees of memory that no pool owns */
    uint64_t push_errors, pop_errors;
} manager;

/* limit: of the stack, POOL_STACK_RETAIL for the original's. */
void manager_init(manager *m, registry *r, uint32_t limit);
/* Pushes the global pool on the empty stack. POOL_EXISTS when something is there. */
pool_status manager_set_global(manager *m, pool *p);

pool_status manager_push(manager *m, pool *p);
pool_status manager_pop(manager *m, const pool *expected);

/* All on the pool on top; POOL_EMPTY when there is none. */
pool_status manager_alloc(manager *m, const pool_request *r, void **out);
pool_status manager_free(manager *m, void *block);
pool_status manager_resize(manager *m, void *block, const pool_request *r, void **out);
pool_status manager_set_option(manager *m, int which, uintptr_t value);
size_t manager_largest_free(manager *m);
size_t manager_free_bytes(manager *m);
size_t manager_describe(manager *m, const void *block, char *out, size_t cap);
/* True when every pool on the stack is empty: never while a heap is on it. */
bool manager_check_empty(manager *m);
/* Leaks of every registered pool, told as messages; returns how many. */
size_t manager_report_leaks(manager *m);
/* The pool itself: nothing is tracked unless a debug build wraps it (track.h). */
pool *manager_track_pool(manager *m, pool *p);

#endif
