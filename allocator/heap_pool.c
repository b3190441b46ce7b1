/* SPDX-License-Identifier: MIT */
/*
 * heap_pool.c - see heap.h: the native heap as a pool (pool.h), frees that the fast path does not take, and
 * the judgement of pointers.
 * As a pool it serves the calling thread's side, which heap_thread_self gives (a thread-local of this file
 * for programs that link the library; the interposer sets its own).
 */
#include "heap.h"
#include "fatal.h"
#include "fmt.h"
#include "heap_private.h"
#include "heap_stats.h"

#include <string.h>

static heap *heaps[HEAPS_MAX];
static __thread heap_thread *thread_side;

heap *heap_by_id(uint32_t id)
{
    return id < HEAPS_MAX ? __atomic_load_n(&heaps[id], __ATOMIC_ACQUIRE) : NULL;
}

heap *heap_above(const pool *p)
{
    while (p->parent && p->parent->kind != POOL_HEAP)
        p = p->parent;
    return (heap *)p->parent;
}

heap_thread *heap_thread_self(void)
{
    if (unlikely(!thread_side))
        thread_side = heap_thread_adopt(sizeof(heap_thread));
    return thread_side;
}

void heap_thread_set_self(heap_thread *t)
{
    thread_side = t;
}

/* --- judgement ---------------------------------------------------------------------------------- */

/* A free block was either never in use, or part of a run, or everything in it has been freed. */
static pool_status judge_free_block(const block *b)
{
    uint32_t zone_id = block_number(b) / world.zone_blocks;
    const zone *z = &world_zones[zone_id];
    uint32_t at = block_number(b) - z->first;
    if (!z->count || at >= z->high)
        return POOL_INVALID;
    return z->free_map[at / 64 * ZONE_MAPS] >> (at % 64) & 1 ? POOL_DOUBLE_FREE : POOL_INVALID;
}

static bool is_pending(const block *b, const void *p)
{
    return relaxed_load(pending_word((block *)b, p)) & pending_bit(b, p);
}

static pool_status judge_fragment(const block *b, size_t within)
{
    return within < b->carved && within % b->size == 0 ? POOL_DOUBLE_FREE : POOL_INVALID;
}

pool_status heap_judge(const void *p)
{
    uintptr_t offset = (uintptr_t)p - world.base;
    const block *b = block_of(p);
    size_t within = offset % BLOCK_SIZE;
    if (offset % GRANULE)
        return POOL_INVALID;
    if (b->kind == BLOCK_INNER)
        return POOL_INVALID;
    if (is_live(b, p))
        return is_pending(b, p) ? POOL_DOUBLE_FREE : POOL_OK;
    if (b->kind == BLOCK_FRAGMENTS && relaxed_load(&b->owner))
        return judge_fragment(b, within);
    return b->kind == BLOCK_RUN         ? POOL_INVALID
           : b->kind == BLOCK_FRAGMENTS ? POOL_DOUBLE_FREE
                                        : judge_free_block(b);
}

heap *heap_of(const void *p)
{
    if (!world_owns(p))
        return NULL;
    const block *b = block_of(p);
    uint32_t id = b->kind != BLOCK_FREE ? b->heap
                  : world.zoned         ? block_number(b) / world.zone_blocks
                                        : b->heap;
    return heap_by_id(id);
}

size_t heap_usable(const void *p)
{
    if (!world_owns(p) || heap_judge(p) != POOL_OK)
        return 0;
    const block *b = block_of(p);
    return b->kind == BLOCK_RUN ? b->run_bytes : b->size;
}

pool_status heap_free_cold(heap_thread *me, void *p)
{
    block *b = block_of(p);
    if (b->kind == BLOCK_RUN)
        return run_free(b, p);
    heap_thread *owner = relaxed_load(&b->owner);
    if (b->kind != BLOCK_FRAGMENTS || !owner)
        return heap_judge(p);
    if (owner != me)
        return heap_free_remote(me, b, p);
    uintptr_t offset = (uintptr_t)p - world.base;
    bool ours = offset % GRANULE == 0 && !is_pending(b, p) && block_free_own(b, p, offset / GRANULE);
    return ours ? POOL_OK : heap_judge(p);
}

