/* SPDX-License-Identifier: MIT */
/*
 * chain.h - floor F4: the outer part of a thread's stack, as it was at the last look. From one allocation to
 * the next the outer frames hardly ever change, while the inner ones are new each time; so the memo tells the
 * inner frames, and from there on the chain is followed: a few steps by the rules of the return addresses
 * until a frame of the chain is met, then its words are compared one by one.
 *
 *   memo entry (8 to 32 frames) -> frames not in the chain -> chain: frame[count - 1] .. frame[0]
 *
 * Invariants: (1) frame[j - 1] is the caller of frame[j], sp rises outwards; (2) a frame's words are read
 * only after the frame itself was found unchanged, so none is read that the unwinder would not read; (3)
 * nothing is kept of a walk through a signal frame or unreadable memory. Locking: none, one chain a thread.
 * What a frame's step outwards read stands in `word`, outermost first, so that looking whether a stretch of
 * the chain is unchanged is one loop over pairs. Cost: 0.2 ns a frame that is unchanged, 5 ns one that is
 * new.
 */
#ifndef POOLMEM_CHAIN_H
#define POOLMEM_CHAIN_H

#include "unwind.h"

enum { CHAIN_FRAMES = 256, CHAIN_WORDS = 2 * CHAIN_FRAMES, CHAIN_MET = 64 };

typedef struct chain_frame {
    uintptr_t sp, pc;
    uintptr_t rbp; /* its value in this frame */
    verdict verdict;
    uint16_t words; /* read on the way from here outwards, in chain.word */
    int16_t claim;  /* nearest frame from here outwards that rules may claim; -1 none */
    bool needs_rbp; /* the way outwards depends on rbp */
} chain_frame;

/* A word that was read. */
typedef struct chain_word {
    uintptr_t at, value;
} chain_word;

/* A frame that is not in the chain yet, and where its step outwards read pc and rbp (0: handed through). */
typedef struct chain_new {
    chain_frame frame;
    uintptr_t ra_at, rbp_at;
    bool uses_rbp;
} chain_new;

/* Frames of a walk that are not in the chain yet, innermost first. */
typedef struct chain_fresh {
    unsigned count;
    bool ended, keep;
    chain_new frame[WALK_FRAMES];
} chain_fresh;

typedef struct chain {
    unsigned count;
    unsigned mended;         /* times that it was not as it had been, modulo 2^32 */
    bool ended;              /* frame[0] is the outermost of the stack */
    uint16_t met[CHAIN_MET]; /* by stack pointer: how many frames there were up to the one met last */
    chain_frame frame[CHAIN_FRAMES];
    chain_word word[CHAIN_WORDS];
    chain_fresh fresh; /* for the length of one call; too large for a host's stack */
} chain;

/* A call and what the rules look at. */
typedef struct chain_query {
    walk_point from; /* the first frame not told by the memo */
    unsigned first;  /* its depth */
    unsigned depth;  /* frames a rule may look out */
    entry_id entry;
    size_t size;
} chain_query;

/* The pool that claims the call, and the claiming frame's address; RULE_NO_POOL: none does. */
int chain_decide(chain *c, const thread *t, const chain_query *q, walk_ask *ask, uintptr_t *claimer);

#endif
