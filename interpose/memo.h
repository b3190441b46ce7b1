/* SPDX-License-Identifier: MIT */
/*
 * memo.h - floor F4: one thread's memory of stacks it has seen: from the words a walk read to the tag it came
 * to. A look-up re-reads those words; when all are as they were the unwinder would read the same and give
 * the same answer, so the answer is exact, not likely.
 *
 *   thread:  cells (by return address and CFA)
 *   region:  header | heads (by return address and entry) | index (by discriminating words) | entries
 *
 * A call most often comes from the same place at the same depth with the same stack as the last time, so the
 * entry that matched then is tried first: a cell of the thread's own struct leads to it, because what the
 * hottest path waits for is one load after the other. Where stacks of one call from one depth take turns, as
 * with a function that all allocations go through, their cell is a fork: up to four words in which they were
 * seen to differ choose the cell. Where that fails too, heads choose.
 *
 * A head says what tells the stacks of one call apart:
 *   DIRECT  the call alone decides                      MONO   one stack seen so far: compare with it
 *   POLY    a few words select one of several entries   SPLIT  one word selects another head (a wrapper's
 *                                                              callers get heads of their own)
 * Which words those are is learned: when two stacks of a head differ, the first word in which they do is
 * added, because up to it both are the same chain and so both have it at the same place.
 *
 * Where an entry takes more than comparing plain words (the walk goes on beyond it, or words are relative to
 * the CFA) and calls keep coming from the same stack, their cell gets an entry that tells the whole of it in
 * plain words; what was relative binds it to the one CFA.
 *
 * Invariants: (1) the words of an entry are in the order the walk read them and are compared in that order,
 * so none is read that the unwinder would not read; (2) every entry of a POLY or SPLIT head has each
 * discriminating word of that head; those are read without an order, hence only below the end of the known
 * stack or of the page at hand; (3) tags are never freed and entries are overwritten only a whole region
 * later, so a look-up that a signal handler interrupts meets nothing torn; (4) one thread writes.
 * Locking: none. Cost: the entry of the last time 1 ns + 0.2 ns a word; through a fork 4 ns more; by the
 * heads 15 ns and more. Read next: caller.h.
 */
#ifndef POOLMEM_MEMO_H
#define POOLMEM_MEMO_H

#include "unwind.h"

enum memo_kind { MEMO_EMPTY, MEMO_DIRECT, MEMO_MONO, MEMO_POLY, MEMO_SPLIT, MEMO_WALK };
enum { MEMO_ANY_TOP = 0xffff, MEMO_WORDS = 4 /* discriminators of a head */ };
enum { MEMO_RBP_REGISTER = 0xffff, MEMO_RBP_LOST = 0xfffe };

/* A place in the stack: bits 0..14 the offset above the CFA in words, bit 15: the value is relative to it. */
typedef uint16_t memo_place;
#define MEMO_RELATIVE 0x8000u
#define MEMO_SPECIAL  ((uint64_t)1 << 62) /* in a `quick` */
#define MEMO_UNUSABLE ((uint64_t)1 << 61) /* in a key: no entry has it */
#define MEMO_BOUND    ((uint64_t)1 << 60) /* in a `quick`: its words are those at one CFA and rbp alone */

typedef struct memo_group {
    memo_place at[4];
    uint64_t value[4];
} memo_group;

