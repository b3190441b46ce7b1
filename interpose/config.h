/* SPDX-License-Identifier: MIT */
/*
 * config.h - floor F4: the environment and the configuration file (contract: names and defaults). Read once
 * at boot. Bad input is said in one line on stderr and the built-in rules hold.
 */
#ifndef POOLMEM_CONFIG_H
#define POOLMEM_CONFIG_H

#include "pool.h"

typedef struct config {
    const char *conf;  /* file read, "" none: built-in rules */
    const char *stats; /* "stderr" or a file pattern */
    int signal;        /* number, 0 none */
    unsigned depth;    /* frames */
    int verbose;       /* 0 1 2 */
    bool exit_report, track, children, abort_on_misuse;
    unsigned verify; /* POOLMEM_VERIFY: every k-th tag is compared with a full unwind, 0 never */
} config;

extern config config_now;

/* Reads environment and file, defines pools (pools.h) and rules. Runs once, on a thread with busy set;
   must not need malloc to succeed. */
void config_load(void);

/* Says, where warnings are asked for, which rules of the file have matched no caller: at the end. */
void config_say_unmatched(void);

/* Reads a file as config_load would and says every error, or, of a good file, what may not be meant; for
   `poolmem check`. Returns how many errors. */
int config_check(const char *file);

#endif
