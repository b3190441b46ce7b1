/* SPDX-License-Identifier: MIT */
/*
 * quake_hunk_shim.h - the memory calls of a Quake-family engine (Hunk_*, Cache_*, Z_*) over poolmem. In place
 * of zone.c: include it where zone.h was; define QUAKE_HUNK_SHIM_IMPLEMENTATION before it in one file.
 *
 *   Hunk_*   a pool "Hunk" of kind hunk: low end, high end, the temporary block
 *   Z_*      a pool "Zone": small blocks that come and go, zeroed
 *   Cache_*  handles over a pool "Cache" with a limit: what is least recently used is purged when it is full,
 * and its cache_user_t then holds NULL, as the engine expects
 *
 * Errors end in QUAKE_SHIM_ERROR(format, ...), which is the engine's Sys_Error unless defined otherwise. One
 * thread, as the engine. The library must be there: linked or preloaded.
 */
#ifndef QUAKE_HUNK_SHIM_H
#define QUAKE_HUNK_SHIM_H

typedef struct cache_user_s {
    void *data;
} cache_user_t;

void Memory_Init(void *buf, int size);

void *Hunk_Alloc(int size);
void *Hunk_AllocName(int size, const char *name);
void *Hunk_HighAllocName(int size, const char *name);
int Hunk_LowMark(void);
void Hunk_FreeToLowMark(int mark);
int Hunk_HighMark(void);
void Hunk_FreeToHighMark(int mark);
void *Hunk_TempAlloc(int size);
void Hunk_Check(void);
void Hunk_Print(int all);

void *Z_Malloc(int size);
void *Z_TagMalloc(int size, int tag);
void Z_Free(void *block);
void Z_CheckHeap(void);

void *Cache_Alloc(cache_user_t *c, int size, const char *name);
void *Cache_Check(cache_user_t *c);
void Cache_Free(cache_user_t *c);
void Cache_Flush(void);
void Cache_Report(void);

#ifndef QUAKE_SHIM_CACHE
#define QUAKE_SHIM_CACHE (16 << 20) /* bytes the cache may hold */
#endif

#ifdef QUAKE_HUNK_SHIM_IMPLEMENTATION

#include <poolmem.h>
#include <stdio.h>
#include <string.h>

#ifndef QUAKE_SHIM_ERROR
void Sys_Error(const char *error, ...);
#define QUAKE_SHIM_ERROR Sys_Error
#endif

/* What stands before the data of a cache block; a multiple of 16. */
typedef struct shim_cache_head {
    cache_user_t *user;
    poolmem_handle handle;
    char name[16];
} shim_cache_head;

static struct {
    poolmem_pool *hunk, *zone, *cache;
    poolmem_handles *handles;
    poolmem_handle husk; /* what the last purge left */
} shim;

/* The memory of a cache block goes: the engine must see NULL. */
static void shim_cache_gone(void *arg, poolmem_handle handle, int purged)
{
    const void *block;
    (void)arg;
    if (poolmem_handle_read(shim.handles, handle, &block) == POOLMEM_OK)
        ((const shim_cache_head *)block)->user->data = NULL;
    if (purged)
        shim.husk = handle;
}

void Memory_Init(void *buf, int size)
{
    poolmem_options limit = {.limit = QUAKE_SHIM_CACHE, .over = POOLMEM_OVER_FAIL};
    (void)buf; /* the engine's own block is not needed any more */
    (void)size;
    shim.hunk = poolmem_pool_create("Hunk", NULL, POOLMEM_HUNK, NULL);
    shim.zone = poolmem_pool_create("Zone", NULL, POOLMEM_HEAP, NULL);
    shim.cache = poolmem_pool_create("Cache", NULL, POOLMEM_HEAP, &limit);
    shim.handles = poolmem_handles_create(shim.cache, 65536, 1);
    if (!shim.hunk || !shim.zone || !shim.cache || !shim.handles)
        QUAKE_SHIM_ERROR("Memory_Init: poolmem is not here, or has no memory");
    poolmem_handles_set_hook(shim.handles, shim_cache_gone, NULL);
}

/* --- hunk -------------------------------------------------------------------------------------------------
 */

static void *shim_hunk_alloc(poolmem_side side, int size, const char *name)
{
    void *block = size < 0 ? NULL : poolmem_hunk_alloc(shim.hunk, side, (size_t)size, name);
    if (!block)
        QUAKE_SHIM_ERROR("Hunk_Alloc: failed on %i bytes", size);
    return block;
}

void *Hunk_Alloc(int size)
{
    return shim_hunk_alloc(POOLMEM_LOW, size, "unused");
}

void *Hunk_AllocName(int size, const char *name)
{
    return shim_hunk_alloc(POOLMEM_LOW, size, name);
}

void *Hunk_HighAllocName(int size, const char *name)
{
    return shim_hunk_alloc(POOLMEM_HIGH, size, name);
}

int Hunk_LowMark(void)
{
    return (int)poolmem_hunk_mark(shim.hunk, POOLMEM_LOW);
}

