/* SPDX-License-Identifier: MIT */
/*
 * complain.h - floor F4: one line on stderr about bad input: `poolmem: FILE:LINE: what is wrong, what was
 * expected`. Used while the configuration is read, whatever POOLMEM_VERBOSE says.
 */
#ifndef POOLMEM_COMPLAIN_H
#define POOLMEM_COMPLAIN_H

#include "base.h"

/* Line 0: the file as a whole. */
void complain(const char *file, unsigned line, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* `poolmem: ` and the text: what was loaded, when the user asked for it. */
void remark(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Where the lines go: 2, or what a test put there. */
extern int complain_fd;

#endif
