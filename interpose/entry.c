/* SPDX-License-Identifier: MIT */
/*
 * entry.c - see entry.h: the names of the entry points, as conditions and reports write them.
 * Locking: none, no state.
 */
#include "entry.h"

const char *entry_name(entry_id e)
{
    static const char *const names[ENTRY_COUNT] = {
        [ENTRY_MALLOC] = "malloc",    [ENTRY_CALLOC] = "calloc",    [ENTRY_REALLOC] = "realloc",
        [ENTRY_ALIGNED] = "memalign", [ENTRY_NEW] = "operator new", [ENTRY_NEW_ARRAY] = "operator new[]",
        [ENTRY_API] = "poolmem",
    };
    return (unsigned)e < ENTRY_COUNT ? names[e] : "unknown";
}
