/* SPDX-License-Identifier: MIT */
/* said.h - catches what the core says: tests assert the last line, all of them, and how many there were. */
#ifndef POOLMEM_TEST_SAID_H
#define POOLMEM_TEST_SAID_H

#include "fatal.h"
#include <criterion/criterion.h>
#include <string.h>

static char said_last[512];
static char said_all[4096]; /* lines, each with its newline; what does not fit is left out */
static unsigned said_lines;

static void said_catch(message_level level, const char *line, void *arg)
{
    strncpy(said_last, line, sizeof said_last - 1);
    if (strlen(said_all) + strlen(line) + 2 < sizeof said_all)
        strcat(strcat(said_all, line), "\n");
    said_lines++;
}

/* Starts catching anew. */
static inline void said_start(void)
{
    said_last[0] = said_all[0] = 0;
    said_lines = 0;
    message_set_hook(said_catch, NULL);
}

static inline void said_expect(const char *want)
{
    cr_assert_str_eq(said_last, want, "want '%s', got '%s'", want, said_last);
}

#endif
