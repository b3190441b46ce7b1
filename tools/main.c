/* SPDX-License-Identifier: MIT */
/*
 * main.c - the `poolmem` command: a table of subcommands, each with its own main.
 */
#include "command.h"
#include "model.h"
#include "sim.h"

#include <stdio.h>
#include <string.h>

static const struct subcommand {
    const char *name;
    const char *usage;
    int (*main)(int argc, char **argv);
} subcommands[] = {
    {"run", "run [OPTIONS] [--] COMMAND ...  run a program under the library; --help lists the options",
     run_main},
    {"stat", "stat [OPTIONS] PID              one report of a running process, read from outside", stat_main},
    {"dump", "dump PID                        ask a running process for a report", dump_main},
    {"list", "list                            processes that run under the library", list_main},
    {"check", "check FILE                      read a configuration file and say what is wrong", check_main},
    {"model", "model FILE                      run a scenario script on the real allocators", model_main},
    {"sim", "sim FILE [--csv F] [--svg F]    stream made-up levels through a Sector Pool, policy by policy",
     sim_main},
};

enum { SUBCOMMANDS = sizeof subcommands / sizeof *subcommands };

static int usage(FILE *out, int status)
{
    fprintf(out, "usage: poolmem COMMAND ...\n");
    for (int i = 0; i < SUBCOMMANDS; i++)
        fprintf(out, "  %s\n", subcommands[i].usage);
    return status;
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return usage(stderr, STATUS_USAGE);
    for (int i = 0; i < SUBCOMMANDS; i++) {
        if (strcmp(argv[1], subcommands[i].name) == 0)
            return subcommands[i].main(argc - 1, argv + 1);
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "help") == 0)
        return usage(stdout, STATUS_DONE);
    if (strcmp(argv[1], "--version") == 0)
        return printf("poolmem %s\n", POOLMEM_VERSION) > 0 ? STATUS_DONE : STATUS_FAILED;
    tell(STATUS_USAGE, "%s: no such command", argv[1]);
    return usage(stderr, STATUS_USAGE);
}
