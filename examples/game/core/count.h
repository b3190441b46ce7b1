/* SPDX-License-Identifier: MIT */
/*
 * count.h - the game's calls to libc's allocator, and, in the counting build, how many each subsystem made.
 *
 * 1. game_malloc and its kin are inlined: the call to malloc is made by the subsystem's own function, in
 *    the counting build as in the plain one. A stack therefore looks the same in both.
 * 2. With GAME_COUNT=0 the counters cost nothing and do not exist.
 * 3. allocs counts malloc, calloc, operator new and realloc(NULL, n); reallocs counts realloc of a live
 * block.
 * 4. An allocation succeeds or the game ends with one line; callers never see NULL.
 * Locking: the counters are relaxed atomics; their sums are exact once the other threads have ended.
 * Read next: count.c, then script/script.cpp for how Lua's calls are counted.
 */
#ifndef GAME_COUNT_H
#define GAME_COUNT_H

#include <stddef.h>
#include <stdlib.h>

#ifndef GAME_COUNT
#define GAME_COUNT 0
#endif

/* The second build gets its memory elsewhere. */
#if GAME_POOLS
#include "pools/pools.h"
#define GAME_GET(sub, size)            pools_get(sub, size)
#define GAME_ZEROED(sub, number, size) pools_get_zeroed(sub, number, size)
#define GAME_RESIZE(sub, old, size)    pools_resize(sub, old, size)
#define GAME_GIVE(sub, p)              pools_give(sub, p)
#else
#define GAME_GET(sub, size)            malloc(size)
#define GAME_ZEROED(sub, number, size) calloc(number, size)
#define GAME_RESIZE(sub, old, size)    realloc(old, size)
#define GAME_GIVE(sub, p)              free(p)
#endif

#define GAME_INLINE static inline __attribute__((always_inline))

#ifdef __cplusplus
extern "C" {
#endif

typedef enum subsystem { SUB_LEVEL, SUB_LUA, SUB_STL, SUB_RENDERWARE, SUB_AUDIO, SUB_TOTAL } subsystem;

__attribute__((noreturn)) void game_out_of_memory(size_t size);

#if GAME_COUNT
void count_alloc(subsystem sub, size_t size);
void count_realloc(subsystem sub, size_t size);
void count_free(subsystem sub);
int count_write(const char *path);
#else
GAME_INLINE void count_alloc(subsystem sub, size_t size)
{
    (void)sub;
    (void)size;
}
GAME_INLINE void count_realloc(subsystem sub, size_t size)
{
    (void)sub;
    (void)size;
}
GAME_INLINE void count_free(subsystem sub)
{
    (void)sub;
}
#endif

GAME_INLINE void *game_malloc(subsystem sub, size_t size)
{
    void *p = GAME_GET(sub, size);
    if (!p)
        game_out_of_memory(size);
    count_alloc(sub, size);
    return p;
}

GAME_INLINE void *game_calloc(subsystem sub, size_t number, size_t size)
{
    void *p = GAME_ZEROED(sub, number, size);
    if (!p)
        game_out_of_memory(number * size);
    count_alloc(sub, number * size);
    return p;
}

GAME_INLINE void *game_realloc(subsystem sub, void *old, size_t size)
{
    int fresh = !old;
    void *p = GAME_RESIZE(sub, old, size);
    if (!p)
        game_out_of_memory(size);
    if (fresh)
        count_alloc(sub, size);
    else
        count_realloc(sub, size);
    return p;
}

GAME_INLINE void game_free(subsystem sub, void *p)
{
    if (p)
        count_free(sub);
    GAME_GIVE(sub, p);
}

#ifdef __cplusplus
}
#endif
#endif
