/* SPDX-License-Identifier: MIT */
/* classes.c - see classes.h: the table from size to class, laid out by the compiler. */
#include "classes.h"

/* Doubling d starts after 8 << d granules and has eight classes of 1 << d granules each. */
#define STEP(d, r)                                                                                           \
    [(8 << (d)) + (r) * (1 << (d)) + 1 ...(8 << (d)) + ((r) + 1) * (1 << (d))] = 8 + 8 * (d) + (r)
#define DOUBLING(d)                                                                                          \
    STEP(d, 0), STEP(d, 1), STEP(d, 2), STEP(d, 3), STEP(d, 4), STEP(d, 5), STEP(d, 6), STEP(d, 7)

const uint8_t class_of_granules[FRAGMENT_MAX / GRANULE + 1] = {
    0,           0,           1,           2,           3,           4,           5,           6,           7,
    DOUBLING(0), DOUBLING(1), DOUBLING(2), DOUBLING(3), DOUBLING(4), DOUBLING(5), DOUBLING(6), DOUBLING(7),
};
