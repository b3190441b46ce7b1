/* SPDX-License-Identifier: MIT */
/*
 * memo_learn.c - see memo.h: how a memo comes to know a stack. A new stack is placed under its head; when it
 * collides with another the two are compared and the first word that differs becomes a discriminator, or,
 * where the stacks of a head have grown too unlike for that, the head is split by the first word that all
 * of them have and in which some differ. Stacks that lack that word get a head of their own.
 * Cost: an insertion about 100 ns; adding a discriminator looks at every entry of the head, four times at
 * most in the head's life.
 */
#include "memo_private.h"

#include <string.h>

enum { SPLIT_DEPTH = 12, QUICK_DEPTH = 6, NO_HEAD = 0xffff, MOVES = 8 };
enum { DEPTH_ALL = 32, DEPTH_FEW = 16, DEPTH_MANY = 8 }; /* frames that an entry tells */

/* --- entries ---------------------------------------------------------------------------------------------
 */

static bool place_fits(const walk_word *w)
{
    return w->offset % 8 == 0 && w->offset / 8 < MEMO_RELATIVE;
}

static uint16_t rbp_place(const walk *w, uintptr_t cfa)
{
    if (!w->next.rbp_known)
        return MEMO_RBP_LOST;
    return w->next_rbp_at ? (uint16_t)((w->next_rbp_at - cfa) / 8) : MEMO_RBP_REGISTER;
}

static void entry_fill(memo_entry *e, const walk *w)
{
    for (unsigned i = 0; i < e->groups * 4u; i++) {
        const walk_word *word = &w->word[i < w->words ? i : w->words - 1];
        e->group[i / 4].at[i % 4] = (memo_place)(word->offset / 8 | (word->relative ? MEMO_RELATIVE : 0));
        e->group[i / 4].value[i % 4] = word->value;
        e->special = e->special || word->relative;
    }
}

/* Whether the walk can be written down as an entry at all. */
static bool entry_fits(const walk *w, uintptr_t cfa)
{
    if (w->more && (w->next.sp - cfa) / 8 >= MEMO_RELATIVE)
        return false;
    if (w->uses_rbp && (w->rbp % 8 || w->rbp / 8 >= NO_HEAD - 1))
        return false;
    for (unsigned i = 0; i < w->words; i++)
        if (!place_fits(&w->word[i]))
            return false;
    return true;
}

static size_t entry_size(unsigned groups)
{
    return sizeof(memo_entry) + groups * sizeof(memo_group);
}

static memo_entry *entry_take(memo *m, unsigned groups)
{
    size_t size = entry_size(groups);
    if (m->used + size > m->limit)
        return NULL;
    memo_entry *e = entry_at(m, m->used);
    m->used += (uint32_t)size;
    return e;
}

static uint16_t farthest(const walk *w)
{
    uint32_t offset = 0;
    for (unsigned i = 0; i < w->words; i++)
        offset = w->word[i].offset > offset ? w->word[i].offset : offset;
    return (uint16_t)(offset / 8 + 1);
}

static memo_entry *entry_create(memo *m, uint64_t key, const walk *w, uintptr_t cfa, uint32_t top,
                                const tag *g)
{
    unsigned groups = (w->words + 3) / 4;
    memo_entry *e = entry_take(m, groups);
    if (!e)
        return NULL;
    e->tag = g;
    e->now = *g;
    e->key = key;
    e->next = 0;
    e->head = NO_HEAD;
    e->top = w->pool == RULE_NO_POOL ? (uint16_t)top : MEMO_ANY_TOP;
    e->rbp = w->uses_rbp ? (uint16_t)(w->rbp / 8 + 1) : 0;
    e->groups = groups & 0x1f;
    e->group_bytes = groups * sizeof(memo_group);
    e->special = w->uses_rbp || w->loose;
    e->reach = w->loose && w->words ? farthest(w) : 0;
    e->repeats = 0;
    e->since = 0;
    e->credit = 0;
    e->patience = 0;
    e->whole = 0;
    e->depth = w->frames & 0x3f;
    e->onward = w->more ? (uint16_t)((w->next.sp - cfa) / 8) : 0;
    e->onward_rbp = w->more ? rbp_place(w, cfa) : 0;
    entry_fill(e, w);
    e->quick = e->special || e->onward ? key ^ MEMO_SPECIAL : key;
    return e;
}

