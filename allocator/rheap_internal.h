/* SPDX-License-Identifier: MIT */
/*
 * rheap_internal.h - floor F2: what the files of the retail heap share: records, fragment links, bit
 * operations. Blocks are numbered from 1; record 0 is the head of the ring of free runs. See retail.h for the
 * picture.
 */
#ifndef POOLMEM_RHEAP_INTERNAL_H
#define POOLMEM_RHEAP_INTERNAL_H

#include "retail.h"

enum record_shape { RECORD_NONE, RECORD_FREE, RECORD_BUSY, RECORD_FRAGMENTS };

/* 12 bytes, as the original's. Only the record of a run's first block means anything. */
typedef struct rheap_record {
    uint32_t shape : 2;   /* record_shape */
    uint32_t length : 30; /* blocks of a run; fragments: log2 of the class */
    union {
        uint32_t next;  /* free run: next run in address order, 0 the head */
        uint32_t count; /* fragments: how many are free */
    };
    union {
        uint32_t prev;  /* free run: previous run */
        uint32_t first; /* fragments: index in the block of the foremost free one */
    };
} rheap_record;
_Static_assert(sizeof(rheap_record) == RHEAP_RECORD, "the table must take 12 bytes a block");

/* Links of a free fragment, inside it. Offset 0 as prev: the list head; as next: the end. */
typedef struct rheap_links {
    uint32_t next, prev;
} rheap_links;

INLINE rheap_record *rheap_record_of(const rheap *h, uint32_t block)
{
    return (rheap_record *)(void *)h->base + block;
}
INLINE rheap_links *rheap_links_of(const rheap *h, uint32_t offset)
{
    return (rheap_links *)(void *)(h->base + offset);
}
INLINE uint32_t rheap_block_of(uint32_t offset)
{
    return offset / RHEAP_BLOCK + 1;
}
INLINE uint32_t rheap_block_offset(uint32_t block)
{
    return (block - 1) * RHEAP_BLOCK;
}
INLINE uint32_t rheap_blocks_for(uint32_t size)
{
    return size / RHEAP_BLOCK + (size % RHEAP_BLOCK != 0);
}
/* Whole blocks between the break, once rounded up, and the end. */
INLINE uint32_t rheap_core_left(const rheap *h)
{
    uint32_t taken = h->records ? rheap_blocks_for(h->core) : rheap_table_blocks(h);
    uint32_t whole = h->usable / RHEAP_BLOCK;
    return whole > taken ? whole - taken : 0;
}

INLINE void rheap_live_set(rheap *h, uint32_t offset)
{
    h->live[offset >> 9] |= 1ull << (offset >> 3 & 63);
}
INLINE void rheap_live_clear(rheap *h, uint32_t offset)
{
    h->live[offset >> 9] &= ~(1ull << (offset >> 3 & 63));
}
INLINE bool rheap_is_live(const rheap *h, uint32_t offset)
{
    return offset < h->core && !(offset & 7) && (h->live[offset >> 9] >> (offset >> 3 & 63) & 1);
}
INLINE bool rheap_run_starts(const rheap *h, uint32_t block)
{
    return h->starts[block >> 6] >> (block & 63) & 1;
}

/* Bytes of a live allocation. */
INLINE uint32_t rheap_size_of_live(const rheap *h, uint32_t offset)
{
    const rheap_record *r = rheap_record_of(h, rheap_block_of(offset));
    return r->shape == RECORD_FRAGMENTS ? 1u << r->length : r->length * RHEAP_BLOCK;
}

/* The last free run that starts before block, 0 when there is none. */
uint32_t rheap_run_before(const rheap *h, uint32_t block);
/* A run of n blocks, marked busy; 0 when none can be had. Leaves `used` and live bits to the caller. */
uint32_t rheap_run_take(rheap *h, uint32_t n);
/* Puts blocks into the ring; with give_back a long run at the top returns to the core. */
void rheap_run_release(rheap *h, uint32_t block, uint32_t n, bool give_back);

/* Fragments of class 1 << log: 0 when none can be had. Both keep `used` and the live bits. */
uint32_t rheap_fragment_take(rheap *h, unsigned log);
void rheap_fragment_release(rheap *h, uint32_t offset);

INLINE unsigned rheap_class_of(uint32_t size)
{
    return size <= 8 ? RHEAP_CLASS_MIN : log2_floor(size - 1) + 1;
}

#endif
