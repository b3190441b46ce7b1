/* SPDX-License-Identifier: MIT */
/*
 * api.c - floor F4: the calls of poolmem.h that need the process's own pools: find, create, push, allocate,
 * report, mark. What belongs to a kind alone is in allocator/api_*.c.
 *
 * Blocks asked for here are counted at the pool's base site. Pools are known by pointer to the core's struct.
 * Locking: pools.h. Cost: an allocation from a heap as malloc without the look at the caller.
 */
#define POOLMEM_BUILD 1
#include "poolmem.h"
#include "alloc_entry.h"
#include "fatal.h"
#include "meta.h"
#include "pool_stack.h"
#include "pools.h"
#include "site.h"
#include "api_report.h"

#include <errno.h>
#include <string.h>

static pool *core(const poolmem_pool *p)
{
    return (pool *)(uintptr_t)p;
}

static poolmem_pool *outer(pool *p)
{
    return (poolmem_pool *)p;
}

static void *fail_with(int error)
{
    errno = error;
    return NULL;
}

/* Whether a pool may be asked for something: POOLMEM_INVALID for none, POOLMEM_STALE for a destroyed one. */
static poolmem_status usable(const poolmem_pool *p)
{
    return !p ? POOLMEM_INVALID : pool_is_gone(core(p)) ? POOLMEM_STALE : POOLMEM_OK;
}

/* This thread, made when it is new; NULL: no memory. */
static thread *me(void)
{
    thread *t = self == &cold_thread ? thread_start() : self;
    return t == &cold_thread ? NULL : t;
}

int poolmem_present(void)
{
    return 1;
}

const char *poolmem_version(void)
{
    return POOLMEM_VERSION;
}

/* --- pools -------------------------------------------------------------------------------------- */

poolmem_pool *poolmem_pool_find(const char *name)
{
    int id = name ? pools_find(name) : -1;
    return id < 0 ? NULL : outer(pools_get((uint32_t)id));
}

static poolmem_pool *existing(pool *p, pool *parent, poolmem_kind kind)
{
    bool same = (int)p->kind == (int)kind && pools_parent(p) == parent;
    return same ? outer(p) : fail_with(EEXIST);
}

poolmem_pool *poolmem_pool_create(const char *name, poolmem_pool *parent, poolmem_kind kind,
                                  const poolmem_options *options)
{
    static const poolmem_options none;
    const poolmem_options *o = options ? options : &none;
    pool *above = parent ? core(parent) : pools_get(STATS_POOL_GLOBAL);
    bool sized = kind == POOLMEM_RETAIL || kind == POOLMEM_CLUMP || kind == POOLMEM_ARENA;
    if (!name || !*name || strlen(name) > POOL_NAME_MAX || (unsigned)kind > POOLMEM_HUNK ||
        (sized && !o->size) || (parent && usable(parent) != POOLMEM_OK))
        return fail_with(EINVAL);
    if (!me() || !above)
        return fail_with(ENOMEM);
    int id = pools_find(name);
    if (id >= 0)
        return existing(pools_get((uint32_t)id), above, kind);
    size_t chunk = o->flags & POOLMEM_GROW ? (o->chunk ? o->chunk : o->size) : 0;
    id = pools_define(&(pool_spec){.name = name,
                                   .parent = above->name,
                                   .kind = (pool_kind)kind,
                                   .size = kind == POOLMEM_HEAP ? o->limit : o->size,
                                   .over = (pool_over)o->over,
                                   .high = o->high_size,
                                   .chunk = chunk});
    return id < 0 ? fail_with(ENOMEM) : outer(pools_get((uint32_t)id));
}

static bool on_a_stack(const pool *p)
{
    for (thread *t = thread_first(); t; t = thread_next(t)) {
        const pool_stack *s = t->stack_pools;
        for (uint32_t i = 0; s && i < s->depth; i++)
            if (s->at[i] == p)
                return true;
    }
    return false;
}

poolmem_status poolmem_pool_destroy(poolmem_pool *p)
{
    if (!p)
        return POOLMEM_INVALID;
    if (on_a_stack(core(p)))
        return POOLMEM_BUSY;
    if (core(p)->kind == POOL_HEAP && me())
        heap_trim(&self->heap, false); /* what others freed is taken back before it is looked at */
    return (poolmem_status)pools_remove(core(p));
}

const char *poolmem_pool_name(const poolmem_pool *p)
{
    return p ? core(p)->name : "";
}

poolmem_pool *poolmem_pool_parent(const poolmem_pool *p)
{
    return p ? outer(pools_parent(core(p))) : NULL;
}

poolmem_kind poolmem_pool_kind(const poolmem_pool *p)
{
    return p ? (poolmem_kind)core(p)->kind : POOLMEM_HEAP;
}

static pool *pool_at(const void *address)
{
    pool *fixed = pools_by_range(address); /* also one that lies in another */
    return fixed ? fixed : pools_of(address);
}

poolmem_pool *poolmem_pool_of(const void *block)
{
    pool *p = block ? pool_at(block) : NULL;
    return p && (p->kind != POOL_HEAP || heap_judge(block) == POOL_OK) ? outer(p) : NULL;
}

poolmem_pool *poolmem_pool_of_range(const void *start, size_t size)
{
    const char *last = (const char *)start + (size ? size - 1 : 0);
    pool *p = start && last >= (const char *)start ? pool_at(start) : NULL;
    while (p && !(pool_contains(p, start) && pool_contains(p, last)))
        p = pools_parent(p);
    return outer(p);
}

/* Rows are in the order of making, so parents stand before children. */
poolmem_pool *poolmem_pool_next(const poolmem_pool *p)
{
    for (uint32_t i = p ? core(p)->id + 1 : 0; i < pools_count(); i++)
        if (!pool_is_gone(pools_get(i)))
            return outer(pools_get(i));
    return NULL;
}

