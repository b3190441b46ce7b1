/* SPDX-License-Identifier: MIT */
/*
 * output.h - floor F4: brings a report to where POOLMEM_STATS says: stderr or a file.
 */
#ifndef POOLMEM_OUTPUT_H
#define POOLMEM_OUTPUT_H

#include "report.h"

#define OUTPUT_PATH 4096

/*
 * `target` is "stderr" or a pattern: %p pid, %e program, %n sequence, %t seconds since 1970, %% itself.
 * A file is written under another name in its directory and renamed when whole, so that a reader never sees
 * half a report. A symbolic link in its place is refused; a device or FIFO is written to as it is.
 * Async-signal-safe. False after one line said about what is wrong. `buf` is working memory, `path`
 * (OUTPUT_PATH bytes) tells where the report went.
 */
bool output_report(report *r, const char *target, char *buf, size_t cap, char *path);

/* The same to a path as it stands, in a given format. */
bool output_report_as(report *r, const char *path, report_format f, char *buf, size_t cap);

/* The first % of a pattern with a letter that stands for nothing; NULL: all is well. A % at the end is
 * itself. */
const char *output_unknown(const char *pattern);

/* The path a pattern comes to; false when it does not fit. */
bool output_path(const report *r, const char *pattern, char *path, size_t cap);

#endif
