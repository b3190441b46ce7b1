/* SPDX-License-Identifier: MIT */
/* Promise: a library opened with RTLD_DEEPBIND uses the same heap as everybody (pointers may go both ways: no
 * foreign frees in the report), and a plug-in's own RUNPATH is kept when it opens another: the caller is
 * still known. */
#include <dlfcn.h>
#include <limits.h>
#include "check.h"

int main(void)
{
    char path[PATH_MAX + 32] = "";
    expect(readlink("/proc/self/exe", path, PATH_MAX - 1) > 0, "own path, expected found, got errno %d",
           errno);
    strcpy(strrchr(path, '/'), "/deep_caller.so");
    expect(!dlopen("deep_found.so", RTLD_NOW),
           "library on no path of the program's, expected NULL, got a handle");
    for (int round = 0; round < 20; round++) {
        void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
        expect(plugin != NULL, "dlopen with RTLD_DEEPBIND, expected a handle, got %s", dlerror());
        char *(*make)(size_t) = (char *(*)(size_t))dlsym(plugin, "deep_make");
        void (*drop)(char *) = (void (*)(char *))dlsym(plugin, "deep_drop");
        int (*load)(void) = (int (*)(void))dlsym(plugin, "deep_load");
        for (size_t bytes = 1; bytes < 1 << 20; bytes *= 3) {
            free(realloc(make(bytes), bytes * 2));
            drop(opaque(malloc(bytes)));
            drop(opaque(memalign(64, bytes)));
            drop(make(bytes));
        }
        expect_equal("answer of the library found by RUNPATH", 42, load());
        dlclose(plugin);
    }
    return passed();
}
