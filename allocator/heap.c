/* SPDX-License-Identifier: MIT */
/*
 * heap.c - see heap.h: what happens when a front's block has nothing to give, when a block becomes full,
 * free again or empty, and who pays for it.
 *
 *   carve     the untouched rest of a block becomes fragments, a page's worth at a time
 *   ready     pages that are carved next are made ahead, as many at once as the class has blocks
 *   charge    carved bytes are taken from the heap and from every ancestor, against their limits
 *   count     a block's live bytes enter the heap's estimate (and its peak) whenever the block changes state
 *
 * A block is looked at after so many frees as it had fragments in use at the last look, since before that it
 * cannot have become empty; the head of a bin, which is kept when empty, after HEAD_FREES at least, and a
 * full one after a few (FULL_FREES), so that a block which swings between full and one free costs little.
 *
 * Invariants: heap.h (3). Cost: a refill every 4 KiB of small blocks; the zone lock once in 64 KiB; a look
 * counts at most 64 words of bits.
 */
#include "heap.h"
#include "fatal.h"
#include "heap_private.h"
#include "os.h"

#include <string.h>

#define CARVE_STEP ((uint32_t)4096)

enum { BLOCK_PAGES = BLOCK_SIZE / OS_PAGE, HEAD_FREES = 1024, FULL_PART = 32 /* of a block's fragments */ };

void *const no_fragment;
struct block no_block = {.free = FREE_END};
void (*heap_over_hook)(heap *h, size_t size);
void (*heap_overwritten_hook)(heap *h, void *fragment);
void (*heap_full_hook)(pool *p, size_t size);

/* --- account ----------------------------------------------------------------------------------- */

static bool over_limit(const heap *h, uint64_t taken)
{
    return h->pool.limit && taken > h->pool.limit;
}

static void say_over(heap *h, size_t size)
{
    bool first = !__atomic_exchange_n(&h->warned, true, __ATOMIC_RELAXED);
    if (heap_over_hook && (first || h->pool.over == OVER_ABORT))
        heap_over_hook(h, size);
}

void heap_uncharge(heap *h, size_t bytes)
{
    __atomic_fetch_sub(&h->row->committed_bytes, bytes, __ATOMIC_RELAXED);
    __atomic_fetch_sub(&world.taken, bytes, __ATOMIC_RELAXED);
    for (heap *a = h; a; a = a->parent)
        __atomic_fetch_sub(&a->taken, bytes, __ATOMIC_RELAXED);
}

static void uncharge_below(heap *h, heap *end, size_t bytes)
{
    for (heap *a = h; a != end; a = a->parent)
        __atomic_fetch_sub(&a->taken, bytes, __ATOMIC_RELAXED);
}

/* What lies about empty is charged too, so the first refusal decides nothing: the caller trims and asks
 * again. */
static bool tries_again(const heap *h, bool last)
{
    return !last && !(h->pool.over == OVER_WARN && __atomic_load_n(&h->warned, __ATOMIC_RELAXED));
}

/* NULL: granted. Else the ancestor (or h) whose limit refuses, with nothing charged; only the last try is
   counted, said, and judged by the policy. */
heap *heap_charge(heap *h, size_t bytes, bool last)
{
    for (heap *a = h; a; a = a->parent) {
        uint64_t taken = __atomic_add_fetch(&a->taken, bytes, __ATOMIC_RELAXED);
        if (likely(!h->budgeted) || !over_limit(a, taken))
            continue;
        bool again = tries_again(a, last);
        if (!again) {
            __atomic_fetch_add(&a->row->over_limit, 1, __ATOMIC_RELAXED);
            say_over(a, bytes);
        }
        if (again || a->pool.over != OVER_WARN) {
            uncharge_below(h, a->parent, bytes);
            return a;
        }
    }
    __atomic_fetch_add(&h->row->committed_bytes, bytes, __ATOMIC_RELAXED);
    __atomic_fetch_add(&world.taken, bytes, __ATOMIC_RELAXED);
    return NULL;
}

