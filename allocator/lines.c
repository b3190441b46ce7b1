/* SPDX-License-Identifier: MIT */
/* lines.c - see lines.h. Locking: none, no state. Cost: that of the formatter. */
#include "lines.h"
#include "fmt.h"

void lines_say(const lines *to, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    size_t length = fmt_vtext(text, sizeof text, format, args);
    va_end(args);
    to->put(to->arg, text, length < sizeof text ? length : sizeof text - 1);
}
