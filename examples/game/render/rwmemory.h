/* SPDX-License-Identifier: MIT */
/*
 * rwmemory.h - how the renderer's own files allocate: the hooks, with the check every caller wants.
 * Inlined, so the hook's caller is the Rw, Rp or Rt function itself. Read next: rwcore.c (RwMemory).
 */
#ifndef GAME_RWMEMORY_H
#define GAME_RWMEMORY_H

#include "core/count.h"
#include "render/rw.h"

GAME_INLINE void *RwMalloc(size_t size)
{
    void *p = RwMemory.rwmalloc(size);
    if (!p)
        game_out_of_memory(size);
    return p;
}

GAME_INLINE void *RwCalloc(size_t number, size_t size)
{
    void *p = RwMemory.rwcalloc(number, size);
    if (!p)
        game_out_of_memory(number * size);
    return p;
}

GAME_INLINE void *RwRealloc(void *old, size_t size)
{
    void *p = RwMemory.rwrealloc(old, size);
    if (!p)
        game_out_of_memory(size);
    return p;
}

GAME_INLINE void RwFree(void *p)
{
    RwMemory.rwfree(p);
}

/* Room for one more element; doubles from least. */
#define RW_GROW(list, number, room, least)                                                                   \
    do {                                                                                                     \
        if ((number) == (room)) {                                                                            \
            (room) = (room) ? 2 * (room) : (least);                                                          \
            (list) = RwRealloc((list), (size_t)(room) * sizeof *(list));                                     \
        }                                                                                                    \
    } while (0)

#endif