/* --- the interface of pool.h ---------------------------------------------------------------------- */

static heap *of_pool(pool *p)
{
    return (heap *)p;
}

static size_t op_size(pool *p, const void *b)
{
    return heap_of(b) == of_pool(p) ? heap_usable(b) : 0;
}

static pool_status op_alloc(pool *p, const pool_request *r, void **out, size_t *size)
{
    heap_thread *t = heap_thread_self();
    front *f = t ? heap_front(t, of_pool(p)) : NULL;
    if (!f)
        return POOL_NOMEM;
    *out = front_alloc_aligned(f, r->size, r->align ? r->align : GRANULE);
    t->served = NULL;
    if (!*out)
        return t->status;
    *size = op_size(p, *out); /* 0: another pool served it */
    return POOL_OK;
}

static pool_status op_free(pool *p, void *block_start_, size_t *size)
{
    heap_thread *t = heap_thread_self();
    if (!t)
        return POOL_NOMEM;
    if (!world_owns(block_start_))
        return POOL_FOREIGN;
    if (heap_of(block_start_) != of_pool(p))
        return POOL_MISMATCH;
    *size = heap_usable(block_start_);
    return heap_free(t, block_start_);
}

static pool_status op_resize(pool *p, void *old, const pool_request *r, void **out)
{
    heap_thread *t = heap_thread_self();
    if (!t)
        return POOL_NOMEM;
    if (heap_of(old) != of_pool(p))
        return POOL_FOREIGN;
    pool_status s = heap_judge(old);
    if (s != POOL_OK)
        return s;
    if (!r->size) {
        op_free(p, old, &(size_t){0});
        return POOL_ZERO;
    }
    *out = heap_resize(t, old, r->size);
    return *out ? POOL_OK : t->status;
}

static bool figures(pool *p, heap_figures *f)
{
    return heap_figures_read((uint64_t)(uintptr_t)&world, (uint64_t)(uintptr_t)p, NULL, NULL, f);
}

static bool op_check_empty(pool *p)
{
    heap_figures f;
    return !figures(p, &f) || f.live_blocks == 0;
}

static size_t op_largest_free(pool *p)
{
    heap_figures f;
    return figures(p, &f) ? f.largest_free_bytes : 0;
}

static size_t op_free_bytes(pool *p)
{
    heap_figures f;
    return figures(p, &f) ? f.free_bytes : 0;
}

static size_t op_describe(pool *p, const void *address, char *out, size_t cap)
{
    if (heap_of(address) != of_pool(p))
        return 0;
    return fmt_text(out, cap, "%p: %s, %zu bytes, pool %s", address, pool_status_text(heap_judge(address)),
                    heap_usable(address), p->name);
}

static bool op_check(pool *p)
{
    return heap_check(of_pool(p), heap_thread_self());
}

static void op_stats(pool *p, pool_stats *out)
{
    heap_figures f;
    heap *h = of_pool(p);
    if (!figures(p, &f))
        return;
    out->live_bytes = f.live_bytes;
    out->live_blocks = f.live_blocks;
    out->committed_bytes = f.committed_bytes;
    out->free_bytes = f.free_bytes;
    out->largest_free_bytes = f.largest_free_bytes;
    out->peak_bytes = h->row->peak_bytes > f.live_bytes ? h->row->peak_bytes : f.live_bytes;
    out->failed = relaxed_load(&h->row->failed);
    out->over_limit = relaxed_load(&h->row->over_limit);
}

static const pool_ops heap_ops = {
    .alloc = op_alloc,
    .free = op_free,
    .resize = op_resize,
    .check_empty = op_check_empty,
    .largest_free = op_largest_free,
    .free_bytes = op_free_bytes,
    .size = op_size,
    .describe = op_describe,
    .check = op_check,
    .stats = op_stats,
};

