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
#if defined(__has_attribute) && __has_attribute(noplt) && !defined(__clang__)
#define POOLMEM_OPTIONAL __attribute__((weak, noplt, visibility("default")))
#else /* clang: programs built with -fno-pic see no library that was not linked; the default, PIE, is fine   \
       */
#define POOLMEM_OPTIONAL __attribute__((weak, visibility("default")))
#endif
/* The library's symbol NAME is seen as NAME_weak; the inline function that the program calls gets another
 * symbol. */
#define POOLMEM_REAL(type, name, parameters)                                                                 \
    extern type name##_weak parameters __asm__(#name) POOLMEM_OPTIONAL;                                      \
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
    POOLMEM_BUSY = 16,       /* refused while memory of it is in use */
    POOLMEM_CORRUPT = 17,    /* a structure is damaged: see the message that went with it */
    POOLMEM_IO = 18,         /* a file could not be opened, mapped or read as it should be */
    POOLMEM_ABSENT = 19      /* the library is not in this process (optional way only) */
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
    POOLMEM_PRIVATE = 1, /* a hint: one thread alone uses the pool, so that its lock may be left out */
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

/* What a line is about, worst last. */
typedef enum poolmem_level {
    POOLMEM_NOTE = 0,    /* asked for: leaks, listings */
    POOLMEM_WARNING = 1, /* "arena full", a broken file */
    POOLMEM_MISUSE = 2,  /* what the program did wrong */
    POOLMEM_FATAL = 3    /* the last line of the process */
} poolmem_level;

/* Receives one line without its end. Must not allocate from the pool that has something to say. */
typedef void poolmem_message_hook(poolmem_level level, const char *line, void *arg);

/* From here on the library's lines go to `hook` instead of stderr; NULL: back to where they went before. Call
   it while one thread runs. */
POOLMEM_VOID(poolmem_set_message_hook, (poolmem_message_hook * hook, void *arg), (hook, arg), (void)0)

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
 * Gives the pool's memory back to its parent and forgets it. POOLMEM_BUSY: it has children, blocks are
 * live (heap, retail, clump), or it is on a pool stack; nothing has changed then. Built-in pools:
 * POOLMEM_UNSUPPORTED. The pool must not be in use by another thread.
 *
 * A destroyed pool serves nothing any more: push, set_limit, set_option, stats, check and a second destroy
 * give POOLMEM_STALE, allocating from it and making a pool under it NULL and EINVAL, a handle table over it
 * NULL, the calls of one kind what they give for another kind. Making a pool of its name, kind and parent
 * again may give the same pointer a new life.
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
   NULL; POOLMEM_STALE: destroyed. What an arena or a hunk serves is freed by mark, reset or destroy: free()
   of it is accepted and does nothing. */
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
             (pool, size, align),
             align &&size <= (size_t)-1 - align ? aligned_alloc(align, (size + align - 1) / align * align)
                                                : (void *)0)

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

/* --- Lua -------------------------------------------------------------------------------------------- */

/*
 * A lua_Alloc: lua_newstate(poolmem_lua_alloc, pool) keeps a whole Lua state in `pool` (NULL: the pool on top
 * when each call is made). What the pool refuses, by its limit or because it is full, is Lua's own "not
 * enough memory" error; making a block smaller never fails. As thread-safe as the Lua state.
 */
POOLMEM_CALL(void *, poolmem_lua_alloc, (void *pool, void *block, size_t old_size, size_t new_size),
             (pool, block, old_size, new_size),
             new_size ? realloc(block, new_size) : (free(block), (void *)0))

/* --- every kind ----------------------------------------------------------------------------------- */

/* What a pool can be told. */
typedef enum poolmem_option {
    POOLMEM_COUNT_FREES = 0, /* clump: the last free of a live block empties the clump */
    POOLMEM_STRICT =
        1 /* refuse what is otherwise mended and counted, such as freeing one block of an arena */
} poolmem_option;