poolmem_status poolmem_pool_set_limit(poolmem_pool *p, size_t limit, poolmem_over over)
{
    poolmem_status s = (unsigned)over > POOLMEM_OVER_ABORT ? POOLMEM_INVALID : usable(p);
    if (s == POOLMEM_OK)
        pools_set_limit(core(p), limit, (pool_over)over);
    return s;
}

poolmem_status poolmem_pool_stats(poolmem_pool *p, poolmem_stats *out)
{
    poolmem_status s = out ? usable(p) : POOLMEM_INVALID;
    return s == POOLMEM_OK ? (poolmem_status)report_pool_now(core(p)->id, out) : s;
}

poolmem_status poolmem_pool_check(poolmem_pool *p)
{
    poolmem_status s = usable(p);
    return s != POOLMEM_OK ? s : pool_check(core(p)) ? POOLMEM_OK : POOLMEM_CORRUPT;
}

/* --- the pool stack ----------------------------------------------------------------------------- */

static pool_stack *my_stack(thread *t)
{
    if (!t->stack_pools)
        t->stack_pools = meta_alloc(sizeof(pool_stack));
    return t->stack_pools;
}

static poolmem_status stack_changed(thread *t, pool_status s)
{
    const pool *top = pool_stack_top(t->stack_pools);
    caller_set_top(t, top ? top->id : STATS_POOL_GLOBAL);
    return (poolmem_status)s;
}

poolmem_status poolmem_pool_push(poolmem_pool *p)
{
    thread *t = me();
    poolmem_status s = usable(p);
    if (s != POOLMEM_OK)
        return s;
    if (!t || !my_stack(t))
        return POOLMEM_NOMEM;
    return stack_changed(t, pool_stack_push(t->stack_pools, core(p)));
}

poolmem_status poolmem_pool_pop(poolmem_pool *p)
{
    thread *t = me();
    if (!t || !t->stack_pools)
        return POOLMEM_EMPTY;
    return stack_changed(t, pool_stack_pop(t->stack_pools, core(p)));
}

static pool *current(void)
{
    thread *t = me();
    return pools_get(t ? t->top : STATS_POOL_GLOBAL);
}

poolmem_pool *poolmem_pool_current(void)
{
    return outer(current());
}

/* --- memory ------------------------------------------------------------------------------------- */

/* A fixed pool answers for itself: nobody else serves. */
static void *alloc_fixed(pool *p, const tag *g, size_t size, size_t align)
{
    void *out = NULL;
    pool_status s = pool_alloc(p, &(pool_request){.size = size, .align = align}, &out);
    if (out)
        return tally_alloc(g, out, size);
    return s == POOL_ZERO ? NULL : fail_with(s == POOL_ALIGN ? EINVAL : ENOMEM);
}

/* The pool is the one that was asked for; who asked is found out as for malloc. */
static void *alloc_in(pool *p, size_t size, size_t align, caller_frame f)
{
    thread *t = me();
    if (!t || pool_is_gone(p))
        return fail_with(t ? EINVAL : ENOMEM);
    const tag *g = site_within(t, caller_tag(t, ENTRY_MALLOC, size, f), p->id);
    return p->kind == POOL_HEAP ? malloc_aligned_cold(g, size, align ? align : GRANULE, false)
                                : alloc_fixed(p, g, size, align);
}

static pool *or_current(poolmem_pool *p)
{
    return p ? core(p) : current();
}

void *poolmem_alloc(poolmem_pool *p, size_t size)
{
    return alloc_in(or_current(p), size, 0, CALLER_HERE());
}

void *poolmem_alloc_aligned(poolmem_pool *p, size_t size, size_t align)
{
    return is_pow2(align) ? alloc_in(or_current(p), size, align, CALLER_HERE()) : fail_with(EINVAL);
}

void *poolmem_calloc(poolmem_pool *p, size_t count, size_t size)
{
    size_t bytes;
    void *out =
        mul_wraps(count, size, &bytes) ? fail_with(ENOMEM) : alloc_in(or_current(p), bytes, 0, CALLER_HERE());
    return out ? memset(out, 0, bytes) : NULL;
}

void poolmem_free(void *block)
{
    FREE_TAGGED(block, "poolmem_free");
}

void *poolmem_realloc(poolmem_pool *p, void *block, size_t size)
{
    if (!block)
        return alloc_in(or_current(p), size, 0, CALLER_HERE());
    if (size)
        return realloc_block(block, size, CALLER_CFA(), CALLER_RBP());
    FREE_TAGGED(block, "poolmem_realloc");
    return NULL;
}

size_t poolmem_size(const void *block)
{
    return usable_size(block);
}

/* --- reports ------------------------------------------------------------------------------------ */

poolmem_status poolmem_report(const char *path, poolmem_format format)
{
    return (poolmem_status)report_to_path(path, (int)format);
}

poolmem_status poolmem_report_fd(int fd, poolmem_format format)
{
    return (poolmem_status)report_to_fd(fd, (int)format);
}

poolmem_status poolmem_mark(const char *label)
{
    return (poolmem_status)report_mark(label);
}

size_t poolmem_leaks(poolmem_pool *p)
{
    poolmem_stats s;
    if (!p || poolmem_pool_stats(p, &s) != POOLMEM_OK)
        return 0;
    size_t said = core(p)->kind == POOL_HEAP ? 0 : pool_report_leaks(core(p));
    if (!said && s.live_blocks)
        message(MESSAGE_WARNING, "pool %s: %lu blocks of %lu bytes are live", core(p)->name, s.live_blocks,
                s.live_bytes);
    return said ? said : s.live_blocks;
}