static memo_place entry_place(const memo_entry *e, unsigned i)
{
    return e->group[i / 4].at[i % 4];
}

static uint64_t entry_value(const memo_entry *e, unsigned i)
{
    return e->group[i / 4].value[i % 4];
}

/* Number of the entry's word at a place, or -1. */
static int entry_word(const memo_entry *e, memo_place at)
{
    for (unsigned i = 0; i < e->groups * 4u; i++)
        if (entry_place(e, i) == at)
            return (int)i;
    return -1;
}

/* What tells two stacks of one head apart. */
typedef struct difference {
    enum { DIFFER_NOT, DIFFER_WORD, DIFFER_RBP, DIFFER_TOP } what;
    memo_place at;
} difference;

static difference entry_compare(const memo_entry *a, const memo_entry *b)
{
    unsigned common = 4u * (a->groups < b->groups ? a->groups : b->groups);
    for (unsigned i = 0; i < common; i++) {
        if (entry_place(a, i) != entry_place(b, i))
            break; /* the same words led to different places: only the register can have */
        if (entry_value(a, i) != entry_value(b, i))
            return (difference){DIFFER_WORD, entry_place(a, i)};
    }
    if (a->rbp != b->rbp)
        return (difference){DIFFER_RBP, 0};
    return (difference){a->top != b->top ? DIFFER_TOP : DIFFER_NOT, 0};
}

static bool entry_has(const memo_entry *e, difference d)
{
    if (d.what == DIFFER_WORD)
        return entry_word(e, d.at) >= 0;
    return d.what == DIFFER_RBP ? e->rbp != 0 : e->top != MEMO_ANY_TOP;
}

/* hash_stack for the stack that the entry stands for; it has every discriminator of h. */
static uint64_t entry_hash(const memo_head *h, const memo_entry *e)
{
    uint64_t x = h->key * MEMO_MIX, first = 0;
    for (unsigned i = 0; h->places && i < MEMO_WORDS; i++) {
        bool again = i >= h->places; /* those repeat the first */
        uint64_t value = again ? first : entry_value(e, (unsigned)entry_word(e, h->at[i]));
        first = i ? first : value;
        x += value * memo_weight[i];
    }
    x ^= h->by_rbp ? mix_register((e->rbp - (uint64_t)1) * 8) : 0;
    return x ^ (h->by_top ? mix_top(e->top) : 0);
}

/* --- learning --------------------------------------------------------------------------------------------
 */

static void place(memo *m, uint64_t key, memo_entry *e, unsigned depth);

static uint32_t offset_of(const memo *m, const memo_entry *e)
{
    return (uint32_t)((uintptr_t)e - (uintptr_t)m);
}

/* A look-up that a signal interrupted may be at this head: it must find something to read. */
static void head_empty(memo_head *h)
{
    static memo_entry nothing = {.top = MEMO_ANY_TOP - 1};
    memset(h, 0, sizeof *h);
    h->entry = &nothing;
}

static void head_evict(memo *m, memo_head *h)
{
    for (uint32_t at = h->first; at; at = entry_at(m, at)->next)
        entry_at(m, at)->head = NO_HEAD;
    m->crowded++;
    head_empty(h);
}

static void head_move(memo *m, memo_head *from, memo_head *to)
{
    *to = *from;
    for (uint32_t at = to->first; at; at = entry_at(m, at)->next)
        entry_at(m, at)->head = (uint16_t)(to - m->head);
    head_empty(from);
}

static memo_head *head_other(memo *m, memo_head *h)
{
    return &m->head[memo_other(m, h->key, (size_t)(h - m->head))];
}

