/* SPDX-License-Identifier: MIT */
/*
 * pool_stack.h - floor F3: a stack of current pools, bounded and checked. The manager has one, and so has
 * each thread under the preload. What nobody claims goes to the pool on top; the bottom is the global pool.
 * Locking: none, a stack belongs to one thread or to its manager. Cost: a load and a test.
 */
#ifndef POOLMEM_POOL_STACK_H
#define POOLMEM_POOL_STACK_H

#include "pool.h"

#define POOL_STACK_MAX    64
#define POOL_STACK_RETAIL 16 /* entries that fit before the original's next global */

typedef struct pool_stack {
    pool *at[POOL_STACK_MAX];
    uint32_t depth; /* pools on it */
    uint32_t limit; /* at most so many; 0 means POOL_STACK_MAX, so a zeroed stack is a usable one */
} pool_stack;

INLINE pool *pool_stack_top(const pool_stack *s)
{
    return s->depth ? s->at[s->depth - 1] : NULL;
}

/* POOL_FULL: nothing pushed. */
INLINE pool_status pool_stack_push(pool_stack *s, pool *p)
{
    if (s->depth >= (s->limit ? s->limit : POOL_STACK_MAX))
        return POOL_FULL;
    s->at[s->depth++] = p;
    return POOL_OK;
}

/* expected NULL: whatever is on top. POOL_EMPTY, POOL_MISMATCH: nothing popped. */
INLINE pool_status pool_stack_pop(pool_stack *s, const pool *expected)
{
    if (!s->depth)
        return POOL_EMPTY;
    if (expected && s->at[s->depth - 1] != expected)
        return POOL_MISMATCH;
    s->depth--;
    return POOL_OK;
}

#endif
