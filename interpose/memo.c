/* SPDX-License-Identifier: MIT */
/*
 * memo.c - see memo.h: the slower half of a look-up, and the regions that memos are.
 *
 * A look-up goes from head to head: each SPLIT on the way chooses the next by its words; when that path ends
 * without a match, the heads of the stacks that lack such words are tried, innermost first.
 * Cost: a step touches one head; a large memo's are seldom in the processor's first cache.
 * Read next: memo_learn.c.
 */
#include "memo_private.h"
#include "os.h"

#include <string.h>

enum { HEADS_LOG = 9, HEADS = 1 << HEADS_LOG, INDEX = 1024, ENTRY_BYTES = 48 << 10, OTHERS = 4, STEPS = 32 };
enum {
    CELLS_TRIED = 3,
    CREDIT_FIRST = 8,
    CREDIT_MAX = 255,
    PRICE = 4,
    POPULATED = 2 /* level from which a memo is sure to be used */
};

union memo_nothing memo_nothing = {
    .none = {.head_mask = sizeof(memo_head), .head_shift = 63}}; /* its two heads have no key */

/* --- look-up -------------------------------------------------------------------------------------------- */

static uint64_t hash_special(const memo_head *h, const memo_query *q)
{
    uint64_t x = h->key * MEMO_MIX;
    for (unsigned i = 0; h->places && i < MEMO_WORDS; i++)
        x += memo_word_at(q->cfa, h->at[i]) * memo_weight[i];
    x ^= h->by_rbp ? mix_register(q->rbp - q->cfa) : 0;
    return x ^ (h->by_top ? mix_top(q->top) : 0);
}

INLINE uint64_t hash_stack(const memo_head *h, const memo_query *q)
{
    if (unlikely(h->special))
        return hash_special(h, q);
    uint64_t x = h->key * MEMO_MIX;
    for (unsigned i = 0; i < MEMO_WORDS; i++)
        x += memo_word(q->cfa, h->at[i]) * memo_weight[i];
    return x;
}

static inline const memo_entry *select_entry(const memo *m, const memo_head *h, const memo_query *q,
                                             uint64_t x)
{
    size_t i = index_of(m, x);
    const memo_entry *e = indexed(m, h, i, x);
    if (likely(e && memo_matches(e, q->cfa, q->rbp, q->top)))
        return e;
    e = indexed(m, h, i ^ 1, x);
    return e && memo_matches(e, q->cfa, q->rbp, q->top) ? e : NULL;
}

/* Bytes above cfa that are known to be readable. */
INLINE size_t room(const memo_query *q)
{
    bool own = q->cfa - q->stack_lo < q->stack_hi - q->stack_lo;
    return (own ? q->stack_hi : ((q->cfa - 8) & ~(uintptr_t)(OS_PAGE - 1)) + OS_PAGE) - q->cfa;
}

/* The entry among those of a head that ends a path. */
static inline const memo_entry *select_end(const memo *m, const memo_head *h, const memo_query *q)
{
    if (h->kind == MEMO_POLY)
        return select_entry(m, h, q, hash_stack(h, q));
    bool one = h->kind == MEMO_MONO || h->kind == MEMO_DIRECT;
    return one && memo_matches(h->entry, q->cfa, q->rbp, q->top) ? h->entry : NULL;
}

/* The whole of a look-up: stacks that lack the words of a SPLIT on the way are under heads of their own. */
static const memo_entry *find_anywhere(memo *m, const memo_head *h, const memo_query *q)
{
    size_t reach = room(q);
    uint64_t others[OTHERS]; /* where the stacks are that lack the words of a SPLIT on the way */
    unsigned count = 0;
    for (unsigned steps = 0; steps < STEPS; steps++) {
        while (!h || h->extent > reach) {
            if (!count)
                return NULL;
            h = memo_head_find(m, others[--count]);
        }
        if (h->kind == MEMO_SPLIT) {
            if (h->has_others && count < OTHERS)
                others[count++] = others_key(h->key);
            h = memo_head_find(m, memo_child_key(hash_stack(h, q)));
            continue;
        }
        const memo_entry *e = select_end(m, h, q);
        if (likely(e != NULL))
            return e;
        h = NULL;
    }
    return NULL;
}

/* From a head down SPLITs by one plain word each, as most are, to the head where that ends. The words that
   choose are read without an order, so they must lie in the thread's own stack. */
