/* SPDX-License-Identifier: MIT */
/*
 * script.c - see script.h. One line at a time, so that a script typed at a terminal answers at once; results
 * are flushed before a message, so the two stay in order where both go to the same place.
 * A line is cut in place into at most eight words, more than any command takes. Numbers are whole words of
 * decimal digits, or hexadecimal with 0x: no sign, no fraction, no unit.
 */
#include "script.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static void say(script *s, const char *format, va_list args)
{
    fflush(s->out); /* keep results and messages in order on a terminal */
    fprintf(s->err, "%s:%u: ", s->file, s->line);
    vfprintf(s->err, format, args);
    fputc('\n', s->err);
}

void script_fail(script *s, int status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(s, format, args);
    va_end(args);
    s->status = status;
}

void script_note(script *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(s, format, args);
    va_end(args);
}

uint64_t script_number(script *s, int which, const char *what, uint64_t min, uint64_t max)
{
    const char *text = s->words[which];
    char *end;
    errno = 0;
    uint64_t n = strtoull(text, &end, strncmp(text, "0x", 2) == 0 ? 16 : 10);
    if (*text < '0' || *text > '9' || *end)
        script_fail(s, SCRIPT_BAD, "%s '%.40s' is not a number", what, text);
    else if (errno || n < min || n > max)
        script_fail(s, SCRIPT_BAD, "%s %.40s is out of range, expected %llu to %llu", what, text,
                    (unsigned long long)min, (unsigned long long)max);
    else
        return n;
    return 0;
}

void script_echo(const script *s)
{
    for (int i = 0; i < s->count; i++)
        fprintf(s->out, "%s%s", i ? " " : "", s->words[i]);
}

/* Cuts the line into words in place; false when there are more than any command takes. */
static bool split(script *s, char *line)
{
    char *rest = NULL;
    line[strcspn(line, "#")] = 0;
    s->count = 0;
    for (char *w = strtok_r(line, " \t\r\n\f\v", &rest); w; w = strtok_r(NULL, " \t\r\n\f\v", &rest)) {
        if (s->count == SCRIPT_WORDS_MAX)
            return false;
        s->words[s->count++] = w;
    }
    return true;
}

static const script_command *find_command(const script_command *const *tables, const char *name)
{
    for (; *tables; tables++) {
        for (const script_command *c = *tables; c->name; c++) {
            if (strcmp(c->name, name) == 0)
                return c;
        }
    }
    return NULL;
}

/* A NUL would hide the rest of its line. */
static void run_line(script *s, char *line, size_t length, const script_command *const *tables, void *state)
{
    if (memchr(line, 0, length)) {
        script_fail(s, SCRIPT_BAD, "the line holds a NUL byte, expected text");
        return;
    }
    bool fits = split(s, line);
    if (!s->count)
        return;
    const script_command *c = find_command(tables, s->words[0]);
    if (!c)
        script_fail(s, SCRIPT_BAD, "unknown command '%.40s'", s->words[0]);
    else if (!fits || s->count - 1 != c->arguments)
        script_fail(s, SCRIPT_BAD, "wrong number of arguments, expected: %s%s%s", c->name,
                    c->arguments ? " " : "", c->arguments_text);
    else
        c->run(state, s);
}

int script_run(script *s, FILE *in, const script_command *const *tables, void *state)
{
    char *line = NULL;
    size_t cap = 0;
    ssize_t length;
    s->line = 0;
    s->status = SCRIPT_OK;
    while (s->status == SCRIPT_OK && (length = getline(&line, &cap, in)) >= 0) {
        s->line++;
        run_line(s, line, (size_t)length, tables, state);
    }
    free(line);
    if (ferror(in))
        script_fail(s, SCRIPT_FAILED, "the script cannot be read: %s", strerror(errno));
    if (fflush(s->out) != 0 && s->status == SCRIPT_OK)
        script_fail(s, SCRIPT_FAILED, "the results cannot be written: %s", strerror(errno));
    return s->status;
}