/* Empties a head's place by moving heads to their other places; false after a few moves. */
static bool head_clear(memo *m, memo_head *h, unsigned moves)
{
    memo_head *other = head_other(m, h);
    if (other->key && (!moves || other == h || !head_clear(m, other, moves - 1)))
        return false;
    head_move(m, h, other);
    return true;
}

/* The head of a key, made when there is none; another one may have to go for that. */
static memo_head *head_get(memo *m, uint64_t key)
{
    size_t number = memo_number(m, key);
    memo_head *place[2] = {&m->head[number], &m->head[memo_other(m, key, number)]};
    for (unsigned i = 0; i < 2; i++)
        if (place[i]->key == key)
            return place[i];
    memo_head *h = place[0]->key == 0 ? place[0] : place[1];
    if (h->key && !head_clear(m, h, MOVES)) {
        h = place[m->crowded & 1];
        head_evict(m, h);
    }
    h->key = key;
    return h;
}

static void chain(memo *m, memo_head *h, memo_entry *e)
{
    e->head = (uint16_t)(h - m->head);
    e->next = h->first;
    h->first = offset_of(m, e);
    h->entry = e;
    h->tag = e->tag;
}

/* Whether every entry of the head, and e, has it. */
static bool all_have(const memo *m, const memo_head *h, const memo_entry *e, difference d)
{
    bool have = entry_has(e, d);
    for (uint32_t at = h->first; at && have; at = entry_at(m, at)->next)
        have = entry_has(entry_at(m, at), d);
    return have;
}

static void discriminate(memo_head *h, difference d)
{
    if (d.what == DIFFER_WORD) {
        h->at[h->places++] = d.at;
        for (unsigned i = h->places; i < MEMO_WORDS; i++)
            h->at[i] = h->at[0];
        uint32_t end = (d.at & ~MEMO_RELATIVE) * 8u + 8;
        h->extent = end > h->extent ? end : h->extent;
    }
    h->by_rbp |= d.what == DIFFER_RBP;
    h->by_top |= d.what == DIFFER_TOP;
    h->special = h->special || d.what != DIFFER_WORD || (d.at & MEMO_RELATIVE);
}

/* Puts e into the index; when another entry of the head has the same discriminating words: that one. */
static memo_entry *index_put(memo *m, memo_head *h, memo_entry *e)
{
    uint64_t x = entry_hash(h, e);
    size_t i = index_of(m, x);
    uint32_t word = offset_of(m, e) / 8 << 12 | fingerprint(x);
    for (unsigned way = 0; way < 2; way++) {
        memo_entry *other = (memo_entry *)indexed(m, h, i ^ way, x);
        if (other && other != e && entry_hash(h, other) == x) {
            if (entry_compare(e, other).what != DIFFER_NOT)
                return other;
            m->index[i ^ way] = word;
            return NULL;
        }
    }
    size_t way = m->index[i] == 0 ? 0 : m->index[i ^ 1] == 0 ? 1 : m->used >> 3 & 1;
    m->index[i ^ way] = word;
    return NULL;
}

static bool is_discriminator(const memo_head *h, memo_place at)
{
    for (unsigned i = 0; i < h->places; i++)
        if (h->at[i] == at)
            return true;
    return false;
}

/* The outermost-in word that all stacks of h and e have and in which some differ. */
static difference split_point(const memo *m, const memo_head *h, const memo_entry *e)
{
    const memo_entry *rep = h->entry;
    difference d = entry_compare(rep, e);
    for (unsigned i = 0; i < rep->groups * 4u; i++) {
        difference word = {DIFFER_WORD, entry_place(rep, i)};
        bool candidate = is_discriminator(h, word.at) || (d.what == DIFFER_WORD && d.at == word.at);
        if (candidate && all_have(m, h, e, word))
            return word;
    }
    difference rbp = {DIFFER_RBP, 0}, top = {DIFFER_TOP, 0};
    if (h->by_rbp && all_have(m, h, e, rbp))
        return rbp;
    if (h->by_top && all_have(m, h, e, top))
        return top;
    return (difference){DIFFER_NOT, 0};
}

