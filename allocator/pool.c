/* SPDX-License-Identifier: MIT */
/*
 * pool.c - see pool.h: the part of a pool that does not depend on its kind: argument checks, the lock of
 * shared pools, the counts that every report shows, and the words for it.
 * Cost: two or three tests and a few adds above the kind's own code.
 */
#include "pool.h"

#include <string.h>

void pool_init(pool *p, const pool_ops *ops, pool_kind kind, const char *name, pool *parent)
{
    memset(p, 0, sizeof *p);
    p->ops = ops;
    p->kind = (uint8_t)kind;
    p->parent = parent;
    p->lock.rank = RANK_POOL;
    strncpy(p->name, name ? name : "", POOL_NAME_MAX);
}

void pool_set_block(pool *p, const void *block, size_t size)
{
    p->first = (uintptr_t)block;
    p->last = (uintptr_t)block + size - 1;
    p->limit = size;
}

void pool_enter(pool *p)
{
    if (p->flags & POOL_SHARED)
        lock_take(&p->lock);
}

/* For the calls that a signal handler may make: false when it interrupted one into the same pool, or when the
   pool is lost. */
INLINE bool try_enter(pool *p)
{
    if (!(p->flags & POOL_SHARED))
        return true;
    return !(p->flags & POOL_LOST) && lock_take_unless_mine(&p->lock);
}

#define FULL_PUBLISH_EVERY 64u /* calls between two looks at what only a search can tell */

static void publish_whole(pool *p)
{
    pool_stats now = p->counts;
    if (p->ops->stats)
        p->ops->stats(p, &now);
    *p->published = now;
}

static void publish(pool *p)
{
    pool_stats now = p->counts;
    if (p->flags & POOL_QUICK_STATS ||
        (p->ops->stats && (now.allocs + now.frees + now.failed) % FULL_PUBLISH_EVERY < 2)) {
        publish_whole(p);
        return;
    }
    now.committed_bytes = p->published->committed_bytes;
    now.largest_free_bytes = p->published->largest_free_bytes;
    now.unusable_bytes = p->published->unusable_bytes;
    now.free_bytes = p->ops->free_bytes ? p->ops->free_bytes(p) : 0;
    *p->published = now;
}

INLINE void leave(pool *p)
{
    if (unlikely(p->published != NULL))
        publish(p);
    if (p->flags & POOL_SHARED)
        lock_drop(&p->lock);
}

void pool_leave(pool *p)
{
    leave(p);
}

void pool_republish(pool *p)
{
    if (!p->published || !(p->flags & POOL_SHARED) || p->flags & (POOL_LOST | POOL_GONE) ||
        !lock_try(&p->lock))
        return;
    publish_whole(p);
    lock_drop(&p->lock);
}

bool pool_count_refused(pool *p, bool over, bool served)
{
    bool entered = try_enter(p), first = over && !p->counts.over_limit;
    p->counts.over_limit += over;
    p->counts.failed -= served;
    if (entered)
        leave(p);
    return first;
}

static pool_status check_request(const pool_request *r)
{
    if (r->size > SIZE_LIMIT)
        return POOL_OVERFLOW;
    return r->align && !is_pow2(r->align) ? POOL_ALIGN : POOL_OK;
}

static void count_live(pool *p, uint64_t gained, uint64_t lost)
{
    p->counts.live_bytes += gained - lost;
    if (p->counts.live_bytes > p->counts.peak_bytes)
        p->counts.peak_bytes = p->counts.live_bytes;
}

INLINE pool_status alloc_counted(pool *p, const pool_request *r, void **out, size_t *size)
{
    *size = 0;
    pool_status s = p->ops->alloc(p, r, out, size);
    if (unlikely(s != POOL_OK)) {
        p->counts.failed += s != POOL_ZERO;
        return s;
    }
    p->counts.allocs++;
    p->counts.live_blocks++;
    p->counts.alloc_bytes += r->nothing ? 0 : r->size;
    count_live(p, *size, 0);
    return POOL_OK;
}

pool_status pool_alloc_sized(pool *p, const pool_request *r, void **out, size_t *size)
{
    *out = NULL;
    pool_status s = check_request(r);
    if (unlikely(s != POOL_OK))
        return s;
    if (!try_enter(p)) {
        __atomic_fetch_add(&p->counts.failed, 1, __ATOMIC_RELAXED);
        return POOL_BUSY;
    }
    s = alloc_counted(p, r, out, size);
    leave(p);
    return s;
}

pool_status pool_alloc(pool *p, const pool_request *r, void **out)
{
    size_t size;
    return pool_alloc_sized(p, r, out, &size);
}

