/* SPDX-License-Identifier: MIT */
/*
 * meta.h - floor F0: memory for the library's own records (fronts, heaps, threads): zeroed, aligned to 64,
 * never given back. Thread-safe. NULL when the system has none.
 */
#ifndef POOLMEM_META_H
#define POOLMEM_META_H

#include "base.h"

void *meta_alloc(size_t size);
/* For fork: false when the thread held it already. */
bool meta_lock(void);
void meta_unlock(void);

#endif
