/* SPDX-License-Identifier: MIT */
/*
 * plain_heap.h - the original's block allocator written down once more, as plainly as its description: sorted
 * arrays, linear searches, no bitmaps, no records. The retail heap must agree with it on every address.
 */
#ifndef POOLMEM_TEST_PLAIN_HEAP_H
#define POOLMEM_TEST_PLAIN_HEAP_H

#include <stdbool.h>
#include <stdint.h>

enum { PLAIN_BLOCKS = 512, PLAIN_KB = 1024 };

typedef struct plain_run {
    uint32_t start, length; /* block numbers, from 1 */
} plain_run;

typedef struct plain_heap {
    uint32_t usable, core, used, rover; /* rover: the block where a free run starts, or 0 */
    plain_run runs[PLAIN_BLOCKS];       /* free, by address */
    uint32_t run_count;
    uint32_t busy[PLAIN_BLOCKS + 2]; /* by first block: blocks of a busy run */
    uint8_t class[PLAIN_BLOCKS + 2]; /* by block: log2 of its fragments, 0: not fragmented */
    bool table;
    uint32_t list_count[10];
    uint32_t list[10][PLAIN_BLOCKS * 128]; /* free fragments of a class, the head first; the last member */
} plain_heap;

void plain_init(plain_heap *h, uint32_t usable);
/* All give the offset, 0 for null. */
uint32_t plain_alloc(plain_heap *h, uint32_t size, uint32_t align);
void plain_free(plain_heap *h, uint32_t at);
/* *kept: the old block is still there. */
uint32_t plain_realloc(plain_heap *h, uint32_t at, uint32_t size, uint32_t align, bool *kept);
uint32_t plain_largest(plain_heap *h);

#endif
