/* SPDX-License-Identifier: MIT */
/*
 * api_report.h - floor F4: reports and figures that the program itself asks for through poolmem.h. Not for
 * signal handlers: memory for the report is mapped for the call. Thread-safe.
 */
#ifndef POOLMEM_API_REPORT_H
#define POOLMEM_API_REPORT_H

#include "pool.h"
#include "poolmem.h"

/* `format` as poolmem_format. NULL path: where POOLMEM_STATS says. POOL_NOMEM, POOL_IO. */
pool_status report_to_path(const char *path, int format);
pool_status report_to_fd(int fd, int format);
/* One pool's figures. */
pool_status report_pool_now(uint32_t id, poolmem_stats *out);
/* Keeps every pool's figures under a label, for the difference in later reports; NULL forgets it. */
pool_status report_mark(const char *label);

#endif
