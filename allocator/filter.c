/* SPDX-License-Identifier: MIT */
/*
 * filter.c - see filter.h: each operation hands the same call to the wrapped pool through the pool interface,
 * so arguments are checked and calls are counted there too: a filter shows in its own counts what went
 * through it, the wrapped pool in its counts everything it served.
 *
 * A wrapper of another kind takes filter_init_kind and those of these operations that it does not change.
 * Locking: filter.h. Cost: one more call and the wrapper's counts. Read next: tracker.c.
 */
#include "filter.h"

static pool *inner(pool *p)
{
    return ((filter *)(void *)p)->inner;
}

static pool_status filter_alloc(pool *p, const pool_request *r, void **out, size_t *size)
{
    return pool_alloc_sized(inner(p), r, out, size);
}

static pool_status filter_free(pool *p, void *block, size_t *size)
{
    return pool_free_sized(inner(p), block, size);
}

static pool_status filter_resize(pool *p, void *block, const pool_request *r, void **out)
{
    return pool_resize(inner(p), block, r, out);
}

pool_status filter_set_option(pool *p, int which, uintptr_t value)
{
    return pool_set_option(inner(p), which, value);
}

static bool filter_check_empty(pool *p)
{
    return pool_check_empty(inner(p));
}

size_t filter_largest_free(pool *p)
{
    return pool_largest_free(inner(p));
}

size_t filter_free_bytes(pool *p)
{
    return pool_free_bytes(inner(p));
}

size_t filter_size(pool *p, const void *block)
{
    return pool_size(inner(p), block);
}

static size_t filter_report_leaks(pool *p)
{
    return pool_report_leaks(inner(p));
}

static size_t filter_describe(pool *p, const void *block, char *out, size_t cap)
{
    return pool_describe(inner(p), block, out, cap);
}

bool filter_check(pool *p)
{
    return pool_check(inner(p));
}

void filter_stats(pool *p, pool_stats *out)
{
    pool_stats of;
    pool_get_stats(inner(p), &of);
    out->committed_bytes = of.committed_bytes;
    out->free_bytes = of.free_bytes;
    out->largest_free_bytes = of.largest_free_bytes;
    out->unusable_bytes = of.unusable_bytes;
}

/* By its own operations, not the filter's: a tracker knows leaks that the pool below does not. */
pool_status filter_destroy(pool *p)
{
    if (!p->ops->check_empty(p))
        p->ops->report_leaks(p);
    pool_status s = pool_destroy(inner(p));
    if (s == POOL_OK)
        p->first = p->last = 0;
    return s;
}

static const pool_ops filter_ops = {
    .alloc = filter_alloc,
    .free = filter_free,
    .resize = filter_resize,
    .set_option = filter_set_option,
    .check_empty = filter_check_empty,
    .largest_free = filter_largest_free,
    .free_bytes = filter_free_bytes,
    .size = filter_size,
    .destroy = filter_destroy,
    .report_leaks = filter_report_leaks,
    .describe = filter_describe,
    .check = filter_check,
    .stats = filter_stats,
};

static bool is_wrapper(const pool *p)
{
    return p->kind == POOL_FILTER || p->kind == POOL_TRACK;
}

/* The wrapped pool is the payer, so a tree by account shows the wrapper below it. */
void filter_init_kind(filter *f, pool *wrapped, const char *name, const pool_ops *ops, pool_kind kind)
{
    pool_init(&f->base, ops, kind, name, wrapped);
    f->base.lock.rank = RANK_TRACK;
    f->base.first = wrapped->first;
    f->base.last = wrapped->last;
    f->base.limit = wrapped->limit;
    f->base.flags |= wrapped->flags & POOL_SHARED;
    if (is_wrapper(wrapped)) /* two locks of one rank are not held together */
        wrapped->flags &= (uint8_t)~POOL_SHARED;
    f->inner = wrapped;
}

void filter_init(filter *f, pool *wrapped, const char *name)
{
    filter_init_kind(f, wrapped, name, &filter_ops, POOL_FILTER);
}
