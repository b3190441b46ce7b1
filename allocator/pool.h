/* SPDX-License-Identifier: MIT */
/*
 * pool.h - floor F1: the interface of every pool, whatever its kind, and the part all kinds share.
 *
 * A kind is one file that embeds `struct pool` as the first member of its own struct and fills one constant
 * `pool_ops`. Callers go through the pool_* functions below, which check arguments, count calls and say what
 * went wrong with a status; they never look inside a kind.
 *
 * Invariants: (1) ops, kind and name never change after pool_init; (2) parent outlives child;
 * (3) range first..last is fixed for fixed-size kinds; a native heap has its zone as range.
 * Locking: the pool_* functions of a locked kind (all but `heap`) take pool->lock around the kind's code
 * when POOL_SHARED is set in flags; a pool used by one thread leaves it out.
 * Read next: registry.h (the tree), then one kind: arena.c is the shortest.
 */
#ifndef POOLMEM_POOL_H
#define POOLMEM_POOL_H

#include "base.h"
#include "lock.h"

#define POOL_NAME_MAX 63 /* characters of a name, without the NUL */

typedef enum pool_kind {
    POOL_HEAP,   /* block allocator, native geometry */
    POOL_RETAIL, /* block allocator, 1 KB geometry, exact to the original */
    POOL_CLUMP,  /* bump allocator over one block of the parent */
    POOL_ARENA,  /* bump allocator with marks */
    POOL_HUNK,   /* two-ended reserve with named blocks */
    POOL_FILTER, /* wrapper: forwards every call */
    POOL_TRACK,  /* wrapper: records every allocation */
    POOL_KINDS
} pool_kind;

/* What a pool does with a request above its limit. */
typedef enum pool_over { OVER_WARN, OVER_FAIL, OVER_SPILL, OVER_ABORT } pool_over;

enum pool_flags {
    POOL_SHARED = 1,      /* take the lock round every call */
    POOL_HOSTS = 2,       /* other pools live in its blocks */
    POOL_GONE = 4,        /* removed; the struct stays for whoever still looks at it */
    POOL_QUICK_STATS = 8, /* the kind's stats need no search: publish them whole after each call */
    POOL_LOST = 16        /* left in the middle of a call by a thread that a fork has not brought along */
};

enum pool_option {
    POOL_OPTION_COUNT_FREES = 0, /* clump: count frees, reset at 0 live (the original's option 0) */
    POOL_OPTION_STRICT = 1       /* refuse what is otherwise mended and counted */
};

/* One request, named as the old games named theirs. Only size is needed; align 0 means the kind's default. */
typedef struct pool_request {
    size_t size;      /* bytes asked for */
    size_t align;     /* power of two, or 0 */
    const char *tag;  /* class name of what is allocated, may be NULL */
    const char *file; /* source position, may be NULL */
    int line;
    const char *name; /* debug name, may be NULL */
    uint32_t flag;    /* last word of the original's call: 1 for pool objects */
    uint32_t stack;   /* number of a call stack, kept by a tracker: the caller's or tracker_stack's; 0 none */
    bool nothing;     /* 0 bytes were asked for and count; size is what makes the block one of its own */
} pool_request;

/* Figures of one pool; bytes and counts as in the report (contract: JSON schema). */
typedef struct pool_stats {
    uint64_t live_bytes, live_blocks, peak_bytes;
    uint64_t allocs, frees, reallocs, alloc_bytes, failed, over_limit;
    uint64_t committed_bytes, free_bytes, largest_free_bytes;
    uint64_t
        unusable_bytes; /* of free_bytes, what no request can ever get: a retail heap's table and odd bytes */
} pool_stats;

typedef struct pool pool;

typedef struct pool_ops {
    /* On POOL_OK *out is the block and *size what `size` says of it; otherwise *out is NULL and nothing has
       changed. *size is 0 before the call: so it stays where a kind keeps no sizes. */
    pool_status (*alloc)(pool *p, const pool_request *r, void **out, size_t *size);
    /* On POOL_OK *size is what `size` said of the block before. */
    pool_status (*free)(pool *p, void *block, size_t *size);
    /* On failure the block stays as it was and *out is NULL (size 0: freed, POOL_ZERO). */
    pool_status (*resize)(pool *p, void *block, const pool_request *r, void **out);
    pool_status (*set_option)(pool *p, int which, uintptr_t value);
    bool (*check_empty)(pool *p);
    size_t (*largest_free)(pool *p);
    size_t (*free_bytes)(pool *p);
    /* Usable bytes of a live block, 0 when it is none. */
    size_t (*size)(pool *p, const void *block);
    /* Gives the pool's memory back to its parent. */
    pool_status (*destroy)(pool *p);
    /* Says one message line a leak; returns how many. NULL: the kind cannot know. */
    size_t (*report_leaks)(pool *p);
    /* One line about a pointer into out; returns its length. */
    size_t (*describe)(pool *p, const void *block, char *out, size_t cap);
    /* Walks every invariant; false after a message that names the first broken one. */
    bool (*check)(pool *p);
    void (*stats)(pool *p, pool_stats *out);
} pool_ops;

