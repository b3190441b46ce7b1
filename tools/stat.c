/* SPDX-License-Identifier: MIT */
/*
 * stat.c - `poolmem stat`: one report of a running process, read from outside; the process notices nothing.
 */
#include "attach.h"
#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *option;
    report_format format;
} formats[] = {
    {"--text", FORMAT_TEXT}, {"--json", FORMAT_JSON}, {"--folded", FORMAT_FOLDED}, {"--heap", FORMAT_HEAP}};

typedef struct request {
    int pid;
    report_format format;
    unsigned top;
} request;

int stat_usage(FILE *out, int status)
{
    fprintf(out, "usage: poolmem stat [--text|--json|--folded|--heap] [--top N] PID\n"
                 "  one report of a running process, read from outside; at most N call-sites a pool\n");
    return status;
}

static bool take_format(const char *word, request *r)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(word, formats[i].option) == 0) {
            r->format = formats[i].format;
            return true;
        }
    return false;
}

/* False after a line about what is wrong. */
static bool read_arguments(int argc, char **argv, request *r)
{
    for (int i = 1; i < argc; i++) {
        if (take_format(argv[i], r))
            continue;
        if (strcmp(argv[i], "--top") == 0) {
            r->top = i + 1 < argc ? (unsigned)parse_pid(argv[++i]) : 0;
            if (!r->top)
                return tell(false, "stat: --top needs a number of call-sites, 1 or more");
        } else if (argv[i][0] == '-')
            return tell(false, "stat: %s: no such option", argv[i]);
        else if (r->pid)
            return tell(false, "stat: %s: one process at a time", argv[i]);
        else if (!(r->pid = parse_pid(argv[i])))
            return tell(false, "stat: %s: not a process id", argv[i]);
    }
    return r->pid || tell(false, "stat: no process given");
}

static int print_report(const report *r, report_format f)
{
    static char buf[1 << 16];
    sink out;
    sink_open(&out, buf, sizeof buf, 1);
    report_write(r, f, &out);
    if (sink_flush(&out))
        return tell(STATUS_FAILED, "stdout: %s", strerror(-out.error));
    return STATUS_DONE;
}

int stat_main(int argc, char **argv)
{
    request want = {.format = FORMAT_TEXT};
    attached a;
    if (!read_arguments(argc, argv, &want))
        return stat_usage(stderr, STATUS_USAGE);
    attach_status s = attach_open(&a, want.pid);
    if (s != ATTACH_OK)
        return attach_tell(s, want.pid);
    report *r = attach_report(&a, want.top);
    int status =
        r ? print_report(r, want.format)
          : tell(STATUS_FAILED, "process %d publishes in a layout this command does not know", want.pid);
    free(r);
    attach_close(&a);
    return status;
}
