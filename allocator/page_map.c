/* SPDX-License-Identifier: MIT */
/*
 * page_map.c - see page_map.h. Leaves are cut from mappings that double from 64 KB to 16 MB, so a small map
 * stays small and a large one gets huge pages. The two upper levels are reserved whole and touched in part:
 * 1 MB of addresses for the first, 2 MB for each GiB that is used.
 * Locking: the caller's. Cost: see page_map.h; a new page costs some 100 ns.
 */
#include "page_map.h"
#include "os.h"

#include <string.h>

enum { LEAF_BYTES = PAGE_MAP_WORDS * sizeof(uint32_t), CHUNK_FIRST = 1 << 16, CHUNK_MAX = 1 << 24 };

/* Head of a mapping; the leaves follow at multiples of their size. */
struct chunk {
    struct chunk *next;
    size_t bytes, cut; /* of the mapping; of it handed out, this head included */
};

void page_map_done(page_map *m)
{
    while (m->chunks) {
        struct chunk *c = m->chunks;
        m->chunks = c->next;
        os_unmap(c, c->bytes);
    }
    for (size_t gib = m->low; gib < m->high; gib++) {
        if (m->gibs[gib])
            os_unmap(m->gibs[gib], PAGE_MAP_PAGES * sizeof(uint32_t *));
    }
    if (m->gibs)
        os_unmap(m->gibs, PAGE_MAP_GIBS * sizeof *m->gibs);
    memset(m, 0, sizeof *m);
}

static COLD bool add_chunk(page_map *m)
{
    size_t bytes = m->chunks ? m->chunks->bytes * 2 : CHUNK_FIRST;
    bytes = bytes < CHUNK_MAX ? bytes : CHUNK_MAX;
    struct chunk *c = os_map(bytes);
    if (!c)
        return false;
    if (bytes >= MIB(2)) /* leaves are met at random: a TLB miss costs as much as the cache miss */
        os_huge(c, bytes, true);
    *c = (struct chunk){m->chunks, bytes, LEAF_BYTES};
    m->chunks = c;
    return true;
}

static uint32_t *cut_leaf(page_map *m)
{
    if ((!m->chunks || m->chunks->cut == m->chunks->bytes) && !add_chunk(m))
        return NULL;
    char *leaf = (char *)m->chunks + m->chunks->cut;
    m->chunks->cut += LEAF_BYTES;
    return (uint32_t *)(void *)leaf;
}

static COLD bool add_gib(page_map *m, size_t gib)
{
    if (gib >= PAGE_MAP_GIBS || (!m->gibs && !(m->gibs = os_map(PAGE_MAP_GIBS * sizeof *m->gibs))))
        return false;
    m->gibs[gib] = os_map(PAGE_MAP_PAGES * sizeof(uint32_t *));
    if (!m->gibs[gib])
        return false;
    m->low = m->high && m->low < gib ? m->low : gib;
    m->high = m->high > gib ? m->high : gib + 1;
    return true;
}

static COLD uint32_t *add_leaf(page_map *m, uintptr_t address)
{
    size_t gib = address >> PAGE_MAP_GIB_BITS;
    bool known = gib < m->high && m->gibs[gib];
    if (!known && !add_gib(m, gib))
        return NULL;
    m->gibs[gib][address >> PAGE_MAP_PAGE_BITS & (PAGE_MAP_PAGES - 1)] = cut_leaf(m);
    return page_map_find(m, address);
}

uint32_t *page_map_make(page_map *m, uintptr_t address)
{
    uint32_t *word = page_map_find(m, address);
    return likely(word != NULL) ? word : add_leaf(m, address);
}

static void walk_leaf(const uint32_t *leaf, uintptr_t address, void (*visit)(void *, uintptr_t, uint32_t),
                      void *arg)
{
    for (size_t i = 0; leaf && i < PAGE_MAP_WORDS; i++) {
        if (leaf[i])
            visit(arg, address + i * PAGE_MAP_GRAIN, leaf[i]);
    }
}

void page_map_walk(const page_map *m, void (*visit)(void *arg, uintptr_t address, uint32_t word), void *arg)
{
    for (uintptr_t gib = m->low; gib < m->high; gib++) {
        for (uintptr_t page = 0; m->gibs[gib] && page < PAGE_MAP_PAGES; page++)
            walk_leaf(m->gibs[gib][page], gib << PAGE_MAP_GIB_BITS | page << PAGE_MAP_PAGE_BITS, visit, arg);
    }
}
