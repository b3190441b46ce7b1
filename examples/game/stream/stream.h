/* SPDX-License-Identifier: MIT */
/*
 * stream.h - parts of the world, loaded and freed by threads of their own.
 *
 * 1. A job handed out by stream_request belongs to the caller, who waits for it, takes what it loaded and
 *    gives it back with stream_release. Jobs are a fixed table: the queue itself never allocates.
 * 2. What a job loads depends on its request alone, never on when or where it ran.
 * 3. With no threads a request is served before stream_request returns.
 * Locking: one mutex round the queue; none is held while a job runs.
 */
#ifndef GAME_STREAM_H
#define GAME_STREAM_H

#include "level/level.h"
#include "render/rw.h"

enum { STREAM_MAX_IMAGES = 128, STREAM_MAX_JOBS = 64, STREAM_MAX_THREADS = 8 };

typedef enum stream_state { STREAM_IDLE, STREAM_QUEUED, STREAM_DONE } stream_state;

typedef struct stream_job {
    struct stream_job *next; /* in the queue */
    stream_state state;
    const Level *level; /* NULL: free part instead of loading one */
    int index;          /* of the part */
    int num_images;
    int images[STREAM_MAX_IMAGES];          /* wanted as textures */
    LevelPart *part;                        /* loaded, or to be freed */
    RwTexture *textures[STREAM_MAX_IMAGES]; /* loaded, one an image */
} stream_job;

int stream_start(int threads);
void stream_stop(void);
stream_job *stream_request(const Level *level, int index, const int *images, int num_images);
void stream_wait(stream_job *job);
void stream_release(stream_job *job);
void stream_retire(LevelPart *part);
RwTexture *stream_load_texture(const LevelWad *wad, int image); /* at once, on the caller's thread */

#endif
