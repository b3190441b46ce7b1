/* SPDX-License-Identifier: MIT */
/*
 * command.h - floor F5: what the subcommands of `poolmem` share. Each is a main of its own, with its name as
 * argv[0]; it returns the exit status: 0 done, 1 failed, 2 usage.
 */
#ifndef POOLMEM_COMMAND_H
#define POOLMEM_COMMAND_H

#include "base.h"

#include <stdio.h>

enum { STATUS_DONE = 0, STATUS_FAILED = 1, STATUS_USAGE = 2 };

int run_main(int argc, char **argv);
int stat_main(int argc, char **argv);
int dump_main(int argc, char **argv);
int list_main(int argc, char **argv);
int check_main(int argc, char **argv);

/* Their usage; returns `status`. */
int run_usage(FILE *out, int status);
int stat_usage(FILE *out, int status);
int dump_usage(FILE *out, int status);
int list_usage(FILE *out, int status);
int check_usage(FILE *out, int status);

/* One line on stderr, `poolmem: ...`; returns `status`. */
int tell(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The process id a word stands for; 0 when it is none. */
int parse_pid(const char *word);

#endif
