/* SPDX-License-Identifier: MIT */
/*
 * world.h - the map being played: its level, the parts of it that are in memory, and their clumps and
 * textures.
 *
 * 1. A part is asked for when the camera comes near and is put in place a fixed number of frames later, in
 *    the order of asking: what the world holds in a frame does not depend on how fast the threads are.
 * Locking: main thread only.
 */
#ifndef GAME_WORLD_H
#define GAME_WORLD_H

#include "level/level.h"
#include "render/rw.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct world_spawn {
    int type, x, y, angle;
} world_spawn;

typedef struct world_totals {
    long parts_in, parts_out;
    size_t most_texture_bytes;
} world_totals;

void world_start(void);
void world_stop(void);
int world_enter(const LevelWad *wad, int map, LevelError *error);
void world_leave(void);
const char *world_name(void);
int world_next_spawn(world_spawn *spawn, int first); /* 0 when there are no more */
void world_camera_at(long frame, double *x, double *y);
uint64_t world_update(long frame, double x, double y);
int world_floor(int x, int y);
int world_can_step(int x, int y, int to_x, int to_y);
RpWorld *world_clumps(void);
const world_totals *world_get_totals(void);

#ifdef __cplusplus
}
#endif
#endif