static inline const memo_head *descend(memo *m, const memo_head *h, const memo_query *q)
{
    const uint64_t weight = memo_weight[0] + memo_weight[1] + memo_weight[2] + memo_weight[3];
    uint64_t key = h->key;
    while (h && h->quick == ~key && q->cfa >= q->stack_lo && q->cfa + h->extent <= q->stack_hi) {
        key = memo_child_key(key * MEMO_MIX + memo_word(q->cfa, h->at[0]) * weight);
        h = memo_head_find(m, key);
    }
    return h;
}

static const memo_entry *find(memo *m, uint64_t key, const memo_query *q)
{
    const memo_head *first = memo_head_find(m, key);
    if (unlikely(!first))
        return NULL;
    const memo_head *h = descend(m, first, q);
    const memo_entry *e = h && h->extent <= room(q) ? select_end(m, h, q) : NULL;
    return likely(e != NULL) ? e : find_anywhere(m, first, q);
}

/* Where a stack and an entry first differ: what the one has, and what the other. */
typedef struct unlike {
    uint64_t word, expected;
    memo_place at; /* NO_WORD: not in a word */
} unlike;

#define NO_WORD MEMO_RELATIVE

/* False: they do not. */
static bool differs(const memo_entry *e, const memo_query *q, unlike *out)
{
    *out = (unlike){q->rbp, e->rbp, NO_WORD};
    if (!memo_within_bounds(e, q->cfa, q->rbp))
        return true;
    if (!memo_within_reach(e, q->cfa))
        return true;
    if (e->special && e->rbp && q->rbp - q->cfa != (uint64_t)(e->rbp - 1u) * 8)
        return true;
    for (const memo_group *g = e->group, *end = g + e->groups; g < end; g++)
        for (unsigned i = 0; i < 4; i++) {
            *out = (unlike){memo_word_at(q->cfa, g->at[i]), g->value[i], g->at[i]};
            if (out->word != out->expected)
                return true;
        }
    *out = (unlike){q->top, e->top, NO_WORD};
    return e->top != MEMO_ANY_TOP && e->top != q->top;
}

INLINE uint64_t *cell_at(thread *t, size_t bytes)
{
    return (uint64_t *)((char *)t->cell + bytes);
}

/* A signal handler that came in meanwhile may have put another memo in this one's place and forgotten its
   entries: then none of this one's is kept. While the thread is busy no handler does. */
static void keep_last(thread *t, const memo *m, size_t at, const memo_entry *e)
{
    uint64_t *cell = cell_at(t, at);
    relaxed_store(cell, (uint64_t)(uintptr_t)e);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (unlikely(relaxed_load(&t->memo) != m) && !t->busy)
        relaxed_store(cell, 0);
}

/* The fork that chooses by what `fork` does (0: nothing yet) and by the word at one more place; 0: none can.
 */
static uint64_t fork_by(uint64_t fork, memo_place more)
{
    memo_place at[MEMO_FORK_MAX + 1] = {more};
    unsigned n = 1;
    for (unsigned i = 0; fork && i < MEMO_FORK_MAX; i++) {
        memo_place p = memo_fork_place(fork, i);
        if (p == more)
            return 0;
        if (!i || p != memo_fork_place(fork, 0)) /* what is not in use repeats the first */
            at[n++] = p;
    }
    if (n > MEMO_FORK_MAX)
        return 0;
    for (unsigned i = 1; i < n; i++)
        if (at[i] > at[0]) {
            memo_place p = at[0];
            at[0] = at[i];
            at[i] = p;
        }
    uint64_t made = MEMO_FORK;
    for (unsigned i = 0; i < MEMO_FORK_MAX; i++)
        made |= (uint64_t)at[i < n ? i : 0] << MEMO_FORK_BITS * i;
    return made;
}

INLINE size_t home_of(const memo_query *q)
{
    return memo_cell_at(*(const stack_word *)(q->cfa - 8), q->cfa);
}

INLINE size_t first_cell(const thread *t, const memo_query *q)
{
    return memo_cell_first(t, *(const stack_word *)(q->cfa - 8), q->cfa);
}

/* From now on the word in which two stacks differ chooses among the call's cells too. False: it cannot. */
static bool fork_cell(thread *t, const memo_query *q, const unlike *d)
{
    uint64_t now = memo_cell(t, home_of(q));
    uint64_t made = d->at & MEMO_RELATIVE ? 0 : fork_by(now & MEMO_FORK ? now : 0, d->at);
    if (made)
        relaxed_store(cell_at(t, home_of(q)), made);
    return made != 0;
}

/* A cell is for the entry that is asked for most. Each time that another stack of the call comes by, the
   entry's credit grows by how often it was asked for since the last time, less a price; when it is used up,
   the cell forks if the entry was asked for nevertheless, else it goes to the other one. */
