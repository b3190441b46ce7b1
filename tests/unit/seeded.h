/* SPDX-License-Identifier: MIT */
/* seeded.h - random numbers of the property tests: printed seeds that a run can be repeated with. */
#ifndef POOLMEM_TEST_SEEDED_H
#define POOLMEM_TEST_SEEDED_H

#include "../../tools/random.h"

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

#define seeded_next  random_next
#define seeded_below random_below

#endif
