/* SPDX-License-Identifier: MIT */
/*
 * check.c - `poolmem check`: reads a configuration file as the library would and says every error.
 */
#include "../interpose/config.h"
#include "command.h"
#include "fatal.h"

#include <stdio.h>

static void print_message(message_level level, const char *line, void *arg)
{
    fprintf(stderr, "poolmem: %s\n", line);
}

int check_usage(FILE *out, int status)
{
    fprintf(out, "usage: poolmem check FILE\n"
                 "  read a configuration file and say what is wrong, and what may not be meant\n");
    return status;
}

int check_main(int argc, char **argv)
{
    if (argc != 2 || argv[1][0] == '-') {
        tell(STATUS_USAGE, "check: one configuration file expected");
        return check_usage(stderr, STATUS_USAGE);
    }
    message_set_hook(print_message, NULL);
    int errors = config_check(argv[1]);
    if (errors)
        return STATUS_FAILED;
    printf("%s: no errors\n", argv[1]);
    return STATUS_DONE;
}
