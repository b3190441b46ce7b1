/* SPDX-License-Identifier: MIT */
/*
 * sink.h - floor F4: where a report's text goes: a buffer that is written to a descriptor when full, or that
 * simply is the result (fd -1). No malloc, no locks, async-signal-safe. A failed write is kept; what
 * comes after it is dropped.
 */
#ifndef POOLMEM_SINK_H
#define POOLMEM_SINK_H

#include "base.h"

typedef struct sink {
    char *buf;
    size_t cap;    /* bytes of buf */
    size_t len;    /* bytes waiting in it */
    int fd;        /* -1: stays in the buffer, what does not fit is cut */
    int error;     /* 0 or the first -errno */
    size_t column; /* characters since the last newline */
} sink;

void sink_open(sink *s, char *buf, size_t cap, int fd);
void sink_bytes(sink *s, const char *data, size_t n);
void sink_string(sink *s, const char *text);
void sink_char(sink *s, char c, size_t times);
/* At most 1,023 bytes a call. */
void sink_text(sink *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Writes what waits; 0 or the first error. */
int sink_flush(sink *s);

#endif
