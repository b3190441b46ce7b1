/* SPDX-License-Identifier: MIT */
/* meta.c - see meta.h: a bump over mapped chunks, under one lock (RANK_META, the innermost). */
#include "meta.h"
#include "lock.h"
#include "os.h"

#define META_ALIGN ((size_t)64)
#define META_CHUNK KIB(64)

static lock meta_guard = LOCK_INIT(RANK_META);
static char *chunk, *chunk_end;

static bool refill(size_t size)
{
    size_t bytes = size > META_CHUNK ? size : META_CHUNK;
    char *fresh = os_map(bytes);
    if (!fresh)
        return false;
    chunk = fresh;
    chunk_end = fresh + bytes;
    return true;
}

void *meta_alloc(size_t size)
{
    void *p = NULL;
    size = round_up(size, META_ALIGN);
    lock_take(&meta_guard);
    if ((size_t)(chunk_end - chunk) >= size || refill(size)) {
        p = chunk;
        chunk += size;
    }
    lock_drop(&meta_guard);
    return p;
}

bool meta_lock(void)
{
    return lock_take_unless_mine(&meta_guard);
}

void meta_unlock(void)
{
    lock_drop(&meta_guard);
}