void heap_count(heap *h, int64_t delta)
{
    int64_t live = __atomic_add_fetch(&h->live_estimate, delta, __ATOMIC_RELAXED);
    if (delta > 0 && live > 0)
        atomic_raise(&h->row->peak_bytes, (uint64_t)live);
}

/* --- account of a front: what threads add one by one would have them fight for the heap's line -----------
 */

void front_settle(front *f)
{
    if (f->uncharged > 0)
        heap_charge(f->heap, (size_t)f->uncharged, true);
    else if (f->uncharged < 0)
        heap_uncharge(f->heap, (size_t)-f->uncharged);
    if (f->uncounted)
        heap_count(f->heap, f->uncounted);
    f->counted += f->uncounted;
    f->uncharged = f->uncounted = 0;
}

/* At most a sixteenth of what a front holds, and at most a block, is missing from the heap's peak. */
static void settle_large(front *f)
{
    int64_t most = f->counted / 16;
    if (most < 0)
        most = 0;
    if (most > (int64_t)BLOCK_SIZE)
        most = BLOCK_SIZE;
    if (f->uncharged > most || f->uncharged < -most || f->uncounted > most || f->uncounted < -most)
        front_settle(f);
}

static heap *front_charge(front *f, size_t bytes, bool last)
{
    if (unlikely(f->heap->budgeted)) {
        front_settle(f);
        return heap_charge(f->heap, bytes, last);
    }
    f->uncharged += (int64_t)bytes;
    settle_large(f);
    return NULL;
}

static void front_uncharge(front *f, size_t bytes)
{
    f->uncharged -= (int64_t)bytes;
    if (unlikely(f->heap->budgeted))
        front_settle(f);
    else
        settle_large(f);
}

static void count_bytes(block *b, uint32_t bytes)
{
    b->front->uncounted += (int64_t)bytes - b->counted;
    b->counted = bytes;
    settle_large(b->front);
}

INLINE uint32_t ones(const uint64_t *map, uint32_t words, bool by_instruction)
{
    uint32_t n = 0;
    for (uint32_t w = 0; w < words; w++) {
        uint64_t word = relaxed_load(&map[w]);
        n += by_instruction ? (uint32_t)__builtin_popcountll(word) : count_ones(word);
    }
    return n;
}

#ifdef __x86_64__
__attribute__((target("popcnt"))) static uint32_t ones_by_instruction(const uint64_t *map, uint32_t words)
{
    return ones(map, words, true);
}
#endif

uint32_t block_used(const block *b)
{
    uint32_t words = block_maps(b);
#ifdef __x86_64__
    if (likely(world.counts_bits))
        return ones_by_instruction(b->live, words);
#endif
    return ones(b->live, words, false);
}

/* Returns the fragments in use. */
static uint32_t count_block(block *b)
{
    uint32_t used = block_used(b);
    count_bytes(b, used * b->size);
    return used;
}

/* --- lists of a front --------------------------------------------------------------------------- */

static void full_link(front *f, block *b)
{
    b->full = 1;
    b->prev = NULL;
    b->next = f->full;
    if (b->next)
        b->next->prev = b;
    f->full = b;
}

void front_set_head(front *f, unsigned c, block *b)
{
    size_t granules = class_size(c) / GRANULE, least = c ? class_size(c - 1) / GRANULE + 1 : 0;
    f->bin[c] = b;
    for (size_t g = least; g <= granules && g <= SMALL_MAX / GRANULE; g++)
        f->small[g] = b;
}

/* Behind the head: the head stays the block that is hot. */
void front_link(front *f, block *b)
{
    block *head = f->bin[b->class_id];
    b->full = 0;
    if (head == &no_block) {
        b->prev = b->next = NULL;
        front_set_head(f, b->class_id, b);
        return;
    }
    b->prev = head;
    b->next = head->next;
    if (b->next)
        b->next->prev = b;
    head->next = b;
}

void front_unlink(front *f, block *b)
{
    if (b->next)
        b->next->prev = b->prev;
    if (b->prev)
        b->prev->next = b->next;
    else if (b->full)
        f->full = b->next;
    else
        front_set_head(f, b->class_id, b->next ? b->next : &no_block);
    b->next = b->prev = NULL;
}

