/* SPDX-License-Identifier: MIT */
/*
 * retail.h - floor F2: the original game's block allocator (`rheap`) and the pool kind `retail` made of it.
 *
 * One heap lives in one block of memory:
 *
 *   block                usable start (a 1 KB boundary)                      core (break)           block end
 *   | descriptor 0xf8 |..| table: 12 bytes a record, padded | 1 KB blocks ... | never handed out ... |
 *                        ^ offset 0                                                          usable ^
 *
 * The table and the links of free fragments lie inside the block, as on the console; the descriptor (struct
 * rheap) and two bitmaps that make misuse visible lie outside, but their place in the block is accounted.
 * Every address is a 32-bit offset from usable start, so the same sequence gives the same figures on any
 * host. Offset 0 is the table, hence 0 means null.
 *
 * Invariants (rheap_check tests exactly these):
 *  (1) free runs form one ring through record 0, sorted by address, never adjacent to each other;
 *  (2) the rover is 0 or the first block of a free run;
 *  (3) a fragmented block holds fragments of one class; its free ones stand together in the class list and
 *      the record names the foremost and their number;
 *  (4) the blocks from the table's end to the limit are tiled by free runs, busy runs and fragmented blocks;
 *  (5) used = 1024 x blocks of busy runs + class size x live fragments;
 *  (6) a live bit is set for the first byte of each live allocation and for nothing else;
 *  (7) core is the table's end until the first block is taken, then the limit's address, at most usable.
 *
 * Locking: none in rheap; the pool kind uses pool.c's lock. Cost: a fragment from a list or back about
 * 5 ns; a run costs a walk of the free runs from the rover; a free of a run finds its place by bitmap.
 * Read next: rheap.c (core and runs), rheap_fragment.c, rheap_query.c, then retail.c (the pool kind).
 */
#ifndef POOLMEM_RETAIL_H
#define POOLMEM_RETAIL_H

#include "pool.h"

#define RHEAP_BLOCK         1024u       /* bytes of a block */
#define RHEAP_DESCRIPTOR    0xf8u       /* bytes the descriptor takes at the start of the memory */
#define RHEAP_RECORD        12u         /* bytes of a record of the table */
#define RHEAP_FRAGMENT_MAX  512u        /* larger requests get whole blocks */
#define RHEAP_CLASS_MIN     3u          /* log2 of the smallest class, 8 bytes */
#define RHEAP_CLASSES       10u         /* list heads, index log2 of the size; 3..9 used */
#define RHEAP_GIVE_BACK     8u          /* free blocks at the top that go back to the core */
#define RHEAP_ALIGN_MAX     RHEAP_BLOCK /* alignment is rounding of the size: no more than a block */
#define RHEAP_DEFAULT_ALIGN 16u         /* what the pool kind takes for align 0 */

struct rheap_record;

typedef struct rheap {
    char *base;                    /* host address of usable start, 1 KB aligned; set by init */
    uint32_t usable;               /* bytes from usable start to the block's end; set by init */
    uint32_t used;                 /* bytes in use, see invariant 5; alloc, free */
    uint32_t core;                 /* the break: offset of the first byte never handed out; alloc, free */
    uint32_t core_high;            /* highest the break has been; tells given-back memory from virgin */
    uint32_t limit;                /* block number at the break, 0 before the first block; alloc, free */
    uint32_t rover;                /* block where the next search for a run starts; alloc, free */
    uint32_t records;              /* records in the table; 0 while there is no table */
    uint32_t heads[RHEAP_CLASSES]; /* offset of the first free fragment of each class, 0 none */
    uint64_t *live;                /* a bit per 8 bytes: a live allocation starts here */
    uint64_t *starts;              /* a bit per block: a free run starts here */
    uint64_t *summary;             /* a bit per word of starts that is not 0 */
    size_t side_bytes;             /* bytes of the mapping that holds the three bitmaps */
} rheap;

/* Lays a heap over bytes [block, block+bytes). A block too small for one usable byte is no error: every
   request of such a heap is refused. POOL_OVERFLOW: above 32 bits; POOL_NOMEM: no memory for bitmaps. */
pool_status rheap_init(rheap *h, void *block, size_t bytes);
/* Gives the bitmaps back; the block is the caller's. */
void rheap_done(rheap *h);

/* The size is rounded up to a multiple of align (a power of two up to 1024) and that is all alignment is.
   POOL_ZERO: size 0 (no fault); POOL_ALIGN, POOL_OVERFLOW, POOL_NOMEM: refused, nothing changed. */
pool_status rheap_alloc(rheap *h, uint32_t size, uint32_t align, uint32_t *out);
/* POOL_DOUBLE_FREE, POOL_INVALID (inside, not the start of a live block), POOL_FOREIGN: ignored. */
pool_status rheap_free(rheap *h, uint32_t offset);
/* Moves, slides or keeps as the original does; POOL_ZERO after a size of 0 (freed). On any other status the
   block is as it was. Offset 0 allocates. */
pool_status rheap_realloc(rheap *h, uint32_t offset, uint32_t size, uint32_t align, uint32_t *out);

/* Bytes a live allocation can hold; 0 when none starts at offset. */
uint32_t rheap_size(const rheap *h, uint32_t offset);
/* The original's figure, usable - used: counts the table and every fragment that cannot be had as free. */
uint32_t rheap_free_bytes(const rheap *h);
/* Of the free bytes, what no request can ever get: the table and the odd bytes at the end. */
uint32_t rheap_unusable(const rheap *h);
/* Free bytes without those: an upper bound of any request. */
uint32_t rheap_true_free(const rheap *h);
/* The largest run that a request could get, in bytes; changes nothing. */
uint32_t rheap_largest_run(const rheap *h);
/* The original's answer, found by trial allocations: moves the rover and the core as they do. */
uint32_t rheap_largest_probe(rheap *h);
/* Blocks the table takes when it is made. */
uint32_t rheap_table_blocks(const rheap *h);
/* The first live allocation at or above offset, 0 when there is none: walks the heap in address order. */
uint32_t rheap_next_live(const rheap *h, uint32_t offset);
/* NULL when every invariant holds, else the first broken one in a few words. */
const char *rheap_check(const rheap *h);

INLINE void *rheap_pointer(const rheap *h, uint32_t offset)
{
    return offset ? h->base + offset : NULL;
}

/* What to do when a heap pool has no memory for a request; the request then gets NULL. */
typedef void retail_handler(pool *p, const pool_request *r, void *arg);

typedef struct retail_pool {
    pool base;
    rheap heap;
    void *block;                  /* the parent's block, or the caller's memory */
    size_t size;                  /* bytes of it */
    bool in_parent;               /* destroy gives the block back */
    bool strict;                  /* POOL_OPTION_STRICT: destroy refuses while memory is in use */
    retail_handler *on_no_memory; /* may be NULL; set by the owner */
    void *on_no_memory_arg;
} retail_pool;

/* Takes size bytes from parent (align 16) and lays a heap in them. */
pool_status retail_init_in_parent(retail_pool *p, pool *parent, size_t size, const char *name);
/* Lays a heap in memory the caller owns; parent is who pays and may be NULL. */
pool_status retail_init_in_place(retail_pool *p, pool *parent, void *block, size_t size, const char *name);
/* The retail pool behind the interface, NULL when p is of another kind. */
retail_pool *retail_from_pool(pool *p);
/* rheap_true_free under the pool's lock. */
size_t retail_true_free(retail_pool *p);

#endif
