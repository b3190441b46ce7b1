/* SPDX-License-Identifier: MIT */
/*
 * heap.h - floor F2: the native block heap (kind `heap`), its structs and the two fast paths.
 *
 *   heap    one pool: its zone, its account (taken, limit, peak)
 *   front   one thread's private side of one heap: for each class the block it allocates from
 *   block   record of 64 KiB (world.h): fragment list, used, owner
 *
 * A front's bins always point at a block: with nothing to give it is `no_block`, whose list is empty, so that
 * malloc has one size test and one list test: the end of a fragment list is a word of no block which leads
 * nowhere (FREE_END), so that one comparison shows both an empty list and a link that the program has
 * overwritten after free.
 *
 * Fragments above SMALL_MAX are large: what a thread frees of them it keeps at hand for a while, in a stash
 * for each class (heap_stash.c).
 *
 * Invariants: (1) only the owner touches line 0 of a block's record (but `quick`, which others may clear) and
 * its fragments' links; (2) fragments in use = live bits of the block, pending ones included (a free fragment
 * may be in the block's list or in a stash); (3) every block of a front is in exactly one of its lists: in a
 * bin's, or with `full` set among the full ones, where up to a few fragments may have been freed since
 * (FULL_FREES); (4) heap.taken = carved bytes of its fragment blocks + bytes of its runs, and every ancestor
 * counts the same bytes too; (5) while bits are pending in a block its `quick` is NULL, or about to be: the
 * thread that set them has not come that far; blocks of large fragments never have one. Locking: none on the
 * fast paths; zone.lock when blocks change hands; heap_threads' lock for park and adopt. Read next: heap.c
 * (refill, release), heap_stash.c, heap_run.c (large blocks), heap_thread.c (remote frees, park, adopt).
 */
#ifndef POOLMEM_HEAP_H
#define POOLMEM_HEAP_H

#include "pool.h"
#include "stats.h"
#include "world.h"

#define HEAPS_MAX 256
#define STASH_MAX 8

typedef struct heap {
    pool pool; /* first: a heap is a pool */
    uint32_t id;
    zone *zone;
    struct heap *parent;                         /* who is charged too; NULL for the root */
    bool budgeted;                               /* a limit stands here or above */
    uint64_t taken __attribute__((aligned(64))); /* atomic: bytes taken, own and children's */
    int64_t live_estimate;                       /* atomic: usable bytes held, to a block per front */
    stats_pool *row __attribute__((aligned(
        64))); /* atomic fields: peak, committed (own alone), failed, over_limit; own_row or published */
    stats_pool own_row;
    bool warned; /* atomic: the limit was said once */
    bool exempt; /* limits never refuse it: the System pool */
} heap;

/* Large fragments of one class that were freed lately, the youngest last (heap_stash.c). */
typedef struct stash {
    uint32_t count, room;
    uint32_t inverse; /* of their blocks */
    uintptr_t entry[STASH_MAX];
} stash;

typedef struct front {
    struct block *small[SMALL_MAX / GRANULE + 1]; /* bin of a size up to SMALL_MAX, by granules */
    struct block *bin[CLASS_COUNT];
    heap *heap;
    struct heap_thread *owner;
    struct front *next;  /* of the same owner */
    pool *locked;        /* a pool of a locked kind stands here: every request goes to it */
    int64_t uncharged;   /* bytes taken that the heap does not know of yet; only where no limit stands */
    int64_t uncounted;   /* the same of its live estimate */
    int64_t counted;     /* what the heap's estimate knows of this front */
    struct block *full;  /* blocks that had nothing to give when last asked */
    struct block *spare; /* empty blocks kept for any class, linked by next */
    uint32_t spares;
    uint8_t ahead[CLASS_COUNT];  /* pages to have made at once: blocks held of the class, about */
    stash *stash[LARGE_CLASSES]; /* NULL: none yet */
} front;

#define SPARES_MAX 4

/* A thread's whole side: what is parked when it ends and adopted by the next. */
typedef struct heap_thread {
    struct block *remote __attribute__((aligned(64))); /* atomic: blocks with pending frees */
    uint32_t state;                                    /* atomic: thread_state */
    front *fronts __attribute__((aligned(64)));        /* all of them */
    front *by_heap[HEAPS_MAX];
    struct heap_thread *next; /* all ever made */
    uint32_t slow;            /* slow paths taken: when to look at the clock */
    uint64_t ticked_at;       /* ns */
    pool_status status;       /* why the last call gave NULL */
    front *served; /* another pool's front that served the last call (spill); who counts clears it */
} heap_thread;