/* --- creation ----------------------------------------------------------------------------------- */

void heap_set_limit(heap *h, uint64_t limit, pool_over over)
{
    h->pool.limit = limit;
    h->pool.over = (uint8_t)over;
    for (uint32_t i = 0; i < HEAPS_MAX; i++) {
        heap *other = heaps[i];
        for (heap *a = other; a; a = a->parent)
            if (a->pool.limit)
                other->budgeted = !other->exempt;
    }
}

void heap_set_row(heap *h, stats_pool *row)
{
    row->peak_bytes = h->row->peak_bytes;
    row->committed_bytes = h->row->committed_bytes;
    row->failed = h->row->failed;
    row->over_limit = h->row->over_limit;
    h->row = row;
}

bool heap_create(heap *h, uint32_t id, const char *name, heap *parent, uint64_t limit, pool_over over)
{
    memset(h, 0, sizeof *h);
    pool_init(&h->pool, &heap_ops, POOL_HEAP, name, parent ? &parent->pool : NULL);
    h->id = h->pool.id = id;
    h->parent = parent;
    h->row = &h->own_row;
    h->zone = world.size || world_boot() ? world_zone(id, h->pool.name) : NULL;
    if (!h->zone || id >= HEAPS_MAX)
        return false;
    h->pool.first = world.base + ((uintptr_t)h->zone->first << BLOCK_SHIFT);
    h->pool.last = h->pool.first + ((uintptr_t)h->zone->count << BLOCK_SHIFT) - 1;
    __atomic_store_n(&heaps[id], h, __ATOMIC_RELEASE);
    heap_set_limit(h, limit, over);
    return true;
}

/* --- check -------------------------------------------------------------------------------------- */

static bool bad(const block *b, const char *what)
{
    message(MESSAGE_FATAL, "block %u at %p: %s", block_number(b), (void *)block_start(b), what);
    return false;
}

static bool check_block(const block *b)
{
    const char *start = block_start(b);
    uint32_t live = 0, listed = 0, carved = b->carved / b->size;
    for (uint32_t w = 0; w < BLOCK_MAPS; w++)
        live += count_ones(b->live[w]);
    for (const char *p = b->free; p != FREE_END; p = *(char *const *)p) {
        size_t within = (size_t)(p - start);
        if (within >= b->carved || within % b->size)
            return bad(b, "a free fragment lies where none can");
        if (is_live(b, p))
            return bad(b, "a free fragment is marked live");
        if (++listed > carved)
            return bad(b, "the free list runs in a circle");
    }
    if (live != block_used(b))
        return bad(b, "a live bit stands where nothing was carved");
    if (listed + live + b->stashed > carved)
        return bad(b, "more fragments than were carved");
    bool gives = listed > FULL_FREES || b->carved < b->limit;
    return b->full && gives ? bad(b, "marked full but has something free") : true;
}

static bool check_bins(const front *f)
{
    for (unsigned c = 0; c < CLASS_COUNT; c++)
        for (const block *b = f->bin[c]; b && b != &no_block; b = b->next)
            if (b->front != f || b->class_id != c || b->full)
                return bad(b, "in a list it does not belong to");
    for (const block *b = f->full; b; b = b->next)
        if (b->front != f || !b->full)
            return bad(b, "among the full ones without being one");
    return true;
}

bool heap_check(heap *h, heap_thread *me)
{
    zone *z = h->zone;
    lock_take(&z->lock);
    bool sound = zone_check(z);
    lock_drop(&z->lock);
    for (uint32_t i = 0; sound && i < z->high; i++) {
        const block *b = &world.records[z->first + i];
        if (b->kind == BLOCK_FRAGMENTS && b->owner && b->heap == h->id && (!me || b->owner == me))
            sound = check_block(b);
    }
    for (front *f = me ? me->fronts : NULL; sound && f; f = f->next)
        sound = f->heap != h || check_bins(f);
    return sound;
}
