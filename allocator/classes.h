/* SPDX-License-Identifier: MIT */
/*
 * classes.h - floor F2: the size classes of a native heap's fragments: steps of 16 bytes up to 128, then 8
 * to a doubling up to FRAGMENT_MAX. Every size is a multiple of 16, so every fragment is 16-byte aligned;
 * a class whose size is a multiple of 2^k is aligned to 2^k, because blocks are.
 */
#ifndef POOLMEM_CLASSES_H
#define POOLMEM_CLASSES_H

#include "base.h"

#define CLASS_COUNT   72
#define FRAGMENT_MAX  ((size_t)32768) /* largest fragment, bytes */
#define GRANULE       ((size_t)16)    /* every block starts on one; live bits count in them */
#define SMALL_MAX     ((size_t)1024)  /* what the shortest way serves; fragments above are large ones */
#define LARGE_CLASS   32              /* the first of theirs */
#define LARGE_CLASSES (CLASS_COUNT - LARGE_CLASS)

/* Class by size in granules, rounded up; 0 granules count as 1. */
extern const uint8_t class_of_granules[FRAGMENT_MAX / GRANULE + 1];

INLINE unsigned class_of(size_t size)
{
    return class_of_granules[(size + (GRANULE - 1)) / GRANULE];
}

/* Bytes of a fragment of class c. */
INLINE size_t class_size(unsigned c)
{
    if (c < 8)
        return GRANULE * (c + 1);
    size_t base = (size_t)128 << ((c - 8) / 8);
    return base + ((c - 8) % 8 + 1) * (base / 8);
}

#endif
