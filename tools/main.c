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
    const char *summary;
    int (*main)(int argc, char **argv);
    int (*usage)(FILE *out, int status);
} subcommands[] = {
    {"run", "run [OPTIONS] [--] COMMAND ...  run a program under the library", run_main, run_usage},
    {"stat", "stat [OPTIONS] PID              one report of a running process, read from outside", stat_main,
     stat_usage},
    {"dump", "dump PID                        ask a running process for a report", dump_main, dump_usage},
    {"list", "list                            processes that run under the library", list_main, list_usage},
    {"check", "check FILE                      read a configuration file and say what is wrong", check_main,
     check_usage},
    {"model", "model FILE                      run a scenario script on the real allocators", model_main,
     model_usage},
    {"sim", "sim FILE [--csv F] [--svg F]    stream made-up levels through a Sector Pool, policy by policy",
     sim_main, sim_usage},
};

enum { SUBCOMMANDS = sizeof subcommands / sizeof *subcommands };

static int usage(FILE *out, int status)
{
    fprintf(out, "usage: poolmem COMMAND ...\n");
    for (int i = 0; i < SUBCOMMANDS; i++)
        fprintf(out, "  %s\n", subcommands[i].summary);
    fprintf(out, "poolmem COMMAND --help tells more\n");
    return status;
}

static int start(const struct subcommand *c, int argc, char **argv)
{
    bool help = argc > 1 && strcmp(argv[1], "--help") == 0;
    return help ? c->usage(stdout, STATUS_DONE) : c->main(argc, argv);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return usage(stderr, STATUS_USAGE);
    for (int i = 0; i < SUBCOMMANDS; i++) {
        if (strcmp(argv[1], subcommands[i].name) == 0)
            return start(&subcommands[i], argc - 1, argv + 1);
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "help") == 0)
        return usage(stdout, STATUS_DONE);
    if (strcmp(argv[1], "--version") == 0)
        return printf("poolmem %s\n", POOLMEM_VERSION) > 0 ? STATUS_DONE : STATUS_FAILED;
    tell(STATUS_USAGE, "%s: no such command", argv[1]);
    return usage(stderr, STATUS_USAGE);
}
