/* SPDX-License-Identifier: MIT */
/* The runner's parts: cases.c says what is run and what must come out, start.c runs one program, holds.c is
 * the Criterion test that puts them together. */
#ifndef PROMISE_RUNNER_H
#define PROMISE_RUNNER_H

#include <stdbool.h>
#include <stddef.h>

enum { SKIPPED = 77, TEXT_MAX = 4096 };

/* In run, env, preload and check: @L the library under test, @B the folder of the built programs, @S
 * tests/preload, @T a fresh folder that is also the working directory. Words are separated by blanks. */
struct promise {
    const char *name;    /* of the case, unique */
    const char *run;     /* program and arguments; without a slash it is taken from @B */
    const char *preload; /* LD_PRELOAD, NULL: "@L" */
    const char *env;     /* NAME=VALUE ... beside PATH, HOME, PROMISE_LIBRARY */
    const char *err;     /* extended regular expression that stderr must match, NULL: nothing asked */
    const char *no_err;  /* one that it must not match */
    const char *out;     /* one that stdout must match, NULL: it must be the line ok alone */
    const char *check;   /* shell command run afterwards in @T, status 0 = holds */
    int exit_status;     /* expected */
    int signal;          /* expected to end it, 0 none */
    int seconds;         /* limit, 0: 60 */
    bool plain;          /* holds on the C library's own heap too */
};

extern const struct promise promises[];
extern const size_t promise_count;

struct outcome {
    int status; /* as waitpid gives it; of the check command when that ran and failed */
    bool late, check_failed;
    char out[TEXT_MAX], err[TEXT_MAX], check[TEXT_MAX];
};

/* Runs the case under `library` (NULL: without any) with `extra_env` (NULL: none) in a folder of its own,
 * which is removed. */
struct outcome promise_run(const struct promise *promise, const char *library, const char *extra_env);

#endif
