/* SPDX-License-Identifier: MIT */
/*
 * heap_thread.c - see heap.h: frees by a thread that does not own the block, and what becomes of a thread's
 * blocks when it ends.
 *
 * A remote free sets the fragment's pending bit and touches nothing else of the fragment; the first one puts
 * the block on its owner's remote list. The owner takes bits back word by word when it next runs short. So a
 * double free is seen in every state, the freeing thread does not fetch the fragment's cache line, and there
 * is no chain to corrupt.
 *
 * A thread that ends parks its side whole; the next one adopts it. A free into a parked thread's block moves
 * that block to the freeing thread, so memory does not wait for a thread that may never come.
 *
 * Invariants: (1) whoever sets a pending bit then sees in_remote 0 puts the block on the list; the collector
 * clears in_remote before it reads the bits: no bit is forgotten; (2) a block found on the list of a thread
 * that no longer owns it is passed on; (3) a parked side is touched only under threads_lock; (4) while a
 * block is on a remote list its `quick` is NULL: the owner's own frees there see what is pending, so that one
 * of the same fragment is known for what it is. Whoever puts it on the list clears `quick` before and after,
 * the collector sets it between taking the block off and taking the bits. Cost: a remote free is one locked
 * bit operation; collecting a block reads a word for each 64 of its fragments.
 */
#include "heap.h"
#include "heap_private.h"
#include "meta.h"
#include "os.h"

#define TICK_EVERY 4u /* slow paths between two looks at the clock */

static lock threads_lock = LOCK_INIT(RANK_THREADS);
static heap_thread *threads; /* atomic: all ever made */

/* --- remote frees -------------------------------------------------------------------------------- */