int Hunk_HighMark(void)
{
    return (int)poolmem_hunk_mark(shim.hunk, POOLMEM_HIGH);
}

static void shim_free_to_mark(poolmem_side side, int mark)
{
    if (mark < 0 || poolmem_hunk_free_to_mark(shim.hunk, side, (size_t)mark) != POOLMEM_OK)
        QUAKE_SHIM_ERROR("Hunk_FreeToMark: bad mark %i", mark);
}

void Hunk_FreeToLowMark(int mark)
{
    shim_free_to_mark(POOLMEM_LOW, mark);
}

void Hunk_FreeToHighMark(int mark)
{
    shim_free_to_mark(POOLMEM_HIGH, mark);
}

/* NULL is given, not an error, as in the engine. */
void *Hunk_TempAlloc(int size)
{
    return size < 0 ? NULL : poolmem_hunk_temp_alloc(shim.hunk, (size_t)size);
}

void Hunk_Check(void)
{
    if (poolmem_pool_check(shim.hunk) != POOLMEM_OK)
        QUAKE_SHIM_ERROR("Hunk_Check: trashed");
}

void Hunk_Print(int all)
{
    poolmem_hunk_row rows[256];
    size_t count = poolmem_hunk_list(shim.hunk, rows, 256);
    for (size_t i = 0; i < count; i++)
        if (all || rows[i].bytes >= 4096)
            printf("%-4s %10zu bytes in %5zu blocks  %s\n", rows[i].side == POOLMEM_LOW ? "low" : "high",
                   rows[i].bytes, rows[i].blocks, rows[i].name);
}

/* --- zone --------------------------------------------------------------------------------------------------
 */

void *Z_Malloc(int size)
{
    void *block = size < 0 ? NULL : poolmem_calloc(shim.zone, 1, (size_t)size);
    if (!block)
        QUAKE_SHIM_ERROR("Z_Malloc: failed on allocation of %i bytes", size);
    return block;
}

void *Z_TagMalloc(int size, int tag)
{
    if (!tag)
        QUAKE_SHIM_ERROR("Z_TagMalloc: tried to use a 0 tag");
    return Z_Malloc(size);
}

void Z_Free(void *block)
{
    if (!block)
        QUAKE_SHIM_ERROR("Z_Free: NULL pointer");
    poolmem_free(block);
}

void Z_CheckHeap(void)
{
    if (poolmem_pool_check(shim.zone) != POOLMEM_OK)
        QUAKE_SHIM_ERROR("Z_CheckHeap: damaged");
}

/* --- cache -------------------------------------------------------------------------------------------------
 */

static shim_cache_head *shim_head(const cache_user_t *c)
{
    return (shim_cache_head *)c->data - 1;
}

/* Purges the least recently used block; 0: there is none. */
static int shim_purge_one(void)
{
    shim.husk = 0;
    poolmem_handles_compact(shim.handles, 1);
    return shim.husk && poolmem_handle_free(shim.handles, shim.husk) == POOLMEM_OK;
}

static shim_cache_head *shim_cache_block(size_t size)
{
    poolmem_handle handle;
    void *block = NULL;
    while (poolmem_handle_alloc(shim.handles, size, 1, POOLMEM_HANDLE_PURGEABLE, &handle) != POOLMEM_OK)
        if (!shim_purge_one())
            return NULL;
    poolmem_handle_edit(shim.handles, handle, &block);
    shim_cache_head *head = (shim_cache_head *)block;
    memset(block, 0, size);
    head->handle = handle;
    return head;
}

void *Cache_Alloc(cache_user_t *c, int size, const char *name)
{
    if (c->data)
        QUAKE_SHIM_ERROR("Cache_Alloc: already allocated");
    if (size <= 0)
        QUAKE_SHIM_ERROR("Cache_Alloc: size %i", size);
    shim_cache_head *head = shim_cache_block((size_t)size + sizeof *head);
    if (!head)
        QUAKE_SHIM_ERROR("Cache_Alloc: out of memory");
    head->user = c;
    snprintf(head->name, sizeof head->name, "%s", name ? name : "");
    c->data = head + 1;
    return c->data;
}

/* NULL: it was purged, load it again; else it is the most recently used one now. */
void *Cache_Check(cache_user_t *c)
{
    const void *block;
    if (c->data)
        poolmem_handle_read(shim.handles, shim_head(c)->handle, &block);
    return c->data;
}

void Cache_Free(cache_user_t *c)
{
    if (!c->data)
        QUAKE_SHIM_ERROR("Cache_Free: not allocated");
    poolmem_handle_free(shim.handles, shim_head(c)->handle);
}

void Cache_Flush(void)
{
    while (shim_purge_one())
        ;
}

void Cache_Report(void)
{
    poolmem_stats s;
    if (poolmem_pool_stats(shim.cache, &s) == POOLMEM_OK)
        printf("%4.1f megabyte data cache\n", (double)s.live_bytes / (1024 * 1024));
}

#endif
#endif
