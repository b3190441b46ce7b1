/* SPDX-License-Identifier: MIT */
/*
 * unwind.h - floor F4: walks a stack by the rules of its return addresses and writes down every word it read,
 * so that memo.c can tell the same stack again.
 *
 * Invariants: (1) no address is read that has not been proved readable, so a wrong table or a smashed stack
 * ends the walk but never the host; (2) the words of a walk depend on nothing but the frame it started from
 * and the words themselves: whoever finds the first k words as they were may read word k + 1.
 * Locking: none (pc_info is asked of a callback). Cost: about 5 ns a frame; a system call a page that this
 * thread has not yet walked on. Read next: memo.h.
 */
#ifndef POOLMEM_UNWIND_H
#define POOLMEM_UNWIND_H

#include "dl.h"
#include "entry.h"
#include "pcrule.h"
#include "thread.h"

/* The state of the caller at the instant it entered malloc: its return address, the value its stack pointer
   has after our return (CFA), and its frame pointer register. */
typedef struct caller_frame {
    uintptr_t ret, cfa, rbp;
} caller_frame;

enum {
    WALK_FRAMES = 1024, /* the greatest depth */
    WALK_WORDS = 64     /* that can be remembered */
};

/* One word that was read. */
typedef struct walk_word {
    uint64_t value;  /* relative: less the CFA at the start */
    uint32_t offset; /* from the CFA at the start, bytes */
    bool relative;   /* a saved frame pointer: the same chain elsewhere holds another value */
} walk_word;

/* A frame to walk on from. */
typedef struct walk_point {
    uintptr_t pc, sp, rbp;
    bool rbp_known;
    bool exact; /* pc is where a signal struck */
} walk_point;

typedef struct walk {
    unsigned frames, words;
    int pool;      /* RULE_NO_POOL: nobody claimed it */
    bool keep;     /* the words alone decide: the memo may keep it */
    bool uses_rbp; /* and the frame pointer register, at this place above the CFA: */
    bool loose; /* on a foreign stack, and did not end as stacks do: where the like of it ends is not known */
    bool more;  /* it goes on: */
    uint64_t rbp;
    walk_point next;       /* with more: the first frame not looked at */
    uintptr_t next_rbp_at; /* where next.rbp was saved; 0 still in the register */
    walk_word word[WALK_WORDS];
    uintptr_t pcs[WALK_FRAMES]; /* last: seldom more than the first page of this is touched */
} walk;

/* Finds out what pc_find does not know; the answer may be left in *scratch. */
typedef const pc_info *walk_ask(pc_key key, pc_info *scratch);

/* Walks out from f for a call until a rule claims a frame, `depth` frames are seen or the stack ends. Entry
   ENTRY_COUNT: no rule is asked. `onward`: makes the step beyond the last frame too. */
void walk_run(walk *w, const thread *t, caller_frame f, entry_id entry, size_t size, unsigned depth,
              bool onward, walk_ask *ask);

/* A word of a stack. */
typedef uintptr_t __attribute__((may_alias)) stack_word;

/* One frame at a time, for chain.c. */
typedef struct walk_cursor {
    walk *w;                   /* writes the words down; NULL: nobody does */
    uintptr_t lo, hi;          /* readable */
    uintptr_t start;           /* CFA of the first frame */
    uintptr_t pc, sp, rbp;     /* of the frame at hand */
    uintptr_t rbp_at;          /* where that rbp was saved; 0: still in the register */
    uintptr_t ra_at, saved_at; /* of the last step: where pc was read, and rbp; 0: handed through */
    bool rbp_known, rbp_kept;  /* kept: its word has been written down */
    bool exact;                /* pc is where a signal struck */
    bool used_rbp;             /* by the last step */
    bool odd;                  /* the words do not tell it all: not to be remembered */
} walk_cursor;

walk_cursor walk_resume(const thread *t, const walk_point *p);
walk_point walk_here(const walk_cursor *c);
/* Whether pc can be a code address at all. */
INLINE bool walk_valid(const walk_cursor *c)
{
    return !(c->pc & PC_EXACT);
}

/* What is known about its pc. While objects are being closed the table is not believed. */
INLINE const pc_info *walk_info(const walk_cursor *c, walk_ask *ask, pc_info *scratch)
{
    pc_key key = (pc_key)c->pc | (c->exact ? PC_EXACT : 0);
    const pc_info *info = likely(!dl_closing) ? pc_find(key) : NULL;
    return likely(info != NULL) ? info : ask(key, scratch);
}

/* To the caller's frame; false: the stack ends here or cannot be followed. */
bool walk_step(walk_cursor *c, const cfi_rule *r);

/* The same for the frame that nearly all are: plain, on memory known to be readable, nobody writing words
   down. False: nothing was done, walk_step is to. */
INLINE bool walk_step_plain(walk_cursor *c, const pc_info *info)
{
    uintptr_t cfa = c->sp + (uintptr_t)(intptr_t)info->rule.cfa;
    if (!info->plain || cfa % 8 || c->sp < c->lo || cfa > c->hi)
        return false;
    uintptr_t pc = *(const stack_word *)(cfa - 8);
    if (!pc)
        return false;
    c->used_rbp = false;
    c->saved_at = 0;
    if (info->rule.rbp_at != CFI_SAME) {
        uintptr_t at = cfa + (uintptr_t)(intptr_t)info->rule.rbp;
        if (at < c->sp || at >= cfa)
            return false;
        c->rbp_at = c->saved_at = at;
        c->rbp = *(const stack_word *)at;
        c->rbp_known = true;
        c->rbp_kept = false;
    }
    c->ra_at = cfa - 8;
    c->pc = pc;
    c->sp = cfa;
    c->exact = false;
    return true;
}

/* Widens t->stack_lo..stack_hi to hold cfa, if that is on the thread's own stack. */
void stack_learn(thread *t, uintptr_t cfa);

/* Whether the 8 bytes at `address` can be read. One system call. Keeps errno. */
bool readable(uintptr_t address);

#endif
