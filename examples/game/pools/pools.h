/* SPDX-License-Identifier: MIT */
/*
 * pools.h - the second build of the game, over poolmem.h: where core/count.h gets its memory when GAME_POOLS
 * is 1. The game itself is the same, and so is its checksum.
 *
 *   Level        what the WAD and streamed parts need: the heap that the built-in rules have too
 *   Directory    a hunk: what lives as long as the WAD is open, given back by going to mark 0
 *   Level Arena  an arena: all of a map, given back in one go when the map is left
 *   Scratch      an arena: what the loader needs for a moment, under nested marks
 *   Sector       a retail heap: raw lumps as resources, evicted when there is no room
 *   Audio, Voices, Mix A and B   a heap, a clump for the small ones that come and go, two arenas taken in
 * turn RenderWare, Lua              heaps that the built-in rules have too
 *
 * Calls of the level code are caught by the linker's --wrap (see pools.c); nothing in level/ knows of it.
 */
#ifndef GAME_POOLS_H
#define GAME_POOLS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* sub is a `subsystem` of core/count.h. As malloc, calloc, realloc and free. */
void *pools_get(int sub, size_t size);
void *pools_get_zeroed(int sub, size_t number, size_t size);
void *pools_resize(int sub, void *old, size_t size);
void pools_give(int sub, void *block);
/* The pool of Lua's states. */
void *pools_lua(void);

#ifdef __cplusplus
}
#endif
#endif
