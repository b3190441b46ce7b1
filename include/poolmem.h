/* SPDX-License-Identifier: MIT */
/*
 * poolmem.h - the public interface of poolmem, for C11 and C++ (poolmem.hpp adds C++ comfort on top).
 *
 * One header, three ways to use it:
 *   linked      compile with what `pkg-config --cflags poolmem` says (-DPOOLMEM_LINKED), link -lpoolmem;
 *   optional    just include it: every call is a weak reference. Without the library push and pop do nothing
 *               and alloc is malloc; the last argument of each POOLMEM_CALL below is what it gives then;
 *   preloaded   the optional way, started under LD_PRELOAD=libpoolmem.so: the same calls reach the pools of
 *               the running library, shared with every other module of the process.
 *
 * Conventions. Sizes and figures are bytes unless a name says otherwise. A call that can fail in more than
 * one way returns a poolmem_status, 0 being success; a call that returns a pointer gives NULL on failure and,
 * for the core calls, sets errno (ENOMEM: no memory or over the limit; EINVAL: a bad argument). A NULL pool
 * means the pool on top of the calling thread's pool stack, wherever a pool is asked for to allocate from.
 * Names are at most 63 characters, compared exactly. Unless a call says otherwise it may be used from any
 * thread. No call may be used in a signal handler except poolmem_present and poolmem_status_text.
 */
#ifndef POOLMEM_H
#define POOLMEM_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- how a call is declared --------------------------------------------------------------------- */

#if defined(POOLMEM_LINKED) || defined(POOLMEM_BUILD)
#define POOLMEM_WEAK                                            0
#define POOLMEM_API                                             extern __attribute__((visibility("default")))
#define POOLMEM_CALL(type, name, parameters, arguments, absent) POOLMEM_API type name parameters;
#define POOLMEM_VOID(name, parameters, arguments, absent)       POOLMEM_API void name parameters;
#else
#define POOLMEM_WEAK 1
/* The library's symbol NAME is seen as NAME_weak; the inline function that the program calls gets another
 * symbol. */
