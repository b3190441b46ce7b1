/* SPDX-License-Identifier: MIT */
/*
 * stacks.h - call stacks on demand: real frames, not inlined, without frame pointers, of different sizes,
 * through many call sites. A walk describes one stack; walk_run descends through it and calls the leaf at
 * its end. There are 32 return addresses for each level, so depth d gives 32^(d-2) different stacks.
 */
#ifndef BENCH_STACKS_H
#define BENCH_STACKS_H

#include "work.h"

#define WALK_LEVELS 64 /* deepest stack */
#define WALK_FRAMES 8  /* different functions */
#define WALK_SITES  4  /* call sites in each */

typedef struct walk walk;
struct walk {
    unsigned depth;                                   /* frames, tag_outermost and the leaf included; >= 2 */
    uint64_t (*leaf)(walk *);                         /* the frame that calls malloc */
    uint64_t (*frame[WALK_LEVELS])(walk *, unsigned); /* the function at each level */
    uint8_t site[WALK_LEVELS];                        /* and the call site it uses */
    uint64_t count;                                   /* for the leaf: pairs to make */
    uint64_t ns;                                      /* for the leaf: what they took */
};

/* Chooses the stack with this number; equal numbers give equal stacks. */
void walk_choose(walk *w, uint64_t number);

/* The outermost frame: exported under this very name, so that a rule can name it. */
uint64_t tag_outermost(walk *w);

/* Leaves, exported too: `count` pairs one after the other, timed; and just one pair. */
uint64_t leaf_pairs(walk *w);
uint64_t leaf_pair(walk *w);

#endif
