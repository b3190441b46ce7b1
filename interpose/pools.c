/* SPDX-License-Identifier: MIT */
/*
 * pools.c - see pools.h: the table of the process's pools. Rows are only ever added, so readers need no lock.
 * Locking: registry lock for writers; pools_count is stored after the row is complete.
 */
#include "pools.h"
#include "clump.h"
#include "meta.h"
#include "publish.h"
#include "retail.h"

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

/* Fixed-size pools nest: the one whose range holds p and that no other one inside it holds. */
static pool *deepest(pool *outer, const void *p)
{
    for (uint32_t i = outer->id + 1; outer->flags & POOL_HOSTS && i < pools_count(); i++)
        if (table[i]->parent == outer && pool_contains(table[i], p))
            return deepest(table[i], p);
    return outer;
}

pool *pools_fixed(const void *p)
{
    pool *outer = heap_locked_pool(p);
    return likely(!outer) ? NULL : deepest(outer, p);
}

pool *pools_of(const void *p)
{
    pool *fixed = world_owns(p) ? pools_fixed(p) : NULL;
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
    } else {
        p->published = &stats_pools(published)[id].locked;
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
    heap *h = meta_alloc(sizeof *h), *above = parent->kind == POOL_HEAP ? (heap *)parent : heap_above(parent);
    return h && heap_create(h, id, s->name, above, s->size, s->over) ? &h->pool : NULL;
}

/* One block of the parent: a run of a heap, marked as the pool's, or a block of another fixed-size pool. */
static void *take_block(pool *p, pool *parent, size_t size)
{
    if (parent->kind == POOL_HEAP)
        return heap_host(&self->heap, (heap *)parent, size > FRAGMENT_MAX ? size : FRAGMENT_MAX + 1, p);
    parent->flags |= POOL_HOSTS;
    return pool_get(parent, size, CLUMP_ALIGN);
}

static pool_status lay_out(pool *p, const pool_spec *s, pool *parent, void *block)
{
    if (s->kind == POOL_RETAIL)
        return retail_init_in_place((retail_pool *)p, parent, block, s->size, s->name);
    pool_status made = clump_init_in_place((clump *)p, parent, block, s->size, s->name);
    if (made == POOL_OK)
        pool_set_option(p, POOL_OPTION_COUNT_FREES, 1); /* else what the program frees would be lost */
    return made;
}

static pool *make_fixed(const pool_spec *s, pool *parent)
{
    pool *p = meta_alloc(s->kind == POOL_RETAIL ? sizeof(retail_pool) : sizeof(clump));
    void *block = p && s->size ? take_block(p, parent, s->size) : NULL;
    if (!block || lay_out(p, s, parent, block) != POOL_OK)
        return NULL;
    p->flags |= POOL_SHARED;
    p->over = (uint8_t)s->over;
    return p;
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
    bool fixed = s->kind == POOL_RETAIL || s->kind == POOL_CLUMP;
    pool *p = fixed ? make_fixed(s, table[parent]) : make_heap(s, count, table[parent]);
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
