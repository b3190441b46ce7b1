/* SPDX-License-Identifier: MIT */
/* seeded.h - random numbers of the property tests: printed seeds that a run can be repeated with. */
#ifndef POOLMEM_TEST_SEEDED_H
#define POOLMEM_TEST_SEEDED_H

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* POOLMEM_TEST_SEED, else the time; said on stderr. */
static inline uint64_t seeded_first(const char *what)
{
    const char *given = getenv("POOLMEM_TEST_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL);
    fprintf(stderr, "%s: POOLMEM_TEST_SEED=%" PRIu64 "\n", what, seed);
    return seed;
}

/* splitmix64 */
static inline uint64_t seeded_next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* 0 .. below-1 */
static inline uint32_t seeded_below(uint64_t *state, uint32_t below)
{
    return (uint32_t)((seeded_next(state) >> 32) * below >> 32);
}

#endif
