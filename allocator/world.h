/* SPDX-License-Identifier: MIT */
/*
 * world.h - floor F2: the address space of all native heaps, and what is known of every block in it.
 *
 *   world.base                                                    world.base + world.size
 *   | zone 0 (64 GiB: pool Global) | zone 1 (System) | zone 2 ... |      one zone a heap
 *     block 0, block 1, ... of 64 KiB
 *   world.records[n]           640 bytes about block n, out of line; of these
 *   world.records[n].live[64]  a bit for each 16 bytes of block n: a block of the program starts here
 *   world.pending[n][64]       a bit for each fragment of block n, by its number: another thread freed it
 *
 * Invariants: (1) an address outside [base, base + size) is not ours; (2) the live bit of a granule is set
 * exactly while a block of the program starts there, so it decides every question of misuse; (3) a pending
 * bit marks a fragment that another thread freed and nobody has taken back (large fragments: the bits are in
 * record.freed); live & ~pending is what the program holds; (4) live bits are written by the block's owner
 * only (runs: under the zone lock), pending bits atomically by anybody. When address space is short the world
 * shrinks and all heaps share one zone (record.heap tells them apart). Cost: address to record is a
 * subtraction, two shifts and two adds.
 *
 * Where the tables lie matters as much as what they hold. Processors that find a line of their first cache by
 * a hash of address bits 12..27 (AMD's Zen) can keep only one of two lines whose hashes and bits 6..11 are
 * equal: with every zone and table at the start of a multiple of 2^28, the first block of each pool and its
 * record took turns in that cache (a malloc and free 20 ns, up to 50; apart 7). Hence the tables and the
 * zones begin at different numbers of pages and MiB into what is reserved for them (world.c).
 */
#ifndef POOLMEM_WORLD_H
#define POOLMEM_WORLD_H

#include "base.h"
#include "classes.h"
#include "lock.h"

#define BLOCK_SHIFT  16
#define BLOCK_SIZE   ((size_t)1 << BLOCK_SHIFT)
#define WORLD_ZONES  256
#define BITS_PER_MAP 64                                      /* granules one word covers */
#define BLOCK_MAPS   (BLOCK_SIZE / (GRANULE * BITS_PER_MAP)) /* words of one block */

typedef enum block_kind {
    BLOCK_FREE,      /* in no hand; the zone's bitmaps tell more */
    BLOCK_FRAGMENTS, /* equal fragments of one class */
    BLOCK_RUN,       /* first block of a run */
    BLOCK_INNER,     /* a later block of a run that a fixed-size pool lives in: run_first leads to it */
} block_kind;

struct heap;
struct front;
struct heap_thread;

/* One block. Written by: O the owning thread, Z whoever holds the zone lock, R anybody, atomically. */
typedef struct block {
    uint64_t live[BLOCK_MAPS]; /* O; runs: Z */

    struct front *front;       /* O list it is in, and the heap it belongs to */
    void *free;                /* O next free fragment; FREE_END: none */
    struct block *next;        /* O front's list of blocks of this class that may give, or of full ones */
    struct heap_thread *quick; /* the owner, whose frees are quick; NULL: see what is pending first (R), or
                                  what is large */
    struct block *prev;        /* O */
    int32_t until_look;        /* O frees until one looks at the block */
    uint32_t size;             /* O bytes of a fragment */
    uint32_t carved;           /* O bytes turned into fragments so far; the rest was never touched */
    uint32_t limit;            /* O bytes that may be carved: whole fragments */
    uint8_t kind;              /* Z block_kind */
    uint8_t full;              /* O in the list of full ones */
    uint8_t stashed;           /* O free fragments that are not in its list but at its front's hand */
    uint8_t ready;             /* O pages at its start that need not be made ahead any more */

    struct heap_thread *owner
        __attribute__((aligned(64))); /* O who may use the lines above; NULL: no fragments */
    struct block *next_remote;        /* R */
    uint32_t in_remote;               /* R 1: on the owner's remote list */
    uint16_t heap;                    /* Z id of the heap that holds it */
    uint8_t class_id;                 /* O */
    uint32_t inverse;                 /* O 2^32 / size, rounded up: fragments are numbered by it */
    uint32_t counted;                 /* O bytes of this block in heap.live_estimate */
    uint64_t freed;                   /* R the pending bits of a block of large fragments */
    uint64_t run_bytes;               /* Z usable bytes of a run */
    uint32_t run_blocks;              /* Z */
    uint32_t run_first;               /* Z block number of the run's first block */
    void *pool;                       /* Z fixed-size pool that lives in this run, or NULL */
} __attribute__((aligned(128))) block;
_Static_assert(sizeof(block) == BLOCK_MAPS * sizeof(uint64_t) + 128, "the live bits and two cache lines");

#define ZONE_MAPS 3u

/* One heap's blocks. All fields under the lock. Block numbers are counted from `first`. */
typedef struct zone {
    lock lock;
    uint32_t first;     /* world number of block 0 */
    uint32_t count;     /* blocks reserved */
    uint32_t high;      /* blocks below were in use at some time */
    uint32_t committed; /* blocks readable and writable */
    uint32_t low_free;  /* no free block below high lies under this */
    uint32_t dirty;     /* free blocks whose pages are still ours */
    uint64_t decayed_at;
    /* bit a block: free; freed lately; freed before that. A word of each after the other (ZONE_MAPS), for few
       zones need more than a page of them */
    uint64_t *free_map, *young_map, *old_map;
} zone;