/* POOLMEM_UNSUPPORTED: the kind does not know the option. */
POOLMEM_CALL(poolmem_status, poolmem_pool_set_option,
             (poolmem_pool * pool, poolmem_option option, size_t value), (pool, option, value), POOLMEM_OK)

/* The largest request it could grant now; of a retail pool found by trial, with the original's effects on the
   heap. 0 for NULL and for a clump, as in the original. */
POOLMEM_CALL(size_t, poolmem_pool_largest_free, (poolmem_pool * pool), (pool), 0)

/* --- arena ------------------------------------------------------------------------------------------ */
/*
 * A pool of kind POOLMEM_ARENA: memory is handed out one piece behind the other, zeroed, and given back by
 * going to a mark or all at once. Of another kind: POOLMEM_UNSUPPORTED, NULL or 0. Full: NULL after the
 * message "arena full: ...". Source: the level arena of small games in HolyC; docs/engine.md says what
 * differs.
 */

/* A place to go back to; fill it with poolmem_arena_mark only. */
typedef struct poolmem_arena_point {
    uint64_t used, blocks;
    uint32_t serial, reserved;
} poolmem_arena_point;

/* Zeroed bytes, 8-byte aligned, or aligned to any power of two. Size 0 gives a pointer not to be read. */
POOLMEM_CALL(void *, poolmem_arena_alloc, (poolmem_pool * arena, size_t size), (arena, size), (void *)0)
POOLMEM_CALL(void *, poolmem_arena_alloc_aligned, (poolmem_pool * arena, size_t size, size_t align),
             (arena, size, align), (void *)0)

/* Marks nest; what was marked may be gone back to any number of times until something before it was given
 * back. */
POOLMEM_CALL(poolmem_status, poolmem_arena_mark, (poolmem_pool * arena, poolmem_arena_point *out),
             (arena, out), POOLMEM_ABSENT)
/* POOLMEM_STALE: given back already with an earlier mark; POOLMEM_INVALID: above what is used. Nothing
 * changes then. */
POOLMEM_CALL(poolmem_status, poolmem_arena_restore, (poolmem_pool * arena, const poolmem_arena_point *point),
             (arena, point), POOLMEM_ABSENT)
/* Gives everything back. Peak and contents stay. */
POOLMEM_CALL(poolmem_status, poolmem_arena_reset, (poolmem_pool * arena), (arena), POOLMEM_ABSENT)

/* Bytes in use, and the most there ever were. */
POOLMEM_CALL(size_t, poolmem_arena_used, (poolmem_pool * arena), (arena), 0)
POOLMEM_CALL(size_t, poolmem_arena_peak, (poolmem_pool * arena), (arena), 0)

/* A copy of a text (NULL gives NULL), and a text formatted as printf would: %s %c %d %i %u %x %p %%, with
   lengths, width, precision of %s, and flags 0 and -; no floating point. */
POOLMEM_CALL(char *, poolmem_arena_strdup, (poolmem_pool * arena, const char *text), (arena, text), (char *)0)
POOLMEM_CALL(char *, poolmem_arena_vformat, (poolmem_pool * arena, const char *format, va_list args),
             (arena, format, args), (char *)0)
static inline char *poolmem_arena_format(poolmem_pool *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3), unused));
static inline char *poolmem_arena_format(poolmem_pool *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = poolmem_arena_vformat(arena, format, args);
    va_end(args);
    return text;
}

/* Two arenas taken in turn: what the frame before made is still there in this one. Fill `half`, zero `frame`.
 */
typedef struct poolmem_frames {
    poolmem_pool *half[2];
    uint64_t frame; /* frames begun */
} poolmem_frames;

/* Begins a frame: empties the arena used two frames ago and returns it. One thread. */
static inline poolmem_pool *poolmem_frame_begin(poolmem_frames *frames) __attribute__((unused));
static inline poolmem_pool *poolmem_frame_begin(poolmem_frames *frames)
{
    poolmem_pool *arena = frames->half[++frames->frame & 1];
    poolmem_arena_reset(arena);
    return arena;
}

