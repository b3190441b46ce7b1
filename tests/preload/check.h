/* SPDX-License-Identifier: MIT */
/* What every promise program shares: the verdict is one line on stdout, `ok` or `FAIL: what, expected, got`,
 * and the exit status 0 or 1; 77 means that this machine cannot try it, with the reason on the line.
 *
 *  1. Nothing here allocates: a verdict can be given from a signal handler or with the heap in any state.
 *  2. A failed program leaves by _exit, so that no exit handler can hide or delay the line.
 * See runner/cases.c for how each program is started. */
#ifndef PROMISE_CHECK_H
#define PROMISE_CHECK_H

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SKIPPED = 77 };

/* formats on the stack and writes once: dprintf would take a buffer from the heap under test */
__attribute__((format(printf, 3, 0))) static inline void say(int fd, const char *head, const char *format,
                                                             va_list list)
{
    char line[1024];
    size_t bytes = (size_t)(stpcpy(line, head) - line);
    vsnprintf(line + bytes, sizeof line - 1 - bytes, format, list);
    bytes = strlen(line);
    line[bytes] = '\n';
    if (write(fd, line, bytes + 1) < 0)
        _exit(2);
}

__attribute__((format(printf, 2, 3))) static inline void print(int fd, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    say(fd, "", format, list);
    va_end(list);
}

__attribute__((noreturn, format(printf, 1, 2))) static inline void fail(const char *what, ...)
{
    va_list list;
    va_start(list, what);
    say(STDOUT_FILENO, "FAIL: ", what, list);
    va_end(list);
    _exit(1);
}

#define expect(condition, ...)                                                                               \
    do {                                                                                                     \
        if (!(condition))                                                                                    \
            fail(__VA_ARGS__);                                                                               \
    } while (0)

static inline void expect_equal(const char *what, long long expected, long long got)
{
    expect(expected == got, "%s, expected %lld, got %lld", what, expected, got);
}

__attribute__((noreturn)) static inline void skip(const char *reason)
{
    print(STDOUT_FILENO, "skipped: %s", reason);
    _exit(SKIPPED);
}

static inline int passed(void)
{
    print(STDOUT_FILENO, "ok");
    return 0;
}

/* keeps the compiler from reasoning about a pointer, and so from dropping the calls under test */
static inline void *opaque(void *pointer)
{
    __asm__ volatile("" : "+r"(pointer) : : "memory");
    return pointer;
}

static inline size_t opaque_size(size_t size)
{
    __asm__ volatile("" : "+r"(size));
    return size;
}

/* path of the library under test, NULL on the C library's own heap */
static inline const char *library(void)
{
    const char *path = getenv("PROMISE_LIBRARY");
    return path && *path ? path : NULL;
}

/* KiB of this process resident now */
static inline size_t rss_kib(void)
{
    char text[128] = "";
    int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    expect(n > 0, "read /proc/self/statm, expected text, got %zd", n);
    return strtoul(strchr(text, ' '), NULL, 10) * ((size_t)sysconf(_SC_PAGESIZE) / 1024);
}

static inline unsigned next_random(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

#endif
