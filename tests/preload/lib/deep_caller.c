/* SPDX-License-Identifier: MIT */
/* A plug-in that is loaded with RTLD_DEEPBIND, allocates for its host, frees for it, and loads a library that
 * only its own RUNPATH ($ORIGIN/deep) finds. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

char *deep_make(size_t bytes)
{
    char *p = malloc(bytes);
    return p ? memset(p, 'd', bytes) : NULL;
}

void deep_drop(char *p)
{
    free(p);
}

int deep_load(void)
{
    void *found = dlopen("deep_found.so", RTLD_NOW | RTLD_DEEPBIND);
    if (!found)
        return 0;
    int (*answer)(void) = (int (*)(void))dlsym(found, "deep_answer");
    int value = answer ? answer() : 0;
    dlclose(found);
    return value;
}
