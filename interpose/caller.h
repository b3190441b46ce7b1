/* SPDX-License-Identifier: MIT */
/*
 * caller.h - floor F4: who called, as a tag, in a few ns. To be filled by caller.c, memo.c, unwind.c.
 */
#ifndef POOLMEM_CALLER_H
#define POOLMEM_CALLER_H

#include "entry.h"
#include "thread.h"

/* The state of the caller at the instant it entered malloc: its return address, the value its stack pointer
   has after our return (CFA), and its frame pointer register. */
typedef struct caller_frame {
    uintptr_t ret, cfa, rbp;
} caller_frame;

/* The tag for this call. Hot: inline lookup of the thread's memo, out-of-line resolve on a miss. */
INLINE const tag *caller_tag(thread *t, entry_id entry, size_t size, caller_frame f);

/* Walks out from a frame, at most `max` return addresses; for reports of misuse and tracking. Cold. */
unsigned caller_walk(thread *t, caller_frame f, uintptr_t *pcs, unsigned max);

/* Before the first use; after fork in the child; when a thread starts and is parked. */
void caller_boot(void);
void caller_fork_prepare(void);
void caller_fork_parent(void);
void caller_fork_child(void);
bool caller_thread_start(thread *t); /* makes its memo (mapped memory); false: it goes without */

#endif
