/* SPDX-License-Identifier: MIT */
/* Promise: a program whose own malloc only counts and hands on to the next one is served as any other: no
 * standing down. */
#include <dlfcn.h>
#include <stdatomic.h>
#include "check.h"

static atomic_uint calls;

void *malloc(size_t bytes)
{
    static void *(*next)(size_t);
    if (!next)
        next = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
    calls++;
    return next(bytes);
}

void free(void *p)
{
    static void (*next)(void *);
    if (!next)
        next = (void (*)(void *))dlsym(RTLD_NEXT, "free");
    next(p);
}

int main(void)
{
    unsigned before = calls;
    for (size_t bytes = 1; bytes < 1 << 20; bytes *= 2) {
        int *list = reallocarray(malloc(bytes), bytes, sizeof *list);
        expect(list != NULL, "reallocarray of a traced block, expected a pointer, got NULL");
        list[bytes - 1] = 1;
        free(list);
        free(memalign(4096, bytes));
        free(strdup("text"));
    }
    expect(calls - before >= 40, "traced calls, expected 40 or more, got %u", calls - before);
    return passed();
}