static void take_turns(thread *t, const memo *m, size_t at, memo_entry *last, const memo_entry *e,
                       const memo_query *q, const unlike *d)
{
    uint32_t now = memo_allocations(last), asked = now - last->since;
    int32_t credit = last->credit + (int32_t)(asked < CREDIT_MAX ? asked : CREDIT_MAX) - PRICE;
    last->since = now;
    last->credit = credit < CREDIT_MAX ? credit : CREDIT_MAX;
    if (credit >= 0)
        return;
    last->credit = CREDIT_FIRST;
    if (asked && fork_cell(t, q, d)) {
        keep_last(t, m, first_cell(t, q), e);
        return;
    }
    keep_last(t, m, memo_cell_beside(at, d->expected), last);
    keep_last(t, m, at, e);
}

/* Each cell on the way leads to an entry of the call, and the word in which the stack differs from that to
   the next cell. */
HOT const memo_entry *memo_find_again(thread *t, memo *m, uint64_t key, const memo_query *q)
{
    size_t own = first_cell(t, q), at = own;
    const memo_entry *last = memo_cell_entry(t, own), *e = last;
    unlike first = {0}, d;
    for (unsigned tries = 0; memo_same_call(e, key) && differs(e, q, &d); tries++) {
        first = tries ? first : d;
        at = memo_cell_beside(at, d.word);
        e = tries < CELLS_TRIED ? memo_cell_entry(t, at) : NULL;
    }
    if (!memo_same_call(e, key)) {
        bool inner = memo_same_call(last, key) && last->whole && !differs(memo_inner(last), q, &d);
        e = inner ? memo_inner(last) : find(m, key, q);
        if (unlikely(!e))
            return NULL;
        ((memo_entry *)e)->since = memo_allocations(e);
        ((memo_entry *)e)->credit = CREDIT_FIRST;
        keep_last(t, m, at, e);
    }
    if (at != own)
        take_turns(t, m, own, (memo_entry *)last, e, q, &first);
    return e;
}

void memo_unfork(thread *t, uintptr_t cfa)
{
    const memo *m = relaxed_load(&t->memo);
    memo_query q = {.cfa = cfa};
    memo_entry *e = (memo_entry *)memo_cell_entry(t, first_cell(t, &q));
    if (!e || !(memo_cell(t, home_of(&q)) & MEMO_FORK))
        return;
    e->since = memo_allocations(e);
    e->credit = 0;
    keep_last(t, m, home_of(&q), e);
}

void memo_put_before(thread *t, const memo *m, const memo_entry *e, const memo_entry *whole,
                     const memo_query *q)
{
    size_t at = first_cell(t, q);
    unlike d;
    for (unsigned tries = 0; tries <= CELLS_TRIED; tries++) {
        const memo_entry *there = memo_cell_entry(t, at);
        if (there == e)
            keep_last(t, m, at, whole);
        if (there == e || !memo_same_call(there, e->key) || !differs(there, q, &d))
            return;
        at = memo_cell_beside(at, d.word);
    }
}

void memo_forget_last(thread *t)
{
    memset(t->cell, 0, sizeof t->cell);
}

/* --- regions ---------------------------------------------------------------------------------------------
 */

static memo *layout(memo *m, unsigned level, uint32_t size)
{
    m->head_shift = 64 - HEADS_LOG - level;
    m->head_mask = (((size_t)1 << (HEADS_LOG + level)) - 1) * sizeof(memo_head);
    m->index_shift = 64 - 10 - level;
    m->index = (uint32_t *)&m->head[(size_t)HEADS << level];
    m->size = size;
    m->limit = size;
    m->used = (uint32_t)((uintptr_t)(m->index + ((size_t)INDEX << level)) - (uintptr_t)m);
    m->entries = m->used;
    m->crowded = 0;
    m->since = os_time_thread_ns();
    return m;
}

memo *memo_create(unsigned level)
{
    size_t size =
        sizeof(memo) + ((HEADS * sizeof(memo_head) + INDEX * sizeof(uint32_t) + ENTRY_BYTES) << level);
    memo *m = os_map(size);
    if (m && level >= POPULATED)
        os_populate(m, ((HEADS * sizeof(memo_head) + INDEX * sizeof(uint32_t) + ENTRY_BYTES / 2) << level));
    return m ? layout(m, level, (uint32_t)round_up(size, OS_PAGE)) : NULL;
}

unsigned memo_level(const memo *m)
{
    return 64 - HEADS_LOG - m->head_shift;
}

void memo_destroy(memo *m)
{
    os_unmap(m, m->size);
}

void memo_clear(memo *m)
{
    memset(m->head, 0, m->entries - sizeof *m);
    layout(m, memo_level(m), m->size);
}