INLINE pool_status free_counted(pool *p, void *block, size_t *size)
{
    pool_status s = p->ops->free(p, block, size);
    if (likely(s == POOL_OK)) {
        p->counts.frees++;
        p->counts.live_blocks -= p->counts.live_blocks > 0;
        count_live(p, 0, *size);
    }
    return s;
}

pool_status pool_free_sized(pool *p, void *block, size_t *size)
{
    *size = 0;
    if (!block)
        return POOL_OK;
    if (!try_enter(p)) /* lost: better than waiting for oneself */
        return POOL_OK;
    pool_status s = free_counted(p, block, size);
    leave(p);
    return s;
}

pool_status pool_free(pool *p, void *block)
{
    size_t size;
    return pool_free_sized(p, block, &size);
}

pool_status pool_host(pool *p, const pool_request *r, void **out)
{
    size_t size = 0;
    *out = NULL;
    pool_enter(p);
    pool_status s = p->ops->alloc(p, r, out, &size);
    p->counts.failed += s != POOL_OK;
    p->hosted_bytes += size;
    leave(p);
    return s;
}

pool_status pool_unhost(pool *p, void *block)
{
    size_t size = 0;
    pool_enter(p);
    pool_status s = p->ops->free(p, block, &size);
    if (s == POOL_OK)
        p->hosted_bytes -= size;
    leave(p);
    return s;
}

static pool_status resize_counted(pool *p, void *block, const pool_request *r, void **out)
{
    if (!block)
        return alloc_counted(p, r, out, &(size_t){0});
    size_t before = p->ops->size(p, block);
    pool_status s = p->ops->resize ? p->ops->resize(p, block, r, out) : POOL_UNSUPPORTED;
    if (s == POOL_ZERO) {
        p->counts.frees++;
        p->counts.live_blocks--;
        count_live(p, 0, before);
    } else if (s == POOL_OK) {
        p->counts.reallocs++;
        p->counts.alloc_bytes += r->size;
        count_live(p, p->ops->size(p, *out), before);
    } else {
        p->counts.failed++;
    }
    return s;
}

pool_status pool_resize(pool *p, void *block, const pool_request *r, void **out)
{
    *out = NULL;
    pool_status s = check_request(r);
    if (s != POOL_OK)
        return s;
    if (!try_enter(p))
        return POOL_BUSY;
    s = resize_counted(p, block, r, out);
    leave(p);
    return s;
}

pool_status pool_set_option(pool *p, int which, uintptr_t value)
{
    if (!p->ops->set_option)
        return POOL_UNSUPPORTED;
    pool_enter(p);
    pool_status s = p->ops->set_option(p, which, value);
    leave(p);
    return s;
}

bool pool_check_empty(pool *p)
{
    pool_enter(p);
    bool empty = p->ops->check_empty ? p->ops->check_empty(p) : p->counts.live_blocks == 0;
    leave(p);
    return empty;
}

void pool_range(const pool *p, uintptr_t *first, uintptr_t *last)
{
    *first = p->first;
    *last = p->last;
}

bool pool_contains(const pool *p, const void *address)
{
    return (uintptr_t)address - p->first <= p->last - p->first && p->last;
}

size_t pool_largest_free(pool *p)
{
    pool_enter(p);
    size_t n = p->ops->largest_free ? p->ops->largest_free(p) : 0;
    leave(p);
    return n;
}

size_t pool_free_bytes(pool *p)
{
    pool_enter(p);
    size_t n = p->ops->free_bytes ? p->ops->free_bytes(p) : 0;
    leave(p);
    return n;
}

size_t pool_size(pool *p, const void *block)
{
    bool entered = try_enter(p);
    size_t n = p->ops->size(p, block); /* of a live block: nobody is changing it */
    if (entered)
        leave(p);
    return n;
}

pool_status pool_destroy(pool *p)
{
    return p->ops->destroy ? p->ops->destroy(p) : POOL_UNSUPPORTED;
}

size_t pool_report_leaks(pool *p)
{
    return p->ops->report_leaks ? p->ops->report_leaks(p) : 0;
}

size_t pool_describe(pool *p, const void *block, char *out, size_t cap)
{
    if (cap)
        *out = 0;
    return p->ops->describe ? p->ops->describe(p, block, out, cap) : 0;
}

bool pool_check(pool *p)
{
    pool_enter(p);
    bool sound = !p->ops->check || p->ops->check(p);
    leave(p);
    return sound;
}

void pool_get_stats(pool *p, pool_stats *out)
{
    pool_enter(p);
    *out = p->counts;
    if (p->ops->stats)
        p->ops->stats(p, out);
    leave(p);
}

const char *pool_kind_name(pool_kind k)
{
    static const char *const names[POOL_KINDS] = {"heap", "retail", "clump", "arena",
                                                  "hunk", "filter", "track"};
    return (unsigned)k < POOL_KINDS ? names[k] : "unknown";
}
