/* SPDX-License-Identifier: MIT */
/*
 * entry.h - floor F4: which function of the malloc family was called, as `entry:` conditions name it.
 */
#ifndef POOLMEM_ENTRY_H
#define POOLMEM_ENTRY_H

typedef enum entry_id {
    ENTRY_MALLOC,
    ENTRY_CALLOC,
    ENTRY_REALLOC, /* and reallocarray */
    ENTRY_ALIGNED, /* memalign aligned_alloc posix_memalign valloc pvalloc */
    ENTRY_NEW,     /* operator new, all but the arrays */
    ENTRY_NEW_ARRAY,
    ENTRY_API, /* poolmem.h */
    ENTRY_COUNT
} entry_id;

/* "malloc", "calloc", "realloc", "memalign", "operator new", "operator new[]", "poolmem" */
const char *entry_name(entry_id e);

#endif
