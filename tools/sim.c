/* SPDX-License-Identifier: MIT */
/*
 * sim.c - see sim.h: the entry, rows one after the other, and the files that are asked for. The table is
 * printed row by row as it comes; files are written at the end, and one that cannot be written is said and
 * gives status 1 after everything else has been done.
 */
#include "sim.h"
#include "command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct options {
    const char *file, *csv, *svg, *seed;
};

int sim_usage(FILE *out, int status)
{
    fprintf(out, "usage: poolmem sim FILE [--csv OUT] [--svg OUT] [--seed N]\n"
                 "  stream made-up levels through a Sector Pool, policy by policy\n");
    return status;
}

static bool read_options(int argc, char **argv, struct options *o)
{
    for (int i = 1; i < argc; i++) {
        const char **value = strcmp(argv[i], "--csv") == 0    ? &o->csv
                             : strcmp(argv[i], "--svg") == 0  ? &o->svg
                             : strcmp(argv[i], "--seed") == 0 ? &o->seed
                                                              : NULL;
        if (value && i + 1 < argc)
            *value = argv[++i];
        else if (!value && argv[i][0] != '-' && !o->file)
            o->file = argv[i];
        else
            return false;
    }
    return o->file != NULL;
}

/* Writes one of the files; the status of the command. */
static int write_file(const char *path, const sim_config *c, sim_result (*results)[SIM_POLICIES],
                      void (*write)(FILE *, const sim_config *, sim_result (*)[SIM_POLICIES]))
{
    if (!path)
        return STATUS_DONE;
    FILE *out = fopen(path, "we");
    if (out)
        write(out, c, results);
    bool failed = !out || ferror(out);
    if (out && fclose(out) != 0)
        failed = true;
    return failed ? tell(STATUS_FAILED, "cannot write %s: %s", path, strerror(errno)) : STATUS_DONE;
}

static int run(const struct options *o, const sim_config *c)
{
    static sim_result results[SIM_ROWS][SIM_POLICIES];
    sim_print_head(stdout, c);
    for (unsigned k = 0; k < c->row_count; k++) {
        if (!sim_run_row(c, &c->rows[k], results[k]))
            return tell(STATUS_FAILED, "the system has no memory for a level");
        sim_print(stdout, c, &c->rows[k], results[k]);
    }
    int csv = write_file(o->csv, c, results, sim_write_csv),
        svg = write_file(o->svg, c, results, sim_write_svg);
    return csv ? csv : svg;
}

int sim_main(int argc, char **argv)
{
    static sim_config config;
    struct options o = {0};
    if (!read_options(argc, argv, &o))
        return sim_usage(stderr, STATUS_USAGE);
    int unread = sim_config_read(o.file, &config);
    if (unread)
        return unread;
    char *end = NULL;
    if (o.seed)
        config.seed = strtoull(o.seed, &end, 10);
    if (o.seed && (*end || end == o.seed))
        return sim_usage(stderr, STATUS_USAGE);
    return run(&o, &config);
}
