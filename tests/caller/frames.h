/* SPDX-License-Identifier: MIT */
/*
 * frames.h - a program for the stack: which functions call each other down to the allocation. Every kind of
 * frame a compiler makes is there, each compiled with and without frame pointers (frames.c).
 */
#ifndef FRAMES_H
#define FRAMES_H

#include <stddef.h>

#include <stdint.h>

typedef struct program program;
typedef void frame_fn(program *p);

struct program {
    unsigned at, depth; /* next call; calls before the last */
    unsigned seed;      /* decides the sizes of variable frames */
    void (*last)(program *p);
    frame_fn *call[64];
    uintptr_t cfa; /* of its last call when it was last run */
};

static inline void program_next(program *p)
{
    if (p->at < p->depth)
        p->call[p->at++](p);
    else
        p->last(p);
}

extern frame_fn *const lean_frames[], *const framed_frames[];
extern const unsigned lean_frame_count, framed_frame_count;

#endif
