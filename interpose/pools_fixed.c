/* SPDX-License-Identifier: MIT */
/*
 * pools_fixed.c - see pools.h: pools of fixed size (retail, clump, arena, hunk): one block of the parent
 * each, marked as theirs, so that an address leads to the pool that handed it out. Locking: the registry
 * lock, held by the caller. Cost: laying out, once.
 */
#include "pools_fixed.h"
#include "arena.h"
#include "clump.h"
#include "hunk.h"
#include "meta.h"
#include "retail.h"

#include <string.h>

static const size_t struct_bytes[POOL_KINDS] = {[POOL_RETAIL] = sizeof(retail_pool),
                                                [POOL_CLUMP] = sizeof(clump),
                                                [POOL_ARENA] = sizeof(arena),
                                                [POOL_HUNK] = sizeof(hunk)};

/* A run of a heap, marked as the pool's, or a block of another fixed-size pool. */
static void *take_block(pool *p, pool *parent, size_t size)
{
    if (parent->kind == POOL_HEAP)
        return heap_host(heap_thread_self(), (heap *)parent, size > FRAGMENT_MAX ? size : FRAGMENT_MAX + 1,
                         p);
    void *block;
    parent->flags |= POOL_HOSTS;
    pool_host(parent, &(pool_request){.size = size, .align = CLUMP_ALIGN}, &block);
    return block;
}

static bool lay_retail(pool *p, const pool_spec *s, pool *parent)
{
    void *block = s->size ? take_block(p, parent, s->size) : NULL;
    return block && retail_init_in_place((retail_pool *)p, parent, block, s->size, s->name) == POOL_OK;
}

static bool lay_clump(pool *p, const pool_spec *s, pool *parent)
{
    void *block = s->size ? take_block(p, parent, s->size) : NULL;
    if (!block || clump_init_in_place((clump *)p, parent, block, s->size, s->name) != POOL_OK)
        return false;
    pool_set_option(p, POOL_OPTION_COUNT_FREES, 1); /* else what the program frees would be lost */
    return true;
}

/* Chunks are runs, never fragments: the first bytes of a fragment would be taken for a block of the heap's.
 */
static void *take_chunk(pool *p, pool *parent, size_t size)
{
    void *chunk = take_block(p, parent, size);
    heap_thread_self()->served = NULL; /* who served the chunk is not who serves the program's request */
    return chunk;
}

static void give_chunk(pool *parent, void *chunk)
{
    if (parent->kind != POOL_HEAP)
        pool_unhost(parent, chunk);
    else if (heap_mark_host(chunk, NULL))
        heap_free_cold(heap_thread_self(), chunk);
}

static bool lay_arena(pool *p, const pool_spec *s, pool *parent)
{
    static const arena_source chunks = {take_chunk, give_chunk};
    arena_options o = {.name = s->name, .parent = parent, .chunk = s->chunk, .source = &chunks};
    return arena_init((arena *)p, (int64_t)s->size, &o);
}

static bool lay_hunk(pool *p, const pool_spec *s, pool *parent)
{
    hunk_options o = {.name = s->name, .parent = parent, .low = s->size, .high = s->high, .apart = true};
    return hunk_init((hunk *)p, &o) == POOL_OK;
}

pool *pools_make_fixed(const pool_spec *s, pool *parent, pool *again)
{
    static bool (*const lay[POOL_KINDS])(pool *, const pool_spec *, pool *) = {[POOL_RETAIL] = lay_retail,
                                                                               [POOL_CLUMP] = lay_clump,
                                                                               [POOL_ARENA] = lay_arena,
                                                                               [POOL_HUNK] = lay_hunk};
    if (s->kind >= POOL_KINDS || !lay[s->kind])
        return NULL;
    pool *p = again ? memset(again, 0, struct_bytes[s->kind]) : meta_alloc(struct_bytes[s->kind]);
    if (!p || !lay[s->kind](p, s, parent))
        return NULL;
    p->over = (uint8_t)s->over;
    return p;
}

static pool_status end_fixed(pool *p)
{
    switch (p->kind) {
    case POOL_ARENA:
        arena_free((arena *)p);
        return POOL_OK;
    case POOL_HUNK:
        hunk_free((hunk *)p);
        return POOL_OK;
    default:
        return pool_destroy(p);
    }
}

pool_status pools_end_fixed(pool *p)
{
    pool *parent = pools_parent(p);
    void *home = (void *)p->first;
    bool in_place = (p->kind == POOL_RETAIL || p->kind == POOL_CLUMP) && home;
    bool by_us = in_place && world_owns(home) && parent->kind == POOL_HEAP && heap_mark_host(home, NULL);
    pool was = *p;
    pool_status s = end_fixed(p);
    *p = was; /* arenas and hunks end as zeros, but the row still tells name and kind */
    if (s == POOL_OK)
        p->first = p->last = 0;
    if (by_us && s == POOL_OK && heap_free_cold(&self->heap, home) != POOL_OK)
        s = POOL_CORRUPT;
    if (in_place && parent->kind != POOL_HEAP && s == POOL_OK)
        s = pool_unhost(parent, home);
    return s;
}
