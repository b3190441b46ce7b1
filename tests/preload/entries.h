/* SPDX-License-Identifier: MIT */
/* Every allocating entry as one table: what it is called, how to ask it for n bytes, the alignment it
 * promises. C++ programs get the operators too. A taker returns NULL when refused, whatever the entry's own
 * way to say so. */
#ifndef PROMISE_ENTRIES_H
#define PROMISE_ENTRIES_H

#include "check.h"
#ifdef __cplusplus
#include <new>
#endif

struct entry {
    const char *name;
    void *(*take)(size_t bytes);
    size_t align;
};

static inline void *take_malloc(size_t n)
{
    return malloc(n);
}
static inline void *take_calloc(size_t n)
{
    return calloc(1, n);
}
static inline void *take_calloc_bytes(size_t n)
{
    return calloc(n, 1);
}
static inline void *take_realloc(size_t n)
{
    return realloc(opaque(NULL), n);
}
static inline void *take_reallocarray(size_t n)
{
    return reallocarray(opaque(NULL), n, 1);
}
static inline void *take_memalign(size_t n)
{
    return memalign(64, n);
}
static inline void *take_memalign_wide(size_t n)
{
    return memalign(1 << 17, n);
}
static inline void *take_aligned_alloc(size_t n)
{
    return aligned_alloc(256, n);
}
static inline void *take_posix_memalign(size_t n)
{
    void *out = NULL;
    int error = posix_memalign(&out, 4096, n);
    if (error)
        errno = error;
    return error ? NULL : out;
}
static inline void *take_valloc(size_t n)
{
    return valloc(n);
}
static inline void *take_pvalloc(size_t n)
{
    return pvalloc(n);
}

#ifdef __cplusplus
static inline void *take_new(size_t n)
{
    try {
        return ::operator new(n);
    } catch (const std::bad_alloc &) {
        return NULL;
    }
}
static inline void *take_new_array(size_t n)
{
    try {
        return ::operator new[](n);
    } catch (const std::bad_alloc &) {
        return NULL;
    }
}
static inline void *take_new_nothrow(size_t n)
{
    return ::operator new(n, std::nothrow);
}
static inline void *take_new_array_nothrow(size_t n)
{
    return ::operator new[](n, std::nothrow);
}
static inline void *take_new_aligned(size_t n)
{
    try {
        return ::operator new(n, std::align_val_t(128));
    } catch (const std::bad_alloc &) {
        return NULL;
    }
}
static inline void *take_new_array_aligned(size_t n)
{
    try {
        return ::operator new[](n, std::align_val_t(8192));
    } catch (const std::bad_alloc &) {
        return NULL;
    }
}
static inline void *take_new_aligned_nothrow(size_t n)
{
    return ::operator new(n, std::align_val_t(32), std::nothrow);
}
static inline void *take_new_array_aligned_nothrow(size_t n)
{
    return ::operator new[](n, std::align_val_t(64), std::nothrow);
}
#endif

static const struct entry entries[] = {
    {"malloc", take_malloc, 16},
    {"calloc(1,n)", take_calloc, 16},
    {"calloc(n,1)", take_calloc_bytes, 16},
    {"realloc(NULL,n)", take_realloc, 16},
    {"reallocarray(NULL,n,1)", take_reallocarray, 16},
    {"memalign(64,n)", take_memalign, 64},
    {"memalign(128K,n)", take_memalign_wide, 1 << 17},
    {"aligned_alloc(256,n)", take_aligned_alloc, 256},
    {"posix_memalign(4096,n)", take_posix_memalign, 4096},
    {"valloc", take_valloc, 4096},
    {"pvalloc", take_pvalloc, 4096},
#ifdef __cplusplus
    {"new", take_new, 16},
    {"new[]", take_new_array, 16},
    {"new nothrow", take_new_nothrow, 16},
    {"new[] nothrow", take_new_array_nothrow, 16},
    {"new aligned", take_new_aligned, 128},
    {"new[] aligned", take_new_array_aligned, 8192},
    {"new aligned nothrow", take_new_aligned_nothrow, 32},
    {"new[] aligned nothrow", take_new_array_aligned_nothrow, 64},
#endif
};
enum { ENTRY_COUNT = sizeof entries / sizeof entries[0] };

#endif
