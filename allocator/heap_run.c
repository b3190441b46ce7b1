/* SPDX-License-Identifier: MIT */
/*
 * heap_run.c - see heap.h: runs of whole blocks for requests above FRAGMENT_MAX, and resize of everything.
 *
 * A run grows in place when the blocks behind it are free. Else its pages move (mremap), unless it is so
 * small that copying is cheaper; page moves split the kernel's mappings, so their number is bounded.
 * Invariants: run_bytes (a multiple of the page) is what the program may use and what the heap is charged;
 * the live bit of the first granule stands while the run lives.
 * Locking: zone.lock. Cost: a scan of the free map; a fresh page costs a fault on first touch.
 */
#include "heap.h"
#include "heap_private.h"
#include "os.h"

#include <string.h>

/* Below this, copying into pages that are ours costs less than faulting in the holes that moving leaves. */
#define MOVE_MIN   MIB(8)
#define MOVES_MAX  8192u /* of the 65,530 mappings a process may have */
#define HUGE_RUN   MIB(4)
#define HUGE_ALIGN (MIB(2) >> BLOCK_SHIFT)

static uint32_t moves; /* atomic */

static uint32_t blocks_for(size_t bytes)
{
    return (uint32_t)((bytes + BLOCK_SIZE - 1) >> BLOCK_SHIFT);
}

static void set_live(block *b, bool live)
{
    relaxed_store(&b->live[0], live ? b->live[0] | 1 : b->live[0] & ~1ull);
}

static void describe_run(block *b, heap *h, size_t bytes, uint32_t blocks)
{
    b->quick = b->owner = NULL;
    b->kind = BLOCK_RUN;
    relaxed_store(&b->heap, (uint16_t)h->id);
    b->run_bytes = bytes;
    b->run_blocks = blocks;
    b->run_first = block_number(b);
    b->pool = NULL;
}

/* A signal handler has interrupted the zone. */
static uint32_t take_apart(heap *h, uint32_t blocks, uint32_t align, bool *zeroed)
{
    uint32_t n = zone_take_apart(h->zone, blocks + align - 1);
    *zeroed = true;
    return n == UINT32_MAX ? n
                           : (uint32_t)round_up(n + (world.base >> BLOCK_SHIFT), align) -
                                 (uint32_t)(world.base >> BLOCK_SHIFT);
}

static block *take_run(heap *h, size_t bytes, uint32_t align, bool *zeroed)
{
    uint32_t blocks = blocks_for(bytes);
    bool huge = bytes >= HUGE_RUN && world.huge_allowed;
    if (huge && align < HUGE_ALIGN)
        align = HUGE_ALIGN;
    bool entered = zone_enter(h->zone);
    uint32_t n = entered ? zone_take(h->zone, blocks, align, zeroed) : take_apart(h, blocks, align, zeroed);
    block *b = n == UINT32_MAX ? NULL : &world.records[n];
    if (b) {
        describe_run(b, h, bytes, blocks);
        set_live(b, true);
    }
    if (entered)
        lock_drop(&h->zone->lock);
    if (b && huge)
        os_huge(block_start(b), bytes, true);
    return b;
}

static bool run_bytes(size_t size, size_t *bytes)
{
    *bytes = round_up(size, OS_PAGE);
    return size <= SIZE_LIMIT && *bytes >> BLOCK_SHIFT < world.zone_blocks;
}

void *run_alloc(front *f, size_t size, uint32_t align, bool *zeroed)
{
    heap *h = f->heap;
    size_t bytes;
    heap_tick(f->owner);
    if (!run_bytes(size ? size : 1, &bytes))
        return front_refused(f, NULL, size, GRANULE);
    heap *refuser = heap_charge(h, bytes, false);
    if (refuser) {
        heap_make_room(f->owner, refuser);
        refuser = heap_charge(h, bytes, true);
    }
    if (refuser)
        return front_refused(f, refuser, size, (size_t)align << BLOCK_SHIFT);
    block *b = take_run(h, bytes, align, zeroed);
    if (!b) {
        heap_make_room(f->owner, NULL);
        b = take_run(h, bytes, align, zeroed);
    }
    if (!b) {
        heap_uncharge(h, bytes);
        return front_refused(f, NULL, size, GRANULE);
    }
    heap_count(h, (int64_t)bytes);
    return block_start(b);
}

/* The caller has seen BLOCK_RUN; another thread may have been faster, so look again under the lock. */
pool_status run_free(block *b, void *p)
{
    heap *h = heap_by_id(b->heap);
    bool entered = zone_enter(h->zone);
    pool_status s = b->kind == BLOCK_RUN && b->heap == h->id ? heap_judge(p) : POOL_DOUBLE_FREE;
    size_t bytes = b->run_bytes;
    if (s == POOL_OK) {
        set_live(b, false);
        b->kind = BLOCK_FREE;
        if (entered) /* else the blocks are lost: better than waiting for oneself */
            zone_give(h->zone, block_number(b), b->run_blocks, false);
    }
    if (entered)
        lock_drop(&h->zone->lock);
    if (s == POOL_OK) {
        heap_uncharge(h, bytes);
        heap_count(h, -(int64_t)bytes);
    }
    return s;
}