/* --- hunk -------------------------------------------------------------------------------------------- */
/*
 * A pool of kind POOLMEM_HUNK: two ends of one reserved range that grow upwards, of zeroed blocks with names
 * of up to 8 characters, given back by going to a mark; and one temporary block. poolmem_pool_check walks its
 * sentinels. Source: Quake's Hunk_ calls, as rebuilt for reserved address space; docs/engine.md says what
 * differs.
 */
typedef enum poolmem_side { POOLMEM_LOW = 0, POOLMEM_HIGH = 1 } poolmem_side;

/* One row of a listing: all blocks of one name at one end, heads included. */
typedef struct poolmem_hunk_row {
    char name[9];
    poolmem_side side;
    size_t blocks, bytes;
} poolmem_hunk_row;

/* A zeroed block, 16-byte aligned; NULL: the reserve or the limit is reached, or the system has no memory.
   `name` NULL: "unused". At the high end the temporary block is freed first. */
POOLMEM_CALL(void *, poolmem_hunk_alloc,
             (poolmem_pool * hunk, poolmem_side side, size_t size, const char *name),
             (hunk, side, size, name), (void *)0)
/* Bytes in use at an end, heads included: the mark to go back to. Asking at the high end frees the temporary
 * block. */
POOLMEM_CALL(size_t, poolmem_hunk_mark, (poolmem_pool * hunk, poolmem_side side), (hunk, side), 0)
/* Gives back all above a mark, which then reads as zero. POOLMEM_INVALID: no block begins there, or above
 * what is used. */
POOLMEM_CALL(poolmem_status, poolmem_hunk_free_to_mark, (poolmem_pool * hunk, poolmem_side side, size_t mark),
             (hunk, side, mark), POOLMEM_ABSENT)
/* The one temporary block, not zeroed; frees the one before. NULL: no memory. */
POOLMEM_CALL(void *, poolmem_hunk_temp_alloc, (poolmem_pool * hunk, size_t size), (hunk, size), (void *)0)
POOLMEM_VOID(poolmem_hunk_temp_free, (poolmem_pool * hunk), (hunk), (void)0)
/* Fills at most `cap` rows, in the order in which names first appear; what does not fit is summed in the
 * last, "(others)". */
POOLMEM_CALL(size_t, poolmem_hunk_list, (poolmem_pool * hunk, poolmem_hunk_row *rows, size_t cap),
             (hunk, rows, cap), 0)

/* --- handles ----------------------------------------------------------------------------------------- */
/*
 * Memory behind handles: groups freed by an id, mapped files, and memory that may be purged and loaded again.
 * A handle whose memory is gone gives an error, never memory. Thread-safe: a table has one lock; hooks run
 * under it and may call back from the same thread. Pointers stay good until the handle is freed or, unlocked
 * and purgeable, compacted. Source: the MM layer of a flight game of 1997; docs/engine.md says what differs.
 */
typedef struct poolmem_handles poolmem_handles;
typedef uint64_t poolmem_handle; /* 0: none */

#define POOLMEM_HANDLE_PURGED    0x1000u /* the memory is gone: free the husk, load again */
#define POOLMEM_HANDLE_MAPPED    0x4000u /* a mapped file */
#define POOLMEM_HANDLE_PURGEABLE 0x0100u /* poolmem_handles_compact may take the memory */

typedef enum poolmem_map {
    POOLMEM_MAP_READ = 0,    /* read-only pages of the file */
    POOLMEM_MAP_COPY = 1,    /* copy-on-write pages: writes stay private */
    POOLMEM_MAP_SNAPSHOT = 2 /* read into memory now: what happens to the file later does not show */
} poolmem_map;

