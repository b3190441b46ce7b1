/* SPDX-License-Identifier: MIT */
/*
 * keep.h - floor F4: memory for what is kept until the process ends: rules, names of symbols. Never freed.
 * Locking: none; callers run at boot or under the resolve lock.
 */
#ifndef POOLMEM_KEEP_H
#define POOLMEM_KEEP_H

#include "base.h"

/* Zeroed bytes, 16-byte aligned; NULL: the system has none. */
void *keep_bytes(size_t size);
/* A copy with a NUL of the first `length` bytes; "" when there is no memory. */
const char *keep_text(const char *text, size_t length);

#endif
