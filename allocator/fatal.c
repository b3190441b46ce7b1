/* SPDX-License-Identifier: MIT */
/*
 * fatal.c - see fatal.h: messages of the core, and the texts of the status codes.
 * Locking: none; the hook is set once at start. Cost: one formatted line on the stack, one write.
 */
#include "fatal.h"
#include "fmt.h"
#include "os.h"

#include <stdlib.h>
#include <string.h>

static message_hook *hook;
static void *hook_arg;

void message_set_hook(message_hook *h, void *arg)
{
    hook_arg = arg;
    hook = h;
}

message_hook *message_get_hook(void **arg)
{
    *arg = hook_arg;
    return hook;
}

static void say(message_level level, char *line)
{
    if (hook) {
        hook(level, line, hook_arg);
        return;
    }
    if (level == MESSAGE_FATAL) {
        os_write(2, "poolmem: ", 9);
        os_write(2, line, strlen(line));
        os_write(2, "\n", 1);
    }
}

void message(message_level level, const char *format, ...)
{
    char line[512];
    va_list args;
    va_start(args, format);
    fmt_vtext(line, sizeof line, format, args);
    va_end(args);
    say(level, line);
}

void fatal(const char *format, ...)
{
    char line[512];
    va_list args;
    va_start(args, format);
    fmt_vtext(line, sizeof line, format, args);
    va_end(args);
    say(MESSAGE_FATAL, line);
    abort();
}

void fatal_assert(const char *file, int line, const char *expression)
{
    fatal("%s:%d: internal check failed: %s", file, line, expression);
}

const char *pool_status_text(pool_status s)
{
    static const char *const text[] = {
        [POOL_OK] = "ok",
        [POOL_ZERO] = "zero size",
        [POOL_NOMEM] = "out of memory",
        [POOL_LIMIT] = "over the pool's limit",
        [POOL_ALIGN] = "alignment not possible",
        [POOL_OVERFLOW] = "size too large",
        [POOL_INVALID] = "not the start of a live block",
        [POOL_DOUBLE_FREE] = "already freed",
        [POOL_FOREIGN] = "not from this pool",
        [POOL_UNSUPPORTED] = "not supported by this kind of pool",
        [POOL_FULL] = "table full",
        [POOL_EMPTY] = "empty",
        [POOL_MISMATCH] = "not the expected one",
        [POOL_NOT_FOUND] = "not found",
        [POOL_STALE] = "stale handle",
        [POOL_EXISTS] = "exists already",
        [POOL_BUSY] = "memory of it is in use",
        [POOL_CORRUPT] = "damaged structure",
        [POOL_IO] = "file cannot be read",
    };
    return (unsigned)s < sizeof text / sizeof *text ? text[s] : "unknown status";
}
