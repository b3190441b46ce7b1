/* SPDX-License-Identifier: MIT */
/*
 * request.h - floor F4: asks for a report of this process and sees that each request gets one.
 */
#ifndef POOLMEM_REQUEST_H
#define POOLMEM_REQUEST_H

#include "report.h"

/* After the configuration is read: maps the memory for reports, fixes where they go (a relative name is
   taken from the directory the process is in now). `signal` is the one kept open during a report. */
void request_boot(const char *target, int signal);

/* One report more. From any context, a signal handler included: the report is written before this returns,
   or by the thread that is writing reports now. Keeps errno. */
void request_report(report_reason why);

/* What a picture of this process is made from. Async-signal-safe. */
void request_source(report_source *s, report_reason why);
/* What was live just now may be more than any peak noted so far: the next report must not show less. */
void request_keep_peaks(const report *r);

/* The number of a report that is about to be written, and its return when it was not: then the next one gets
   it, unless a number has been given in between. Async-signal-safe. */
uint32_t request_number(void);
void request_number_back(uint32_t number);

/* This thread is inside request_report: what it was called for will be done when that returns. */
bool request_is_here(void);

/* After fork, in the child. */
void request_fork_child(void);

#endif
