/* SPDX-License-Identifier: MIT */
/*
 * growing.h - floor F0: a mapping that doubles, for tables of the core whose size nobody knows beforehand.
 * What it holds may move: keep indices, not pointers. Cost: each byte is copied twice in the long run.
 */
#ifndef POOLMEM_GROWING_H
#define POOLMEM_GROWING_H

#include "base.h"

typedef struct growing {
    void *at;     /* NULL while empty */
    size_t bytes; /* of the mapping */
} growing;

/* Room for `need` bytes, the first `used` kept; new room is zero. False: no memory, nothing changed. */
bool growing_reserve(growing *g, size_t used, size_t need);
void growing_done(growing *g);

#endif
