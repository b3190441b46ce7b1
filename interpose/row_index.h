/* SPDX-License-Identifier: MIT */
/*
 * row_index.h - floor F4: finds the row of a table by what it says: open addressing over row numbers, which
 * starts small and doubles, so that a process pays in page faults and memory for the rows it has, not for
 * those it may have. Locking: the caller's. Cost: one probe and a half.
 */
#ifndef POOLMEM_ROW_INDEX_H
#define POOLMEM_ROW_INDEX_H

#include "base.h"

typedef struct row_index {
    uint64_t (*hash)(uint32_t row); /* of what the row says */
    uint32_t *cells;                /* row + 1, or 0; at least one is 0 */
    uint32_t mask, used;            /* cells - 1; those that are not 0 */
} row_index;

/* Makes room for one more row; false: no memory, nothing may be looked up or added. Afterwards a search goes
   from cell hash & mask over index_next until a cell is 0, and that one may be set by index_add. */
bool index_ready(row_index *x);

INLINE uint32_t index_next(const row_index *x, uint32_t at)
{
    return (at + 1) & x->mask;
}

INLINE void index_add(row_index *x, uint32_t at, uint32_t row)
{
    x->cells[at] = row + 1;
    x->used++;
}

#endif
