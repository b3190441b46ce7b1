/* SPDX-License-Identifier: MIT */
/*
 * growing.c - see growing.h. A new mapping twice as large, the old bytes copied, the old mapping given back;
 * mappings of 2 MB and more ask for huge pages. Locking: the caller's.
 */
#include "growing.h"
#include "os.h"

#include <string.h>

bool growing_reserve(growing *g, size_t used, size_t need)
{
    size_t bytes = g->bytes ? g->bytes : OS_PAGE;
    if (need <= g->bytes)
        return true;
    while (bytes < need)
        bytes *= 2;
    void *more = os_map(bytes);
    if (more && bytes >= MIB(4)) /* large tables are met at random: fewer TLB misses */
        os_huge(more, bytes, true);
    if (!more)
        return false;
    if (bytes >= MIB(2)) /* large tables are met at random: a TLB miss costs as much as the cache miss */
        os_huge(more, bytes, true);
    if (g->at)
        memcpy(more, g->at, used);
    growing_done(g);
    *g = (growing){more, bytes};
    return true;
}

void growing_done(growing *g)
{
    if (g->at)
        os_unmap(g->at, g->bytes);
    *g = (growing){0};
}