struct world {
    uintptr_t base;
    size_t fast_granules; /* size / GRANULE, for the fast path of free; 0 sends every call the slow way */
    block *records;
    uint64_t *pending;
    size_t size;
    bool zoned; /* a zone for each heap; else all share zone 0 */
    uint32_t zone_blocks;
    uint64_t zones_end; /* atomic: the zones that were made lie below this one */
    uint64_t grown;     /* atomic: bytes of blocks ever in use, all zones */
    uint64_t taken;     /* atomic: bytes heaps have taken now, all heaps */
    uint64_t decay_ns;  /* age at which free blocks go back to the system */
    bool huge_allowed;
    bool counts_bits; /* the processor has an instruction for it */
};
extern struct world world HIDDEN;
extern zone world_zones[WORLD_ZONES] HIDDEN;

/* Reserves it, once. False: not even the smallest can be had (then every call is foreign). */
bool world_boot(void);
/* The zone for a heap with this id: its own, or the shared one. NULL: bitmaps cannot be had. */
zone *world_zone(uint32_t heap_id, const char *name);

/* Enters a zone: true, its lock is taken. False: a signal handler comes in while its own thread is inside, so
   only zone_take_apart may be called. */
INLINE bool zone_enter(zone *z)
{
    return lock_take_unless_mine(&z->lock);
}
/* Blocks that the maps know nothing of, from the far end of the zone; zeroed, and never used again once they
   are given back. */
uint32_t zone_take_apart(zone *z, uint32_t blocks);
/* In a child of fork: whoever was inside is gone and the maps may be half changed. What they called free is
   not used again. */
void zone_abandon(zone *z);

/* Blocks from a zone. On success the blocks are committed, not in any map; *zeroed tells whether all bytes
   are zero. 0 blocks are never asked for. UINT32_MAX: no room. `align` in blocks, a power of two. */
uint32_t zone_take(zone *z, uint32_t blocks, uint32_t align, bool *zeroed);
/* Lengthens a run in place: takes exactly these blocks if all are free. */
bool zone_take_at(zone *z, uint32_t from, uint32_t blocks);
/* Gives blocks back; their pages stay until they have decayed (`purge`: go at once). */
void zone_give(zone *z, uint32_t from, uint32_t blocks, bool purge);
/* Gives old pages back to the system when it is time, or all (`force`). Takes the lock itself. */
void zone_decay(zone *z, uint64_t now, bool force);
/* Longest run of free blocks, never used ones included. */
uint32_t zone_largest(zone *z);
/* Invariants of the maps; false after a message. */
bool zone_check(zone *z);

/* Words of the bit tables that speak of what is carved. */
INLINE uint32_t block_maps(const block *b)
{
    return (uint32_t)((b->carved + GRANULE * BITS_PER_MAP - 1) / (GRANULE * BITS_PER_MAP));
}
INLINE uint32_t block_number(const block *b)
{
    return (uint32_t)(b - world.records);
}
INLINE char *block_start(const block *b)
{
    return (char *)(world.base + ((size_t)block_number(b) << BLOCK_SHIFT));
}
/* The record of an address inside the world. */
INLINE block *block_of(const void *p)
{
    return &world.records[((uintptr_t)p - world.base) >> BLOCK_SHIFT];
}
INLINE bool world_owns(const void *p)
{
    return (uintptr_t)p - world.base < world.size;
}
/* Number of the word about an address or offset in block.live, and its bit there. */
INLINE size_t map_of(uintptr_t p)
{
    return p / (GRANULE * BITS_PER_MAP) % BLOCK_MAPS;
}
INLINE uint64_t bit_of(uintptr_t p)
{
    return (uint64_t)1 << (p / GRANULE % BITS_PER_MAP);
}
INLINE bool is_live(const block *b, const void *p)
{
    return relaxed_load(&b->live[map_of((uintptr_t)p)]) & bit_of((uintptr_t)p);
}
/* A quotient, exact up to a block: the inverse is too large by less than 1 in 2^16. */
INLINE uint32_t fragments_in(const block *b, size_t bytes)
{
    return (uint32_t)(bytes * relaxed_load(&b->inverse) >> 32);
}
INLINE uint32_t inverse_of(uint32_t size)
{
    return (uint32_t)(((uint64_t)1 << 32) / size + 1);
}
/* Whether its fragments are large ones: at most 64, so that one word has a bit for each. */
INLINE bool block_is_large(const block *b)
{
    return relaxed_load(&b->inverse) < ((uint64_t)1 << 32) / SMALL_MAX;
}
/* The word about a fragment in the pending bits, and its bit there. Threads that free do not read the line of
   the record that its owner writes all the time. */
INLINE uint64_t *pending_word(block *b, const void *p)
{
    if (block_is_large(b))
        return &b->freed;
    uint32_t fragment = fragments_in(b, (uintptr_t)p % BLOCK_SIZE);
    return &world.pending[(size_t)block_number(b) * BLOCK_MAPS + fragment / BITS_PER_MAP];
}
INLINE uint64_t pending_bit(const block *b, const void *p)
{
    return (uint64_t)1 << (fragments_in(b, (uintptr_t)p % BLOCK_SIZE) % BITS_PER_MAP);
}

#endif
