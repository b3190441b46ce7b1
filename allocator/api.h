/* SPDX-License-Identifier: MIT */
/*
 * api.h - floor F3: what the files behind poolmem.h share (api_pools.c, api_handles.c, api_resources.c): the
 * public types are the core's under another name. These files are in libpool.a and in the preload; the calls
 * that need the process's own pools (create, find, push, report) are the preload's.
 */
#ifndef POOLMEM_API_H
#define POOLMEM_API_H

#define POOLMEM_BUILD 1
#include "handle.h"
#include "poolmem.h"
#include "pool.h"

_Static_assert((int)POOLMEM_STALE == (int)POOL_STALE && (int)POOLMEM_BUSY == (int)POOL_BUSY &&
                   (int)POOLMEM_IO == (int)POOL_IO,
               "the statuses are the core's");
_Static_assert((int)POOLMEM_HUNK == (int)POOL_HUNK && (int)POOLMEM_OVER_ABORT == (int)OVER_ABORT,
               "kinds and policies are the core's");

INLINE poolmem_status public_status(pool_status s)
{
    return (poolmem_status)s;
}

INLINE pool *core_pool(poolmem_pool *p)
{
    return (pool *)p;
}

/*
 * A handle table with a lock that its own hooks may pass: they run in the thread that holds it.
 * Invariant: owner and depth are written by the holder only.
 */
struct poolmem_handles {
    handle_table core;
    int owner; /* atomic: thread id of the holder, 0 none */
    unsigned depth;
    poolmem_handle_hook *hook;
    void *hook_arg;
};

void api_enter(poolmem_handles *t);
void api_leave(poolmem_handles *t);

#endif