/* --- resize ------------------------------------------------------------------------------------- */

static void shrink_run(heap *h, block *b, size_t bytes)
{
    uint32_t blocks = blocks_for(bytes), old = b->run_blocks;
    size_t less = b->run_bytes - bytes;
    if (!zone_enter(h->zone))
        return;
    if (blocks < old)
        zone_give(h->zone, block_number(b) + blocks, old - blocks, false);
    b->run_blocks = blocks;
    b->run_bytes = bytes;
    lock_drop(&h->zone->lock);
    heap_uncharge(h, less);
    heap_count(h, -(int64_t)less);
}

static bool grow_run(heap *h, block *b, size_t bytes)
{
    uint32_t blocks = blocks_for(bytes);
    size_t more = bytes - b->run_bytes;
    if (heap_charge(h, more, false)) /* then it moves, and that decides */
        return false;
    bool entered = zone_enter(h->zone);
    bool grown = entered && (blocks == b->run_blocks ||
                             zone_take_at(h->zone, block_number(b) + b->run_blocks, blocks - b->run_blocks));
    if (grown) {
        b->run_blocks = blocks;
        b->run_bytes = bytes;
    }
    if (entered)
        lock_drop(&h->zone->lock);
    if (grown)
        heap_count(h, (int64_t)more);
    else
        heap_uncharge(h, more);
    return grown;
}

static void carry_over(void *to, void *from, size_t bytes)
{
    if (bytes >= MOVE_MIN && __atomic_fetch_add(&moves, 1, __ATOMIC_RELAXED) < MOVES_MAX &&
        os_move_pages(to, from, round_down(bytes, OS_PAGE))) {
        return; /* runs are whole pages, so nothing is left over */
    }
    memcpy(to, from, bytes);
}

static void *move_run(heap_thread *me, heap *h, block *b, void *p, size_t size)
{
    front *f = heap_front(me, h);
    size_t keep = size < b->run_bytes ? size : b->run_bytes;
    void *to = f ? front_alloc_aligned(f, size, GRANULE) : NULL;
    if (!to)
        return NULL;
    if (size > FRAGMENT_MAX)
        carry_over(to, p, keep);
    else
        memcpy(to, p, keep);
    run_free(b, p);
    return to;
}

void *run_resize(heap_thread *me, block *b, void *p, size_t size)
{
    heap *h = heap_by_id(b->heap);
    size_t bytes;
    void *to;
    if (size <= FRAGMENT_MAX && (to = move_run(me, h, b, p, size)))
        return to;
    if (size <= FRAGMENT_MAX) /* nothing smaller to be had: a request for less does not fail */
        size = FRAGMENT_MAX + 1;
    if (!run_bytes(size, &bytes)) {
        me->status = POOL_NOMEM;
        return NULL;
    }
    if (bytes <= b->run_bytes) {
        shrink_run(h, b, bytes);
        return p;
    }
    return grow_run(h, b, bytes) ? p : move_run(me, h, b, p, size);
}

static void *resize_fragment(heap_thread *me, block *b, void *p, size_t size)
{
    if (heap_fits(size, b->size))
        return p;
    front *f = heap_front(me, heap_by_id(b->heap));
    void *to = f ? front_alloc_aligned(f, size, GRANULE) : NULL;
    if (!to)
        return size <= b->size ? p : NULL;
    memcpy(to, p, size < b->size ? size : b->size);
    heap_free(me, p);
    return to;
}

void *heap_resize(heap_thread *me, void *p, size_t size)
{
    block *b = block_of(p);
    return b->kind == BLOCK_RUN ? run_resize(me, b, p, size) : resize_fragment(me, b, p, size);
}

/* --- a run that a fixed-size pool lives in -------------------------------------------------------- */

bool heap_mark_host(void *p, pool *guest)
{
    block *b = block_of(p);
    if (b->kind != BLOCK_RUN || heap_judge(p) != POOL_OK)
        return false;
    heap *h = heap_by_id(b->heap);
    lock_take(&h->zone->lock);
    for (uint32_t i = 0; i < b->run_blocks; i++) {
        b[i].kind = i && guest ? BLOCK_INNER : i ? BLOCK_FREE : BLOCK_RUN;
        b[i].run_first = block_number(b);
        b[i].pool = guest;
    }
    lock_drop(&h->zone->lock);
    heap_count(h, guest ? -(int64_t)b->run_bytes : (int64_t)b->run_bytes);
    return true;
}

void *heap_host(heap_thread *me, heap *h, size_t size, pool *guest)
{
    front *f = heap_front(me, h);
    uint64_t peak = relaxed_load(&h->row->peak_bytes);
    void *p = f && size > FRAGMENT_MAX ? front_alloc_aligned(f, size, GRANULE) : NULL;
    bool hosted = p && heap_mark_host(p, guest);
    if (hosted) /* the guest tells what it holds: here it never was live */
        relaxed_store(&h->row->peak_bytes, peak);
    return hosted ? p : NULL;
}

pool *heap_locked_pool(const void *p)
{
    const block *b = block_of(p);
    return b->kind == BLOCK_INNER || (b->kind == BLOCK_RUN && b->pool) ? b->pool : NULL;
}
