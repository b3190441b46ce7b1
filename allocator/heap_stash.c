/* SPDX-License-Identifier: MIT */
/*
 * heap_stash.c - see heap.h: large fragments that a thread freed lately, kept at hand for its next requests.
 *
 * A block holds few large fragments, so a thread that frees and asks at random would change blocks at nearly
 * every call: retire one as full, find another, look whether it is empty; and what it freed of another
 * thread's would travel home first. Hence each front keeps the last few of each large class in a stash, which
 * also are those whose memory is still in the processor's caches. Small fragments have none: their blocks
 * seldom change, and threads that got each other's would share cache lines.
 *
 *   own        its live bit is clear: it is free, but in no list
 *   another's  live, its bit in block.freed set: pending like all that others freed, so the owner may take it
 *              back at any time. Whoever clears the bit has it, and an entry whose bit is gone is passed
 * over.
 *
 * Either way misuse of it is seen as ever.
 * A signal handler may come in anywhere and free and ask too. Entries beyond the count are 0, one is read
 * before it is taken out, and what is not as the entry says is passed over: so a take serves none twice,
 * whatever the handler left behind; at worst a fragment is forgotten. A spill is not yet as careful: a
 * handler that frees while it moves entries may spill the same ones. Invariants: (1) blocks of large classes
 * are never quick, so each free comes here; (2) block.stashed counts a block's fragments in its owner's
 * stash, and a block that has some is not given away; (3) a thread that parks has an empty one. Locking:
 * none. Cost: another's fragment a locked bit operation each way. Read next: heap_thread.c.
 */
#include "heap.h"
#include "heap_private.h"
#include "meta.h"

#include <string.h>

enum { STASH_BYTES = 32 << 10, STASH_LEAST = 2 };

#define OTHERS ((uintptr_t)1) /* in an entry */

static COLD stash *make_stash(front *f, unsigned c)
{
    stash *s = meta_alloc(sizeof *s);
    size_t room = STASH_BYTES / class_size(c);
    if (!s)
        return NULL;
    s->inverse = inverse_of((uint32_t)class_size(c));
    s->room = room > STASH_MAX ? STASH_MAX : room < STASH_LEAST ? STASH_LEAST : (uint32_t)room;
    return f->stash[c - LARGE_CLASS] = s;
}

static bool serves(const stash *s, const front *f, const block *b)
{
    return relaxed_load(&b->inverse) == s->inverse && relaxed_load(&b->heap) == f->heap->id;
}

/* True: another's fragment is ours alone, as if the program held it. False: somebody was faster. Only then
   its block stays what it is, so that is looked at again. */
static bool claim(const stash *s, const front *f, void *p)
{
    block *b = block_of(p);
    uint64_t bit = pending_bit(b, p);
    if (!serves(s, f, b) || !(__atomic_fetch_and(&b->freed, ~bit, __ATOMIC_SEQ_CST) & bit))
        return false;
    if (likely(serves(s, f, b)))
        return true;
    __atomic_fetch_or(&b->freed, bit, __ATOMIC_SEQ_CST);
    heap_announce(b);
    return false;
}

static void go_home(const stash *s, const front *f, uintptr_t entry)
{
    void *p = (void *)(entry & ~OTHERS);
    if (unlikely(!p))
        return;
    if (entry & OTHERS) {
        if (claim(s, f, p))
            heap_free_cold(f->owner, p);
        return;
    }
    block *b = block_of(p);
    if (likely(!is_live(b, p))) {
        b->stashed--;
        block_put(b, p);
    }
}

/* The oldest entries go. A look at one of their blocks may come here again. */
static NOINLINE void spill(const front *f, stash *s, uint32_t n)
{
    uintptr_t out[STASH_MAX];
    uint32_t left = s->count - n;
    memcpy(out, s->entry, n * sizeof *out);
    memmove(s->entry, s->entry + n, left * sizeof *out);
    memset(s->entry + left, 0, n * sizeof *out);
    s->count = left;
    for (uint32_t i = 0; i < n; i++)
        go_home(s, f, out[i]);
}

/* Takes back what other threads have at hand: they may sleep, or be gone with a fork. */
static void take_from_others(block *list)
{
    for (block *b = list, *next; b && b != &no_block; b = next) {
        next = b->next;
        if (block_is_large(b) && relaxed_load(&b->freed))
            heap_take_pending(b);
    }
}

void front_unstash(front *f)
{
    for (unsigned i = 0; i < LARGE_CLASSES; i++) {
        if (f->stash[i])
            spill(f, f->stash[i], f->stash[i]->count);
        take_from_others(f->bin[LARGE_CLASS + i]);
    }
    take_from_others(f->full);
}

/* With room for one more; NULL: no memory for it. */
INLINE stash *stash_for(front *f, unsigned c)
{
    stash *s = f->stash[c - LARGE_CLASS];
    if (unlikely(!s))
        return make_stash(f, c);
    if (unlikely(s->count == s->room))
        spill(f, s, s->room / 2);
    return s;
}

INLINE void enter(stash *s, uintptr_t entry)
{
    uint32_t n = s->count;
    relaxed_store(&s->entry[n], entry);
    relaxed_store(&s->count, n + 1);
}

HOT bool stash_free_own(block *b, void *p)
{
    stash *s = stash_for(b->front, b->class_id);
    uintptr_t g = granule_number(p);
    if (unlikely(!s))
        return block_free_own(b, p, g);
    if (unlikely(!mark_free(b, g)))
        return false;
    b->stashed++;
    enter(s, (uintptr_t)p);
    return true;
}

HOT bool stash_free_others(heap_thread *me, block *b, void *p)
{
    uint64_t bit = pending_bit(b, p);
    front *f = me->by_heap[b->heap];
    if (unlikely(!f))
        f = heap_front(me, heap_by_id(b->heap));
    if (__atomic_fetch_or(&b->freed, bit, __ATOMIC_SEQ_CST) & bit)
        return false;
    stash *s = f ? stash_for(f, b->class_id) : NULL;
    if (likely(s != NULL))
        enter(s, (uintptr_t)p | OTHERS);
    else
        heap_announce(b);
    return true;
}

/* False: a signal handler has it, which came in while it was being taken out of the stash. */
INLINE bool take_own(void *p)
{
    block *b = block_of(p);
    if (unlikely(is_live(b, p)))
        return false;
    b->stashed--;
    mark_live(b, p);
    return true;
}

HOT void *stash_take(front *f, unsigned c)
{
    stash *s = f->stash[c - LARGE_CLASS];
    for (uint32_t n = s ? s->count : 0; n; n = s->count) {
        uintptr_t entry = relaxed_load(&s->entry[n - 1]);
        relaxed_store(&s->entry[n - 1], 0);
        relaxed_store(&s->count, n - 1);
        void *p = (void *)(entry & ~OTHERS);
        if (likely(p != NULL) && likely(entry & OTHERS ? claim(s, f, p) : take_own(p)))
            return p;
    }
    return NULL;
}