static void forget_discriminators(memo_head *h)
{
    h->places = 0;
    h->extent = 0;
    h->special = h->by_rbp = h->by_top = false;
}

/* Makes h a SPLIT and gives its entries, and e, to the heads below it. */
static void split(memo *m, memo_head *h, memo_entry *e, unsigned depth)
{
    difference d = split_point(m, h, e);
    if (d.what == DIFFER_NOT || depth >= SPLIT_DEPTH) {
        h->kind = MEMO_WALK;
        h->quick = 0;
        return;
    }
    uint32_t at = h->first;
    uint64_t key = h->key;
    forget_discriminators(h);
    discriminate(h, d);
    h->kind = MEMO_SPLIT;
    h->quick = h->places == 1 && !h->special ? ~key : 0;
    h->first = 0;
    place(m, key, e, depth);
    while (at) {
        memo_entry *old = entry_at(m, at);
        at = old->next;
        old->head = NO_HEAD; /* until it has found its place */
        place(m, key, old, depth);
    }
}

/* Two stacks that the head's discriminators do not tell apart: adds one that does, or splits. False: split.
 */
static bool learn(memo *m, memo_head *h, memo_entry *e, const memo_entry *other, unsigned depth)
{
    difference d = entry_compare(e, other);
    bool full = d.what == DIFFER_WORD && h->places == MEMO_WORDS;
    if (full || !all_have(m, h, e, d)) {
        split(m, h, e, depth);
        return false;
    }
    discriminate(h, d);
    for (uint32_t at = h->first; at; at = entry_at(m, at)->next)
        index_put(m, h, entry_at(m, at));
    return true;
}

/* Whether e has all that tells the stacks of h apart. */
static bool discriminated(const memo_head *h, const memo_entry *e)
{
    for (unsigned i = 0; i < h->places; i++)
        if (entry_word(e, h->at[i]) < 0)
            return false;
    return (!h->by_rbp || e->rbp) && (!h->by_top || e->top != MEMO_ANY_TOP);
}

static void place_poly(memo *m, memo_head *h, memo_entry *e, unsigned depth)
{
    if (!discriminated(h, e)) {
        split(m, h, e, depth);
        return;
    }
    for (const memo_entry *other; (other = index_put(m, h, e)) != NULL;)
        if (!learn(m, h, e, other, depth))
            return;
    chain(m, h, e);
}

static void place_second(memo *m, memo_head *h, memo_entry *e, unsigned depth)
{
    memo_entry *first = h->entry;
    difference d = entry_compare(first, e);
    if (d.what == DIFFER_NOT) {
        chain(m, h, e);
        return;
    }
    if (d.what == DIFFER_WORD && !(d.at & MEMO_RELATIVE) && depth < QUICK_DEPTH) {
        split(m, h, e, depth);
        return;
    }
    forget_discriminators(h);
    if (!all_have(m, h, e, d)) { /* claimed for one pool on top of the stack and not for another */
        h->kind = MEMO_WALK;
        h->quick = 0;
        return;
    }
    discriminate(h, d);
    h->kind = MEMO_POLY;
    h->quick = 0;
    index_put(m, h, first);
    place_poly(m, h, e, depth);
}

static uint64_t quick_key(uint64_t key, const memo_entry *e)
{
    return e->onward ? 0 : e->special ? key ^ MEMO_SPECIAL : key;
}

static void place_below(memo *m, memo_head *h, memo_entry *e, unsigned depth)
{
    if (discriminated(h, e)) {
        place(m, memo_child_key(entry_hash(h, e)), e, depth + 1);
        return;
    }
    h->has_others = true;
    place(m, others_key(h->key), e, depth + 1);
}

static bool is_direct(uint64_t key, const memo_entry *e)
{
    return !e->groups && !e->special && e->top == MEMO_ANY_TOP && !(key >> 63);
}

