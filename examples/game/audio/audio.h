/* SPDX-License-Identifier: MIT */
/*
 * audio.h - sound: the main thread says what starts in a frame, another thread mixes it.
 *
 * 1. The mix of a frame depends on the frames before it, never on when it was made; audio_frame returns the
 *    checksum of the frame AUDIO_LATENCY earlier, and waits for it.
 * Locking: inside. Called by the main thread only.
 */
#ifndef GAME_AUDIO_H
#define GAME_AUDIO_H

#include "level/level.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { AUDIO_MAX_STARTS = 16 };

int audio_start(const LevelWad *wad, int threaded);
uint64_t audio_frame(const int *sounds, int number);
uint64_t audio_stop(void);

#ifdef __cplusplus
}
#endif
#endif
