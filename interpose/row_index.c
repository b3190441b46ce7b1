/* SPDX-License-Identifier: MIT */
/* row_index.c - see row_index.h: the table and its growth. */
#include "row_index.h"
#include "meta.h"
#include "os.h"

#define CELLS_FIRST 256u

static bool index_make(row_index *x)
{
    x->cells = meta_alloc(CELLS_FIRST * sizeof *x->cells);
    x->mask = CELLS_FIRST - 1;
    return x->cells != NULL;
}

static bool index_double(row_index *x)
{
    row_index larger = {.mask = x->mask * 2 + 1};
    larger.cells = os_map_table((larger.mask + (size_t)1) * sizeof *larger.cells);
    if (!larger.cells)
        return false;
    for (uint32_t i = 0; i <= x->mask; i++) {
        if (!x->cells[i])
            continue;
        uint32_t at = (uint32_t)x->hash(x->cells[i] - 1) & larger.mask;
        while (larger.cells[at])
            at = index_next(&larger, at);
        larger.cells[at] = x->cells[i];
    }
    if (x->mask >= CELLS_FIRST)
        os_unmap(x->cells, (x->mask + (size_t)1) * sizeof *x->cells);
    x->cells = larger.cells;
    x->mask = larger.mask;
    return true;
}

bool index_ready(row_index *x)
{
    if (unlikely(!x->cells) && !index_make(x))
        return false;
    if (likely(x->used <= x->mask / 2) || index_double(x))
        return true;
    return x->used < x->mask;
}
