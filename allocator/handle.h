/* SPDX-License-Identifier: MIT */
/*
 * handle.h - floor F2: memory behind handles. A handle owns a block of a pool or a mapped file; it can be
 * purged when memory is short and loaded again by who needs it; all handles of one id go at once (a mission,
 * a level).
 *
 *   handle = generation << 32 | index + 1  ->  records[index] { memory, size, flags, id, generation, ... }
 *
 * Purging: a handle with HANDLE_PURGEABLE that nobody has locked may lose its memory to handle_compact; it is
 * a husk then, its flags show HANDLE_PURGED, access gives POOL_EMPTY. Who finds that frees the husk and loads
 * again.
 *
 * Invariants: (1) a record is on the free list or live, and live records have an odd generation; (2) freeing
 * raises the generation, so a handle of the past never finds memory; (3) a husk holds no memory, every other
 * live record does; (4) bytes and counts are the sums over live records; (5) how memory is given back depends
 * on the record's state alone, never on the flag word, which is the caller's. Locking: none in handle_*: one
 * thread at a time; `lock` is there for whoever shares a table. Cost: access is an index, two compares and a
 * clock tick, and one fstat for a mapped file; freeing an id and compacting walk all records. Source: the
 * handle manager of a flight game of 1997; what differs is in docs/engine.md. Read next: resource.h.
 */
#ifndef POOLMEM_HANDLE_H
#define POOLMEM_HANDLE_H

#include "pool.h"

typedef uint64_t handle; /* 0: none */

#define HANDLE_PURGED    0x1000u /* the memory is gone: free the husk and load again */
#define HANDLE_MAPPED    0x4000u /* a mapped file */
#define HANDLE_PURGEABLE 0x0100u /* ours: handle_compact may take the memory */
#define HANDLES          4096u   /* default capacity */
#define HANDLE_PERMANENT 0u      /* the id that cannot be freed as a group */

typedef enum handle_file {
    HANDLE_FILE_READ,    /* read-only pages of the file */
    HANDLE_FILE_COPY,    /* copy-on-write pages: writes stay private */
    HANDLE_FILE_SNAPSHOT /* read into memory now: what happens to the file later does not show */
} handle_file;

typedef enum handle_state { HANDLE_FREE, HANDLE_MEMORY, HANDLE_PAGES, HANDLE_FILE, HANDLE_HUSK } handle_state;

typedef struct handle_record {
    char *memory;
    size_t size;      /* bytes asked for; of a husk: that it had */
    uint64_t used_at; /* clock of the last access */
    uint64_t offset;  /* of a mapped file: where the mapping begins */
    uint32_t flags;   /* the caller's word, verbatim */
    uint32_t id;
    uint32_t generation; /* odd: live */
    uint32_t next;       /* free list: index + 1 */
    uint32_t locks;
    int32_t fd;    /* of a mapped file, else -1 */
    uint8_t state; /* handle_state */
    bool writable;
    bool cut; /* the file shrank under the mapping: zeros lie where it was */
} handle_record;

typedef enum handle_event { HANDLE_IS_FREED, HANDLE_IS_PURGED } handle_event;
/* Called before the memory goes. It may call handle_free for other handles. */
typedef void handle_notify(void *arg, handle h, handle_event what);

typedef struct handle_options {
    pool *pool;        /* where memory comes from; NULL: mappings of its own */
    uint32_t capacity; /* handles at a time, 0: HANDLES */
    bool compact;      /* whether handle_compact does anything */
} handle_options;

typedef struct handle_stats {
    uint64_t handles, husks, files, live_bytes, mapped_bytes, peak_bytes, purges;
} handle_stats;

/* Zero it before handle_init. */
typedef struct handle_table {
    handle_record *records;
    pool *pool;
    handle_notify *notify;
    void *notify_arg;
    handle_stats stats;
    uint64_t clock;
    uint32_t capacity, touched; /* records from `touched` on were never used */
    uint32_t free;              /* index + 1 */
    bool compact;
    lock lock; /* RANK_RESOURCE, for users */
} handle_table;

/* POOL_EXISTS: initialised already; POOL_OVERFLOW: too many; POOL_NOMEM. `options` may be NULL. */
pool_status handle_init(handle_table *t, const handle_options *options);
/* Frees every handle, permanent ones too, and the table. No notification. */
void handle_destroy(handle_table *t);
void handle_set_notify(handle_table *t, handle_notify *notify, void *arg);

/* Memory of `size` bytes (not zeroed), 16-byte aligned. POOL_FULL: no record left; POOL_NOMEM. */
pool_status handle_alloc(handle_table *t, size_t size, uint32_t id, uint32_t flags, handle *out);
/* A mapped file from `offset` (a multiple of the page size), `size` bytes or 0 for all the rest.
   POOL_IO: no such file, or shorter than that; POOL_ALIGN; POOL_FULL; POOL_NOMEM. */
pool_status handle_map(handle_table *t, const char *path, uint64_t offset, size_t size, handle_file how,
                       uint32_t id, handle *out);

/* POOL_STALE: no such handle (any more), as for all calls below. */
pool_status handle_free(handle_table *t, handle h);
/* Frees all handles of an id and tells how many (may be NULL). POOL_INVALID: HANDLE_PERMANENT. */
pool_status handle_free_id(handle_table *t, uint32_t id, size_t *freed);

/*
 * The memory, to read, to write, or either. POOL_EMPTY: purged; POOL_UNSUPPORTED: writing to a read-only
 * file; POOL_IO: the file was cut short under the mapping (zeros lie there now, so that pointers given
 * earlier stay safe).
 */
pool_status handle_read(handle_table *t, handle h, const void **out);
pool_status handle_write(handle_table *t, handle h, void **out);
pool_status handle_edit(handle_table *t, handle h, void **out);

/* Stores the caller's flag word as it stands. */
pool_status handle_use(handle_table *t, handle h, uint32_t flags);
pool_status handle_flags(const handle_table *t, handle h, uint32_t *flags);
pool_status handle_size(const handle_table *t, handle h, size_t *size);
/* While locked, a handle is not purged; calls nest. POOL_EMPTY: unlocked more often than locked. */
pool_status handle_lock(handle_table *t, handle h);
pool_status handle_unlock(handle_table *t, handle h);
bool handle_is_purged(const handle_table *t, handle h);

/* Purges unlocked purgeable memory, least recently used first, until `want` bytes came free (0: all there
   is). Returns the bytes; 0 where compaction is off. */
size_t handle_compact(handle_table *t, size_t want);

/* Walks the invariants; false after a message. */
bool handle_check(handle_table *t);

#endif
