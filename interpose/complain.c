/* SPDX-License-Identifier: MIT */
/*
 * complain.c - see complain.h. A line is put together on the stack and written with one call, so that lines
 * of several processes do not mix. Locking: none. Cost: one write.
 */
#include "complain.h"
#include "fmt.h"
#include "raw.h"

enum { LINE_BYTES = 1024 };

int complain_fd = 2;

static void say(char *line, size_t prefix, const char *format, va_list args)
{
    size_t n = prefix + fmt_vtext(line + prefix, LINE_BYTES - prefix, format, args);
    if (n > LINE_BYTES - 1)
        n = LINE_BYTES - 1;
    line[n] = '\n'; /* over the NUL */
    raw_say(complain_fd, line, n + 1);
}

void complain(const char *file, unsigned line, const char *format, ...)
{
    char text[LINE_BYTES];
    size_t n = line ? fmt_text(text, LINE_BYTES / 2, "poolmem: %s:%u: ", file, line)
                    : fmt_text(text, LINE_BYTES / 2, "poolmem: %s: ", file);
    va_list args;
    va_start(args, format);
    say(text, n < LINE_BYTES / 2 ? n : LINE_BYTES / 2 - 1, format, args);
    va_end(args);
}

void remark(const char *format, ...)
{
    char text[LINE_BYTES];
    va_list args;
    va_start(args, format);
    say(text, fmt_text(text, sizeof text, "poolmem: "), format, args);
    va_end(args);
}