static void place(memo *m, uint64_t key, memo_entry *e, unsigned depth)
{
    memo_head *h = head_get(m, key);
    switch (h->kind) {
    case MEMO_EMPTY:
    case MEMO_DIRECT:
        chain(m, h, e);
        h->kind = is_direct(key, e) ? MEMO_DIRECT : MEMO_MONO;
        h->quick = quick_key(key, e);
        break;
    case MEMO_MONO:
        place_second(m, h, e, depth);
        break;
    case MEMO_POLY:
        place_poly(m, h, e, depth);
        break;
    case MEMO_SPLIT:
        place_below(m, h, e, depth);
        break;
    default:
        break;
    }
}

bool memo_insert(memo *m, uint64_t key, const walk *w, uintptr_t cfa, uint32_t top, const tag *g)
{
    if (!entry_fits(w, cfa))
        return true;
    memo_entry *e = entry_create(m, key, w, cfa, top, g);
    if (!e || m->crowded > (1u << (64 - m->head_shift)) / 32)
        return false;
    place(m, key, e, 0);
    memo_head *h = memo_head_find(m, key);
    if (h)
        h->stacks++;
    return true;
}

/* Makes its words plain, for one CFA and rbp. */
static void bind(memo_entry *e, const memo_query *q)
{
    for (unsigned i = 0; i < e->groups * 4u; i++) {
        memo_group *g = &e->group[i / 4];
        if (g->at[i % 4] & MEMO_RELATIVE)
            g->value[i % 4] += q->cfa;
        g->at[i % 4] &= (memo_place)~MEMO_RELATIVE;
    }
    e->special = 0;
    e->quick = e->key | MEMO_BOUND;
    *memo_bounds_of(e) = (memo_bounds){q->cfa, q->rbp};
}

void memo_tell_whole(thread *t, memo *m, memo_entry *e, const walk *w, const memo_query *q, const tag *g)
{
    uint32_t spare = (m->limit - m->entries) / 16;
    e->repeats = 0;
    e->patience++;
    size_t size = entry_size((w->words + 3) / 4) + sizeof(memo_bounds);
    if (m->used + size > m->limit - spare || !w->keep || w->loose || !entry_fits(w, q->cfa))
        return;
    memo_entry *whole = entry_create(m, e->key, w, q->cfa, q->top, g);
    whole->whole = 1;
    whole->credit = e->credit;
    if (whole->special) {
        m->used += (uint32_t)sizeof(memo_bounds);
        bind(whole, q);
    }
    whole->next = (uint32_t)((uintptr_t)whole - (uintptr_t)e);
    memo_put_before(t, m, e, whole, q);
}

unsigned memo_depth(memo *m, uint64_t key)
{
    const memo_head *h = memo_head_find(m, key);
    unsigned stacks = h ? h->stacks : 0;
    return stacks < 4 ? DEPTH_ALL : stacks < 32 ? DEPTH_FEW : DEPTH_MANY;
}

static void copy_entry(memo *to, const memo_entry *e)
{
    memo_entry *copy = entry_take(to, e->groups);
    if (!copy)
        return;
    memcpy(copy, e, entry_size(e->groups));
    copy->head = NO_HEAD;
    place(to, copy->key, copy, 0);
}

/* Entries lie one behind the other, oldest first; those that were displaced are left behind. */
void memo_copy(memo *to, const memo *from)
{
    for (uint32_t at = from->entries; at < from->used;) {
        const memo_entry *e = entry_at(from, at);
        at += (uint32_t)(entry_size(e->groups) + (e->quick & MEMO_BOUND ? sizeof(memo_bounds) : 0));
        if (e->head != NO_HEAD)
            copy_entry(to, e);
    }
}

void memo_copy_recent(memo *to, thread *t)
{
    uint32_t half = to->entries + (to->limit - to->entries) / 2;
    for (unsigned i = 0; i < MEMO_CELLS && to->used < half; i++) {
        memo_entry *e = (memo_entry *)memo_cell_entry(t, i * sizeof(uint64_t));
        if (e && e->whole)
            e = (memo_entry *)memo_inner(e);
        if (!e || e->head == NO_HEAD)
            continue;
        copy_entry(to, e);
        e->head = NO_HEAD; /* it may stand in several cells */
    }
}
