/* SPDX-License-Identifier: MIT */
/*
 * sort.h - floor F0: a sort that needs no memory (qsort of the C library may call malloc). In place, not
 * stable, n log n comparisons at most times two; records of any size.
 */
#ifndef POOLMEM_SORT_H
#define POOLMEM_SORT_H

#include "base.h"

void sort(void *records, size_t count, size_t size, int (*compare)(const void *, const void *));

#endif
