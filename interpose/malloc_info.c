/* SPDX-License-Identifier: MIT */
/*
 * malloc_info.c - floor F4: glibc's questions about the heap, answered for all pools together.
 */
#include "boot.h"
#include "heap_stats.h"
#include "pools.h"

#include <errno.h>
#include <malloc.h>
#include <stdio.h>

#define EXPORT __attribute__((visibility("default")))

static heap_figures all_figures(void)
{
    heap_figures sum = {0};
    for (uint32_t i = 0; i < pools_count(); i++) {
        heap_figures f;
        pool *p = pools_get(i);
        if (p->kind != POOL_HEAP || !heap_figures_read((uintptr_t)&world, (uintptr_t)p, NULL, NULL, &f))
            continue;
        sum.live_bytes += f.live_bytes;
        sum.live_blocks += f.live_blocks;
        sum.committed_bytes += f.committed_bytes;
        sum.free_bytes += f.free_bytes;
    }
    return sum;
}

EXPORT struct mallinfo2 mallinfo2(void)
{
    heap_figures f = all_figures();
    return (struct mallinfo2){.arena = f.committed_bytes, .uordblks = f.live_bytes, .fordblks = f.free_bytes};
}

EXPORT struct mallinfo mallinfo(void)
{
    struct mallinfo2 m = mallinfo2();
    return (struct mallinfo){.arena = (int)m.arena, .uordblks = (int)m.uordblks, .fordblks = (int)m.fordblks};
}

EXPORT int malloc_trim(size_t pad)
{
    thread *t = self == &cold_thread ? thread_start() : self;
    if (t == &cold_thread)
        return 0;
    uint64_t before = all_figures().committed_bytes;
    heap_trim(&t->heap, true);
    return all_figures().committed_bytes < before;
}

EXPORT void malloc_stats(void)
{
    heap_figures f = all_figures();
    fprintf(stderr, "poolmem: %lu bytes in %lu blocks live, %lu bytes committed\n", f.live_bytes,
            f.live_blocks, f.committed_bytes);
}

EXPORT int malloc_info(int options, FILE *out)
{
    if (options) {
        errno = EINVAL;
        return -1;
    }
    fprintf(out, "<malloc version=\"poolmem-%s\">\n", POOLMEM_VERSION);
    for (uint32_t i = 0; i < pools_count(); i++) {
        pool_stats s;
        pool_get_stats(pools_get(i), &s);
        fprintf(out, "<pool name=\"%s\" live=\"%lu\" blocks=\"%lu\" committed=\"%lu\"/>\n", pools_name(i),
                s.live_bytes, s.live_blocks, s.committed_bytes);
    }
    fprintf(out, "</malloc>\n");
    return 0;
}

/* glibc's tunables mean nothing here; as for an allocator without them, every setting is accepted. */
EXPORT int mallopt(int parameter, int value)
{
    return 1;
}