#define POOLMEM_REAL(type, name, parameters)                                                                 \
    extern type name##_weak parameters __asm__(#name) __attribute__((weak, visibility("default")));          \
    static inline type name parameters __asm__(#name ".optional") __attribute__((unused));
#define POOLMEM_CALL(type, name, parameters, arguments, absent)                                              \
    POOLMEM_REAL(type, name, parameters)                                                                     \
    static inline type name parameters                                                                       \
    {                                                                                                        \
        return name##_weak ? name##_weak arguments : (absent);                                               \
    }
#define POOLMEM_VOID(name, parameters, arguments, absent)                                                    \
    POOLMEM_REAL(void, name, parameters)                                                                     \
    static inline void name parameters                                                                       \
    {                                                                                                        \
        if (name##_weak)                                                                                     \
            name##_weak arguments;                                                                           \
        else                                                                                                 \
            absent;                                                                                          \
    }
#endif

/* --- types -------------------------------------------------------------------------------------- */

/* What a call came to. The values are those of the library's core and never change. */
typedef enum poolmem_status {
    POOLMEM_OK = 0,
    POOLMEM_ZERO = 1,        /* a size of 0 where the kind hands out nothing for it; not a fault */
    POOLMEM_NOMEM = 2,       /* the system or the pool has no memory left */
    POOLMEM_LIMIT = 3,       /* the pool's budget refuses */
    POOLMEM_ALIGN = 4,       /* alignment not a power of two, or beyond what the kind can give */
    POOLMEM_OVERFLOW = 5,    /* size arithmetic would wrap */
    POOLMEM_INVALID = 6,     /* a bad argument: not the start of a live block, no such mark, NULL */
    POOLMEM_DOUBLE_FREE = 7, /* the block is free already */
    POOLMEM_FOREIGN = 8,     /* the pointer is not the pool's at all */
    POOLMEM_UNSUPPORTED = 9, /* this kind of pool cannot do that */
    POOLMEM_FULL = 10,       /* a bounded table (stack, registry, slots) has no place left */
    POOLMEM_EMPTY = 11,      /* pop of an empty stack; memory of a handle that was purged */
    POOLMEM_MISMATCH = 12,   /* another pool or mark was expected */
    POOLMEM_NOT_FOUND = 13,  /* no such name, handle, resource or entry */
    POOLMEM_STALE = 14,      /* a handle or mark whose object is gone */
    POOLMEM_EXISTS = 15,     /* the name or range is taken */
    POOLMEM_CORRUPT = 16,    /* a structure is damaged: see the message that went with it */
    POOLMEM_IO = 17,         /* a file could not be opened, mapped or read as it should be */
    POOLMEM_ABSENT = 18      /* the library is not in this process (optional way only) */
} poolmem_status;

/* How a pool works inside. */
typedef enum poolmem_kind {
    POOLMEM_HEAP = 0,   /* general purpose, thread-safe, grows; the only kind without a fixed size */
    POOLMEM_RETAIL = 1, /* block allocator of 1 KB blocks, addresses exact to the original */
    POOLMEM_CLUMP = 2,  /* bump allocator over one block of the parent, freed as a whole */
    POOLMEM_ARENA = 3,  /* bump allocator with marks, memory zeroed */
    POOLMEM_HUNK = 4    /* two growing ends of one reserved range, blocks with names */
} poolmem_kind;

/* What a pool does with a request above its limit. */
typedef enum poolmem_over {
    POOLMEM_OVER_WARN = 0,  /* grants it, counts it, says so once */
    POOLMEM_OVER_FAIL = 1,  /* NULL and ENOMEM */
    POOLMEM_OVER_SPILL = 2, /* the parent serves it; counted */
    POOLMEM_OVER_ABORT = 3  /* names pool and caller, ends the process */
} poolmem_over;

/* Format of a report. */
typedef enum poolmem_format {
    POOLMEM_FORMAT_AUTO = 0,   /* by the ending of the path: .json .txt .folded .heap; else text */
    POOLMEM_FORMAT_TEXT = 1,   /* tables for a person */
    POOLMEM_FORMAT_JSON = 2,   /* schema 1 */
    POOLMEM_FORMAT_FOLDED = 3, /* folded stacks, the pool as the first frames */
    POOLMEM_FORMAT_HEAP = 4    /* pprof heap text */
} poolmem_format;

/* For poolmem_options.flags. */
enum {
    POOLMEM_PRIVATE = 1, /* one thread uses the pool: no lock is taken (all kinds but heap) */
    POOLMEM_GROW = 2     /* arena: chain further chunks of the parent instead of being full */
};

/* A pool. Only pointers to it exist outside the library; valid from create or find until destroy. */
typedef struct poolmem_pool poolmem_pool;

/* How to make a pool; all zero means the kind's defaults. Set fields by name: more may be added at the end.
 */
typedef struct poolmem_options {
    size_t
        size; /* bytes of a fixed-size kind (retail, clump, arena: needed), low reserve of a hunk (0: 1 GB) */
    size_t limit;      /* most bytes it may hold, 0 none */
    poolmem_over over; /* what happens above the limit */
    unsigned flags;    /* POOLMEM_PRIVATE | POOLMEM_GROW */
    size_t high_size;  /* hunk: high reserve (0: 32 MB) */
    size_t chunk;      /* arena with POOLMEM_GROW: least bytes of a further chunk (0: as size) */
} poolmem_options;

/* Figures of one pool, as in the report. Exact at a quiet moment, never torn. */
typedef struct poolmem_stats {
    uint64_t live_bytes;         /* what the program could use of its live blocks */
    uint64_t live_blocks;        /* live blocks */
    uint64_t peak_bytes;         /* most live_bytes ever (heap: exact to a block per thread) */
    uint64_t allocs;             /* calls that handed out a block */
    uint64_t frees;              /* blocks that came back, singly or by mark, reset, id */
    uint64_t reallocs;           /* calls that resized a block */
    uint64_t alloc_bytes;        /* bytes asked for, summed over allocs and reallocs */
    uint64_t failed;             /* calls refused */
    uint64_t over_limit;         /* calls that met the limit */
    uint64_t committed_bytes;    /* memory the pool holds of its parent or the system */
    uint64_t free_bytes;         /* of that, not in live blocks */
    uint64_t largest_free_bytes; /* the largest request it could grant now without more memory */
    uint64_t limit_bytes;        /* its limit, 0 none */
    uint64_t reserved[3];        /* 0 */
} poolmem_stats;

/* --- the library itself -------------------------------------------------------------------------- */

/* 1 when the library is in this process (linked or preloaded), else 0. */
POOLMEM_CALL(int, poolmem_present, (void), (), 0)

/* Version of the running library, "MAJOR.MINOR.PATCH"; "" without it. The text lives for ever. */
POOLMEM_CALL(const char *, poolmem_version, (void), (), "")

/* One lower-case phrase for a status, never NULL. */
POOLMEM_CALL(const char *, poolmem_status_text, (poolmem_status status), (status),
             status == POOLMEM_OK ? "ok" : "the library is absent")

/* --- pools ---------------------------------------------------------------------------------------- */

/* The pool of that name, the first in tree order when there are several; NULL: none. */
POOLMEM_CALL(poolmem_pool *, poolmem_pool_find, (const char *name), (name), (poolmem_pool *)0)

/*
 * Makes a pool under `parent` (NULL: the root, Global). `options` may be NULL. A pool of that name, parent
 * and kind that exists already is returned as it is, so that two modules may both ask for "Audio"; a name
 * taken by another kind or parent gives NULL and EEXIST. Also NULL: ENOMEM, EINVAL (name empty or above 63
 * characters, a size the kind needs is missing).
 */
POOLMEM_CALL(poolmem_pool *, poolmem_pool_create,
             (const char *name, poolmem_pool *parent, poolmem_kind kind, const poolmem_options *options),
             (name, parent, kind, options), (poolmem_pool *)0)

/*
 * Gives the pool's memory back to its parent and forgets it. POOLMEM_MISMATCH: it has children, blocks are
 * live (heap, retail, clump), or it is on a pool stack; nothing has changed then. Built-in pools:
 * POOLMEM_UNSUPPORTED. The pool must not be in use by another thread.
 */
POOLMEM_CALL(poolmem_status, poolmem_pool_destroy, (poolmem_pool * pool), (pool), POOLMEM_OK)

/* Its name; "" for NULL. Valid as long as the pool. */
POOLMEM_CALL(const char *, poolmem_pool_name, (const poolmem_pool *pool), (pool), "")

/* Its parent; NULL for the root and for NULL. */
POOLMEM_CALL(poolmem_pool *, poolmem_pool_parent, (const poolmem_pool *pool), (pool), (poolmem_pool *)0)

/* Its kind; POOLMEM_HEAP for NULL. */
POOLMEM_CALL(poolmem_kind, poolmem_pool_kind, (const poolmem_pool *pool), (pool), POOLMEM_HEAP)

/* The pool that owns the block at `block`; NULL: not ours, or not inside a live pool. */
POOLMEM_CALL(poolmem_pool *, poolmem_pool_of, (const void *block), (block), (poolmem_pool *)0)

/* The deepest pool that contains every byte of the range; NULL: none does. `size` 0 counts as 1. */
POOLMEM_CALL(poolmem_pool *, poolmem_pool_of_range, (const void *start, size_t size), (start, size),
             (poolmem_pool *)0)

/*
 * Walks all pools, parents before children: NULL gives the first, the last gives NULL. Pools made or
 * destroyed meanwhile may be missed, but the walk ends and never gives a pool twice; hold on to none that
 * another thread may destroy.
 */
POOLMEM_CALL(poolmem_pool *, poolmem_pool_next, (const poolmem_pool *pool), (pool), (poolmem_pool *)0)

/* Sets the limit in bytes (0: none) and what happens above it. Applies to later requests. */
POOLMEM_CALL(poolmem_status, poolmem_pool_set_limit, (poolmem_pool * pool, size_t limit, poolmem_over over),
             (pool, limit, over), POOLMEM_ABSENT)

/* Fills *out. NULL pool or out: POOLMEM_INVALID. Costs no stop of other threads. */
POOLMEM_CALL(poolmem_status, poolmem_pool_stats, (poolmem_pool * pool, poolmem_stats *out), (pool, out),
             POOLMEM_ABSENT)

/* Walks every invariant of the pool: POOLMEM_OK, or POOLMEM_CORRUPT after a message that names the first
   broken one. The pool must be quiet. */
POOLMEM_CALL(poolmem_status, poolmem_pool_check, (poolmem_pool * pool), (pool), POOLMEM_OK)

/* --- the pool stack of the calling thread ---------------------------------------------------------- */

/* From here on, what no rule claims is served by `pool`. POOLMEM_FULL: nested too deep; POOLMEM_INVALID:
 * NULL. */
POOLMEM_CALL(poolmem_status, poolmem_pool_push, (poolmem_pool * pool), (pool), POOLMEM_OK)

/* Undoes the last push. `pool` is the one expected on top (NULL: whatever is there): POOLMEM_MISMATCH when it
   is another one, POOLMEM_EMPTY when nothing was pushed; the stack is unchanged then. */
POOLMEM_CALL(poolmem_status, poolmem_pool_pop, (poolmem_pool * pool), (pool), POOLMEM_OK)

/* The pool on top; Global when nothing was pushed. */
POOLMEM_CALL(poolmem_pool *, poolmem_pool_current, (void), (), (poolmem_pool *)0)

/* --- memory in a pool ------------------------------------------------------------------------------ */

/* At least `size` bytes, aligned to 16 (arena: 8 unless asked for more); size 0 gives what the kind gives:
   a unique block of a heap, NULL of retail. NULL and ENOMEM: none to be had. */
POOLMEM_CALL(void *, poolmem_alloc, (poolmem_pool * pool, size_t size), (pool, size), malloc(size))

/* The same at a power-of-two alignment; NULL and EINVAL when the kind cannot. */
POOLMEM_CALL(void *, poolmem_alloc_aligned, (poolmem_pool * pool, size_t size, size_t align),
             (pool, size, align), aligned_alloc(align, (size + align - 1) / align * align))

/* count * size zeroed bytes; NULL and ENOMEM also when the product wraps. */
POOLMEM_CALL(void *, poolmem_calloc, (poolmem_pool * pool, size_t count, size_t size), (pool, count, size),
             calloc(count, size))

/* Resizes a block of `pool`, contents kept. The block stays in the pool it came from whatever is said here;
   NULL block: allocates from `pool`. Size 0 frees and gives NULL. On failure NULL, and the block is as it
   was. */
POOLMEM_CALL(void *, poolmem_realloc, (poolmem_pool * pool, void *block, size_t size), (pool, block, size),
             realloc(block, size))

/* Frees a block, whichever pool it is of; NULL is nothing. Errors are counted and reported as for free(). */
POOLMEM_VOID(poolmem_free, (void *block), (block), free(block))

/* Usable bytes of a live block; 0 for NULL and for what is not ours. */
POOLMEM_CALL(size_t, poolmem_size, (const void *block), (block), 0)

/* --- reports --------------------------------------------------------------------------------------- */

/* Writes a report of all pools to `path`, which is made anew with a rename into place; NULL: to the place
   that POOLMEM_STATS names. POOLMEM_IO: it could not be written. */
POOLMEM_CALL(poolmem_status, poolmem_report, (const char *path, poolmem_format format), (path, format),
             POOLMEM_ABSENT)

/* The same to an open file descriptor (POOLMEM_FORMAT_AUTO: text). */
POOLMEM_CALL(poolmem_status, poolmem_report_fd, (int fd, poolmem_format format), (fd, format), POOLMEM_ABSENT)

/* Remembers the figures of every pool under `label` ("level 3 loaded", at most 63 characters, copied): later
   reports also show the difference since the last mark. NULL forgets the mark. */
POOLMEM_CALL(poolmem_status, poolmem_mark, (const char *label), (label), POOLMEM_OK)

/* Says one line for each live block of the pool (with its call-site when tracking is on) to the message hook
   or stderr, and returns how many there are; kinds that keep no list of blocks give a count alone. */
POOLMEM_CALL(size_t, poolmem_leaks, (poolmem_pool * pool), (pool), 0)

#ifdef __cplusplus
}
#endif

#endif
