/* SPDX-License-Identifier: MIT */
/*
 * script.h - floor F5: a reader of line-by-line scripts. A line is a command and its words; `#` starts a
 * comment. Commands come in tables, one a family, so a new family is a new file and a new table.
 * Errors are said as `FILE:LINE: what is wrong` and end the script; nothing after them is run.
 */
#ifndef POOLMEM_SCRIPT_H
#define POOLMEM_SCRIPT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { SCRIPT_WORDS_MAX = 8, SCRIPT_OK = 0, SCRIPT_FAILED = 1, SCRIPT_BAD = 2 };

typedef struct script {
    const char *file; /* as named in messages */
    unsigned line;    /* of the command being run, from 1 */
    FILE *out, *err;
    char *words[SCRIPT_WORDS_MAX]; /* the command and its arguments */
    int count;                     /* of words */
    int status;                    /* SCRIPT_*: anything but OK ends the script */
} script;

typedef struct script_command {
    const char *name;
    int arguments;              /* exactly so many */
    const char *arguments_text; /* for the message: "NAME SIZE ALIGN" */
    void (*run)(void *state, script *s);
} script_command;

/* Runs the whole of `in`; `tables` ends with NULL, each table with a command without a name. Returns a
   SCRIPT_* value, the exit status of a tool. */
int script_run(script *s, FILE *in, const script_command *const *tables, void *state);
/* Says FILE:LINE: and the text, and ends the script with the status. */
void script_fail(script *s, int status, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Says it and goes on. */
void script_note(script *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Argument `which` (1 is the first) as a number min..max, decimal or 0x hexadecimal; on failure says so and
   gives 0 with s->status set. */
uint64_t script_number(script *s, int which, const char *what, uint64_t min, uint64_t max);
/* Writes the command as given, its words apart by single blanks. */
void script_echo(const script *s);

#endif
