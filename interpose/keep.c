/* SPDX-License-Identifier: MIT */
/*
 * keep.c - see keep.h: hands out pieces of mappings, front to back. A request too large for a chunk gets a
 * mapping of its own. Invariant: `at` is 16-byte aligned and at <= end.
 * Locking: the callers'. Cost: an addition; a mapping every 64 KiB.
 */
#include "keep.h"
#include "os.h"

#include <string.h>

static char *at, *end; /* what is left of the newest chunk */

void *keep_bytes(size_t size)
{
    const size_t chunk = KIB(64);
    size = round_up(size, 16);
    if (size > chunk / 4)
        return os_map(size);
    if ((size_t)(end - at) < size) {
        char *fresh = os_map(chunk);
        if (!fresh)
            return NULL;
        at = fresh;
        end = fresh + chunk;
    }
    char *p = at;
    at += size;
    return p;
}

const char *keep_text(const char *text, size_t length)
{
    char *copy = keep_bytes(length + 1);
    return copy ? memcpy(copy, text, length) : "";
}
