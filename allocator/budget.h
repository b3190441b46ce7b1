/* SPDX-License-Identifier: MIT */
/*
 * budget.h - floor F3: the sector budget. Before a world, a part or a resource gets its memory, the pool is
 * asked for room, and the least recently used things nobody holds are evicted until there is enough.
 *
 *   budget_make_room(size):  while the pool's answer < size:  evict the oldest unheld, or fail
 *
 * What "the pool's answer" is can be chosen: the original's trial search (which moves the heap's rover and
 * so decides where the next block comes from), the same figure without effects, or two counters that people
 * use instead. The budget does not know what it evicts: whoever keeps the things gives the hook.
 * Locking: none; one thread, or the lock of whoever owns the things. Cost: the pool's query a test.
 */
#ifndef POOLMEM_BUDGET_H
#define POOLMEM_BUDGET_H

#include "retail.h"

#define BUDGET_INTRO_BYTES 3200000u  /* held while a level loads whose intro movie will play */
#define BUDGET_LEVEL_MIN   262144u   /* least size of a World Level Pool */
#define BUDGET_CAPACITY    17013760u /* what a retail Sector Pool can really grant */

typedef enum budget_policy {
    BUDGET_LARGEST,     /* LargestFreeBlock, as the original: by trial, with its effects */
    BUDGET_LARGEST_RUN, /* the same figure, without effects */
    BUDGET_FREE_BYTES,  /* size minus bytes in use */
    BUDGET_TRUE_FREE,   /* that, less the block table and the odd bytes */
    BUDGET_POLICIES
} budget_policy;

/* Evicts the least recently used thing that nobody holds and gives its memory back to the pool; false when
   there is none. */
typedef bool budget_evict(void *arg);

typedef struct budget {
    pool *pool; /* any kind that answers largest_free; the policies past LARGEST need a retail pool */
    budget_policy policy;
    uint32_t hold_back; /* bytes kept free beyond what is asked for */
    budget_evict *evict_oldest_unheld;
    void *arg;
    void *intro; /* the reservation, NULL when none is held */
    uint64_t calls, tests, refused_first, evictions, failures;
} budget;

void budget_init(budget *b, pool *p, budget_evict *evict, void *arg);
/* What the budget takes for the room that is left, by its policy. */
size_t budget_room(budget *b);
/* POOL_OK: the policy says there is room for size now. POOL_NOMEM: nothing is left to evict. */
pool_status budget_make_room(budget *b, size_t size);
/* Room, and then the memory itself: evicts on while the policy was too hopeful. */
pool_status budget_alloc(budget *b, const pool_request *r, void **out);

/* Holds the intro movie's bytes while a level loads. POOL_EXISTS: held already. */
pool_status budget_hold_intro(budget *b);
void budget_release_intro(budget *b);

/* Sizes of the clumps: 101 % of the global file; 103 % of a level's, at least 256 KB. */
uint32_t budget_global_size(uint32_t file_bytes);
uint32_t budget_level_size(uint32_t file_bytes);

/* A world part: its size is the manifest's until it has been loaded once, then what it really used. */
typedef struct budget_part {
    uint32_t heap_size; /* bytes the next load asks for */
    bool measured;
} budget_part;
void budget_part_loaded(budget_part *p, uint32_t used);

#endif
