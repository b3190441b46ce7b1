/* SPDX-License-Identifier: MIT */
/*
 * pools.c - see pools.h: the table of the process's pools. Rows are only ever added, so readers need no lock.
 * Locking: registry lock for writers; pools_count is stored after the row is complete.
 */
#include "pools.h"
#include "meta.h"
#include "pools_fixed.h"
#include "publish.h"

#include <string.h>

static heap global_heap, system_heap;
static pool *table[POOLS_MAX];
static pool *above[POOLS_MAX]; /* parent in the tree, also of a pool that has its memory from the system */
static uint32_t count;         /* atomic */
static lock guard = LOCK_INIT(RANK_REGISTRY);

uint32_t pools_count(void)
{
    return __atomic_load_n(&count, __ATOMIC_ACQUIRE);
}

pool *pools_get(uint32_t id)
{
    return id < pools_count() ? table[id] : NULL;
}

const char *pools_name(uint32_t id)
{
    pool *p = pools_get(id);
    return p ? p->name : "?";
}

int pools_find(const char *name)
{
    for (uint32_t i = 0; i < pools_count(); i++)
        if (!pool_is_gone(table[i]) && !strcmp(table[i]->name, name))
            return (int)i;
    return -1;
}

/* A removed pool of that name, kind and parent, whose row serves again. */
static pool *gone(const pool_spec *s, const pool *parent)
{
    for (uint32_t i = 0; i < pools_count(); i++)
        if (pool_is_gone(table[i]) && table[i]->kind == s->kind && above[i] == parent &&
            !strcmp(table[i]->name, s->name))
            return table[i];
    return NULL;
}

front *pools_front(thread *t, uint32_t id)
{
    pool *p = pools_get(id);
    if (!p)
        return NULL;
    return p->kind == POOL_HEAP ? heap_front(&t->heap, (heap *)p) : heap_front_locked(&t->heap, id, p);
}

/* Fixed-size pools nest: the one whose range holds p and that no other one inside it holds. */
static pool *deepest(pool *outer, const void *p)
{
    for (uint32_t i = outer->id + 1; outer->flags & POOL_HOSTS && i < pools_count(); i++)
        if (above[i] == outer && pool_contains(table[i], p))
            return deepest(table[i], p);
    return outer;
}

pool *pools_fixed(const void *p)
{
    pool *outer = heap_locked_pool(p);
    return likely(!outer) ? NULL : deepest(outer, p);
}

pool *pools_by_range(const void *p)
{
    pool *best = NULL;
    for (uint32_t i = 0; i < pools_count(); i++)
        if (table[i]->kind != POOL_HEAP && !pool_is_gone(table[i]) && pool_contains(table[i], p))
            best = table[i]; /* a later one can only lie deeper */
    return best;
}

pool *pools_of(const void *p)
{
    pool *fixed = pools_fixed_anywhere(p);
    heap *h = fixed ? NULL : heap_of(p);
    return fixed ? fixed : h ? &h->pool : NULL;
}

pool *pools_parent(const pool *p)
{
    return above[p->id];
}

static void add_row(uint32_t id, pool *p, pool *parent)
{
    table[id] = p;
    above[id] = parent;
    p->id = id;
    publish_pool(id, p->name, parent ? parent->id : id, (pool_kind)p->kind, (pool_over)p->over, p->limit);
    if (p->kind == POOL_HEAP) {
        stats_pool *row = &stats_pools(published)[id];
        row->heap = (uint64_t)(uintptr_t)p;
        heap_set_row((heap *)p, row);
    } else {
        p->published = &stats_pools(published)[id].locked;
        pool_free_bytes(p); /* publishes it as it is, empty; nobody shares it yet */
        p->flags |= POOL_SHARED;
    }
    if (id == count)
        __atomic_store_n(&count, id + 1, __ATOMIC_RELEASE);
}

bool pools_boot(void)
{
    if (!heap_create(&global_heap, STATS_POOL_GLOBAL, "Global", NULL, 0, OVER_WARN))
        return false;
    if (!heap_create(&system_heap, STATS_POOL_SYSTEM, "System", &global_heap, 0, OVER_WARN))
        return false;
    system_heap.exempt = true;
    add_row(STATS_POOL_GLOBAL, &global_heap.pool, NULL);
    add_row(STATS_POOL_SYSTEM, &system_heap.pool, &global_heap.pool);
    return true;
}

