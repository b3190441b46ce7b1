/* SPDX-License-Identifier: MIT */
/*
 * aside.c - see aside.h. Whether calls arrive is tried, not guessed: a malloc before ours may hand everything
 * on (a preload that counts, a program that traces), or the address may be the program's own stub for ours.
 */
#include "aside.h"
#include "heap.h"

#include <dlfcn.h>
#include <sys/auxv.h>

aside aside_now;

static const void *base_of(const void *address)
{
    Dl_info object;
    return dladdr(address, &object) ? object.dli_fbase : NULL;
}

static bool arrives(void *(*theirs)(size_t))
{
    void (*drop)(void *) = (void (*)(void *))dlsym(RTLD_DEFAULT, "free");
    void *p = theirs(1);
    bool here = p && world_owns(p);
    if (drop)
        drop(p);
    return here;
}

const char *aside_other(void)
{
    void *found = dlsym(RTLD_DEFAULT, "malloc");
    if (found == dlsym(RTLD_DEFAULT, "poolmem_malloc") || arrives((void *(*)(size_t))found))
        return NULL;
    return base_of(found) == base_of((const void *)getauxval(AT_PHDR)) ? "the program" : "another library";
}

/* The definition behind ours, when ours is what everybody is bound to. */
static void *behind(const char *name)
{
    void *found = dlsym(RTLD_DEFAULT, name);
    return base_of(found) == base_of(&aside_now) ? dlsym(RTLD_NEXT, name) : NULL;
}

void aside_stand(void)
{
    aside_now.reallocarray = (void *(*)(void *, size_t, size_t))behind("reallocarray");
    aside_now.memalign = (void *(*)(size_t, size_t))behind("memalign");
    aside_now.malloc_usable_size = (size_t(*)(void *))behind("malloc_usable_size");
    aside_now.free = (void (*)(void *))dlsym(RTLD_DEFAULT, "free");
}
