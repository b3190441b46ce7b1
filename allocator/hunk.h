/* SPDX-License-Identifier: MIT */
/*
 * hunk.h - floor F2: the hunk, one reserved range with two ends that grow upwards each in its own part, and
 * one temporary block beside it. Blocks have names and come back only by going to a mark.
 *
 *   base                  mark          commit       reserve
 *    | head block | head block |  zeros ... |  no access  |     low end, and the high end the same behind it
 *
 * A block: 16 bytes of head { sentinel 0x1df001ed, size with the head, name[8] }, then the payload, rounded
 * up to 16.
 *
 * Invariants of an end: (1) heads lie one behind the other from 0, each with the sentinel and a size that is
 * a multiple of 16 and at least 16, and the last ends exactly at mark; (2) mark <= commit <= reserve, commit
 * being whole steps; (3) all from mark to commit is zero. Locking: none in hunk_*: one thread at a time.
 * Through pool_* a POOL_SHARED hunk is locked. Cost: an alloc is a few compares and one 16-byte store, and a
 * system call each time commit moves; going to a mark walks the heads and zeroes what it gives back. Source:
 * Quake's memory manager, as rebuilt for a reserved address range; what differs is in docs/engine.md. Read
 * next: hunk.c, then handle.h.
 */
#ifndef POOLMEM_HUNK_H
#define POOLMEM_HUNK_H

#include "pool.h"

#define HUNK_SENTINEL   0x1df001edu
#define HUNK_HEAD       ((size_t)16)
#define HUNK_NAME       8 /* bytes of a block's name, no NUL when it fills them */
#define HUNK_LOW        GIB(1)
#define HUNK_HIGH       MIB(32)
#define HUNK_STEP       KIB(64)
#define HUNK_BLOCK_MOST ((size_t)0xfffffff0) /* the head's size field has 32 bits */

typedef struct hunk_head {
    uint32_t sentinel;
    uint32_t size; /* with the head */
    char name[HUNK_NAME];
} hunk_head;

typedef enum hunk_side { HUNK_SIDE_LOW, HUNK_SIDE_HIGH } hunk_side;

typedef struct hunk_end {
    char *base;
    size_t mark;    /* bytes in use, heads included */
    size_t commit;  /* bytes that may be touched */
    size_t reserve; /* bytes it can ever have */
    size_t blocks;  /* live blocks */
    size_t peak;    /* highest mark */
} hunk_end;

typedef struct hunk_options {
    const char *name; /* of the pool; NULL: "hunk" */
    pool *parent;     /* both ends in one block of this pool; NULL: a reservation of its own */
    pool *temp;       /* where the temporary block comes from; NULL: a mapping of its own */
    size_t low, high; /* reserves, 0: HUNK_LOW and HUNK_HIGH; rounded up to steps */
    size_t step;      /* bytes committed at a time, power of two; 0: HUNK_STEP; at least a page */
    bool decommit;    /* going to a mark gives whole steps above it back to the system */
    bool apart;       /* a reservation of its own although it has a parent */
} hunk_options;

/* Zero it before hunk_init. */
typedef struct hunk {
    pool pool; /* first: a hunk is a pool of kind POOL_HUNK */
    hunk_end end[2];
    void *temp;       /* the temporary block, or NULL */
    size_t temp_size; /* bytes asked for */
    pool *temp_pool;
    size_t step;
    uint64_t dead; /* blocks given back since init */
    bool decommit;
    bool nested; /* the range is a block of the parent's */
    bool strict; /* POOL_OPTION_STRICT: freeing a single block is refused */
} hunk;

/* Reserves both ends. POOL_EXISTS: initialised already; POOL_ALIGN: step is no power of two; POOL_OVERFLOW;
   POOL_NOMEM: no address space, or the parent refuses. `options` may be NULL. */
pool_status hunk_init(hunk *h, const hunk_options *options);
/* Gives the range and the temporary block back and zeroes the hunk; harmless on an empty one. */
void hunk_free(hunk *h);

/* A zeroed block at one end, 16-byte aligned. `name` is cut at 8 bytes; NULL: "unused". On a failure *out is
   NULL and nothing has changed: POOL_OVERFLOW (negative size), POOL_LIMIT (the reserve is full), POOL_NOMEM
   (no commit). An allocation at the high end frees the temporary block first. */
pool_status hunk_alloc(hunk *h, hunk_side side, int64_t size, const char *name, void **out);

/* Bytes in use at an end; asking for the high one frees the temporary block first. */
size_t hunk_mark(hunk *h, hunk_side side);
/* Gives back all above the mark; what lay there reads as zero. POOL_INVALID: above what is used, or not where
   a block begins; nothing changes then. The high end frees the temporary block first. */
pool_status hunk_free_to_mark(hunk *h, hunk_side side, int64_t mark);

/* The one temporary block, not zeroed; frees the one before. NULL: none to be had, or a negative size. */
void *hunk_temp_alloc(hunk *h, int64_t size);
void hunk_temp_free(hunk *h);

/* Walks the heads and the zeros; false after a message that names the first broken place. */
bool hunk_check(hunk *h);

/* One row of a listing: all blocks of one name at one end. */
typedef struct hunk_row {
    char name[HUNK_NAME + 1];
    hunk_side side;
    size_t blocks, bytes; /* heads included */
} hunk_row;

/* Fills at most `cap` rows in the order in which the names first appear, low end first; what does not fit is
   summed up in the last row under "(others)". Returns the number of rows. */
size_t hunk_list(const hunk *h, hunk_row *rows, size_t cap);

#endif
