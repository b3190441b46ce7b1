/* SPDX-License-Identifier: MIT */
/*
 * pools_fixed.h - floor F4: makes and ends pools of fixed size for pools.c.
 */
#ifndef POOLMEM_POOLS_FIXED_H
#define POOLMEM_POOLS_FIXED_H

#include "pools.h"

/* NULL: the parent cannot hold it, or the kind is none of fixed size. `again` is a removed pool of that kind
   whose struct serves once more, or NULL; it is zeroed first. Registry lock held. */
pool *pools_make_fixed(const pool_spec *s, pool *parent, pool *again);
/* Gives its memory back. Registry lock held. */
pool_status pools_end_fixed(pool *p);

#endif
