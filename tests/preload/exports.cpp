// SPDX-License-Identifier: MIT
// Promise: every entry of the malloc family and every C++ operator is the library's own, so that no pointer
// is ever made by one heap and freed by another. (Without the library: the names that glibc and libstdc++
// know all resolve.)
#include <dlfcn.h>
#include <new>
#include "check.h"

static const char *const names[] = {"malloc",
                                    "calloc",
                                    "realloc",
                                    "reallocarray",
                                    "free",
                                    "cfree",
                                    "memalign",
                                    "aligned_alloc",
                                    "posix_memalign",
                                    "valloc",
                                    "pvalloc",
                                    "malloc_usable_size",
                                    "free_sized",
                                    "free_aligned_sized",
                                    "mallinfo",
                                    "mallinfo2",
                                    "malloc_trim",
                                    "malloc_stats",
                                    "malloc_info",
                                    "mallopt",
                                    "_Znwm",
                                    "_Znam",
                                    "_ZnwmRKSt9nothrow_t",
                                    "_ZnamRKSt9nothrow_t",
                                    "_ZnwmSt11align_val_t",
                                    "_ZnamSt11align_val_t",
                                    "_ZnwmSt11align_val_tRKSt9nothrow_t",
                                    "_ZnamSt11align_val_tRKSt9nothrow_t",
                                    "_ZdlPv",
                                    "_ZdaPv",
                                    "_ZdlPvm",
                                    "_ZdaPvm",
                                    "_ZdlPvRKSt9nothrow_t",
                                    "_ZdaPvRKSt9nothrow_t",
                                    "_ZdlPvSt11align_val_t",
                                    "_ZdaPvSt11align_val_t",
                                    "_ZdlPvmSt11align_val_t",
                                    "_ZdaPvmSt11align_val_t",
                                    "_ZdlPvSt11align_val_tRKSt9nothrow_t",
                                    "_ZdaPvSt11align_val_tRKSt9nothrow_t"};

static bool newer_than_libc(const char *name)
{
    return !strcmp(name, "cfree") || !strncmp(name, "free_", 5);
}

int main()
{
    ::operator delete(opaque(::operator new(4))); // keeps libstdc++ linked
    for (const char *name : names) {
        void *symbol = dlsym(RTLD_DEFAULT, name);
        if (!symbol && !library() && newer_than_libc(name))
            continue;
        expect(symbol != NULL, "symbol %s, expected defined, got nothing", name);
        Dl_info info;
        expect(dladdr(symbol, &info) != 0, "dladdr of %s, expected found, got nothing", name);
        if (library())
            expect(strstr(info.dli_fname, "libpoolmem.so") != NULL,
                   "home of %s, expected libpoolmem.so, got %s", name, info.dli_fname);
    }
    return passed();
}