/* Before the memory of a handle goes: freed (0) or purged (1). */
typedef void poolmem_handle_hook(void *arg, poolmem_handle handle, int purged);

/* A table of at most `capacity` handles (0: 4,096) whose memory comes from `pool` (NULL: mappings of its
   own). `compact` 0: poolmem_handles_compact does nothing, as in the shipped game. NULL: no memory. */
POOLMEM_CALL(poolmem_handles *, poolmem_handles_create, (poolmem_pool * pool, uint32_t capacity, int compact),
             (pool, capacity, compact), (poolmem_handles *)0)
/* Frees every handle, without hooks, and the table. NULL is nothing. */
POOLMEM_VOID(poolmem_handles_destroy, (poolmem_handles * table), (table), (void)0)
/* One hook a table; resources made over the table take it. */
POOLMEM_VOID(poolmem_handles_set_hook, (poolmem_handles * table, poolmem_handle_hook *hook, void *arg),
             (table, hook, arg), (void)0)
/* Purges unlocked purgeable memory, least recently used first, until `want` bytes came free (0: all). Returns
 * the bytes. */
POOLMEM_CALL(size_t, poolmem_handles_compact, (poolmem_handles * table, size_t want), (table, want), 0)
POOLMEM_CALL(poolmem_status, poolmem_handles_check, (poolmem_handles * table), (table), POOLMEM_OK)

/* Memory of `size` bytes, not zeroed, 16-byte aligned, in group `id` (0: permanent), with the caller's flag
 * word. */
POOLMEM_CALL(poolmem_status, poolmem_handle_alloc,
             (poolmem_handles * table, size_t size, uint32_t id, uint32_t flags, poolmem_handle *out),
             (table, size, id, flags, out), POOLMEM_ABSENT)
/* A file from `offset` (a multiple of the page size), `size` bytes or 0 for the rest. POOLMEM_IO: no such
 * file, or shorter. */
POOLMEM_CALL(poolmem_status, poolmem_handle_map,
             (poolmem_handles * table, const char *path, uint64_t offset, size_t size, poolmem_map how,
              uint32_t id, poolmem_handle *out),
             (table, path, offset, size, how, id, out), POOLMEM_ABSENT)
/* POOLMEM_STALE, here and below: no such handle (any more). */
POOLMEM_CALL(poolmem_status, poolmem_handle_free, (poolmem_handles * table, poolmem_handle handle),
             (table, handle), POOLMEM_ABSENT)
/* Frees a group; *freed (may be NULL) tells how many. POOLMEM_INVALID: id 0. */
POOLMEM_CALL(poolmem_status, poolmem_handle_free_id, (poolmem_handles * table, uint32_t id, size_t *freed),
             (table, id, freed), POOLMEM_ABSENT)
/* The memory, to read, to write, or both. POOLMEM_EMPTY: purged; POOLMEM_UNSUPPORTED: a read-only file;
   POOLMEM_IO: the file was cut short under its mapping (zeros lie there now, and pointers given earlier stay
   safe). */
POOLMEM_CALL(poolmem_status, poolmem_handle_read,
             (poolmem_handles * table, poolmem_handle handle, const void **out), (table, handle, out),
             POOLMEM_ABSENT)
POOLMEM_CALL(poolmem_status, poolmem_handle_write,
             (poolmem_handles * table, poolmem_handle handle, void **out), (table, handle, out),
             POOLMEM_ABSENT)
POOLMEM_CALL(poolmem_status, poolmem_handle_edit,
             (poolmem_handles * table, poolmem_handle handle, void **out), (table, handle, out),
             POOLMEM_ABSENT)
/* Stores the caller's flag word as it stands; reads it; tells the size. */
POOLMEM_CALL(poolmem_status, poolmem_handle_use,
             (poolmem_handles * table, poolmem_handle handle, uint32_t flags), (table, handle, flags),
             POOLMEM_ABSENT)
