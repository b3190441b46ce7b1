/* SPDX-License-Identifier: MIT */
/*
 * chain.c - see chain.h: following the chain, and mending it where the stack has changed.
 */
#include "chain.h"

typedef struct claim {
    int pool;
    uintptr_t pc;
} claim;

static const claim unclaimed = {RULE_NO_POOL, 0};

static uintptr_t word_at(uintptr_t address)
{
    return *(const stack_word *)address;
}

/* Whether frame k's caller, and so on for `frames` steps, is what it was. */
static bool unchanged(const chain *c, unsigned k, unsigned frames)
{
    for (unsigned j = k; frames && j > 0; j--, frames--) {
        const chain_frame *f = &c->frame[j], *outer = f - 1;
        if (word_at(f->ra_at) != outer->pc)
            return false;
        if (outer->needs_rbp && f->rbp_at && word_at(f->rbp_at) != outer->rbp)
            return false;
    }
    return true;
}

/* Which frame from k outwards claims the call; `left` frames may be looked at, k among them. */
static claim claim_of(const chain *c, unsigned k, unsigned left, const chain_query *q, unsigned *frames)
{
    for (int i = c->frame[k].claim; i >= 0 && k - (unsigned)i < left;) {
        const chain_frame *f = &c->frame[i];
        unsigned depth = q->first + (k - (unsigned)i);
        int pool = rules_decide(f->verdict, q->entry, q->size, depth);
        *frames = k - (unsigned)i;
        if (pool != RULE_NO_POOL)
            return (claim){pool, f->pc};
        i = i > 0 ? c->frame[i - 1].claim : -1;
    }
    *frames = left - 1;
    return unclaimed;
}

static bool meets(const chain_frame *f, const walk_point *p)
{
    return f->sp == p->sp && f->pc == p->pc && (!f->needs_rbp || (p->rbp_known && f->rbp == p->rbp));
}

/* The answer from the chain, if it has p for its innermost frame and goes far enough. */
static bool follow(chain *c, const walk_point *p, unsigned depth, const chain_query *q, claim *out)
{
    while (c->count && c->frame[c->count - 1].sp < p->sp)
        c->count--;
    if (!c->count || !meets(&c->frame[c->count - 1], p))
        return false;
    unsigned k = c->count - 1, left = q->depth - depth, frames;
    chain_query here = *q;
    here.first = depth;
    *out = claim_of(c, k, left, &here, &frames);
    if (frames > k && !c->ended)
        return false;
    return unchanged(c, k, frames);
}

/* Makes room at the inner end by forgetting the outer half. */
static void cut(chain *c)
{
    unsigned half = CHAIN_FRAMES / 2;
    for (unsigned i = 0; i + half < c->count; i++) {
        c->frame[i] = c->frame[i + half];
        c->frame[i].claim = c->frame[i].claim >= (int)half ? (int16_t)(c->frame[i].claim - (int)half) : -1;
    }
    c->count -= half;
    c->ended = false;
}

static void push(chain *c, const chain_frame *f, bool uses_rbp)
{
    if (c->count == CHAIN_FRAMES)
        cut(c);
    const chain_frame *outer = c->count ? &c->frame[c->count - 1] : NULL;
    chain_frame *to = &c->frame[c->count];
    bool claims = f->verdict.pool != RULE_NO_POOL || f->verdict.conditional;
    *to = *f;
    to->needs_rbp = uses_rbp || (outer && outer->needs_rbp && !f->rbp_at);
    to->claim = claims ? (int16_t)c->count : outer ? outer->claim : -1;
    c->count++;
}

/* The new frames become the chain's inner end, or the chain. */
static void join(chain *c, bool met)
{
    const chain_fresh *n = &c->fresh;
    if (!met) {
        c->count = 0;
        c->ended = n->ended;
    }
    for (unsigned i = n->count; i-- > 0;)
        push(c, &n->frame[i], n->uses_rbp[i]);
    if (!n->keep)
        c->count = 0;
}

/* One frame outwards; false: the walk ends here. */
static bool advance(chain_fresh *n, walk_cursor *at, const pc_info *info)
{
    chain_frame *f = &n->frame[n->count];
    bool *uses_rbp = &n->uses_rbp[n->count++];
    *f = (chain_frame){.sp = at->sp, .pc = at->pc, .rbp = at->rbp, .verdict = info->verdict};
    bool more = walk_step(at, &info->rule);
    f->ra_at = at->ra_at;
    f->rbp_at = at->saved_at;
    *uses_rbp = at->used_rbp;
    n->keep = n->keep && !at->odd;
    n->ended = !more;
    return more;
}

int chain_decide(chain *c, const thread *t, const chain_query *q, walk_ask *ask, uintptr_t *claimer)
{
    claim found = unclaimed;
    if (likely(follow(c, &q->from, q->first, q, &found))) {
        *claimer = found.pc;
        return found.pool;
    }
    chain_fresh *n = &c->fresh;
    bool met = false, more = true;
    walk_cursor at = walk_resume(t, &q->from);
    n->count = 0;
    n->keep = true;
    n->ended = false;
    for (unsigned depth = q->first; more && depth < q->depth && walk_valid(&at); depth++) {
        walk_point here = walk_here(&at);
        if (n->count && (met = follow(c, &here, depth, q, &found)))
            break;
        pc_info scratch;
        const pc_info *info = walk_info(&at, ask, &scratch);
        int pool = rules_decide(info->verdict, q->entry, q->size, depth);
        found = (claim){pool, at.pc};
        more = advance(n, &at, info) && pool == RULE_NO_POOL;
    }
    join(c, met);
    *claimer = found.pc;
    return found.pool;
}
