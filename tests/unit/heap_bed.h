/* SPDX-License-Identifier: MIT */
/*
 * heap_bed.h - a retail heap under random operations, and a model of what must be in it: the sizes, the
 * places and the content of every live block. Each step checks the properties that concern it.
 */
#ifndef POOLMEM_TEST_HEAP_BED_H
#define POOLMEM_TEST_HEAP_BED_H

#include "os.h"
#include "retail.h"
#include "seeded.h"

enum { BED_SLOTS = 512 };

typedef struct bed_slot {
    uint32_t at, size; /* 0: empty slot */
    uint8_t fill;      /* the content, derived from this */
} bed_slot;

typedef struct bed {
    rheap heap;
    void *block;
    size_t bytes;
    uint64_t seed, random, fingerprint;
    unsigned operations, shape; /* shape: which mix of sizes */
    bed_slot slots[BED_SLOTS];
} bed;

void bed_make_sized(bed *b, uint64_t seed, size_t bytes);
/* With a size and a mix of requests that the seed decides. */
void bed_make(bed *b, uint64_t seed);
void bed_drop(bed *b);
void bed_step(bed *b);
void bed_free_all(bed *b);
/* The sum of the rounded sizes of what is live, by the model. */
uint64_t bed_live_bytes(const bed *b);
/* The seed of a run: from POOLMEM_TEST_SEED, else from the time; printed with the name. */
#define bed_first_seed seeded_first

#endif
