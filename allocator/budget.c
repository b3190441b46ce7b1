/* SPDX-License-Identifier: MIT */
/*
 * budget.c - see budget.h. The loop is the original's: test, evict one, test again. Each test asks the pool
 * anew, because evicting decides nothing by itself: what became free may not lie together.
 *
 * Policies that count instead of asking are too hopeful on a real heap; budget_alloc therefore goes on
 * evicting when the heap says no after all, so a caller gets memory or learns that nothing is left to evict.
 * Locking: none. Cost: LARGEST makes about 40 trial allocations a test, LARGEST_RUN walks the free runs, the
 * counters are immediate. Read next: resource.h, which evicts through this.
 */
#include "budget.h"

#include <string.h>

void budget_init(budget *b, pool *p, budget_evict *evict, void *arg)
{
    memset(b, 0, sizeof *b);
    b->pool = p;
    b->evict_oldest_unheld = evict;
    b->arg = arg;
}

size_t budget_room(budget *b)
{
    retail_pool *heap = retail_from_pool(b->pool);
    switch (heap ? b->policy : BUDGET_LARGEST) {
    case BUDGET_LARGEST_RUN:
        return rheap_largest_run(&heap->heap);
    case BUDGET_FREE_BYTES:
        return pool_free_bytes(b->pool);
    case BUDGET_TRUE_FREE:
        return retail_true_free(heap);
    default:
        return pool_largest_free(b->pool);
    }
}

/* hold_back is part of the question, not of the answer: the policy's figure stays comparable. */
static bool has_room(budget *b, size_t size)
{
    b->tests++;
    size_t room = budget_room(b);
    return room >= size && room - size >= b->hold_back;
}

static bool evict(budget *b)
{
    if (!b->evict_oldest_unheld || !b->evict_oldest_unheld(b->arg)) {
        b->failures++;
        return false;
    }
    b->evictions++;
    return true;
}

pool_status budget_make_room(budget *b, size_t size)
{
    b->calls++;
    if (has_room(b, size))
        return POOL_OK;
    b->refused_first++;
    do {
        if (!evict(b))
            return POOL_NOMEM;
    } while (!has_room(b, size));
    return POOL_OK;
}

pool_status budget_alloc(budget *b, const pool_request *r, void **out)
{
    *out = NULL;
    pool_status s = budget_make_room(b, r->size);
    while (s == POOL_OK) {
        s = pool_alloc(b->pool, r, out);
        if (s != POOL_NOMEM || !evict(b))
            break;
        s = POOL_OK;
    }
    return s;
}

pool_status budget_hold_intro(budget *b)
{
    if (b->intro)
        return POOL_EXISTS;
    return budget_alloc(b, &(pool_request){.size = BUDGET_INTRO_BYTES, .align = 16, .name = "intro movie"},
                        &b->intro);
}

void budget_release_intro(budget *b)
{
    pool_free(b->pool, b->intro);
    b->intro = NULL;
}

/* Through 64 bits: 103 % of a large file would wrap. */
uint32_t budget_global_size(uint32_t file_bytes)
{
    return (uint32_t)((uint64_t)file_bytes * 101 / 100);
}

uint32_t budget_level_size(uint32_t file_bytes)
{
    uint32_t size = (uint32_t)((uint64_t)file_bytes * 103 / 100);
    return size > BUDGET_LEVEL_MIN ? size : BUDGET_LEVEL_MIN;
}

void budget_part_loaded(budget_part *p, uint32_t used)
{
    if (p->measured)
        return;
    p->heap_size = used;
    p->measured = true;
}
