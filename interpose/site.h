/* SPDX-License-Identifier: MIT */
/*
 * site.h - floor F4: a call-site seen from another pool than the rules gave it: a request that its own pool
 * spilled, or a realloc of a block that stays where it is.
 */
#ifndef POOLMEM_SITE_H
#define POOLMEM_SITE_H

#include "thread.h"

/* The tag that counts g's call-site in `pool`; g itself when that is its pool. Never NULL. */
const tag *site_within(thread *t, const tag *g, uint32_t pool);

#endif
