/* SPDX-License-Identifier: MIT */
/* said.h - catches what the core says: tests assert the last line and how many there were. */
#ifndef POOLMEM_TEST_SAID_H
#define POOLMEM_TEST_SAID_H

#include "fatal.h"
#include <criterion/criterion.h>
#include <string.h>

static char said_last[512];
static unsigned said_lines;

static void said_catch(message_level level, const char *line, void *arg)
{
    strncpy(said_last, line, sizeof said_last - 1);
    said_lines++;
}

/* Starts catching anew. */
static inline void said_start(void)
{
    said_last[0] = 0;
    said_lines = 0;
    message_set_hook(said_catch, NULL);
}

static inline void said_expect(const char *want)
{
    cr_assert_str_eq(said_last, want, "want '%s', got '%s'", want, said_last);
}

#endif
