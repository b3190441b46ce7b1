/* SPDX-License-Identifier: MIT */
/*
 * memdump.h - floor F3: every block of every pool as text, the file the original sends to its host. The
 * format is described in docs/retail.md: a head line, then for each pool a `pool` line, a `block` line each
 * in address order and a `stack` line for each call stack they name; fields stand apart by tabs.
 * Locking: the registry's while it walks; pools must be quiet. Cost: a line a block.
 */
#ifndef POOLMEM_MEMDUMP_H
#define POOLMEM_MEMDUMP_H

#include "lines.h"
#include "registry.h"

/* The head line, then every registered pool in tree order. */
void memdump_write(registry *r, const lines *to);
/* One pool: what its kind knows of its blocks. */
void memdump_pool(pool *p, const lines *to);

#endif
