/* SPDX-License-Identifier: MIT */
/*
 * stubs.h - what the caller needs of the rest of the library, in the simplest form that can be checked: a
 * symbol whose name ends in _poolN is claimed for pool N, a site is its list of frames, a tag's tally names
 * its site.
 */
#ifndef STUBS_H
#define STUBS_H

#include "caller.h"
#include "config.h"

#include <setjmp.h>

typedef struct stub_site {
    uint32_t pool;
    unsigned frames;
    uintptr_t pcs[STATS_SITE_FRAMES];
} stub_site;

/* The site a tag stands for; NULL: a base tag, *pool says which. */
const stub_site *stub_site_of(const tag *g, uint32_t *pool);
/* What the rules claim for a return address, from its symbol; RULE_NO_POOL none. */
int stub_pool_of(uintptr_t return_address);

/* When set, the next decision leaves by a longjmp to it, as a signal handler might. */
extern jmp_buf *stub_escape;

#endif
