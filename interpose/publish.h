/* SPDX-License-Identifier: MIT */
/*
 * publish.h - floor F4: writes the published mapping (stats.h): makes it, adds rows, gives the child of a
 * fork its own. When no mapping can be had a small static one serves (pools and base sites only).
 */
#ifndef POOLMEM_PUBLISH_H
#define POOLMEM_PUBLISH_H

#include "stats.h"
#include "symbols.h"

extern stats_header *published; /* never NULL after publish_create */

/* First thing at boot; needs nothing but system calls. */
void publish_create(void);

/* Row of a pool; the caller holds the registry lock. Giving an id again changes its settings. */
void publish_pool(uint32_t id, const char *name, uint32_t parent, pool_kind kind, pool_over over,
                  uint64_t limit);

/* The row of a site, made when new; 0..STATS_POOLS-1 are base sites. Resolve lock held. When the table is
   full the pool's base site. `pcs` are return addresses, innermost first; n may exceed STATS_SITE_FRAMES:
   then the outer ones are cut, but the deciding (last) frame is kept. */
uint32_t publish_site(uint32_t pool, const uintptr_t *pcs, unsigned n);

/* The row for the stack of `site` in another pool. Resolve lock held. */
uint32_t publish_site_within(uint32_t site, uint32_t pool);

/* Objects have been loaded or closed: addresses are looked up anew. Async-signal-safe. */
void publish_forget(void);

/* Tallies that are a thread's own already and not yet in use. */
typedef struct tally_stock {
    stats_tally *next;
    uint32_t left;
} tally_stock;

/* A fresh tally for a thread at a site, from what the thread has in stock; NULL when the table is full.
   Lock-free. */
stats_tally *publish_tally(tally_stock *stock, uint32_t site);

/* Keeps a text for ever, one copy each; "" when there is no room. Resolve lock held. */
const char *publish_string(const char *text, uint32_t *offset);

/* Round a fork, one fork at a time (the caller's fork lock). The child inherits what the parent holds and so
   its counts too; prepare takes them down, because the parent counts on in the shared mapping. The child
   calls its part before anything else is allocated. */
void publish_fork_prepare(void);
void publish_fork_parent(void);
void publish_fork_child(void);

#endif
