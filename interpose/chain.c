/* SPDX-License-Identifier: MIT */
/*
 * chain.c - see chain.h: following the chain, and mending it where the stack has changed.
 */
#include "chain.h"

#include <string.h>

typedef struct claim {
    int pool;
    uintptr_t pc;
} claim;

static const claim unclaimed = {RULE_NO_POOL, 0};

static uintptr_t word_at(uintptr_t address)
{
    return *(const stack_word *)address;
}

/* The frame whose step outwards read something else than is there now, k's and those of `frames` steps from
   it being looked at, innermost first; 0 none. */
INLINE unsigned changed_at(const chain *c, unsigned k, unsigned frames)
{
    unsigned end = frames < k ? c->frame[k - frames].words : 0;
    for (unsigned i = c->frame[k].words; i > end; i--) {
        const chain_word *w = &c->word[i - 1];
        if (unlikely(word_at(w->at) != w->value)) {
            while (k && c->frame[k - 1].words >= i)
                k--;
            return k;
        }
    }
    return 0;
}

/* Which frame from k outwards claims the call; k is `depth` frames out. */
INLINE claim claim_of(const chain *c, unsigned k, unsigned depth, const chain_query *q, unsigned *frames)
{
    unsigned left = q->depth - depth;
    for (int i = c->frame[k].claim; i >= 0 && k - (unsigned)i < left;) {
        const chain_frame *f = &c->frame[i];
        *frames = k - (unsigned)i;
        int pool = rules_decide(f->verdict, q->entry, q->size, depth + *frames);
        if (pool != RULE_NO_POOL)
            return (claim){pool, f->pc};
        i = i > 0 ? c->frame[i - 1].claim : -1;
    }
    *frames = left - 1;
    return unclaimed;
}

/* How many frames of the chain there are up to that one, itself included; 0: it is none of them. What lies
   further in stays: calls from there and from here take turns. */
INLINE unsigned meets(chain *c, uintptr_t sp, uintptr_t pc, uintptr_t rbp, bool rbp_known)
{
    uint16_t *last = &c->met[sp / 16 % CHAIN_MET];
    unsigned k = *last;
    if (!k || k > c->count || c->frame[k - 1].sp != sp) {
        for (k = c->count; k && c->frame[k - 1].sp < sp;)
            k--;
        *last = (uint16_t)k;
    }
    if (!k || c->frame[k - 1].sp != sp || c->frame[k - 1].pc != pc)
        return 0;
    return !c->frame[k - 1].needs_rbp || (rbp_known && c->frame[k - 1].rbp == rbp) ? k : 0;
}

/* The answer from frame k, `depth` frames out, if the chain goes far enough and is unchanged from there on.
   If not, what would lead there again is dropped. */
INLINE bool follow(chain *c, unsigned k, unsigned depth, const chain_query *q, claim *out)
{
    unsigned frames;
    *out = claim_of(c, k, depth, q, &frames);
    if (frames > k && !c->ended) {
        c->count = 0;
        return false;
    }
    unsigned changed = changed_at(c, k, frames);
    if (unlikely(changed))
        c->count = changed;
    return !changed;
}

/* Makes room at the inner end by forgetting the outer half. */
static void cut(chain *c)
{
    unsigned half = CHAIN_FRAMES / 2, gone = c->frame[half].words;
    memmove(c->word, c->word + gone, (c->frame[c->count - 1].words - gone) * sizeof *c->word);
    for (unsigned i = 0; i + half < c->count; i++) {
        chain_frame *f = &c->frame[i];
        *f = c->frame[i + half];
        f->claim = f->claim >= (int)half ? (int16_t)(f->claim - (int)half) : -1;
        f->words = (uint16_t)(f->words - gone);
    }
    c->count -= half;
    c->ended = false;
}

static void push(chain *c, const chain_new *n)
{
    if (c->count == CHAIN_FRAMES)
        cut(c);
    const chain_frame *outer = c->count ? &c->frame[c->count - 1] : NULL;
    chain_frame *to = &c->frame[c->count];
    bool claims = n->frame.verdict.pool != RULE_NO_POOL || n->frame.verdict.conditional;
    *to = n->frame;
    to->needs_rbp = n->uses_rbp || (outer && outer->needs_rbp && !n->rbp_at);
    to->claim = claims ? (int16_t)c->count : outer ? outer->claim : -1;
    to->words = outer ? outer->words : 0;
    if (outer && outer->needs_rbp && n->rbp_at)
        c->word[to->words++] = (chain_word){n->rbp_at, outer->rbp};
    if (outer)
        c->word[to->words++] = (chain_word){n->ra_at, outer->pc};
    c->count++;
}

/* The new frames become the chain's inner end, behind `met` of its frames, or the chain. */
static void join(chain *c, unsigned met)
{
    const chain_fresh *n = &c->fresh;
    c->count = met;
    if (!met)
        c->ended = n->ended;
    for (unsigned i = n->count; i-- > 0;)
        push(c, &n->frame[i]);
    if (!n->keep)
        c->count = 0;
}

/* One frame outwards; false: the walk ends here. */
INLINE bool advance(chain_fresh *n, walk_cursor *at, const pc_info *info)
{
    chain_new *f = &n->frame[n->count++];
    f->frame.sp = at->sp;
    f->frame.pc = at->pc;
    f->frame.rbp = at->rbp;
    f->frame.verdict = info->verdict;
    bool more = walk_step_plain(at, info) || walk_step(at, &info->rule);
    f->ra_at = at->ra_at;
    f->rbp_at = at->saved_at;
    f->uses_rbp = at->used_rbp;
    n->keep = n->keep && !at->odd;
    n->ended = !more;
    return more;
}

/* Walks out from q->from until the chain is met. */
NOINLINE static claim mend(chain *c, const thread *t, const chain_query *q, walk_ask *ask)
{
    chain_fresh *n = &c->fresh;
    claim found = unclaimed;
    c->mended++;
    bool more = true;
    unsigned met = 0;
    walk_cursor at = walk_resume(t, &q->from);
    pc_info scratch;
    n->count = 0;
    n->keep = true;
    n->ended = false;
    for (unsigned depth = q->first; more && depth < q->depth && walk_valid(&at); depth++) {
        met = n->count ? meets(c, at.sp, at.pc, at.rbp, at.rbp_known) : 0;
        if (met && follow(c, met - 1, depth, q, &found))
            break;
        met = 0;
        const pc_info *info = walk_info(&at, ask, &scratch);
        found = unclaimed;
        if (!info->silent)
            found = (claim){rules_decide(info->verdict, q->entry, q->size, depth), at.pc};
        more = advance(n, &at, info) && found.pool == RULE_NO_POOL;
    }
    join(c, met);
    return found;
}

HOT int chain_decide(chain *c, const thread *t, const chain_query *q, walk_ask *ask, uintptr_t *claimer)
{
    const walk_point *p = &q->from;
    claim found;
    unsigned k = meets(c, p->sp, p->pc, p->rbp, p->rbp_known);
    if (unlikely(!k || !follow(c, k - 1, q->first, q, &found)))
        found = mend(c, t, q, ask);
    *claimer = found.pc;
    return found.pool;
}
