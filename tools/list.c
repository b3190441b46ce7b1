/* SPDX-License-Identifier: MIT */
/*
 * list.c - `poolmem list`: the processes that run under the library, as far as this user may see them.
 */
#include "../interpose/report_units.h"
#include "attach.h"
#include "command.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The program's file, and what it was called where that is another name. */
static void print_process(const report *r)
{
    bool same = strcmp(report_base_name(r->exe), r->program) == 0;
    char live[16], committed[16], rss[16];
    printf("%8u %9s %9s %9s  %s", r->source.pid, bytes_text(live, r->total.live_bytes),
           bytes_text(committed, r->committed_bytes), bytes_text(rss, r->source.rss_bytes), r->exe);
    printf(same ? "\n" : " (%s)\n", r->program);
}

static void list_process(int pid)
{
    attached a;
    if (attach_open(&a, pid) != ATTACH_OK)
        return;
    report *r = attach_report(&a, 0);
    if (r)
        print_process(r);
    free(r);
    attach_close(&a);
}

int list_usage(FILE *out, int status)
{
    fprintf(out, "usage: poolmem list\n"
                 "  the processes that run under the library\n");
    return status;
}

int list_main(int argc, char **argv)
{
    if (argc > 1) {
        tell(STATUS_USAGE, "list: %s: takes no arguments", argv[1]);
        return list_usage(stderr, STATUS_USAGE);
    }
    DIR *d = opendir("/proc");
    if (!d)
        return tell(STATUS_FAILED, "list: /proc is not there");
    printf("%8s %9s %9s %9s  %s\n", "PID", "LIVE", "COMMITTED", "RSS", "PROGRAM");
    for (struct dirent *e; (e = readdir(d));) {
        int pid = parse_pid(e->d_name);
        if (pid)
            list_process(pid);
    }
    closedir(d);
    return STATUS_DONE;
}