static void push_remote(heap_thread *owner, block *b)
{
    block *head = relaxed_load(&owner->remote);
    do {
        b->next_remote = head;
    } while (
        !__atomic_compare_exchange_n(&owner->remote, &head, b, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

static void announce(heap_thread *owner, block *b)
{
    if (likely(__atomic_load_n(&b->in_remote, __ATOMIC_SEQ_CST)))
        return;
    __atomic_store_n(&b->quick, NULL, __ATOMIC_RELEASE);
    if (!__atomic_exchange_n(&b->in_remote, 1, __ATOMIC_SEQ_CST)) {
        __atomic_store_n(&b->quick, NULL, __ATOMIC_RELEASE); /* reclaim() may have come between */
        push_remote(owner, b);
    }
}

void heap_announce(block *b)
{
    heap_thread *owner = __atomic_load_n(&b->owner, __ATOMIC_ACQUIRE);
    if (owner)
        announce(owner, b);
}

/* Moves a fragment to the block's list. False: it is there already, because the owner freed it while another
   thread did. */
static bool take_fragment(block *b, void **p)
{
    uint64_t *live = &b->live[map_of((uintptr_t)p)];
    if (unlikely(!(*live & bit_of((uintptr_t)p))))
        return false;
    relaxed_store(live, *live & ~bit_of((uintptr_t)p));
    *p = b->free;
    b->free = p;
    return true;
}

bool heap_take_pending(block *b)
{
    char *start = block_start(b), *p = start;
    uint64_t *map = pending_word(b, start);
    size_t step = (size_t)BITS_PER_MAP * b->size;
    uint32_t fragments = fragments_in(b, b->carved), n = 0;
    for (uint32_t w = 0; w * BITS_PER_MAP < fragments; w++, p += step) {
        uint64_t word = relaxed_load(&map[w]) ? __atomic_exchange_n(&map[w], 0, __ATOMIC_ACQUIRE) : 0;
        for (; word; word &= word - 1)
            n += take_fragment(b, (void **)(void *)(p + (size_t)__builtin_ctzll(word) * b->size));
    }
    if (n && relaxed_add(&b->until_look, -(int32_t)n) <= 0)
        heap_look(start);
    return n != 0;
}

/* The clock is looked at afterwards: what a look finds is given back together, once a decay time. */
void heap_collect(heap_thread *t)
{
    block *b = __atomic_exchange_n(&t->remote, NULL, __ATOMIC_ACQUIRE);
    uint64_t ticked_at = t->ticked_at;
    if (b)
        t->ticked_at = os_time_coarse_ns();
    while (b) {
        block *next = b->next_remote;
        __atomic_store_n(&b->in_remote, 0, __ATOMIC_SEQ_CST);
        heap_thread *owner = __atomic_load_n(&b->owner, __ATOMIC_ACQUIRE);
        if (owner == t) {
            block_set_quick(b, t); /* it may have been announced again already */
            heap_take_pending(b);
        } else if (owner)
            announce(owner, b);
        b = next;
    }
    t->ticked_at = ticked_at;
}

/* The owner has ended: its block becomes the freeing thread's. False: somebody was faster. */
static bool reclaim(heap_thread *me, block *b, heap_thread *owner)
{
    front *f = heap_front(me, heap_by_id(b->heap));
    bool mine = false;
    if (!f || !lock_take_unless_mine(&threads_lock))
        return false;
    if (b->owner == owner && relaxed_load(&owner->state) == THREAD_PARKED) {
        front_unlink(b->front, b);
        b->front = f;
        relaxed_store(&b->owner, me);
        block_set_quick(b, me);
        b->until_look = 1; /* it may have been a head, or full */
        front_link(f, b);
        mine = true;
    }
    lock_drop(&threads_lock);
    if (mine) /* what others freed here meanwhile may stand on the old owner's list */
        heap_take_pending(b);
    return mine;
}

pool_status heap_free_remote(heap_thread *me, block *b, void *p)
{
    if ((uintptr_t)p % GRANULE || !is_live(b, p))
        return heap_judge(p);
    uint64_t bit = pending_bit(b, p);
    heap_thread *owner = __atomic_load_n(&b->owner, __ATOMIC_ACQUIRE);
    if (owner && relaxed_load(&owner->state) == THREAD_PARKED && reclaim(me, b, owner))
        return block_free_own(b, p, granule_number(p)) ? POOL_OK : heap_judge(p);
    if (__atomic_fetch_or(pending_word(b, p), bit, __ATOMIC_SEQ_CST) & bit)
        return POOL_DOUBLE_FREE;
    if (owner)
        announce(owner, b);
    return POOL_OK;
}

HOT bool heap_free_other(heap_thread *me, void *p)
{
    uintptr_t g = granule_number(p);
    if (unlikely(g >= hot_load(&world.fast_granules)))
        return false;
    block *b = &world.records[g / (BLOCK_SIZE / GRANULE)];
    heap_thread *owner = __atomic_load_n(&b->owner, __ATOMIC_ACQUIRE);
    if (unlikely(!owner || !is_live(b, p)))
        return false;
    uint64_t *pending = pending_word(b, p), bit = pending_bit(b, p);
    bool large = block_is_large(b);
    if (owner == me)
        return !(relaxed_load(pending) & bit) && (large ? stash_free_own(b, p) : block_free_own(b, p, g));
    if (unlikely(relaxed_load(&owner->state) == THREAD_PARKED))
        return false;
    if (large)
        return stash_free_others(me, b, p);
    if (unlikely(__atomic_fetch_or(pending, bit, __ATOMIC_SEQ_CST) & bit))
        return false;
    announce(owner, b);
    return true;
}

/* --- upkeep ------------------------------------------------------------------------------------- */

INLINE uint32_t zones_end(void)
{
    return (uint32_t)relaxed_load(&world.zones_end);
}

static void decay_zones(uint64_t now, bool force)
{
    for (uint32_t i = 0; i < zones_end(); i++)
        if (world_zones[i].count)
            zone_decay(&world_zones[i], now, force);
}

static void trim_fronts(heap_thread *t)
{
    heap_collect(t);
    for (front *f = t->fronts; f; f = f->next)
        if (!f->locked)
            front_trim(f);
}

void heap_trim(heap_thread *me, bool force)
{
    trim_fronts(me);
    decay_zones(os_time_coarse_ns(), force);
}

/* Pages that lie dirty count against no limit: only the system's refusal gives them back. */
void heap_make_room(heap_thread *t, const heap *refuser)
{
    heap_collect(t); /* into full blocks too, and those are asked next */
    for (front *f = t->fronts; f; f = f->next) {
        front_unstash(f);
        front_unretire(f);
    }
    if (refuser)
        trim_fronts(t);
    else
        heap_trim(t, true);
}

void heap_tick(heap_thread *t)
{
    if (likely(++t->slow % TICK_EVERY))
        return;
    uint64_t now = os_time_coarse_ns();
    if (now - t->ticked_at < world.decay_ns / 2)
        return;
    t->ticked_at = now;
    trim_fronts(t);
    decay_zones(now, false);
}

/* --- fronts, park, adopt -------------------------------------------------------------------------- */

static front *make_front(heap_thread *t, uint32_t id)
{
    front *f = meta_alloc(sizeof *f);
    if (!f)
        return NULL;
    for (unsigned c = 0; c < CLASS_COUNT; c++)
        front_set_head(f, c, &no_block);
    f->owner = t;
    f->next = t->fronts;
    t->fronts = f;
    t->by_heap[id] = f;
    return f;
}

front *heap_front(heap_thread *t, heap *h)
{
    front *f = t->by_heap[h->id];
    if (likely(f != NULL))
        return f;
    f = make_front(t, h->id);
    if (f)
        f->heap = h;
    return f;
}

front *heap_front_locked(heap_thread *t, uint32_t id, pool *p)
{
    front *f = t->by_heap[id];
    if (!f && (f = make_front(t, id)))
        f->locked = p;
    return f;
}

static heap_thread *adopt_parked(void)
{
    heap_thread *t;
    if (!lock_take_unless_mine(&threads_lock))
        return NULL;
    for (t = heap_thread_first(); t; t = t->next)
        if (relaxed_load(&t->state) == THREAD_PARKED)
            break;
    if (t)
        __atomic_store_n(&t->state, THREAD_RUNNING, __ATOMIC_SEQ_CST);
    lock_drop(&threads_lock);
    return t;
}

heap_thread *heap_thread_adopt(size_t bytes)
{
    heap_thread *t = adopt_parked();
    if (t) {
        heap_collect(t);
        return t;
    }
    t = meta_alloc(bytes > sizeof *t ? bytes : sizeof *t);
    if (!t)
        return NULL;
    t->next = relaxed_load(&threads);
    while (!__atomic_compare_exchange_n(&threads, &t->next, t, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        continue;
    return t;
}

void heap_thread_park(heap_thread *t)
{
    trim_fronts(t);
    lock_take(&threads_lock);
    __atomic_store_n(&t->state, THREAD_PARKED, __ATOMIC_SEQ_CST);
    lock_drop(&threads_lock);
}

/* --- fork --------------------------------------------------------------------------------------- */

void heap_fork_locks(lock_visit *visit)
{
    visit(&threads_lock);
    for (uint32_t i = 0; i < zones_end(); i++)
        if (world_zones[i].count)
            visit(&world_zones[i].lock);
    meta_fork_locks(visit);
}

/* Without the lock a parked side may be half in another thread's hands: then nobody adopts it either. */
static void forget_others(heap_thread *me)
{
    bool sure = lock_is_mine(&threads_lock);
    for (heap_thread *t = threads; t; t = t->next)
        if (t != me && (t->state == THREAD_RUNNING || !sure))
            t->state = THREAD_LOST;
}

void heap_fork_child(heap_thread *me)
{
    forget_others(me);
    for (uint32_t i = 0; i < zones_end(); i++)
        if (world_zones[i].count && !lock_is_mine(&world_zones[i].lock))
            zone_abandon(&world_zones[i]);
    meta_fork_child();
}

heap_thread *heap_thread_first(void)
{
    return __atomic_load_n(&threads, __ATOMIC_ACQUIRE);
}
