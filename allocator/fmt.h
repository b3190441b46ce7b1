/* SPDX-License-Identifier: MIT */
/*
 * fmt.h - floor F0: a small formatter for messages and reports. No locale, no malloc, no stdio, safe in a
 * signal handler. Conversions: %s %.*s %c %d %i %u %x %p %% with l, ll and z lengths, field width, '0' and
 * '-' flags and %*d. Anything else is copied as it stands.
 */
#ifndef POOLMEM_FMT_H
#define POOLMEM_FMT_H

#include "base.h"
#include <stdarg.h>

/* As snprintf: writes at most cap bytes with the NUL, returns the length the whole text would have. */
size_t fmt_text(char *out, size_t cap, const char *format, ...) __attribute__((format(printf, 3, 4)));
size_t fmt_vtext(char *out, size_t cap, const char *format, va_list args);

#endif
