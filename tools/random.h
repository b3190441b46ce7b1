/* SPDX-License-Identifier: MIT */
/* random.h - floor F5: random numbers that a seed repeats on every machine (splitmix64). */
#ifndef POOLMEM_RANDOM_H
#define POOLMEM_RANDOM_H

#include <stdint.h>

static inline uint64_t random_next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* 0 .. below-1 */
static inline uint32_t random_below(uint64_t *state, uint32_t below)
{
    return (uint32_t)((random_next(state) >> 32) * below >> 32);
}

/* low .. high, both included */
static inline uint32_t random_between(uint64_t *state, uint32_t low, uint32_t high)
{
    return low + random_below(state, high - low + 1);
}

/* 0 <= x < 1 */
static inline double random_unit(uint64_t *state)
{
    return (double)(random_next(state) >> 11) * 0x1p-53;
}

#endif
