/* SPDX-License-Identifier: MIT */
/*
 * report_bed.h - a published mapping made by hand, with figures a reader can add up: pools Global, System,
 * Lua (in Global, limited), Strings (in Lua); sites with and without frames; heaps that answer 100 bytes live
 * in one block for each unit of their `heap` number.
 */
#ifndef REPORT_BED_H
#define REPORT_BED_H

#include "../../interpose/report.h"

/* Fresh mapping of `bytes` exactly, in malloc'd memory: a read beyond it is a fault under ASan. */
stats_header *bed_create(size_t *bytes);
bool bed_figures(uint64_t world, uint64_t heap, memory_reader *reader, void *arg, heap_figures *out);
/* A report of the mapping in fresh memory of report_bytes(). */
report *bed_report(stats_header *h, size_t bytes);
/* The report in a format, in static memory, NUL at the end. */
const char *bed_format(report *r, report_format f);

#endif