POOLMEM_CALL(poolmem_status, poolmem_handle_flags,
             (poolmem_handles * table, poolmem_handle handle, uint32_t *flags), (table, handle, flags),
             POOLMEM_ABSENT)
POOLMEM_CALL(poolmem_status, poolmem_handle_size,
             (poolmem_handles * table, poolmem_handle handle, size_t *size), (table, handle, size),
             POOLMEM_ABSENT)
/* While locked it is not purged; calls nest. POOLMEM_EMPTY: not locked. */
POOLMEM_CALL(poolmem_status, poolmem_handle_lock, (poolmem_handles * table, poolmem_handle handle),
             (table, handle), POOLMEM_ABSENT)
POOLMEM_CALL(poolmem_status, poolmem_handle_unlock, (poolmem_handles * table, poolmem_handle handle),
             (table, handle), POOLMEM_ABSENT)

/* --- resources ---------------------------------------------------------------------------------------- */
/*
 * Resources by name over mounted archives (LIB, WAD, plain folders; zip where archive_zip of libpool.a is
 * linked in) and a table of handles, whose lock they share. Names have no case. A name's type is its
 * extension: hooks <TYPE>_Load, <TYPE>_Setup and <TYPE>_Free shape what is loaded. Parts of a WAD's level are
 * E1M1.THI, E1M1.LIN and so on. Source: the RM layer of a flight game of 1997; docs/engine.md says what
 * differs.
 */
typedef struct poolmem_resources poolmem_resources;

/* Load may put another handle in *handle (the raw one is then its own to free). Hooks may access other
   resources; what they return other than POOLMEM_OK is what the access gives, and nothing is kept. */
typedef poolmem_status poolmem_resource_hook(poolmem_resources *resources, const char *name,
                                             poolmem_handle *handle, void *arg);

/* All zero means the defaults. */
typedef struct poolmem_resource_options {
    poolmem_pool *room; /* its largest free block decides when to evict; NULL: only failures do */
    uint32_t slots;     /* 0: 1,400 */
    uint32_t cache;     /* shortcuts, at most and 0: 20 */
    int cache_owns;     /* what falls out of the cache is evicted unless held */
    int purgeable;      /* poolmem_handles_compact may purge what is loaded */
    int long_names;     /* names beyond 8.3 are taken too */
} poolmem_resource_options;

typedef struct poolmem_resource_stats {
    uint64_t resources, held, cache_hits, registry_hits, loads, reloads, evictions, failures;
    uint64_t names, collisions, refused_names; /* of the index */
} poolmem_resource_stats;

/* NULL: no memory, or no table. */
POOLMEM_CALL(poolmem_resources *, poolmem_resources_create,
             (poolmem_handles * table, const poolmem_resource_options *options), (table, options),
             (poolmem_resources *)0)
/* Runs the Free hooks and frees what was loaded; the table stays. NULL is nothing. */
POOLMEM_VOID(poolmem_resources_destroy, (poolmem_resources * resources), (resources), (void)0)
/* Mounts an archive, or a folder as loose files. An archive is found before loose files; of two archives the
 * one mounted later. */
POOLMEM_CALL(poolmem_status, poolmem_resources_mount, (poolmem_resources * resources, const char *path),
             (resources, path), POOLMEM_ABSENT)
/* A folder as the original starts: its LIB files mounted in the order of their names, all else loose. */
POOLMEM_CALL(poolmem_status, poolmem_resources_mount_all, (poolmem_resources * resources, const char *folder),
             (resources, folder), POOLMEM_ABSENT)
/* Files of one extension in a folder, found only where nothing else has the name. */
POOLMEM_CALL(poolmem_status, poolmem_resources_mount_route,
             (poolmem_resources * resources, const char *folder, const char *extension),
             (resources, folder, extension), POOLMEM_ABSENT)
