/* SPDX-License-Identifier: MIT */
/*
 * arena.h - floor F2: the arena, a bump allocator for things that die together (a level, a frame). It hands
 * out zeroed memory, 8-byte aligned unless asked for more, and takes it back by mark or all at once.
 *
 *   base            cursor        end
 *    |  blocks ...   |   room      |  -> with ARENA_GROW: -> next chunk -> ... (the tail of each is left
 * unused)
 *
 * Invariants: (1) base <= cursor <= end of the current chunk; (2) a chunk's origin is the sum of the sizes
 * before it, so `used` = origin + (cursor - base) only grows between two restores; (3) peak >= used; (4)
 * every remembered mark lies at or below used, and their places and serials rise; (5) chunks after the
 * current one are spare and hold nothing. Locking: none in arena_*: one thread at a time. Through pool_* a
 * POOL_SHARED arena is locked. Cost: an alloc is a round-up, two compares, two stores and the zeroing; mark
 * and restore are a few steps. Read next: arena.c, then hunk.h (the same idea with names and two ends).
 */
#ifndef POOLMEM_ARENA_H
#define POOLMEM_ARENA_H

#include "pool.h"
#include <stdarg.h>
#include <string.h>

#define ARENA_ALIGN ((size_t)8) /* what every block gets without asking */
#define ARENA_MARKS 32          /* nested marks that are checked; deeper ones only by their range */

typedef struct arena_chunk arena_chunk;
struct arena_chunk {
    arena_chunk *prev, *next;
    char *base;    /* first byte it hands out */
    size_t size;   /* bytes from base */
    size_t origin; /* bytes of all chunks before it */
    size_t filled; /* bytes in use when the next chunk was entered; of the current chunk: stale */
};

/* A place to go back to. Valid until something before it is given back. */
typedef struct arena_mark {
    size_t used;     /* bytes in use then */
    uint64_t blocks; /* live blocks then */
    uint32_t serial; /* which mark; 0: too deep to be checked */
} arena_mark;

/* Where an arena's memory comes from, when pool_get and pool_free of the parent will not do. */
typedef struct arena_source {
    void *(*take)(pool *arena, pool *parent, size_t size); /* 16-byte aligned, or NULL */
    void (*give)(pool *parent, void *block);
} arena_source;

typedef struct arena_options {
    const char *name;           /* of the pool; NULL: "arena" */
    pool *parent;               /* who gives the memory; NULL: a mapping of its own */
    size_t chunk;               /* not 0: grow by chunks of at least this many bytes instead of being full */
    const arena_source *source; /* with a parent; NULL: the parent's own calls */
} arena_options;

/* Zero it before arena_init; it must not move while in use. */
typedef struct arena {
    pool pool; /* first: an arena is a pool of kind POOL_ARENA */
    char *cursor, *end;
    uint64_t blocks; /* live blocks */
    uint64_t dead;   /* blocks given back since init */
    arena_chunk *current;
    arena_chunk first;
    size_t peak;  /* as of the last restore; arena_peak() tells it now */
    size_t chunk; /* options.chunk */
    const arena_source *source;
    char *last, *last_end; /* the last block of pool_alloc: may grow in place while nothing follows */
    uint32_t serial;       /* of the newest mark */
    uint32_t marks;        /* remembered */
    bool strict;           /* POOL_OPTION_STRICT: freeing a single block is refused */
    arena_mark stack[ARENA_MARKS];
} arena;

/* Takes `size` bytes and makes an empty arena. False: size <= 0, initialised already, or no memory to be had.
   `options` may be NULL. */
bool arena_init(arena *a, int64_t size, const arena_options *options);
/* Gives all memory back and zeroes the arena; harmless on an empty one. */
void arena_free(arena *a);

/* The slow half of arena_alloc: other alignments, size 0, growth, and the message when full. */
COLD void *arena_alloc_cold(arena *a, int64_t bytes, size_t align, bool zero);

INLINE void *arena_bump(arena *a, int64_t bytes, size_t align, bool zero)
{
    char *start = (char *)round_up((uintptr_t)a->cursor, align);
    if (unlikely(bytes <= 0 || a->end - start < bytes))
        return arena_alloc_cold(a, bytes, align, zero);
    a->cursor = start + bytes;
    a->blocks++;
    return zero ? memset(start, 0, (size_t)bytes) : start;
}

/* Zeroed bytes, or NULL after the message "arena full: ..." with nothing changed; negative sizes are refused
   the same way. Size 0 gives a pointer that must not be read. */
INLINE void *arena_alloc(arena *a, int64_t bytes)
{
    return arena_bump(a, bytes, ARENA_ALIGN, true);
}
/* The same without the zeroing. */
INLINE void *arena_alloc_raw(arena *a, int64_t bytes)
{
    return arena_bump(a, bytes, ARENA_ALIGN, false);
}
/* At a power-of-two alignment; NULL for one that is none. */
INLINE void *arena_alloc_aligned(arena *a, int64_t bytes, size_t align)
{
    return is_pow2(align) ? arena_bump(a, bytes, align, true) : NULL;
}

size_t arena_used(const arena *a);
size_t arena_size(const arena *a);
/* Bytes from a block to the end of what its chunk has handed out: the most that it can hold; 0: not live. */
size_t arena_bytes_from(const arena *a, const void *block);
size_t arena_peak(const arena *a);

arena_mark arena_get_mark(arena *a);
/* Gives back all since the mark, which stays valid. POOL_STALE: something before it was given back meanwhile;
   POOL_INVALID: it lies above what is used. Nothing changes then. */
pool_status arena_restore(arena *a, arena_mark m);
/* Everything is gone after this; peak, contents and chunks stay. */
void arena_reset(arena *a);
/* Gives spare chunks back to the parent. */
void arena_trim(arena *a);

/* A copy of the text in the arena; NULL: full, or no text. */
char *arena_strdup(arena *a, const char *text);
/* Text formatted as fmt.h describes; NULL: full. */
char *arena_format(arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *arena_vformat(arena *a, const char *format, va_list args);

/* Walks the invariants; false after a message. */
bool arena_check(arena *a);

/*
 * Two arenas taken in turn, one a frame: what the frame before made is still readable during this one.
 */
typedef struct frame_arena {
    arena half[2];
    uint64_t frame; /* frames begun; half[frame & 1] is the current one */
} frame_arena;

bool frame_arena_init(frame_arena *f, int64_t size, const arena_options *options);
void frame_arena_free(frame_arena *f);
/* Begins a frame: drops what was made two frames ago and gives the arena to use now. */
arena *frame_arena_begin(frame_arena *f);

#endif
