/* SPDX-License-Identifier: MIT */
/*
 * caller.h - floor F4: who called, as a tag, in a few ns.
 *
 *   caller_tag (inline)    the entry that matched last from there at that depth: its words are compared
 *   caller_tag_searched    other entries of the call (memo.h); outer frames that none tells: chain.h
 *   caller_tag_cold        walk by the table of return addresses (unwind.h), place in the memo
 *   on the resolve stack   once per address: unwind rule (cfi.h), symbol, verdict; a site: its row
 *
 * Invariants: (1) while a thread is in the cold half its memo is memo_dead and busy is raised, so whatever
 * allocates then (a signal handler, our own calls) gets System's base tag; (2) no memo answers from before
 * an object was closed (dl.h); (3) the resolve lock is a leaf towards the host: it is taken with all signals
 * blocked, and while it is held no loader lock is waited for and nothing of the host is called.
 * Cost: a hit 1-7 ns by depth; a miss 5 ns a frame and about 100 ns; a new return address a few us.
 */
#ifndef POOLMEM_CALLER_H
#define POOLMEM_CALLER_H

#include "memo.h"

/*
 * CALLER_HERE(): the caller of the enclosing function, which must be an entry point itself, not inlined.
 * A file that defines CALLER_ENTRIES before including this never uses rbp (gcc keeps it out of the whole
 * file), so the register still is the caller's; elsewhere the frame chain is asked, at the cost of a frame.
 */
#if defined(CALLER_ENTRIES) && !defined(__clang__)
register uintptr_t caller_rbp __asm__("rbp");
#define CALLER_RBP() caller_rbp
#else
#define CALLER_RBP() (*(const uintptr_t *)__builtin_frame_address(0))
#endif
#define CALLER_RET()  ((uintptr_t)__builtin_return_address(0))
#define CALLER_CFA()  ((uintptr_t)__builtin_dwarf_cfa())
#define CALLER_HERE() ((caller_frame){CALLER_RET(), CALLER_CFA(), CALLER_RBP()})

/* The slower half. It gets the frame as two words, for a struct of three would be built in memory; the
   return address stands below the CFA. */
HOT const tag *caller_tag_searched(thread *t, entry_id entry, size_t size, uintptr_t cfa, uintptr_t rbp);

/* The entry that a cell leads to, if it is this call's and plain words tell. */
INLINE const memo_entry *caller_hit_at(const memo_entry *e, uint64_t key, uintptr_t cfa, uintptr_t rbp)
{
    if (unlikely(e->quick != key) && !(e->quick == (key | MEMO_BOUND) && memo_within_bounds(e, cfa, rbp)))
        return NULL;
    return likely(memo_matches_plain(e, cfa)) ? e : NULL;
}

/* The entry that matched last from there at that depth, if it is this call's; NULL: it is to be searched. */
INLINE const memo_entry *caller_hit(const thread *t, entry_id entry, uintptr_t ret, uintptr_t cfa,
                                    uintptr_t rbp)
{
    int64_t cell = (int64_t)memo_cell(t, memo_cell_at(ret, cfa)); /* a fork is negative */
    if (unlikely(cell <= 0))
        return NULL;
    return caller_hit_at((const memo_entry *)cell, memo_key(ret, entry, t->call_key), cfa, rbp);
}

/* The same where different stacks took turns and a fork chooses; NULL as above, and now and then, for the
   search to see whether they still do. */
INLINE const memo_entry *caller_hit_forked(const thread *t, entry_id entry, uintptr_t cfa, uintptr_t rbp)
{
    uintptr_t ret = *(const stack_word *)(cfa - 8);
    size_t at = memo_cell_at(ret, cfa);
    uint64_t cell = memo_cell(t, at);
    if (!(cell & MEMO_FORK))
        return NULL;
    const memo_entry *e = memo_cell_entry(t, memo_cell_forked(t, cell, at, cfa));
    if (unlikely(!e) || unlikely(memo_fork_lasted(e)))
        return NULL;
    return caller_hit_at(e, memo_key(ret, entry, t->call_key), cfa, rbp);
}

/* The tag for this call, never NULL. `t` may be cold_thread; `self` may be another thread afterwards. */
INLINE const tag *caller_tag(thread *t, entry_id entry, size_t size, caller_frame f)
{
    const memo_entry *e = caller_hit(t, entry, f.ret, f.cfa, f.rbp);
    return likely(e != NULL) ? &e->now : caller_tag_searched(t, entry, size, f.cfa, f.rbp);
}

/* From now on what nobody claims goes to this pool. */
INLINE void caller_set_top(thread *t, uint32_t pool)
{
    uint64_t now = relaxed_load(&t->call_key);
    t->top = pool;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    while (now != MEMO_UNUSABLE && !__atomic_compare_exchange_n(&t->call_key, &now, memo_top_key(t->top),
                                                                false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        continue; /* another thread suspends this one's cells at the same time */
}

/* Walks out from a frame, at most `max` return addresses; for reports of misuse and tracking. Cold. */
unsigned caller_walk(thread *t, caller_frame f, uintptr_t *pcs, unsigned max);

/* Who called, for a message: "symbol+offset (module)" of the innermost frame. Cold. */
void caller_describe(thread *t, caller_frame f, char *out, size_t cap);

/* Calls fn(arg) on the resolve stack, holding the resolve lock, signals blocked. Not from within itself. */
void caller_resolving(void (*fn)(void *), void *arg);

/* Before the first use; around a fork; when a thread's struct is made. */
void caller_boot(void);
void caller_fork_locks(lock_visit *visit);
void caller_fork_child(void);
bool caller_thread_start(thread *t); /* makes its memo (mapped memory); false: it goes without */

/* Takes every thread's memo out of use; each thread puts its own back at its next miss (dl.c). */
void caller_suspend(void);

/* POOLMEM_VERIFY: tags compared with a full walk by libunwind, and how many differed. */
extern HIDDEN uint64_t verify_checked, verify_wrong;

#endif