/* Before a request is refused: a block behind the head that has something free becomes the head. What was it
   may be waiting for many frees, as only a head does. False: there is none. */
static bool bring_forward(front *f, block *head)
{
    block *b = head->next;
    while (b && b->free == FREE_END)
        b = b->next;
    if (!b)
        return false;
    front_unlink(f, b);
    b->next = head;
    head->prev = b;
    head->until_look = 1;
    front_set_head(f, b->class_id, b);
    return true;
}

static void retire_full(front *f, block *b)
{
    uint32_t fragments = b->limit / b->size, few = fragments / FULL_PART;
    count_bytes(b, fragments * b->size);
    front_unlink(f, b);
    full_link(f, b);
    b->until_look = few > FULL_FREES ? (int32_t)FULL_FREES : few ? (int32_t)few : 1;
}

/* Before a request is refused: blocks among the full ones that have had something freed may give again. */
void front_unretire(front *f)
{
    for (block *b = f->full, *next; b; b = next) {
        next = b->next;
        if (b->free == FREE_END)
            continue;
        front_unlink(f, b);
        front_link(f, b);
        b->until_look = 1;
    }
}

/* --- blocks ------------------------------------------------------------------------------------- */

static void give_to_zone(heap *h, block *b)
{
    bool entered = zone_enter(h->zone);
    b->kind = BLOCK_FREE;
    if (!entered) /* lost: better than waiting for oneself */
        return;
    zone_give(h->zone, block_number(b), 1, false);
    lock_drop(&h->zone->lock);
}

/* An empty block that is in no list leaves its owner. */
static void release(front *f, block *b)
{
    front_uncharge(f, b->carved);
    f->ahead[b->class_id] -= f->ahead[b->class_id] != 0;
    relaxed_store(&b->quick, NULL);
    relaxed_store(&b->owner, NULL);
    b->carved = 0;
    if (f->spares < SPARES_MAX) {
        b->next = f->spare;
        b->ready = BLOCK_PAGES;
        f->spare = b;
        f->spares++;
        return;
    }
    give_to_zone(f->heap, b);
}

void front_release_spares(front *f)
{
    while (f->spare) {
        block *b = f->spare;
        f->spare = b->next;
        b->next = NULL;
        give_to_zone(f->heap, b);
    }
    f->spares = 0;
}

/* An empty block goes, but for the head of its bin: a lone pair of calls would have a new one each time. */
void heap_look(const void *p)
{
    block *b = block_of(p);
    front *f = b->front;
    uint32_t used = count_block(b);
    if (b->full) {
        front_unlink(f, b);
        front_link(f, b);
    }
    bool head = f->bin[b->class_id] == b;
    b->until_look = (int32_t)(head && used < HEAD_FREES ? HEAD_FREES : used);
    if (!used && !head && !b->stashed) {
        front_unlink(f, b);
        release(f, b);
    }
    heap_tick(f->owner);
}

/* Gives back the empty blocks a front keeps. */
void front_trim(front *f)
{
    front_unstash(f);
    for (unsigned c = 0; c < CLASS_COUNT; c++) {
        for (block *b = f->bin[c], *next; b && b != &no_block; b = next) {
            next = b->next;
            if (count_block(b) || b->stashed) /* the latter: on its way home, further out on the stack */
                continue;
            front_unlink(f, b);
            release(f, b);
        }
    }
    front_release_spares(f);
    front_settle(f);
}

/* Has pages made in good time, the more at once the more blocks the class has: what is made and never used
   stays a small part of what the class holds, and a fault for each page costs several times as much. */
static void make_ready(const front *f, block *b, uint32_t end)
{
    uint32_t from = b->ready, most = from + f->ahead[b->class_id], need = (end + OS_PAGE - 1) / OS_PAGE;
    if (need <= from || b->size > OS_PAGE || f->ahead[b->class_id] < 2)
        return;
    if (most < need)
        most = need;
    if (most > BLOCK_PAGES)
        most = BLOCK_PAGES;
    os_populate(block_start(b) + from * OS_PAGE, (most - from) * OS_PAGE);
    b->ready = (uint8_t)most;
}

