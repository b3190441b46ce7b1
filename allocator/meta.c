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
    if (!lock_take_unless_mine(&meta_guard))
        return os_map(size);
    if ((size_t)(chunk_end - chunk) >= size || refill(size)) {
        p = chunk;
        chunk += size;
    }
    lock_drop(&meta_guard);
    return p;
}

void meta_fork_locks(lock_visit *visit)
{
    visit(&meta_guard);
}

void meta_fork_child(void)
{
    if (!lock_is_mine(&meta_guard))
        chunk = chunk_end = NULL; /* the next request maps a new one */
}