/* One stack. The last group is filled up with its last word. What the entry points read stands together. */
typedef struct memo_entry {
    const tag *tag;
    uint64_t key;        /* of the call */
    uint32_t next;       /* entry of the same head, bytes from the region; 0 none */
    uint16_t head;       /* number of the head it belongs to */
    uint16_t top;        /* pool on top of the pool stack when nobody claimed it; MEMO_ANY_TOP: claimed */
    uint16_t rbp;        /* with `special`: frame pointer register, words above the CFA, + 1; 0 unused */
    uint16_t onward;     /* the walk goes on at the frame this many words above the CFA; 0: this is all */
    uint16_t onward_rbp; /* where that frame's rbp is: a place, or MEMO_RBP_REGISTER, MEMO_RBP_LOST */
    uint8_t special : 1; /* rbp or relative words to be compared, or to be read with care */
    uint8_t whole : 1;   /* made by memo_tell_whole; the other lies `next` bytes before it */
    uint8_t depth : 6;   /* with `onward`: frames told so far */
    uint8_t groups : 5;
    uint8_t patience : 3; /* how many repeats are worth an entry that tells the whole of the stack */
    uint16_t
        reach; /* with `special`: words above the CFA that must be on its page; 0: they can be read anyway */
    uint16_t repeats;     /* with `onward`: times in a row that the walk went on the way it went before; with
                             `special`: times that it matched */
    uint32_t since;       /* allocations of its tally when its cell was last looked past, modulo 2^32 */
    uint32_t group_bytes; /* of all its groups */
    int32_t credit;       /* of its right to its cell (memo.c) */
    uint64_t quick;       /* the key when its words are plain and tell all, else differs by MEMO_SPECIAL */
    struct tag now;       /* what tag points at */
    memo_group group[];
} memo_entry;

typedef struct memo_head {
    uint64_t key; /* 0: empty */
    uint64_t
        quick; /* the key again when entry's words are plain and tell all (DIRECT: there are none); else 0 */
    const tag *tag;
    memo_entry *entry; /* MONO: the one; POLY and SPLIT: one of them */
    uint8_t kind;      /* memo_kind */
    uint8_t places;    /* discriminators in use; the others repeat the first */
    bool special;      /* rbp, top or relative words discriminate */
    bool by_rbp, by_top;
    bool has_others; /* SPLIT: stacks that lack the word are under a head of their own */
    memo_place at[MEMO_WORDS];
    uint32_t extent; /* bytes above the CFA that the discriminators reach */
    uint32_t first;  /* chain of its entries */
    uint32_t stacks; /* entries made for its key */
} __attribute__((aligned(64))) memo_head;

struct memo {
    uint64_t head_mask;               /* bytes from head[0] that a number may have: the last one's */
    uint32_t head_shift, index_shift; /* 64 - log2 of the sizes */
    uint32_t *index;                  /* entry, bytes from the region; 0 none */
    uint32_t used, limit;             /* entries end here; bytes from the region */
    uint32_t entries;                 /* and start here */
    uint32_t size;                    /* of the mapping, bytes */
    uint32_t crowded;                 /* heads that found both their places taken */
    uint64_t since;                   /* the thread's time when it was last emptied, ns */
    memo_head head[];
} __attribute__((aligned(64)));
typedef struct memo memo;

/* Finds nothing; for threads whose memo is out of use. */
union memo_nothing {
    memo none;
    char room[sizeof(memo) + 2 * sizeof(memo_head)];
};
extern HIDDEN union memo_nothing memo_nothing;
#define memo_dead (&memo_nothing.none)

#define MEMO_MIX 0x9e3779b97f4a7c15u

/* Bits 0..2 the entry, 3..50 the return address, 51.. the pool on top of the pool stack (thread.call_key):
   with another pool on top, calls that nobody claims are other calls. Bit 63: the key of a SPLIT head's
   child. */
INLINE uint64_t memo_key(uintptr_t ret, entry_id entry, uint64_t call_key)
{
    return ((uint64_t)ret << 3) + (uint64_t)entry + call_key;
}

INLINE uint64_t memo_top_key(uint32_t top)
{
    return (uint64_t)top << 51;
}

INLINE entry_id memo_entry_of(uint64_t key)
{
    return (entry_id)(key & 7);
}
_Static_assert(ENTRY_COUNT <= 8, "three bits of a key");

/* A key may stand in either of two places, so that heads can make room for each other. The first is by the
   return address's low bits as they are: neighbouring calls get different places. */
