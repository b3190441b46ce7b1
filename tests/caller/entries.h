/* SPDX-License-Identifier: MIT */
/*
 * entries.h - entry points as the library has them, compiled each way the library may be: with rbp kept out
 * of the file, and (framed) by the frame chain, also without optimisation.
 */
#ifndef ENTRIES_H
#define ENTRIES_H

#include "caller.h"

/* What an entry saw and was told. */
typedef struct seen {
    caller_frame frame;
    const tag *tag;
} seen;

typedef void entry_check(const seen *s, void *arg);

/* Each tags its caller and hands the answer, from its own frame, to check. */
void entry_lean(size_t size, entry_check *check, void *arg);
void entry_framed(size_t size, entry_check *check, void *arg);
void entry_unoptimised(size_t size, entry_check *check, void *arg);

#endif
