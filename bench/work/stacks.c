/* SPDX-License-Identifier: MIT */
/*
 * stacks.c - see stacks.h. Compiled without sibling calls: a tail call would take its frame off the stack.
 */
#include "stacks.h"

#define FRAME __attribute__((noinline, noclone))

static inline uint64_t descend(walk *w, unsigned level)
{
    return level + 2 == w->depth ? w->leaf(w) : w->frame[level](w, level);
}

/*
 * A frame of `words` words. Each case is a call site of its own: what follows the call differs, so that the
 * compiler cannot merge them.
 */
#define FRAME_DEFINE(n, words)                                                                               \
    static FRAME uint64_t frame_##n(walk *w, unsigned level)                                                 \
    {                                                                                                        \
        volatile uint64_t local[words];                                                                      \
        local[0] = level;                                                                                    \
        switch (w->site[level]) {                                                                            \
        case 0:                                                                                              \
            return descend(w, level + 1) + local[0];                                                         \
        case 1:                                                                                              \
            return descend(w, level + 1) - local[0];                                                         \
        case 2:                                                                                              \
            return descend(w, level + 1) ^ local[0];                                                         \
        default:                                                                                             \
            return descend(w, level + 1) * (local[0] | 1);                                                   \
        }                                                                                                    \
    }
FRAME_DEFINE(0, 1)
FRAME_DEFINE(1, 2)
FRAME_DEFINE(2, 4)
FRAME_DEFINE(3, 5)
FRAME_DEFINE(4, 8)
FRAME_DEFINE(5, 11)
FRAME_DEFINE(6, 16)
FRAME_DEFINE(7, 30)

static uint64_t (*const frames[WALK_FRAMES])(walk *, unsigned) = {frame_0, frame_1, frame_2, frame_3,
                                                                  frame_4, frame_5, frame_6, frame_7};

void walk_choose(walk *w, uint64_t number)
{
    for (unsigned level = 0; level + 2 < w->depth; level++) {
        w->site[level] = (uint8_t)(number % WALK_SITES);
        w->frame[level] = frames[number / WALK_SITES % WALK_FRAMES];
        number = number / (WALK_SITES * WALK_FRAMES) + (level % 3) * 7;
    }
}

FRAME uint64_t tag_outermost(walk *w)
{
    volatile uint64_t local = w->depth;
    return descend(w, 0) + local;
}

FRAME uint64_t leaf_pairs(walk *w)
{
    uint64_t sum = 0, start = now_ns();
    for (uint64_t i = 0; i < w->count; i++) {
        void *p = malloc(48);
        keep(p);
        sum += p != NULL;
        free(p);
    }
    w->ns += now_ns() - start;
    return sum;
}

FRAME uint64_t leaf_pair(walk *w)
{
    void *p = malloc(48);
    keep(p);
    free(p);
    return w->count++;
}
