/* SPDX-License-Identifier: MIT */
/*
 * report_units.h - floor F4: figures as a person reads them, the same in every view. Async-signal-safe.
 */
#ifndef POOLMEM_REPORT_UNITS_H
#define POOLMEM_REPORT_UNITS_H

#include "base.h"

/* Three digits and a unit: "17 B", "1.25 MiB", "1023 KiB"; at most 8 characters. */
const char *bytes_text(char out[16], uint64_t n);
/* Exact to five digits, then "123k", "4.56M"; at most 6 characters. */
const char *count_text(char out[16], uint64_t n);
/* What a word takes behind the number. */
const char *plural(uint64_t n);

#endif
