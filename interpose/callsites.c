/* SPDX-License-Identifier: MIT */
/*
 * callsites.c - see callsites.h. One open-addressing table: under keys made of code addresses, and under keys
 * made of published sites. Locking: the resolve lock where a site is published. Cost: one probe for a known
 * one.
 */
#include "callsites.h"
#include "caller.h"
#include "meta.h"
#include "os.h"
#include "publish.h"

#include <string.h>

enum {
    SITES_FIRST = 128,   /* cells of the table */
    SITES_MAX = 1 << 18, /* and at most */
    TAGS_FIRST = 32,     /* tags a thread is given first, */
    TAGS_MAPPED = 256    /* and later */
};

struct known_site {
    uint64_t key; /* pool and frames, mixed, or BY_ROW and the published site; 0 empty */
    const tag *tag;
};
typedef struct known_site known_site;

/* Tags of published sites are kept under a key of their own, which no close of an object makes wrong. */
#define BY_ROW ((uint64_t)1 << 63)

typedef struct site_order {
    uint32_t pool, site;
    unsigned frames;
    uintptr_t pcs[STATS_SITE_FRAMES];
} site_order;

static void site_resolving(void *arg)
{
    site_order *o = arg;
    o->site = publish_site(o->pool, o->pcs, o->frames);
}

/* The frames that name the site: the innermost, and the one outside of them that claims it: the walk's last,
   or `claimer`, further out. */
static site_order order_of(const walk *w, uint32_t pool, uintptr_t claimer)
{
    site_order o = {.pool = pool, .frames = w->frames < CALLSITE_FRAMES ? w->frames : CALLSITE_FRAMES};
    memcpy(o.pcs, w->pcs, o.frames * sizeof *o.pcs);
    if (!claimer && w->pool != RULE_NO_POOL && w->frames > CALLSITE_FRAMES)
        claimer = w->pcs[w->frames - 1];
    if (claimer)
        o.pcs[o.frames++] = claimer;
    return o;
}

static uint64_t order_key(const site_order *o)
{
    uint64_t key = o->pool + (uint64_t)1;
    for (unsigned i = 0; i < o->frames; i++) {
        key = (key ^ o->pcs[i]) * 0xd6e8feb86659fd93u;
        key ^= key >> 32;
    }
    return (key | 1) & ~BY_ROW;
}

static known_site *site_cell(known_site *sites, uint32_t mask, uint64_t key)
{
    uint32_t at = (uint32_t)(key >> 20) & mask;
    while (sites[at].key && sites[at].key != key)
        at = (at + 1) & mask;
    return &sites[at];
}

static bool sites_grow(callsites *s)
{
    uint32_t cells = s->cells ? (s->mask + 1) * 2 : SITES_FIRST;
    size_t bytes = cells * sizeof(known_site);
    known_site *larger = cells > SITES_MAX ? NULL : s->cells ? os_map_table(bytes) : meta_alloc(bytes);
    if (!larger)
        return false;
    for (uint32_t i = 0; s->cells && i <= s->mask; i++)
        if (s->cells[i].key)
            *site_cell(larger, cells - 1, s->cells[i].key) = s->cells[i];
    known_site *old = s->cells;
    /* In this order: a longjmp may leave at any point, and the old mask is the smaller one. */
    s->cells = larger;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    s->mask = cells - 1;
    if (old && cells / 2 > SITES_FIRST)
        os_unmap(old, (cells / 2) * sizeof *old);
    return true;
}

/* Forgets what was told by code addresses. The others move up, in the order of searches, from a cell that
   none has to step over. */
void callsites_clear(callsites *s)
{
    known_site *cells = s->cells;
    uint32_t mask = s->mask, start = 0;
    s->count = 0;
    for (uint32_t i = 0; cells && i <= mask; i++)
        if (!(cells[i].key & BY_ROW))
            cells[start = i] = (known_site){0};
    for (uint32_t n = 1; cells && n <= mask; n++) {
        known_site *from = &cells[(start + n) & mask], moving = *from;
        if (!moving.key)
            continue;
        *from = (known_site){0};
        *site_cell(cells, mask, moving.key) = moving;
        s->count++;
    }
}

static const tag *tag_keep(callsites *s, tag g)
{
    if (!s->tags_left) {
        bool first = !s->tags;
        unsigned count = first ? TAGS_FIRST : TAGS_MAPPED;
        tag *more = first ? meta_alloc(count * sizeof *more) : os_map(count * sizeof *more);
        if (!more)
            return NULL;
        s->tags = more;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        s->tags_left = count;
    }
    tag *kept = &s->tags[--s->tags_left];
    *kept = g;
    return kept;
}

static uint64_t row_key(uint32_t site)
{
    return (site * 0x9e3779b97f4a7c15u >> 1) | BY_ROW;
}

/* The cell for a key, its key set; `tag` is NULL when it is new. NULL: no memory for it. */
static known_site *site_get(callsites *s, uint64_t key)
{
    if (2 * s->count >= s->mask && !sites_grow(s))
        return NULL;
    known_site *cell = site_cell(s->cells, s->mask, key);
    s->count += !cell->key;
    cell->key = key;
    return cell;
}

/* The tag of a published site in its pool, made when the thread has none yet. */
static const tag *row_tag(callsites *s, thread *t, const site_order *o)
{
    known_site *cell = o->site < STATS_POOLS ? NULL : site_get(s, row_key(o->site));
    if (cell && !cell->tag)
        cell->tag = tag_keep(s, thread_tag(t, o->pool, o->site));
    return cell && cell->tag ? cell->tag : thread_base(t, o->pool);
}

static const tag *site_tag_cold(callsites *s, thread *t, site_order *o)
{
    if (published->site_count == published->site_max)
        return thread_base(t, o->pool);
    caller_resolving(site_resolving, o);
    return row_tag(s, t, o);
}

static const tag *site_tag(callsites *s, thread *t, site_order *o, uint64_t key)
{
    const tag *known = dl_closing ? NULL : callsites_known(s, key);
    if (known)
        return known;
    const tag *g = site_tag_cold(s, t, o); /* which may make the table larger */
    known_site *cell = dl_closing ? NULL : site_get(s, key);
    if (cell)
        cell->tag = g;
    return g;
}

const tag *callsites_known(const callsites *s, uint64_t key)
{
    return s->cells ? site_cell(s->cells, s->mask, key)->tag : NULL;
}

const tag *callsites_tag(callsites *s, thread *t, const walk *w, uint32_t pool, uintptr_t claimer)
{
    site_order o = order_of(w, pool, claimer);
    return site_tag(s, t, &o, order_key(&o));
}

const tag *callsites_tag_as(callsites *s, thread *t, const walk *w, uint32_t pool, uintptr_t claimer,
                            uint64_t key)
{
    site_order o = order_of(w, pool, claimer);
    return site_tag(s, t, &o, key);
}

uint64_t callsites_outer_key(const tag *inner, uint32_t pool, uintptr_t claimer)
{
    uint64_t key = ((uint64_t)(uintptr_t)inner * 0xff51afd7ed558ccdu) ^ (claimer * 0xd6e8feb86659fd93u);
    return ((key ^ key >> 31 ^ pool) | 1) & ~BY_ROW;
}
