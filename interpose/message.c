/* SPDX-License-Identifier: MIT */
/*
 * message.c - see message.h. A line is one write, so lines of several threads do not mix.
 * Locking: none. Async-signal-safe; a stderr without a reader does not end the host.
 */
#include "message.h"
#include "fmt.h"
#include "raw.h"

static int verbosity;

static bool wanted(message_level level)
{
    return level >= MESSAGE_MISUSE || verbosity >= (level == MESSAGE_WARNING ? 1 : 2);
}

static void print(message_level level, const char *text, void *arg)
{
    char line[544];
    if (!wanted(level))
        return;
    size_t n = fmt_text(line, sizeof line, "poolmem: %s\n", text);
    raw_say(2, line, n < sizeof line ? n : sizeof line - 1);
}

void message_boot(int verbose)
{
    verbosity = verbose;
    message_set_hook(print, NULL);
}