INLINE size_t memo_number(const memo *m, uint64_t key)
{
    return ((key << 1) & m->head_mask) / sizeof(memo_head);
}
_Static_assert(sizeof(memo_head) == 64, "key << 1 leaves out the lowest two bits of the address");

INLINE size_t memo_other(const memo *m, uint64_t key, size_t number)
{
    return number ^ (size_t)(((key * 0xc2b2ae3d27d4eb4fu) >> m->head_shift) | 1);
}

INLINE uint64_t memo_word(uintptr_t cfa, memo_place at)
{
    return *(const stack_word *)(cfa + (size_t)at * 8);
}

/* The word at a place, less the CFA where it is relative. */
INLINE uint64_t memo_word_at(uintptr_t cfa, memo_place at)
{
    uint64_t relative = (uint64_t)0 - (at >> 15);
    return memo_word(cfa, at & ~MEMO_RELATIVE) - (cfa & relative);
}

/* The words of a stack that nobody knows the end of are read on the page of the return address alone. */
INLINE bool memo_within_reach(const memo_entry *e, uintptr_t cfa)
{
    return !e->reach || (cfa + e->reach * (uintptr_t)8 - 1) / OS_PAGE == (cfa - 8) / OS_PAGE;
}

/* The general comparison: relative words and the frame pointer register too. */
INLINE bool memo_matches_special(const memo_entry *e, uintptr_t cfa, uintptr_t rbp)
{
    if ((e->rbp && rbp - cfa != (uint64_t)(e->rbp - 1u) * 8) || !memo_within_reach(e, cfa))
        return false;
    for (const memo_group *g = e->group, *end = g + e->groups; g < end; g++) {
        if (memo_word_at(cfa, g->at[0]) != g->value[0] || memo_word_at(cfa, g->at[1]) != g->value[1] ||
            memo_word_at(cfa, g->at[2]) != g->value[2] || memo_word_at(cfa, g->at[3]) != g->value[3])
            return false;
    }
    return true;
}

INLINE bool memo_group_matches(const memo_group *g, uintptr_t cfa)
{
    return memo_word(cfa, g->at[0]) == g->value[0] && memo_word(cfa, g->at[1]) == g->value[1] &&
           memo_word(cfa, g->at[2]) == g->value[2] && memo_word(cfa, g->at[3]) == g->value[3];
}

/* Whether the stack has an entry's words, all of them plain. Most entries have one group, or none. */
INLINE bool memo_matches_plain(const memo_entry *e, uintptr_t cfa)
{
    size_t left = e->group_bytes;
    if (!left)
        return true;
    if (unlikely(!memo_group_matches(e->group, cfa)))
        return false;
    if (likely(left == sizeof(memo_group)))
        return true;
    const memo_group *g = e->group;
    __asm__("" : "+r"(cfa)); /* nothing is made ready for the loop where it is not entered */
    do {
        __asm__("" : "+r"(left), "+r"(g)); /* two counters cost less than what compilers make of them */
        if (unlikely(!memo_group_matches(++g, cfa)))
            return false;
    } while ((left -= sizeof *g) != sizeof *g);
    return true;
}

/* Where a bound entry holds: at this CFA, and with this rbp if that matters. */
typedef struct memo_bounds {
    uintptr_t cfa, rbp;
} memo_bounds;

INLINE memo_bounds *memo_bounds_of(const memo_entry *e)
{
    return (memo_bounds *)&e->group[e->groups];
}

INLINE bool memo_within_bounds(const memo_entry *e, uintptr_t cfa, uintptr_t rbp)
{
    const memo_bounds *b = memo_bounds_of(e);
    return !(e->quick & MEMO_BOUND) || (b->cfa == cfa && (!e->rbp || b->rbp == rbp));
}

/* Whether the stack is the entry's, word by word. */
INLINE bool memo_matches(const memo_entry *e, uintptr_t cfa, uintptr_t rbp, uint32_t top)
{
    return (e->top == MEMO_ANY_TOP || e->top == top) &&
           (unlikely(e->special) ? memo_matches_special(e, cfa, rbp)
                                 : memo_within_bounds(e, cfa, rbp) && memo_matches_plain(e, cfa));
}

