/* SPDX-License-Identifier: MIT */
/* An independent count of a process's allocation calls: a preload before the library's that wraps every
 * entry, passes it on to the next, and writes the totals to COUNT_TOTALS at the end, as lines `name value`.
 *
 *  allocs       calls that gave a block: malloc, calloc, the aligned family, operators new, realloc(NULL,n)
 *  frees        free of a block, operators delete, realloc(p,0)
 *  reallocs     realloc of a live block to n > 0 that was granted
 *  alloc_bytes  bytes asked for by the allocs, plus the new sizes asked for by the reallocs
 *
 * A call that the next heap makes back into this one (libstdc++'s operator new calls malloc) is part of the
 * call that is being counted and is not counted again. Counters are relaxed atomics; nothing here allocates.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include "../check.h"

static atomic_ulong allocs, frees, reallocs, alloc_bytes;

#define COUNT(counter, by) atomic_fetch_add_explicit(&(counter), (by), memory_order_relaxed)

static void *next(void **kept, const char *name)
{
    if (!*kept)
        *kept = dlsym(RTLD_NEXT, name);
    return *kept;
}

/* calls the next `name` as type; resolved at the first call, in a static of the place */
#define NEXT(name, type)                                                                                     \
    ({                                                                                                       \
        static void *kept;                                                                                   \
        (type) next(&kept, name);                                                                            \
    })

static void *count_alloc(void *p, size_t bytes)
{
    if (p) {
        COUNT(allocs, 1);
        COUNT(alloc_bytes, bytes);
    }
    return p;
}

static void count_free(void *p)
{
    if (p)
        COUNT(frees, 1);
}

static void count_realloc(void *old, void *p, size_t bytes)
{
    if (old && !bytes) {
        COUNT(frees, 1);
        return;
    }
    if (!p)
        return;
    COUNT(*(old ? &reallocs : &allocs), 1);
    COUNT(alloc_bytes, bytes);
}

/* an allocating entry: `bytes` is what it asks for */
#define ALLOC(name, symbol, parameters, arguments, bytes)                                                    \
    void *name parameters                                                                                    \
    {                                                                                                        \
        return count_alloc(NEXT(symbol, void *(*)parameters) arguments, (bytes));                            \
    }
#define FREE(name, symbol, parameters, arguments)                                                            \
    void name parameters                                                                                     \
    {                                                                                                        \
        count_free(p);                                                                                       \
        NEXT(symbol, void(*) parameters) arguments;                                                          \
    }

ALLOC(malloc, "malloc", (size_t n), (n), n)
ALLOC(calloc, "calloc", (size_t count, size_t n), (count, n), count *n)
ALLOC(memalign, "memalign", (size_t align, size_t n), (align, n), n)
ALLOC(aligned_alloc, "aligned_alloc", (size_t align, size_t n), (align, n), n)
ALLOC(valloc, "valloc", (size_t n), (n), n)
ALLOC(pvalloc, "pvalloc", (size_t n), (n), n)
FREE(free, "free", (void *p), (p))

int posix_memalign(void **out, size_t align, size_t n)
{
    int error = NEXT("posix_memalign", int (*)(void **, size_t, size_t))(out, align, n);
    count_alloc(error ? NULL : *out, n);
    return error;
}

void *realloc(void *old, size_t n)
{
    void *p = NEXT("realloc", void *(*)(void *, size_t))(old, n);
    count_realloc(old, p, n);
    return p;
}

void *reallocarray(void *old, size_t count, size_t n)
{
    size_t bytes;
    void *p = NEXT("reallocarray", void *(*)(void *, size_t, size_t))(old, count, n);
    if (!__builtin_mul_overflow(count, n, &bytes))
        count_realloc(old, p, bytes);
    return p;
}

/* the operators by their C++ names */
#define NEW(symbol, parameters, arguments)                                                                   \
    void *symbol parameters;                                                                                 \
    ALLOC(symbol, #symbol, parameters, arguments, n)
#define DELETE(symbol, parameters, arguments)                                                                \
    void symbol parameters;                                                                                  \
    FREE(symbol, #symbol, parameters, arguments)

NEW(_Znwm, (size_t n), (n))
NEW(_Znam, (size_t n), (n))
NEW(_ZnwmRKSt9nothrow_t, (size_t n, void *nothrow), (n, nothrow))
NEW(_ZnamRKSt9nothrow_t, (size_t n, void *nothrow), (n, nothrow))
NEW(_ZnwmSt11align_val_t, (size_t n, size_t align), (n, align))
NEW(_ZnamSt11align_val_t, (size_t n, size_t align), (n, align))
NEW(_ZnwmSt11align_val_tRKSt9nothrow_t, (size_t n, size_t align, void *nothrow), (n, align, nothrow))
NEW(_ZnamSt11align_val_tRKSt9nothrow_t, (size_t n, size_t align, void *nothrow), (n, align, nothrow))
DELETE(_ZdlPv, (void *p), (p))
DELETE(_ZdaPv, (void *p), (p))
DELETE(_ZdlPvm, (void *p, size_t n), (p, n))
DELETE(_ZdaPvm, (void *p, size_t n), (p, n))
DELETE(_ZdlPvRKSt9nothrow_t, (void *p, void *nothrow), (p, nothrow))
DELETE(_ZdaPvRKSt9nothrow_t, (void *p, void *nothrow), (p, nothrow))
DELETE(_ZdlPvSt11align_val_t, (void *p, size_t align), (p, align))
DELETE(_ZdaPvSt11align_val_t, (void *p, size_t align), (p, align))
DELETE(_ZdlPvmSt11align_val_t, (void *p, size_t n, size_t align), (p, n, align))
DELETE(_ZdaPvmSt11align_val_t, (void *p, size_t n, size_t align), (p, n, align))
DELETE(_ZdlPvSt11align_val_tRKSt9nothrow_t, (void *p, size_t align, void *nothrow), (p, align, nothrow))
DELETE(_ZdaPvSt11align_val_tRKSt9nothrow_t, (void *p, size_t align, void *nothrow), (p, align, nothrow))

__attribute__((destructor)) static void write_totals(void)
{
    const char *path = getenv("COUNT_TOTALS");
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
    if (fd < 0)
        return;
    print(fd, "allocs %lu\nfrees %lu\nreallocs %lu\nalloc_bytes %lu", allocs, frees, reallocs, alloc_bytes);
    close(fd);
}
