/* SPDX-License-Identifier: MIT */
/*
 * site.c - see site.h. The row of such a site is a copy of the other with the pool changed; a thread keeps
 * the last ones it needed, by site. Locking: the resolve lock when a row is looked up. Cost: a few loads when
 * kept.
 */
#include "site.h"
#include "caller.h"
#include "meta.h"
#include "publish.h"

#define KEPT 64u

struct moved_site {
    uint32_t site; /* + 1; 0 empty */
    uint32_t pool;
    tag tag;
};

struct move {
    uint32_t site, pool, result;
};

static void move_resolving(void *arg)
{
    struct move *m = arg;
    m->result = publish_site_within(m->site, m->pool);
}

static tag moved(thread *t, uint32_t site, uint32_t pool)
{
    struct move m = {site, pool, pool};
    t->busy++;
    caller_resolving(move_resolving, &m);
    tag g = thread_tag(t, pool, m.result);
    t->busy--;
    return g;
}

const tag *site_within(thread *t, const tag *g, uint32_t pool)
{
    uint32_t site = g->tally->site;
    if (site < STATS_POOLS)
        return thread_base(t, pool);
    if (stats_sites(published)[site].pool == pool)
        return g;
    if (t->busy || (!t->moved && !(t->moved = meta_alloc(KEPT * sizeof *t->moved))))
        return thread_base(t, pool);
    struct moved_site *cell = &t->moved[(site ^ pool) % KEPT];
    if (cell->site != site + 1 || cell->pool != pool)
        *cell = (struct moved_site){site + 1, pool, moved(t, site, pool)};
    return &cell->tag;
}