#define MEMO_CELL_MASK ((MEMO_CELLS - 1) * sizeof(uint64_t))

/* In a cell, instead of an entry's address: four places of plain words, 15 bits each and the farthest lowest;
   the words there choose the cell to look in. */
#define MEMO_FORK ((uint64_t)1 << 63)
enum { MEMO_FORK_MAX = 4, MEMO_FORK_BITS = 15 };

/* The cell for a call from `ret`, in bytes: both numbers as they are, so that neighbours get different ones.
 */
INLINE size_t memo_cell_at(uintptr_t ret, uintptr_t cfa)
{
    return (ret * 4 + cfa) & MEMO_CELL_MASK;
}

INLINE uint64_t memo_cell(const thread *t, size_t at)
{
    return relaxed_load((const uint64_t *)((const char *)t->cell + at));
}

/* The entry that a cell leads to; NULL: none, or a fork. Its `quick` tells whether it is the call's. */
INLINE const memo_entry *memo_cell_entry(const thread *t, size_t at)
{
    uint64_t cell = memo_cell(t, at);
    return likely(!(cell & MEMO_FORK)) ? (const memo_entry *)(uintptr_t)cell : NULL;
}

/* The cell for a stack that differs in this word from the entry which the cell at `at` leads to. */
INLINE size_t memo_cell_beside(size_t at, uint64_t word)
{
    return (at + (size_t)((word * MEMO_MIX) >> 40) * sizeof(uint64_t)) & MEMO_CELL_MASK;
}

INLINE memo_place memo_fork_place(uint64_t fork, unsigned i)
{
    return fork >> MEMO_FORK_BITS * i & ~MEMO_RELATIVE;
}

/* The cell that the fork in a cell leads to. Words of a stack that is not the thread's own are not read. */
INLINE size_t memo_cell_forked(const thread *t, uint64_t fork, size_t at, uintptr_t cfa)
{
    uintptr_t beyond = cfa + memo_fork_place(fork, 0) * (uintptr_t)8;
    if (unlikely(cfa < t->stack_lo || beyond >= t->stack_hi))
        return memo_cell_beside(at, 1);
    uint64_t x = memo_word(cfa, memo_fork_place(fork, 0)) + memo_word(cfa, memo_fork_place(fork, 1)) * 3 +
                 memo_word(cfa, memo_fork_place(fork, 2)) * 5 + memo_word(cfa, memo_fork_place(fork, 3)) * 7;
    return memo_cell_beside(at, x);
}

/* The cell to look in first. */
INLINE size_t memo_cell_first(const thread *t, uintptr_t ret, uintptr_t cfa)
{
    size_t at = memo_cell_at(ret, cfa);
    uint64_t cell = memo_cell(t, at);
    return cell & MEMO_FORK ? memo_cell_forked(t, cell, at, cfa) : at;
}

INLINE bool memo_same_call(const memo_entry *e, uint64_t key)
{
    return e && ((e->quick ^ key) & ~(MEMO_SPECIAL | MEMO_BOUND)) == 0;
}

/* Of the tag, modulo 2^32. */
INLINE uint32_t memo_allocations(const memo_entry *e)
{
    return (uint32_t)relaxed_load(&e->now.tally->allocs);
}

/* The head of a key, or NULL. */
INLINE memo_head *memo_head_find(memo *m, uint64_t key)
{
    size_t number = memo_number(m, key);
    memo_head *h = &m->head[number];
    if (likely(h->key == key))
        return h;
    h = &m->head[memo_other(m, key, number)];
    return h->key == key ? h : NULL;
}

/* Of the discriminating words in the hash. */
static const uint64_t memo_weight[MEMO_WORDS] = {0x9e3779b97f4a7c15u, 0xc2b2ae3d27d4eb4fu,
                                                 0xff51afd7ed558ccdu, 0xd6e8feb86659fd93u};