struct pool {
    const pool_ops *ops;
    pool *parent; /* who pays; NULL for the root */
    char name[POOL_NAME_MAX + 1];
    uint8_t kind;          /* pool_kind */
    uint8_t over;          /* pool_over */
    uint16_t flags;        /* pool_flags */
    uint32_t id;           /* place in the table of pools, set by the registry's owner */
    uintptr_t first, last; /* the range of addresses, inclusive; 0,0: none yet */
    lock lock;             /* RANK_POOL; only with POOL_SHARED */
    uint64_t limit;        /* bytes it may hold, 0 none */
    /* Counted by pool_* for the kinds that are not `heap`; written under the lock or by the one thread. */
    pool_stats counts;
    pool_stats *published; /* counts are copied here after each call; NULL: nowhere */
    uint64_t hosted_bytes; /* of its blocks that other pools live in, which tell their contents themselves */
};

/* Removed: its owner may still hold the pointer, and nothing may be asked of it. */
INLINE bool pool_is_gone(const pool *p)
{
    return p->flags & POOL_GONE;
}

/* Sets up the common part. `name` is cut at POOL_NAME_MAX. */
void pool_init(pool *p, const pool_ops *ops, pool_kind kind, const char *name, pool *parent);

/* For kinds of fixed size: the range is the block, and so is the limit. */
void pool_set_block(pool *p, const void *block, size_t size);

/* The calls of the interface. Arguments are checked here: align not a power of two gives POOL_ALIGN, a size
   above SIZE_LIMIT POOL_OVERFLOW, freeing NULL is POOL_OK, resizing NULL allocates. */
pool_status pool_alloc(pool *p, const pool_request *r, void **out);
pool_status pool_free(pool *p, void *block);
/* A block for another pool to live in: no live bytes of this one, as the other tells them. And back. */
pool_status pool_host(pool *p, const pool_request *r, void **out);
pool_status pool_unhost(pool *p, void *block);
/* The same for wrappers, which count too: *size is what pool_size would say of the block, while it lives. */
pool_status pool_alloc_sized(pool *p, const pool_request *r, void **out, size_t *size);
pool_status pool_free_sized(pool *p, void *block, size_t *size);
pool_status pool_resize(pool *p, void *block, const pool_request *r, void **out);
pool_status pool_set_option(pool *p, int which, uintptr_t value);
bool pool_check_empty(pool *p);
void pool_range(const pool *p, uintptr_t *first, uintptr_t *last);
bool pool_contains(const pool *p, const void *address);
size_t pool_largest_free(pool *p);
size_t pool_free_bytes(pool *p);
size_t pool_size(pool *p, const void *block);
pool_status pool_destroy(pool *p);
size_t pool_report_leaks(pool *p);
size_t pool_describe(pool *p, const void *block, char *out, size_t cap);
bool pool_check(pool *p);
void pool_get_stats(pool *p, pool_stats *out);
/* "heap", "retail", ... */
const char *pool_kind_name(pool_kind k);

/* Around calls that a kind has beyond these: the lock of a shared pool, and on leaving its published figures.
 */
void pool_enter(pool *p);
void pool_leave(pool *p);
/* Publishes the figures of a shared pool again, with what only a search can tell. Nothing happens while
   somebody is inside, who will publish on leaving. For signal handlers too. */
void pool_republish(pool *p);
/* A refused request: beyond the limit if `over`, and no failure after all if `served` by another pool. True:
   it is the first beyond the limit. */
bool pool_count_refused(pool *p, bool over, bool served);

/* Shorthand for a plain request. */
INLINE void *pool_get(pool *p, size_t size, size_t align)
{
    void *out = NULL;
    pool_alloc(p, &(pool_request){.size = size, .align = align}, &out);
    return out;
}

#endif
