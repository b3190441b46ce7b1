/* SPDX-License-Identifier: MIT */
/*
 * pools.c - see pools.h: the table of the process's pools. Rows are only ever added, so readers need no lock.
 * Locking: registry lock for writers; pools_count is stored after the row is complete.
 */
#include "pools.h"
#include "fatal.h"
#include "meta.h"
#include "publish.h"

#include <string.h>

static heap global_heap, system_heap;
static pool *table[POOLS_MAX];
static uint32_t count; /* atomic */
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
        if (!strcmp(table[i]->name, name))
            return (int)i;
    return -1;
}

front *pools_front(thread *t, uint32_t id)
{
    pool *p = pools_get(id);
    if (!p)
        return NULL;
    return p->kind == POOL_HEAP ? heap_front(&t->heap, (heap *)p) : heap_front_locked(&t->heap, id, p);
}

pool *pools_of(const void *p)
{
    pool *fixed = world_owns(p) ? heap_locked_pool(p) : NULL;
    heap *h = fixed ? NULL : heap_of(p);
    return fixed ? fixed : h ? &h->pool : NULL;
}

static void add_row(uint32_t id, pool *p)
{
    table[id] = p;
    p->id = id;
    publish_pool(id, p->name, p->parent ? p->parent->id : id, (pool_kind)p->kind, (pool_over)p->over,
                 p->limit);
    if (p->kind == POOL_HEAP) {
        stats_pool *row = &stats_pools(published)[id];
        row->heap = (uint64_t)(uintptr_t)p;
        heap_set_row((heap *)p, row);
    }
    __atomic_store_n(&count, id + 1, __ATOMIC_RELEASE);
}

bool pools_boot(void)
{
    if (!heap_create(&global_heap, STATS_POOL_GLOBAL, "Global", NULL, 0, OVER_WARN))
        return false;
    if (!heap_create(&system_heap, STATS_POOL_SYSTEM, "System", &global_heap, 0, OVER_WARN))
        return false;
    system_heap.exempt = true;
    add_row(STATS_POOL_GLOBAL, &global_heap.pool);
    add_row(STATS_POOL_SYSTEM, &system_heap.pool);
    return true;
}

static pool *make_heap(const pool_spec *s, uint32_t id, pool *parent)
{
    heap *h = meta_alloc(sizeof *h);
    while (parent->kind != POOL_HEAP)
        parent = parent->parent;
    return h && heap_create(h, id, s->name, (heap *)parent, s->size, s->over) ? &h->pool : NULL;
}

static void set_limits(pool *p, const pool_spec *s)
{
    if (p->kind != POOL_HEAP)
        return;
    heap_set_limit((heap *)p, s->size, s->over);
    publish_pool(p->id, p->name, p->parent ? p->parent->id : p->id, POOL_HEAP, s->over, s->size);
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
    if (parent < 0 || count == POOLS_MAX)
        return -1;
    pool *p = make_heap(s, count, table[parent]);
    if (!p)
        return -1;
    add_row(count, p);
    return (int)p->id;
}

int pools_define(const pool_spec *s)
{
    lock_take(&guard);
    int id = define_locked(s);
    lock_drop(&guard);
    return id;
}

bool pools_fork_prepare(void)
{
    return lock_take_unless_mine(&guard);
}

void pools_fork_done(void)
{
    lock_drop(&guard);
}
