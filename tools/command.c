/* SPDX-License-Identifier: MIT */
/*
 * command.c - see command.h.
 */
#include "command.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

int tell(int status, const char *format, ...)
{
    char line[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    fprintf(stderr, "poolmem: %s\n", line);
    return status;
}

int parse_pid(const char *word)
{
    char *end;
    long n = strtol(word, &end, 10);
    return *word >= '0' && *word <= '9' && !*end && n > 0 && n <= INT_MAX ? (int)n : 0;
}
