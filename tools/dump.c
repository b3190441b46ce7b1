/* SPDX-License-Identifier: MIT */
/*
 * dump.c - `poolmem dump`: sends a process the signal that asks for a report and tells where it went. A
 * process that does not catch the signal would be ended by it, so that is looked at first.
 */
#include "attach.h"
#include "command.h"
#include "os.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PATIENCE_MS 5000
#define STEP_MS     5

/* A signal set of /proc/PID/status: "SigCgt:", "SigBlk:". */
static uint64_t signal_set(int pid, const char *which)
{
    char path[64], line[256];
    unsigned long set = 0;
    size_t n = strlen(which);
    snprintf(path, sizeof path, "/proc/%d/status", pid);
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, which, n) == 0)
            sscanf(line + n, "%lx", &set);
    if (f)
        fclose(f);
    return set;
}

static bool has_signal(int pid, const char *which, unsigned number)
{
    return signal_set(pid, which) >> (number - 1) & 1;
}

static uint32_t count(const uint32_t *field)
{
    return __atomic_load_n(field, __ATOMIC_ACQUIRE);
}

/* Until a report is in its place (true), could not be written, or does not come. */
static bool wait_for(const attached *a, uint32_t reported, uint32_t unwritten)
{
    const stats_header *h = a->header;
    for (int waited = 0; waited < PATIENCE_MS; waited += STEP_MS) {
        attach_refresh(a);
        if (count(&h->reported) != reported || count(&h->unwritten) != unwritten)
            break;
        usleep(STEP_MS * 1000);
    }
    return count(&h->reported) != reported;
}

static int say_missing(const attached *a, unsigned number, uint32_t unwritten)
{
    if (count(&a->header->unwritten) != unwritten)
        return tell(STATUS_FAILED, "process %d could not write its report; its stderr says why", a->pid);
    if (has_signal(a->pid, "SigBlk:", number))
        return tell(STATUS_FAILED, "no report after %d s: process %d blocks signal %u (%s)",
                    PATIENCE_MS / 1000, a->pid, number, strsignal((int)number));
    return tell(STATUS_FAILED, "no report after %d s: process %d has not taken signal %u; is it stopped?",
                PATIENCE_MS / 1000, a->pid, number);
}

static int ask(const attached *a)
{
    const stats_header *h = a->header;
    attach_refresh(a);
    unsigned number = h->signal;
    uint32_t reported = count(&h->reported), unwritten = count(&h->unwritten);
    if (!number || number > 64 || !has_signal(a->pid, "SigCgt:", number))
        return tell(STATUS_FAILED, "process %d takes no signal for reports (POOLMEM_SIGNAL=none?)", a->pid);
    if (sigqueue(a->pid, (int)number, (union sigval){0}) != 0)
        return tell(STATUS_FAILED, "process %d: %s", a->pid, strerror(errno));
    if (!wait_for(a, reported, unwritten))
        return say_missing(a, number, unwritten);
    printf("report %u of process %d: %.*s\n", reported + 1, a->pid, (int)sizeof h->report_path - 1,
           h->report_path);
    return STATUS_DONE;
}

int dump_usage(FILE *out, int status)
{
    fprintf(out, "usage: poolmem dump PID\n"
                 "  ask a running process for a report and tell where it went\n");
    return status;
}

int dump_main(int argc, char **argv)
{
    attached a;
    int pid = argc == 2 ? parse_pid(argv[1]) : 0;
    if (!pid) {
        tell(STATUS_USAGE, "dump: one process id expected");
        return dump_usage(stderr, STATUS_USAGE);
    }
    attach_status s = attach_open(&a, pid);
    if (s != ATTACH_OK)
        return attach_tell(s, pid);
    int status = ask(&a);
    attach_close(&a);
    return status;
}
