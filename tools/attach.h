/* SPDX-License-Identifier: MIT */
/*
 * attach.h - floor F5: the published mapping of another process, without its help: mapped through its
 * descriptor or through its list of mappings, or else copied out of its memory.
 */
#ifndef POOLMEM_ATTACH_H
#define POOLMEM_ATTACH_H

#include "../interpose/report.h"

typedef enum attach_status {
    ATTACH_OK,
    ATTACH_NO_PROCESS,
    ATTACH_NOT_OURS,   /* it does not run under the library */
    ATTACH_NO_MAPPING, /* it does, but had no file to publish in */
    ATTACH_DENIED
} attach_status;

typedef struct attached {
    int pid;
    const stats_header *header; /* read-only */
    size_t bytes;
    void *copy; /* not NULL: a copy of the moment, in our memory */
} attached;

attach_status attach_open(attached *a, int pid);
/* Brings the header of a copy up to date; a mapping is so by itself. */
void attach_refresh(const attached *a);
void attach_close(attached *a);
/* One line about a status that is not ATTACH_OK; returns STATUS_FAILED. */
int attach_tell(attach_status s, int pid);
/* A report of the process as it is now, in memory of its own (free it); NULL: not a mapping we know. */
report *attach_report(const attached *a, unsigned top);

#endif
