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
enum { CELLS_TRIED = 3 };

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
} unlike;

/* False: they do not. */
static bool differs(const memo_entry *e, const memo_query *q, unlike *out)
{
    *out = (unlike){q->rbp, e->rbp};
    if (!memo_within_bounds(e, q->cfa, q->rbp))
        return true;
    if (!memo_within_reach(e, q->cfa))
        return true;
    if (e->special && e->rbp && q->rbp - q->cfa != (uint64_t)(e->rbp - 1u) * 8)
        return true;
    for (const memo_group *g = e->group, *end = g + e->groups; g < end; g++)
        for (unsigned i = 0; i < 4; i++) {
            *out = (unlike){memo_word_at(q->cfa, g->at[i]), g->value[i]};
            if (out->word != out->expected)
                return true;
        }
    *out = (unlike){q->top, e->top};
    return e->top != MEMO_ANY_TOP && e->top != q->top;
}

INLINE const memo_entry **cell_at(thread *t, size_t bytes)
{
    return (const memo_entry **)((char *)t->cell + (bytes & MEMO_CELL_MASK));
}

/* A signal handler that came in meanwhile may have put another memo in this one's place and forgotten its
   entries: then none of this one's is kept. While the thread is busy no handler does. */
static void keep_last(thread *t, const memo *m, const memo_entry **cell, const memo_entry *e)
{
    relaxed_store(cell, e);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (unlikely(relaxed_load(&t->memo) != m) && !t->busy)
        relaxed_store(cell, NULL);
}

/* The call's own cell is for what is asked for in between: an entry that was not since the last time gives it
   up to the one that is. */
static void take_turns(thread *t, const memo *m, size_t at, memo_entry *last, const memo_entry *e,
                       uint64_t expected)
{
    uint32_t now = memo_allocations(last);
    if (last->since != now) {
        last->since = now;
        return;
    }
    keep_last(t, m, cell_at(t, memo_cell_beside(at, expected)), last);
    keep_last(t, m, cell_at(t, at), e);
}

/* Each cell on the way leads to an entry of the call, and the word in which the stack differs from that to
   the next cell. */
HOT const memo_entry *memo_find_again(thread *t, memo *m, uint64_t key, const memo_query *q)
{
    size_t own = memo_cell_at(*(const stack_word *)(q->cfa - 8), q->cfa), at = own;
    const memo_entry *last = *cell_at(t, own), *e = last;
    unlike first = {0}, d;
    for (unsigned tries = 0; memo_same_call(e, key) && differs(e, q, &d); tries++) {
        first = tries ? first : d;
        at = memo_cell_beside(at, d.word);
        e = tries < CELLS_TRIED ? *cell_at(t, at) : NULL;
    }
    if (!memo_same_call(e, key)) {
        bool inner = memo_same_call(last, key) && last->whole && !differs(memo_inner(last), q, &d);
        e = inner ? memo_inner(last) : find(m, key, q);
        if (unlikely(!e))
            return NULL;
        ((memo_entry *)e)->since = memo_allocations(e);
        keep_last(t, m, cell_at(t, at), e);
    }
    if (at != own)
        take_turns(t, m, own, (memo_entry *)last, e, first.expected);
    return e;
}

void memo_put_before(thread *t, const memo *m, const memo_entry *e, const memo_entry *whole,
                     const memo_query *q)
{
    size_t at = memo_cell_at(*(const stack_word *)(q->cfa - 8), q->cfa);
    unlike d;
    for (unsigned tries = 0; tries <= CELLS_TRIED; tries++) {
        const memo_entry *there = *cell_at(t, at);
        if (there == e)
            keep_last(t, m, cell_at(t, at), whole);
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
    unsigned level = memo_level(m);
    uint32_t size = m->size;
    os_purge(m, size);
    layout(m, level, size);
}
