/* SPDX-License-Identifier: MIT */
/*
 * sink.c - see sink.h. Locking: none, one user at a time. Cost: a copy, and one write a full buffer.
 */
#include "sink.h"
#include "fmt.h"
#include "raw.h"

#include <errno.h>
#include <string.h>

#define PATIENCE_MS 2000 /* for a descriptor that is full and does not block */

void sink_open(sink *s, char *buf, size_t cap, int fd)
{
    *s = (sink){.buf = buf, .cap = cap, .fd = fd};
}

int sink_flush(sink *s)
{
    if (s->fd >= 0 && s->len && !s->error)
        s->error = raw_write_all(s->fd, s->buf, s->len, PATIENCE_MS);
    if (s->fd >= 0)
        s->len = 0;
    return s->error;
}

static void count_columns(sink *s, const char *data, size_t n)
{
    for (size_t i = 0; i < n; i++)
        s->column = data[i] == '\n' ? 0 : s->column + ((data[i] & 0xc0) != 0x80);
}

void sink_bytes(sink *s, const char *data, size_t n)
{
    count_columns(s, data, n);
    while (n && !s->error) {
        if (s->len == s->cap && s->fd < 0)
            s->error = -ENOSPC;
        if (s->len == s->cap && sink_flush(s))
            return;
        size_t part = n < s->cap - s->len ? n : s->cap - s->len;
        memcpy(s->buf + s->len, data, part);
        s->len += part;
        data += part;
        n -= part;
    }
}

void sink_string(sink *s, const char *text)
{
    sink_bytes(s, text, strlen(text));
}

void sink_char(sink *s, char c, size_t times)
{
    while (times--)
        sink_bytes(s, &c, 1);
}

void sink_text(sink *s, const char *format, ...)
{
    char line[1024];
    va_list args;
    va_start(args, format);
    size_t n = fmt_vtext(line, sizeof line, format, args);
    va_end(args);
    sink_bytes(s, line, n < sizeof line ? n : sizeof line - 1);
}