INLINE uint64_t memo_child_key(uint64_t x)
{
    return ((x + 1) * memo_weight[1] ^ x >> 29) | (uint64_t)1 << 63; /* no return address has that bit */
}

/* Where a thread looks: its stack pointer after the call and so on, for the slower half of a look-up. */
typedef struct memo_query {
    uintptr_t cfa, rbp;
    uintptr_t stack_lo, stack_hi; /* readable, if cfa is inside */
    uint32_t top;
} memo_query;

/* The entry that matches a call which the entry of the last time is not known to match; NULL: not known. From
   then on it is the one to try first, and the one before it the one to try for stacks that differ in the same
   word. */
const memo_entry *memo_find_again(thread *t, memo *m, uint64_t key, const memo_query *q);

/* Every so many allocations of an entry that a fork leads to, it gets the fork's cell, if it is in one: where
   stacks still take turns, the cell soon forks again. */
INLINE bool memo_fork_lasted(const memo_entry *e)
{
    return memo_allocations(e) % 8192 == 0;
}
COLD void memo_unfork(thread *t, uintptr_t cfa);

/* The frame that the walk of a matching entry goes on from. */
INLINE walk_point memo_onward(const memo_entry *e, uintptr_t cfa, uintptr_t rbp)
{
    walk_point p = {.sp = cfa + (uintptr_t)e->onward * 8, .rbp_known = e->onward_rbp != MEMO_RBP_LOST};
    p.pc = *(const stack_word *)(p.sp - 8);
    if (e->onward_rbp == MEMO_RBP_REGISTER)
        p.rbp = rbp;
    else if (p.rbp_known)
        p.rbp = memo_word(cfa, e->onward_rbp);
    return p;
}

/* Puts an entry for the whole of a stack, which a walk from cfa has read (w->keep, not w->more), where `e`,
   which tells its inner frames or has relative words, was found last: while nothing changes, calls are
   answered there. Its words are plain; with what was relative they hold at this CFA alone. Neither heads nor
   copies know it; it is given up when there is no room to spare. */
void memo_tell_whole(thread *t, memo *m, memo_entry *e, const walk *w, const memo_query *q, const tag *g);
/* So many repeats in a row are awaited before, more each time; never reached after a few times. */
INLINE uint32_t memo_patience(const memo_entry *e)
{
    return 16u << 2 * e->patience;
}
/* The entry of the inner frames that one for a whole stack was made for. */
INLINE const memo_entry *memo_inner(const memo_entry *whole)
{
    return (const memo_entry *)((uintptr_t)whole - whole->next);
}
/* In the cell that leads to `e`. */
void memo_put_before(thread *t, const memo *m, const memo_entry *e, const memo_entry *whole,
                     const memo_query *q);

/* How many frames an entry for this call had better tell: all while few stacks lead there, fewer when many
   do, for then the outer ones repeat. */
unsigned memo_depth(memo *m, uint64_t key);

/* Makes an empty memo of 2^level times the smallest size in mapped memory; NULL: none to be had. */
memo *memo_create(unsigned level);
/* Copies what `from` knows. */
void memo_copy(memo *to, const memo *from);
/* Copies what the thread's cells lead to, which is what matched last, as far as half of the room. */
void memo_copy_recent(memo *to, thread *t);
/* Empties the cells: before the memo they lead into is out of use. */
void memo_forget_last(thread *t);
void memo_destroy(memo *m);
unsigned memo_level(const memo *m);
/* Forgets everything. */
void memo_clear(memo *m);
/* Keeps a walk from cfa (w->keep) and its tag, that of an unclaimed call when it goes on (w->more); false:
   full, the caller makes a new one. */
bool memo_insert(memo *m, uint64_t key, const walk *w, uintptr_t cfa, uint32_t top, const tag *g);

#endif
