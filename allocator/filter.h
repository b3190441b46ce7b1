/* SPDX-License-Identifier: MIT */
/*
 * filter.h - floor F3: a pool that wraps another and forwards every call (kind `filter`), and the base of the
 * tracker, which adds its records to the same calls.
 *
 * A filter has the range of what it wraps, so whoever asks by address finds either. Destroying it checks
 * that nothing is left and destroys the wrapped pool.
 * Locking: like any pool, but its lock ranks before those of pools (RANK_TRACK), because it calls them while
 * it holds it. What is wrapped round a shared pool is shared too; of filters round
 * filters only the outermost may be. Cost: one more call.
 */
#ifndef POOLMEM_FILTER_H
#define POOLMEM_FILTER_H

#include "pool.h"

typedef struct filter {
    pool base;
    pool *inner; /* what it wraps */
} filter;

/* Wraps a pool that outlives the filter. */
void filter_init(filter *f, pool *inner, const char *name);

/* For wrappers with operations of their own: the common part, and the forwarding operations. */
void filter_init_kind(filter *f, pool *inner, const char *name, const pool_ops *ops, pool_kind kind);
pool_status filter_set_option(pool *p, int which, uintptr_t value);
size_t filter_largest_free(pool *p);
size_t filter_free_bytes(pool *p);
size_t filter_size(pool *p, const void *block);
bool filter_check(pool *p);
/* The wrapper's own counts of calls; the wrapped pool's figures of memory. */
void filter_stats(pool *p, pool_stats *out);
/* Destroys the wrapped pool after telling its leaks. */
pool_status filter_destroy(pool *p);

#endif
