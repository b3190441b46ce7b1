/* SPDX-License-Identifier: MIT */
/*
 * lines.h - floor F0: text handed over line by line: what prints a tree or a list takes one of these and
 * need not know whether the lines go to a file, a message or a test.
 */
#ifndef POOLMEM_LINES_H
#define POOLMEM_LINES_H

#include "base.h"

typedef struct lines {
    /* Receives one line without its newline; the text is valid during the call. */
    void (*put)(void *arg, const char *text, size_t length);
    void *arg;
} lines;

/* One formatted line (see fmt.h), cut at 511 bytes. */
void lines_say(const lines *to, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