/* Calls `each` for every name that stood twice, newest first: where it is found, and where it is hidden. */
typedef void poolmem_collision(void *arg, const char *name, const char *found_in, const char *hidden_in);
POOLMEM_VOID(poolmem_resources_collisions,
             (poolmem_resources * resources, poolmem_collision *each, void *arg), (resources, each, arg),
             (void)0)
/* "SH_Load", "SH_Setup", "SH_Free"; NULL removes. POOLMEM_INVALID: no such name; POOLMEM_FULL: more than 64
 * types. */
POOLMEM_CALL(poolmem_status, poolmem_resources_set_hook,
             (poolmem_resources * resources, const char *name, poolmem_resource_hook *hook, void *arg),
             (resources, name, hook, arg), POOLMEM_ABSENT)
/* The group that what is loaded from now on belongs to. */
POOLMEM_VOID(poolmem_resources_set_id, (poolmem_resources * resources, uint32_t id), (resources, id), (void)0)
/* Evicts, least recently used first and never what is held, until `room` grants `size` bytes in one block.
   POOLMEM_NOMEM: nothing is left to evict; POOLMEM_UNSUPPORTED: made without a room. */
POOLMEM_CALL(poolmem_status, poolmem_resources_make_room, (poolmem_resources * resources, size_t size),
             (resources, size), POOLMEM_ABSENT)
/* Evicts one. POOLMEM_EMPTY: there is none that nobody holds. */
POOLMEM_CALL(poolmem_status, poolmem_resources_evict, (poolmem_resources * resources), (resources),
             POOLMEM_ABSENT)
POOLMEM_CALL(poolmem_status, poolmem_resources_stats,
             (poolmem_resources * resources, poolmem_resource_stats *out), (resources, out), POOLMEM_ABSENT)
POOLMEM_CALL(poolmem_status, poolmem_resources_check, (poolmem_resources * resources), (resources),
             POOLMEM_OK)

/*
 * The handle of a resource, loaded if need be. POOLMEM_NOT_FOUND; POOLMEM_NOMEM and POOLMEM_FULL: no room or
 * slot and all is held; POOLMEM_EMPTY: purged again at once, twice; else what the archive or a hook said.
 */
POOLMEM_CALL(poolmem_status, poolmem_resource_access,
             (poolmem_resources * resources, const char *name, poolmem_handle *out), (resources, name, out),
             POOLMEM_ABSENT)
/* The same, with its bytes: good until it is evicted, so hold what is kept. */
POOLMEM_CALL(poolmem_status, poolmem_resource_read,
             (poolmem_resources * resources, const char *name, const void **data, size_t *size),
             (resources, name, data, size), POOLMEM_ABSENT)
/* The same without loading. */
POOLMEM_CALL(poolmem_status, poolmem_resource_find,
             (poolmem_resources * resources, const char *name, poolmem_handle *out), (resources, name, out),
             POOLMEM_ABSENT)
/* Registers memory of the caller's. POOLMEM_EXISTS; POOLMEM_STALE; POOLMEM_FULL; POOLMEM_INVALID. */
POOLMEM_CALL(poolmem_status, poolmem_resource_add,
             (poolmem_resources * resources, const char *name, poolmem_handle handle),
             (resources, name, handle), POOLMEM_ABSENT)
/* Access that keeps it from being evicted and purged until it is released as often. POOLMEM_EMPTY: nobody
 * holds it. */
POOLMEM_CALL(poolmem_status, poolmem_resource_hold,
             (poolmem_resources * resources, const char *name, poolmem_handle *out), (resources, name, out),
             POOLMEM_ABSENT)
POOLMEM_CALL(poolmem_status, poolmem_resource_release, (poolmem_resources * resources, const char *name),
             (resources, name), POOLMEM_ABSENT)
/* Drops it, held or not. */
POOLMEM_CALL(poolmem_status, poolmem_resource_free, (poolmem_resources * resources, const char *name),
             (resources, name), POOLMEM_ABSENT)

#ifdef __cplusplus
}
#endif

#endif
