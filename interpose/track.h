/* SPDX-License-Identifier: MIT */
/*
 * track.h - floor F4: POOLMEM_TRACK: which call-site each live block came from, so that reports tell live
 * bytes by call-site and, at exit, what was never freed. The entry points call it in their slow mode.
 */
#ifndef POOLMEM_TRACK_H
#define POOLMEM_TRACK_H

#include "lock.h"

/* After publish_create; false: no memory, tracking stays off. */
bool track_boot(void);

/* A block has been handed out at `site` (a row of the published sites), usable `size`. What cannot be
   recorded is counted. A resized block is freed first, then recorded anew. */
void track_alloc(const void *p, size_t size, uint32_t site);

/* A block is given back, before its memory may be used again. Unknown ones (from before) are ignored. */
void track_free(const void *p);

/* A block may be about to move: takes its record out before another thread can have its address; `site` and
   `size` tell it to track_alloc if the block stays. False: there is none. */
bool track_take(const void *p, size_t *size, uint32_t *site);

/* Round a fork: the shards' locks; a child does without the shards that could not be taken. */
void track_fork_locks(lock_visit *visit);
void track_fork_child(void);

#endif