enum thread_state { THREAD_RUNNING, THREAD_PARKED, THREAD_LOST /* another process's after fork */ };

/* The end of every fragment list: a word that leads nowhere, so that following it fails the same test as a
   link that the program has overwritten. */
extern void *const no_fragment HIDDEN;
#define FREE_END ((void *)&no_fragment)

extern struct block no_block HIDDEN;

/* --- setting up -------------------------------------------------------------------------------- */

/* Makes a heap in memory of the caller's. False: no zone can be had; then every request is refused. */
bool heap_create(heap *h, uint32_t id, const char *name, heap *parent, uint64_t limit, pool_over over);
/* Changes the budget of a heap; call while no other thread takes blocks from it. */
void heap_set_limit(heap *h, uint64_t limit, pool_over over);
/* Counts in this row from now on: the published one. */
void heap_set_row(heap *h, stats_pool *row);
/* The front of a thread for a heap, made on first use. NULL: no memory for it. */
front *heap_front(heap_thread *t, heap *h);
/* A front whose every request goes to a locked pool. */
front *heap_front_locked(heap_thread *t, uint32_t id, pool *p);

/* Makes or adopts a thread's side; NULL: no memory. Parks it: its blocks wait for the next thread. */
heap_thread *heap_thread_adopt(size_t bytes);
void heap_thread_park(heap_thread *t);
/* All sides ever made, linked by next; the list only grows. */
heap_thread *heap_thread_first(void);
/* The calling thread's side, adopted on first use; NULL: no memory. The interposer sets its own. */
heap_thread *heap_thread_self(void);
void heap_thread_set_self(heap_thread *t);
/* fork: every lock of the heaps; the child forgets the other threads, and what the locks guard that could not
   be taken. */
void heap_fork_locks(lock_visit *visit);
void heap_fork_child(heap_thread *me);

/* --- allocation -------------------------------------------------------------------------------- */

/* Everything the fast path does not do. NULL: t->status tells why. */
void *front_alloc_cold(front *f, size_t size);
/* Any size and alignment (power of two); `zero`: all bytes zero. */
void *front_alloc_aligned(front *f, size_t size, size_t align);
void *front_alloc_zero(front *f, size_t size);

/* What comes next: a fragment that another running thread owns, or where frees of others are pending. False
   as heap_free_fast. */
bool heap_free_other(heap_thread *me, void *p);
/* Frees whatever neither did; p lies in the world. Says what the pointer was. */
pool_status heap_free_cold(heap_thread *me, void *p);
/* Looks at the block of p, a fragment just freed, whose frees have come to until_look. */
void heap_look(const void *p);
/* Usable bytes of a live block, 0: it is none. */
size_t heap_usable(const void *p);
/* Resizes; the block stays in its own pool. NULL: nothing changed and t->status tells why. */
void *heap_resize(heap_thread *me, void *p, size_t size);
/* What stands at an address of the world: POOL_OK a live block's start, else what is wrong with it. */
pool_status heap_judge(const void *p);
/* The heap an address belongs to; NULL: none. */
heap *heap_of(const void *p);
heap *heap_by_id(uint32_t id);
/* The fixed-size pool that lives at an address, or NULL. */
pool *heap_locked_pool(const void *p);
/* A run for a fixed-size pool, its blocks marked so that heap_locked_pool finds it. */
void *heap_host(heap_thread *me, heap *h, size_t size, pool *guest);
/* Marks a live run as the home of `guest` (NULL: an ordinary block again). False: p is no run. */
bool heap_mark_host(void *p, pool *guest);

/* Takes back what other threads freed, gives back empty blocks and old pages; `force`: all of them. */
void heap_trim(heap_thread *me, bool force);
bool heap_check(heap *h, heap_thread *me);

/* Over the limit with OVER_ABORT or OVER_WARN: told here, from the thread that asked. */
extern void (*heap_over_hook)(heap *h, size_t size);
/* A fixed-size pool cannot serve a request and its policy is not to be silent: told here. */
extern void (*heap_full_hook)(pool *p, size_t size);
/* The nearest native heap above a pool; NULL: none. */
heap *heap_above(const pool *p);
/* A link inside freed memory was found overwritten: told here; the fragments behind it are lost. */
extern void (*heap_overwritten_hook)(heap *h, void *fragment);

#define GRANULE_SHIFT 4
_Static_assert(GRANULE == 1 << GRANULE_SHIFT, "granules are numbered by a shift");

/* The number of the granule that starts at p, beyond every number when p starts none: the rotation brings
   the bits that must be zero to the top, so that one comparison decides on range and alignment. */
