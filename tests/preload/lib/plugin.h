/* SPDX-License-Identifier: MIT */
/* The body shared by the two plug-ins plugin_a.c and plugin_b.c: same code, same layout, so that the second
 * may be mapped where the first was. It allocates from deep frames, by itself and through the host's function
 * given to it. */
#ifndef PROMISE_PLUGIN_H
#define PROMISE_PLUGIN_H

#include <stdlib.h>
#include <string.h>

__attribute__((noinline, visibility("default"))) void *PLUGIN_TAKE(size_t bytes)
{
    volatile char *p = malloc(bytes);
    p[0] = 0;
    return (void *)p;
}

__attribute__((noinline)) static void *descend(int depth, size_t bytes, void *(*take)(size_t))
{
    if (depth == 0)
        return take ? take(bytes) : PLUGIN_TAKE(bytes);
    volatile char *p = descend(depth - 1, bytes, take);
    p[0] = (char)depth;
    return (void *)p;
}

/* allocates count blocks, half of them through the host, and frees them */
__attribute__((visibility("default"))) void plugin_run(int count, void *(*take)(size_t))
{
    for (int i = 0; i < count; i++) {
        void *p = descend(6, 24 + (size_t)i % 200, i % 2 ? take : NULL);
        memset(p, PLUGIN_MARK, 24);
        free(p);
    }
}

#endif