static pool *make_heap(const pool_spec *s, uint32_t id, pool *parent)
{
    heap *h = meta_alloc(sizeof *h), *above = parent->kind == POOL_HEAP ? (heap *)parent : heap_above(parent);
    return h && heap_create(h, id, s->name, above, s->size, s->over) ? &h->pool : NULL;
}

static void set_limits(pool *p, const pool_spec *s)
{
    if (p->kind != POOL_HEAP)
        return;
    heap_set_limit((heap *)p, s->size, s->over);
    publish_pool(p->id, p->name, above[p->id] ? above[p->id]->id : p->id, POOL_HEAP, s->over, s->size);
}

void pools_set_limit(pool *p, uint64_t limit, pool_over over)
{
    lock_take(&guard);
    if (p->kind == POOL_HEAP)
        set_limits(p, &(pool_spec){.size = limit, .over = over});
    else
        p->over = (uint8_t)over; /* its size is its limit */
    lock_drop(&guard);
}

static int define_locked(const pool_spec *s)
{
    int id = pools_find(s->name);
    if (id >= 0) {
        set_limits(table[id], s);
        return id;
    }
    int parent = s->parent ? pools_find(s->parent) : STATS_POOL_GLOBAL;
    if (parent < 0)
        parent = define_locked(&(pool_spec){.name = s->parent});
    if (parent < 0)
        return -1;
    pool *old = gone(s, table[parent]);
    if (old && s->kind == POOL_HEAP) {
        old->flags &= (uint16_t)~POOL_GONE;
        set_limits(old, s);
        return (int)old->id;
    }
    if (!old && count == POOLS_MAX)
        return -1;
    pool was = old ? *old : (pool){.id = count};
    pool *p =
        s->kind == POOL_HEAP ? make_heap(s, count, table[parent]) : pools_make_fixed(s, table[parent], old);
    if (!p && old)
        *old = was; /* still removed */
    if (!p)
        return -1;
    add_row(was.id, p, table[parent]);
    return (int)p->id;
}

int pools_define(const pool_spec *s)
{
    lock_take(&guard);
    int id = define_locked(s);
    lock_drop(&guard);
    return id;
}

static bool has_children(const pool *p)
{
    for (uint32_t i = 0; i < count; i++)
        if (above[i] == p && !pool_is_gone(table[i]))
            return true;
    return false;
}

/* What an arena or a hunk holds goes with it; of the other kinds nothing may be left. */
static bool holds_blocks(pool *p)
{
    return p->kind == POOL_HEAP ? !pool_check_empty(p)
                                : (p->kind == POOL_RETAIL || p->kind == POOL_CLUMP) && p->counts.live_blocks;
}

static pool_status remove_locked(pool *p)
{
    if (p->id <= STATS_POOL_SYSTEM)
        return POOL_UNSUPPORTED;
    if (pool_is_gone(p))
        return POOL_STALE;
    if (has_children(p) || holds_blocks(p))
        return POOL_BUSY;
    p->flags |= POOL_GONE;
    return p->kind == POOL_HEAP ? POOL_OK : pools_end_fixed(p);
}

pool_status pools_remove(pool *p)
{
    lock_take(&guard);
    pool_status s = remove_locked(p);
    lock_drop(&guard);
    return s;
}

/* The registry first, because a pool is made with it held; then the pools, inner ones before those that they
   have their memory from. */
void pools_fork_locks(lock_visit *visit)
{
    visit(&guard);
    for (uint32_t i = pools_count(); i-- > 0;)
        if (table[i]->flags & POOL_SHARED)
            visit(&table[i]->lock);
}

/* Rows are complete before they count, so the registry is sound whoever was at it. */
void pools_fork_child(void)
{
    for (uint32_t i = 0; i < pools_count(); i++)
        if (table[i]->flags & POOL_SHARED && !lock_is_mine(&table[i]->lock))
            table[i]->flags |= POOL_LOST;
}
