/* SPDX-License-Identifier: MIT */
/*
 * alloc_entry.h - floor F4: the hot core of every allocating entry, for malloc.c, cxx.c and api.c. All of it
 * is inlined into the entry, because the entry's own frame is what tells who called. Frames go to cold
 * functions as two words: a struct of three would be built in memory on the hot path.
 */
#ifndef POOLMEM_ALLOC_ENTRY_H
#define POOLMEM_ALLOC_ENTRY_H

#define CALLER_ENTRIES /* caller.h: rbp is left to our callers */
#include "caller.h"
#include "heap.h"
#include "thread.h"

/* Sizes below this the inline path serves; 0 while every allocation is tracked. */
extern HIDDEN size_t malloc_fast_end;

/* Everything the inline path does not serve; errno is set when it gives NULL. */
COLD void *malloc_cold(const tag *g, size_t size);
COLD void *malloc_aligned_cold(const tag *g, size_t size, size_t align, bool zero);
/* Frees what heap_free_fast did not. */
HOT NOINLINE void free_other(void *p, uintptr_t cfa, uintptr_t rbp, const char *call);
/* And what heap_free_other did not either: NULL, runs, other kinds, and what is wrong. */
COLD void free_cold(void *p, uintptr_t cfa, uintptr_t rbp, const char *call);
/* realloc of a block (not NULL, size > 0). */
void *realloc_block(void *p, size_t size, uintptr_t cfa, uintptr_t rbp);
/* Usable bytes; 0 for NULL and for what is not ours. */
size_t usable_size(const void *p);

INLINE void *tally_alloc(const tag *g, void *p, size_t size)
{
    stats_tally *tally = g->tally;
    relaxed_add(&tally->allocs, 1);
    relaxed_add(&tally->bytes, size);
    return p;
}

/* The whole of an allocation; where alloc_hit gives NULL, by a tail call, so that the hot path saves no
   register, and with the size first, so that it moves no argument. */
HOT NOINLINE void *alloc_walked(size_t size, uintptr_t cfa, uintptr_t rbp, entry_id entry);

/* Memory for a known tag; NULL: the hot path cannot. */
INLINE void *alloc_quick(const tag *g, size_t size)
{
    if (unlikely(size >= malloc_fast_end))
        return NULL;
    void *p = front_pop_small(g->front, size);
    return likely(p != NULL) ? tally_alloc(g, p, size) : NULL;
}

/* Memory for the call that returns to `ret`, if its stack is that of the last time and the block at hand has
   something; else NULL. */
INLINE void *alloc_hit(entry_id entry, size_t size, uintptr_t ret, uintptr_t cfa, uintptr_t rbp)
{
    const memo_entry *e = caller_hit(self, entry, ret, cfa, rbp);
    return likely(e != NULL) ? alloc_quick(&e->now, size) : NULL;
}

/* Returns from the enclosing entry with memory for its caller; `rest` is alloc_walked or what goes round it.
 */
#define RETURN_ALLOC(entry, size, rest)                                                                      \
    do {                                                                                                     \
        void *hit_ = alloc_hit(entry, size, CALLER_RET(), CALLER_CFA(), CALLER_RBP());                       \
        return likely(hit_ != NULL) ? hit_ : rest(size, CALLER_CFA(), CALLER_RBP(), entry);                  \
    } while (0)

/* Frees for the caller of the enclosing entry, by a tail call. */
#define FREE_TAGGED(p, call)                                                                                 \
    do {                                                                                                     \
        if (unlikely(!heap_free_fast(&self->heap, p)))                                                       \
            free_other(p, CALLER_CFA(), CALLER_RBP(), call);                                                 \
    } while (0)

#endif
