/* SPDX-License-Identifier: MIT */
/*
 * dl.h - floor F4: objects that come and go. dlclose may unmap code, and what is loaded later at the same
 * addresses must not be taken for it; dlopen with RTLD_DEEPBIND would give a module libc's malloc behind our
 * back, so the flag is cleared.
 *
 * While dl_closing is not 0 no memo is in use and nothing about an address is kept or believed; when objects
 * were really unloaded dl_epoch moves on and every memo is emptied before it is used again.
 * Locking: the resolve lock to drop entries. Cost: a dlclose makes each thread's next call a miss.
 */
#ifndef POOLMEM_DL_H
#define POOLMEM_DL_H

#include "base.h"

extern HIDDEN uint32_t dl_closing; /* atomic: dlcloses under way */
extern HIDDEN uint64_t dl_epoch;   /* atomic: times that objects were unloaded */

/* Marks this thread as inside libunwind (verify.c): its dl_iterate_phdr is answered without a lock, with the
   one object that holds the address asked about. 0 ends it. */
void dl_only_object_of(uintptr_t pc);

void dl_fork_child(void);

#endif
