/* SPDX-License-Identifier: MIT */
/* Promise: a program with a malloc of its own keeps it: the library says so at POOLMEM_VERBOSE=1 and stands
 * down. */
#include <dlfcn.h>
#include <stdatomic.h>
#include "check.h"

static _Alignas(16) char area[8u << 20];
static atomic_size_t used;
static atomic_uint calls;

void *malloc(size_t bytes)
{
    calls++;
    size_t room = (bytes + 31) / 16 * 16;
    size_t at = atomic_fetch_add(&used, room);
    if (at + room > sizeof area) {
        errno = ENOMEM;
        return NULL;
    }
    memcpy(area + at, &bytes, sizeof bytes);
    return area + at + 16;
}

void free(void *p)
{
    expect(!p || ((char *)p >= area && (char *)p < area + sizeof area),
           "free in the program's own heap, expected one of "
           "its blocks, got %p",
           p);
}

void *calloc(size_t count, size_t bytes)
{
    return malloc(count * bytes);
}

void *realloc(void *old, size_t bytes)
{
    void *p = malloc(bytes);
    if (p && old) {
        size_t had;
        memcpy(&had, (char *)old - 16, sizeof had);
        memcpy(p, old, had < bytes ? had : bytes);
    }
    return p;
}

int main(void)
{
    unsigned before = calls;
    char *text = strdup("kept");
    expect(text >= area && text < area + sizeof area, "strdup, expected in the program's own heap, got %p",
           (void *)text);
    FILE *file = fopen("/proc/self/maps", "r");
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, file) > 0)
        ;
    fclose(file);
    free(line);
    free(text);
    int *list = reallocarray(malloc(8), 100, sizeof *list);
    expect((char *)list >= area && (char *)list < area + sizeof area,
           "reallocarray, expected in the program's own heap, got %p", (void *)list);
    free(list);
    dlsym(RTLD_DEFAULT, "nothing_here");
    free(strdup(dlerror()));
    expect(calls >= before + 3, "calls that reached the program's own malloc, expected 3 or more, got %u",
           calls - before);
    return passed();
}