INLINE uintptr_t granule_number(const void *p)
{
    uintptr_t offset = (uintptr_t)p - world.base;
    return offset >> GRANULE_SHIFT | offset << (64 - GRANULE_SHIFT);
}

/* A word of live bits to read and then to write. The second use names the block anew: compilers would add up
   the word's address beforehand, where two addressing modes cost nothing. */
#define BLOCK_ANEW(b) __asm__("" : "+r"(b))

INLINE void mark_live(struct block *b, const void *p)
{
    size_t word = map_of((uintptr_t)p);
    uint64_t live = relaxed_load(&b->live[word]) | bit_of((uintptr_t)p);
    BLOCK_ANEW(b);
    relaxed_store(&b->live[word], live);
}

/* Whether a link leads out of its block: then the program has overwritten it. */
INLINE bool leaves_block(const void *p, const void *next)
{
    return ((uintptr_t)next ^ (uintptr_t)p) >= BLOCK_SIZE;
}

/* A fragment, or NULL: the block has none at hand, call front_alloc_cold. */
INLINE void *block_pop(struct block *b)
{
    void *p = b->free, *next = *(void **)p;
    if (unlikely(leaves_block(p, next))) {
        if (next != FREE_END)
            return NULL;
    }
    b->free = next;
    __builtin_prefetch(next); /* what another thread's cache gave up is far away when it is asked for */
    mark_live(b, p);
    return p;
}

/* For a size up to SMALL_MAX; NULL as above. */
INLINE void *front_pop_small(front *f, size_t size)
{
    return block_pop(f->small[(size + (GRANULE - 1)) / GRANULE]);
}

/* For a size up to FRAGMENT_MAX. */
INLINE void *front_alloc(front *f, size_t size)
{
    void *p = block_pop(f->bin[class_of(size)]);
    return likely(p != NULL) ? p : front_alloc_cold(f, size);
}

/* Clears the live bit of granule g. False: it is clear. */
INLINE bool mark_free(struct block *b, uintptr_t g)
{
    size_t word = g / BITS_PER_MAP % BLOCK_MAPS;
    uint64_t live = relaxed_load(&b->live[word]);
    if (unlikely(!bit_taken(&live, g)))
        return false;
    struct block *again = b;
    BLOCK_ANEW(again);
    relaxed_store(&again->live[word], live);
    return true;
}

/* Lists a fragment that is marked free. */
INLINE void block_put(struct block *b, void *p)
{
    *(void **)p = b->free;
    b->free = p;
    if (unlikely(relaxed_down(&b->until_look)))
        heap_look(p);
}

/* Frees the fragment at granule g of a block that the calling thread owns and where nothing is pending.
   False: it is none that lives, nothing done. */
INLINE bool block_free_own(struct block *b, void *p, uintptr_t g)
{
    if (unlikely(!mark_free(b, g)))
        return false;
    block_put(b, p);
    return true;
}

/* The fast path of free. False: not the calling thread's fragment, nothing done, call heap_free_cold. */
INLINE bool heap_free_fast(heap_thread *me, void *p)
{
    uintptr_t g = granule_number(p);
    if (unlikely(g >= hot_load(&world.fast_granules)))
        return false;
    struct block *b = &world.records[g / (BLOCK_SIZE / GRANULE)];
    return likely(hot_load(&b->quick) == me) && block_free_own(b, p, g);
}

/* Whether a fragment is left where it is when it is to have another size. */
INLINE bool heap_fits(size_t size, size_t usable)
{
    return size <= usable && (size > usable / 2 || usable <= 2 * GRANULE);
}

/* Whether p is a live fragment of the calling thread's that stays where it is; false: heap_judge and
   heap_resize are to say. */
INLINE bool heap_keeps(heap_thread *me, const void *p, size_t size)
{
    uintptr_t g = granule_number(p);
    if (unlikely(g >= hot_load(&world.fast_granules)))
        return false;
    struct block *b = &world.records[g / (BLOCK_SIZE / GRANULE)];
    if (hot_load(&b->quick) != me) {
        bool large = relaxed_load(&b->owner) == me && block_is_large(b);
        if (!large || (relaxed_load(&b->freed) & pending_bit(b, p)))
            return false;
    }
    return is_live(b, p) && heap_fits(size, b->size);
}

/* All three ways; p lies in the world. */
INLINE pool_status heap_free(heap_thread *me, void *p)
{
    return heap_free_fast(me, p) || heap_free_other(me, p) ? POOL_OK : heap_free_cold(me, p);
}

#endif
