/* SPDX-License-Identifier: MIT */
/*
 * program.h - floor F5: looks at a program file before it is run: can a preloaded library reach it at all?
 */
#ifndef POOLMEM_PROGRAM_H
#define POOLMEM_PROGRAM_H

#include "base.h"

/* Finds a command as a shell does: a word with a slash as it is, else along PATH. Returns 0 with the file in
   `path`, 127 when there is none, 126 when none may be executed. */
int program_find(const char *command, char *path, size_t cap);

/* False with the reason in `why` when the library cannot work there: no loader (static), set-user-ID or file
   capabilities (the loader ignores preloads), another architecture, another C library. A script stands for
   its interpreter. */
bool program_can_preload(const char *path, char *why, size_t cap);

#endif
