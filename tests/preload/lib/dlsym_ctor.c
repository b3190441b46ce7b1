/* SPDX-License-Identifier: MIT */
/* A second preload of the usual sort: its constructor looks symbols up, one of them unknown (the loader
 * allocates the message), and allocates. */
#include <dlfcn.h>
#include "../check.h"

__attribute__((constructor)) static void look_up(void)
{
    void *(*next_malloc)(size_t) = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
    void *(*any_malloc)(size_t) = (void *(*)(size_t))dlsym(RTLD_DEFAULT, "malloc");
    expect(next_malloc && any_malloc, "dlsym of malloc in a constructor, expected found, got NULL");
    expect(!dlsym(RTLD_DEFAULT, "no_such_symbol_anywhere"), "dlsym of nothing, expected NULL, got a symbol");
    char *message = strdup(dlerror());
    expect(strstr(message, "no_such_symbol_anywhere"), "dlerror, expected the symbol's name, got %s",
           message);
    free(message);
    void *self = dlopen(NULL, RTLD_NOW);
    free(any_malloc(1000));
    dlclose(self);
}