/* More fragments from the untouched part; the list must be empty. False: a limit refuses. */
static heap *carve(block *b, bool last)
{
    uint32_t step = b->size >= CARVE_STEP ? b->size : CARVE_STEP / b->size * b->size;
    uint32_t end = b->carved + step < b->limit ? b->carved + step : b->limit;
    heap *refuser = front_charge(b->front, end - b->carved, last);
    if (refuser)
        return refuser;
    make_ready(b->front, b, end);
    char *start = block_start(b), *p = start + b->carved, *final = start + end - b->size;
    for (; p < final; p += b->size)
        *(void **)p = p + b->size;
    *(void **) final = FREE_END;
    __atomic_signal_fence(__ATOMIC_SEQ_CST); /* fresh pages are where signals come in */
    b->free = start + b->carved;
    relaxed_store(&b->carved, end);
    count_bytes(b, end); /* as if all were used: a peak must not be missed between two looks */
    return NULL;
}

static block *take_block(front *f)
{
    block *b = f->spare;
    if (b) {
        f->spare = b->next;
        f->spares--;
        return b;
    }
    heap *h = f->heap;
    bool zeroed = true;
    bool entered = zone_enter(h->zone);
    uint32_t n = entered ? zone_take(h->zone, 1, 1, &zeroed) : zone_take_apart(h->zone, 1);
    b = n == UINT32_MAX ? NULL : &world.records[n];
    if (b) {
        relaxed_store(&b->heap, (uint16_t)h->id);
        b->kind = BLOCK_FRAGMENTS;
        b->ready = zeroed ? 0 : BLOCK_PAGES;
    }
    if (entered)
        lock_drop(&h->zone->lock);
    return b;
}

static block *fresh_block(front *f, unsigned c)
{
    block *b = take_block(f);
    if (!b)
        return NULL;
    uint32_t size = (uint32_t)class_size(c);
    b->free = FREE_END;
    b->counted = 0;
    b->carved = 0;
    b->size = size;
    relaxed_store(&b->inverse, inverse_of(size));
    b->limit = (uint32_t)(BLOCK_SIZE / size * size);
    b->class_id = (uint8_t)c;
    b->until_look = (int32_t)(b->limit / size);
    b->front = f;
    f->ahead[c] += f->ahead[c] < BLOCK_PAGES;
    front_link(f, b);
    block_set_quick(b, f->owner);
    __atomic_store_n(&b->owner, f->owner, __ATOMIC_RELEASE);
    return b;
}

/* --- refill ------------------------------------------------------------------------------------- */

static bool overwritten(const block *b)
{
    void *next = *(void **)b->free;
    return leaves_block(b->free, next) && next != FREE_END;
}

/* The program wrote into freed memory: what hangs behind the first fragment cannot be trusted, and is lost.
 */
static void drop_list(block *b)
{
    if (heap_overwritten_hook)
        heap_overwritten_hook(b->front->heap, b->free);
    b->free = FREE_END;
}

/* A block of class c with something free at the head of the bin; NULL: no memory, or *refuser. */
static block *ready_block(front *f, unsigned c, bool last, heap **refuser)
{
    for (;;) {
        if (f->bin[c] == &no_block && relaxed_load(&f->owner->remote))
            heap_collect(f->owner);
        block *b = f->bin[c];
        if (b == &no_block && !(b = fresh_block(f, c)))
            return NULL;
        if (b->free == FREE_END && relaxed_load(&b->in_remote) && heap_take_pending(b))
            continue; /* the look that came with it may have taken the block away */
        if (b->free != FREE_END) {
            if (likely(!overwritten(b)))
                return b;
            drop_list(b);
        }
        if (last && bring_forward(f, b))
            continue;
        if (b->carved < b->limit) {
            *refuser = carve(b, last);
            return *refuser ? NULL : b;
        }
        retire_full(f, b);
    }
}

static void *serve_from(heap_thread *t, pool *above, size_t size, size_t align)
{
    front *f =
        above->kind == POOL_HEAP ? heap_front(t, (heap *)above) : heap_front_locked(t, above->id, above);
    void *p = f ? front_alloc_aligned(f, size, align) : NULL;
    if (p && !t->served) /* the outermost of several that spilled has set it */
        t->served = f;
    return p;
}

