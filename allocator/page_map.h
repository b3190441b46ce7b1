/* SPDX-License-Identifier: MIT */
/*
 * page_map.h - floor F0: a word for every 16 bytes of address space that has been asked for: a tree of three
 * levels by the bits of the address.
 *
 *   address -> its GiB: 131,072 pointers -> its page: 262,144 pointers -> leaf: 256 words, one each 16 bytes
 *
 * The upper levels are mappings of which only what is used is ever touched, 8 bytes a page. Neighbours in
 * memory are neighbours here, so whoever works through memory in order, or in one place, does the same in
 * the map; a hash of addresses would scatter it. Nothing is ever taken out: a page's leaf stays for the next
 * user of that page.
 * Locking: the caller's. Cost: three loads, of which the last may miss the cache; 1 KB a page.
 */
#ifndef POOLMEM_PAGE_MAP_H
#define POOLMEM_PAGE_MAP_H

#include "base.h"

enum {
    PAGE_MAP_GRAIN = 16,
    PAGE_MAP_PAGE_BITS = 12,
    PAGE_MAP_GIB_BITS = 30,
    PAGE_MAP_WORDS = (1 << PAGE_MAP_PAGE_BITS) / PAGE_MAP_GRAIN,
    PAGE_MAP_PAGES = 1 << (PAGE_MAP_GIB_BITS - PAGE_MAP_PAGE_BITS),
    PAGE_MAP_GIBS = 1 << (47 - PAGE_MAP_GIB_BITS), /* what a process can have without asking for more */
};

typedef struct page_map {
    uint32_t ***gibs;     /* PAGE_MAP_GIBS of them; NULL: nothing is in the map */
    size_t low, high;     /* GiBs that have pages: low <= n < high */
    struct chunk *chunks; /* mappings the leaves are cut from, the newest first */
} page_map;

/* A zeroed map is an empty one. */
void page_map_done(page_map *m);
/* The word of an address; made when its page has no leaf yet. NULL: no memory for it. */
uint32_t *page_map_make(page_map *m, uintptr_t address);
/* Calls visit for every word that is not 0, in address order; address is that of its first byte. */
void page_map_walk(const page_map *m, void (*visit)(void *arg, uintptr_t address, uint32_t word), void *arg);

/* NULL when the page has no leaf. */
INLINE uint32_t *page_map_find(const page_map *m, uintptr_t address)
{
    size_t gib = address >> PAGE_MAP_GIB_BITS;
    if (unlikely(gib >= m->high || !m->gibs[gib]))
        return NULL;
    uint32_t *leaf = m->gibs[gib][address >> PAGE_MAP_PAGE_BITS & (PAGE_MAP_PAGES - 1)];
    return leaf ? leaf + address / PAGE_MAP_GRAIN % PAGE_MAP_WORDS : NULL;
}

#endif
