/* SPDX-License-Identifier: MIT */
/*
 * base.h - floor F0: sizes, checked arithmetic, branch hints, assertion levels and the status codes
 * that every kind of pool returns. Nothing here touches the operating system.
 * Read next: os.h (memory from the system), then pool.h (the interface of floor F1).
 */
#ifndef POOLMEM_BASE_H
#define POOLMEM_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define HOT         __attribute__((hot))
#define COLD        __attribute__((cold, noinline))
#define NOINLINE    __attribute__((noinline))
/* A variable of many pages that are seldom touched: behind the others, so that those stand together. */
#define ROOMY  __attribute__((section(".bss.zz")))
#define INLINE static inline __attribute__((always_inline))

#define KIB(n) ((size_t)(n) << 10)
#define MIB(n) ((size_t)(n) << 20)
#define GIB(n) ((size_t)(n) << 30)
#define HIDDEN __attribute__((visibility("hidden")))

/* Sizes above this are refused everywhere: C's pointer differences could not express them. */
#define SIZE_LIMIT ((size_t)PTRDIFF_MAX)

/*
 * What a call to the core came to. The core never sets errno and never prints: the callers above
 * (interpose/, poolmem.h) turn a status into errno, a message or a count.
 */
typedef enum pool_status {
    POOL_OK = 0,
    POOL_ZERO,        /* a size of 0 where the kind hands out nothing for it; not a fault */
    POOL_NOMEM,       /* the system or the pool has no memory left */
    POOL_LIMIT,       /* the pool's budget refuses */
    POOL_ALIGN,       /* alignment not a power of two, or beyond what the kind can give */
    POOL_OVERFLOW,    /* size arithmetic would wrap */
    POOL_INVALID,     /* the pointer is inside the pool but not the start of a live block */
    POOL_DOUBLE_FREE, /* the pointer was the start of a block that is free already */
    POOL_FOREIGN,     /* the pointer is not the pool's at all */
    POOL_UNSUPPORTED, /* this kind cannot do that */
    POOL_FULL,        /* a bounded table (stack, registry, records) has no place left */
    POOL_EMPTY,       /* pop or release of something that is empty */
    POOL_MISMATCH,    /* another pool or mark was expected */
    POOL_NOT_FOUND,   /* no such name, handle, resource or entry */
    POOL_STALE,       /* a handle or mark whose object is gone */
    POOL_EXISTS,      /* the name or range is taken */
    POOL_BUSY,        /* refused while memory of it is in use (strict pools) */
    POOL_CORRUPT,     /* an invariant does not hold: see the message that went with it */
    POOL_IO           /* a file could not be opened, mapped or read as it should be */
} pool_status;

/* One lower-case phrase for a status; never NULL. Thread-safe, async-signal-safe. */
const char *pool_status_text(pool_status s);

INLINE bool is_pow2(size_t n)
{
    return n && !(n & (n - 1));
}
INLINE size_t round_up(size_t n, size_t pow2)
{
    return (n + (pow2 - 1)) & ~(pow2 - 1);
}
INLINE size_t round_down(size_t n, size_t pow2)
{
    return n & ~(pow2 - 1);
}
INLINE bool add_wraps(size_t a, size_t b, size_t *sum)
{
    return __builtin_add_overflow(a, b, sum);
}
INLINE bool mul_wraps(size_t a, size_t b, size_t *product)
{
    return __builtin_mul_overflow(a, b, product);
}
/* The ones of a word. The compiler's own calls libgcc, which is linked in behind all else (Makefile: SELDOM).
 */
INLINE uint32_t count_ones(uint64_t x)
{
    x -= x >> 1 & 0x5555555555555555u;
    x = (x & 0x3333333333333333u) + (x >> 2 & 0x3333333333333333u);
    return (uint32_t)(((x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu) * 0x0101010101010101u >> 56);
}
INLINE unsigned log2_floor(size_t n)
{
    return 63u - (unsigned)__builtin_clzll((unsigned long long)n);
}

/* Counters written by one thread and read by others: plain moves, but never torn or invented. */
#define relaxed_load(p)     __atomic_load_n((p), __ATOMIC_RELAXED)
#define relaxed_store(p, v) __atomic_store_n((p), (v), __ATOMIC_RELAXED)
#ifdef __SANITIZE_THREAD__
#define relaxed_add(p, v)                                                                                    \
    ({                                                                                                       \
        __typeof__(*(p)) sum_ = relaxed_load(p) + (v);                                                       \
        relaxed_store((p), sum_);                                                                            \
        sum_;                                                                                                \
    })
#define hot_load(p)     relaxed_load(p)
#define relaxed_down(p) (relaxed_add((p), -1) <= 0)
#else
/* Aligned words, so never torn; and one instruction on memory, which compilers do not make of the above. */
#define hot_load(p)       (*(p))
#define relaxed_add(p, v) (*(p) += (v))
/* Counts a 32-bit word down; true when it is 0 or less then. */
#define relaxed_down(p)                                                                                      \
    ({                                                                                                       \
        bool low_;                                                                                           \
        __asm__("subl $1, %0" : "+m"(*(p)), "=@ccle"(low_));                                                 \
        low_;                                                                                                \
    })
#endif

/* Makes a word at least `value`. */
INLINE void atomic_raise(uint64_t *word, uint64_t value)
{
    uint64_t now = relaxed_load(word);
    while (now < value &&
           !__atomic_compare_exchange_n(word, &now, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        continue;
}

/* Clears bit n % 64 of a word; true when it was set. */
INLINE bool bit_taken(uint64_t *word, uintptr_t n)
{
#ifdef __x86_64__
    bool was;
    __asm__("btrq %2, %0" : "+r"(*word), "=@ccc"(was) : "r"(n));
    return was;
#else
    uint64_t old = *word, bit = (uint64_t)1 << n % 64;
    *word = old & ~bit;
    return (old & bit) != 0;
#endif
}

/*
 * Assertions: POOL_DEBUG 0 (release) keeps `ensure` only; 1 (tests, sanitizer builds) also `ensure_debug`.
 * A failed check calls fatal_assert (fatal.h), which names file, line and expression.
 */
#ifndef POOL_DEBUG
#define POOL_DEBUG 0
#endif
COLD void fatal_assert(const char *file, int line, const char *expression);
#define ensure(e) (likely(e) ? (void)0 : fatal_assert(__FILE__, __LINE__, #e))
#if POOL_DEBUG
#define ensure_debug(e) ensure(e)
#else
#define ensure_debug(e) ((void)0)
#endif

#endif
