/* SPDX-License-Identifier: MIT */
/*
 * main.c - the `poolmem` command: a table of subcommands, each with its own main.
 */
#include "model.h"

#include <stdio.h>
#include <string.h>

static const struct subcommand {
    const char *name;
    const char *usage;
    int (*main)(int argc, char **argv);
} subcommands[] = {
    {"model", "model FILE        run a scenario script on the real allocators", model_main},
};

enum { SUBCOMMANDS = sizeof subcommands / sizeof *subcommands };

static int usage(FILE *out)
{
    fprintf(out, "usage: poolmem COMMAND ...\n");
    for (int i = 0; i < SUBCOMMANDS; i++)
        fprintf(out, "  %s\n", subcommands[i].usage);
    return 2;
}

int main(int argc, char **argv)
{
    for (int i = 0; argc > 1 && i < SUBCOMMANDS; i++) {
        if (strcmp(argv[1], subcommands[i].name) == 0)
            return subcommands[i].main(argc - 1, argv + 1);
    }
    return usage(stderr);
}
