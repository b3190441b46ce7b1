/* SPDX-License-Identifier: MIT */
/*
 * api_lua.c - see api.h: the allocator of a Lua state over one pool. Lua promises the old size, asks for
 * nothing above a pointer's alignment, and takes NULL as its memory error after one garbage collection; a
 * block made smaller must never fail. In the preload it goes through poolmem_realloc, so that its calls are
 * counted like all others; a program that has only libpool.a reaches the pool itself.
 */
#include "api.h"

#pragma weak poolmem_realloc
#pragma weak poolmem_free

static void *resize(void *arg, void *block, size_t size)
{
    void *out = NULL;
    if (poolmem_realloc)
        return poolmem_realloc(arg, block, size);
    if (arg)
        pool_resize(arg, block, &(pool_request){.size = size, .align = 16, .tag = "Lua"}, &out);
    return out;
}

void *poolmem_lua_alloc(void *arg, void *block, size_t old_size, size_t new_size)
{
    if (!new_size) {
        if (poolmem_free)
            poolmem_free(block);
        else if (arg)
            pool_free(arg, block);
        return NULL;
    }
    void *out = resize(arg, block, new_size);
    /* without a block, old_size is the type of what Lua is about to make */
    return !out && block && new_size <= old_size ? block : out;
}