/* The pool that refuses says who serves instead: with `spill` its parent, else nobody. */
void *front_refused(front *f, heap *refuser, size_t size, size_t align)
{
    heap_thread *t = f->owner;
    if (refuser && refuser->pool.over == OVER_SPILL && refuser->parent) {
        return serve_from(t, &refuser->parent->pool, size, align);
    }
    __atomic_fetch_add(&f->heap->row->failed, 1, __ATOMIC_RELAXED);
    t->status = refuser ? POOL_LIMIT : POOL_NOMEM;
    return NULL;
}

static void *alloc_class(front *f, unsigned c, size_t size, size_t align)
{
    heap *refuser = NULL;
    block *b = ready_block(f, c, false, &refuser);
    if (unlikely(!b)) { /* what lies about empty or pending may be enough */
        heap_make_room(f->owner, refuser);
        refuser = NULL;
        b = ready_block(f, c, true, &refuser);
    }
    return b ? block_pop(b) : front_refused(f, refuser, size, align);
}

/* A fixed-size pool that cannot serve: its policy decides whether its parent does. */
static void *locked_refused(front *f, pool_status s, size_t size, size_t align)
{
    pool *p = f->locked;
    bool full = s == POOL_NOMEM || s == POOL_LIMIT; /* the latter is a hunk's word */
    bool say = full && (pool_count_refused(p, true, false) || p->over == OVER_ABORT);
    if (say && heap_full_hook && p->over != OVER_SPILL)
        heap_full_hook(p, size);
    if (p->parent && (p->over != OVER_FAIL || s == POOL_ALIGN || s == POOL_BUSY)) {
        void *served = serve_from(f->owner, p->parent, size, align);
        if (served) /* refused here, but the program has got its memory */
            pool_count_refused(p, false, true);
        return served;
    }
    f->owner->status = s;
    return NULL;
}

static void *alloc_locked(front *f, size_t size, size_t align)
{
    void *out;
    pool_request r = {.size = size ? size : 1, .align = align, .nothing = !size};
    pool_status s = pool_alloc(f->locked, &r, &out);
    return likely(out != NULL) ? out : locked_refused(f, s, size, align);
}

void *front_alloc_cold(front *f, size_t size)
{
    heap_thread *t = f->owner;
    if (unlikely(f->locked != NULL))
        return alloc_locked(f, size, GRANULE);
    if (unlikely(size > FRAGMENT_MAX))
        return run_alloc(f, size, 1, &(bool){false});
    heap_tick(t);
    return alloc_class(f, class_of(size), size, GRANULE);
}

INLINE void *alloc_large(front *f, size_t size)
{
    void *p = stash_take(f, class_of(size));
    return likely(p != NULL) ? p : front_alloc(f, size);
}

void *front_alloc_aligned(front *f, size_t size, size_t align)
{
    if (align <= GRANULE)
        return size <= SMALL_MAX              ? front_alloc(f, size)
               : likely(size <= FRAGMENT_MAX) ? alloc_large(f, size)
                                              : front_alloc_cold(f, size);
    if (f->locked)
        return alloc_locked(f, size, align);
    size_t least = size > align ? size : align;
    if (least <= FRAGMENT_MAX) {
        unsigned c = class_of(least);
        while (c < CLASS_COUNT && class_size(c) % align)
            c++;
        if (c < CLASS_COUNT)
            return alloc_class(f, c, size, align);
    }
    if (align > GIB(1)) {
        f->owner->status = POOL_ALIGN;
        return NULL;
    }
    size_t blocks = align > BLOCK_SIZE ? align >> BLOCK_SHIFT : 1;
    return run_alloc(f, size, (uint32_t)blocks, &(bool){false});
}

void *front_alloc_zero(front *f, size_t size)
{
    bool zeroed = false;
    void *p;
    if (size <= FRAGMENT_MAX)
        p = front_alloc_aligned(f, size, GRANULE);
    else
        p = f->locked ? alloc_locked(f, size, GRANULE) : run_alloc(f, size, 1, &zeroed);
    return p && !zeroed ? memset(p, 0, size) : p;
}
