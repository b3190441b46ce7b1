/* SPDX-License-Identifier: MIT */
/*
 * meta.h - floor F0: memory for the library's own records (fronts, heaps, threads): zeroed, aligned to 64,
 * never given back. Thread-safe. NULL when the system has none.
 */
#ifndef POOLMEM_META_H
#define POOLMEM_META_H

#include "lock.h"

void *meta_alloc(size_t size);
/* Round a fork: its lock; and in a child that could not take it. */
void meta_fork_locks(lock_visit *visit);
void meta_fork_child(void);

#endif
