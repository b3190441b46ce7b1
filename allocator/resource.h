/* SPDX-License-Identifier: MIT */
/*
 * resource.h - floor F3: resources by name. A registry of slots over an archive index and a handle table: who
 * asks for a name gets a handle, and what is missing is loaded, shaped by the hooks of its type, and
 * registered.
 *
 *   access(name):  shortcut cache  ->  registry  ->  index, load into a handle, <TYPE>_Load, register,
 * <TYPE>_Setup
 *
 * TYPE is the name's extension in upper case; a type without hooks is no error. A resource that nobody holds
 * may be evicted, least recently used first, when the pool has no room or the registry no slot. One whose
 * memory was purged is dropped and loaded again when it is asked for; one whose handle is freed behind the
 * registry's back is forgotten.
 *
 * Invariants: (1) every slot in use is in one name chain and one handle chain, every free one on the free
 * list; (2) no name and no handle stands twice; (3) the cache names distinct slots in use, most recently used
 * first; (4) every slot in use has a live handle (perhaps a husk); (5) an entry leaves the registry before
 * its handle is freed, so that a notification never comes back to it. Locking: none: one thread at a time, or
 * the handle table's lock around every call. Cost: a cached access is a few string comparisons, a registered
 * one a hash; eviction walks all slots. Source: the resource manager of a flight game of 1997; what differs
 * is in docs/engine.md.
 */
#ifndef POOLMEM_RESOURCE_H
#define POOLMEM_RESOURCE_H

#include "archive_index.h"
#include "budget.h"
#include "handle.h"

#define RESOURCES          1400
#define RESOURCE_CACHE     20
#define RESOURCE_TYPES     64
#define RESOURCE_TYPE_NAME 11 /* characters of a type */
#define RESOURCE_BUCKETS   2048
#define RESOURCE_TRIES     2  /* loads of what is purged at once before access gives up */
#define RESOURCE_DEPTH     16 /* loads within load hooks */

enum resource_flags {
    RESOURCE_RELOADS = 2 /* dropped and loaded again when its handle was purged */
};

typedef struct resource_manager resource_manager;

/*
 * A hook of a type. Load may put another handle in *h (the raw one is then its own to free); Setup and Free
 * leave it alone. Hooks may access other resources. What Load or Setup return other than POOL_OK is what
 * access gives.
 */
typedef pool_status resource_hook(resource_manager *rm, const char *name, handle *h, void *arg);

enum resource_when { RESOURCE_LOAD, RESOURCE_SETUP, RESOURCE_FREE, RESOURCE_WHENS };

typedef struct resource_type {
    char name[RESOURCE_TYPE_NAME + 1];
    resource_hook *hook[RESOURCE_WHENS];
    void *arg[RESOURCE_WHENS];
} resource_type;

typedef struct resource {
    char name[ARCHIVE_NAME + 1]; /* upper case; "": the slot is free */
    handle handle;
    uint64_t used_at; /* clock of the last access */
    uint32_t holds;
    uint32_t pins;      /* holds of the manager's own, while hooks run */
    uint32_t flags;     /* resource_flags */
    uint32_t next_name; /* slot + 1 in the chain; of a free slot: the free list */
    uint32_t next_handle;
} resource;

typedef struct resource_options {
    handle_table *handles; /* needed; its notification is taken */
    archive_index *index;  /* where names lead; NULL: only what is added is found */
    pool *room;      /* the pool whose largest free block decides about evictions; NULL: only failures do */
    uint32_t slots;  /* 0: RESOURCES */
    uint32_t cache;  /* shortcuts, at most and 0: RESOURCE_CACHE */
    bool cache_owns; /* what falls out of the cache is evicted unless held, not just without a shortcut */
    bool purgeable;  /* loaded handles may be purged by handle_compact */
} resource_options;

typedef struct resource_stats {
    uint64_t resources, held, cache_hits, registry_hits, loads, reloads, evictions, failures;
} resource_stats;

/* Zero it before resource_init. */
struct resource_manager {
    resource *slots;
    uint32_t *by_name, *by_handle; /* slot + 1 */
    resource_options options;
    budget budget;
    resource_type types[RESOURCE_TYPES];
    uint32_t type_count;
    uint32_t cache[RESOURCE_CACHE]; /* slot + 1, most recently used first */
    uint32_t cached;
    uint32_t free; /* slot + 1 */
    uint32_t depth;
    uint32_t id; /* alloc id of what is loaded from now on */
    uint64_t clock;
    resource_stats stats;
};

/* POOL_INVALID: no handle table; POOL_EXISTS: initialised already; POOL_NOMEM. */
pool_status resource_init(resource_manager *rm, const resource_options *options);
/* Runs the Free hooks, frees every handle it registered. The handle table and the index stay. */
void resource_destroy(resource_manager *rm);

/* Registers a hook by its name, "SH_Load", "SH_Setup" or "SH_Free", any case; NULL removes it. POOL_INVALID:
   no such name; POOL_FULL: too many types. */
pool_status resource_set_hook(resource_manager *rm, const char *name, resource_hook *hook, void *arg);

/*
 * The handle of a resource, loaded when it is not there. POOL_NOT_FOUND: no such name; POOL_FULL: no slot,
 * and everything is held, or loads are nested too deep; POOL_NOMEM: no room, and everything is held;
 * POOL_EMPTY: it was purged again at once, twice; else what the archive or a hook said.
 */
pool_status resource_access(resource_manager *rm, const char *name, handle *out);
/* The same without loading; what was purged and reloads is dropped and not found. */
pool_status resource_find(resource_manager *rm, const char *name, handle *out);
/* Registers memory of the caller's under a name; flags of resource_flags. POOL_EXISTS; POOL_STALE; POOL_FULL;
   POOL_INVALID: the name is empty or too long. */
pool_status resource_add(resource_manager *rm, const char *name, handle h, uint32_t flags);

/* Loads it if need be, and keeps it from being evicted and purged until it is released as often. */
pool_status resource_hold(resource_manager *rm, const char *name, handle *out);
/* POOL_EMPTY: nobody holds it. */
pool_status resource_release(resource_manager *rm, const char *name);
/* Drops it, held or not, with its Free hook. */
pool_status resource_free(resource_manager *rm, const char *name);
/* Evicts the least recently used one that nobody holds; false: there is none. */
bool resource_evict(resource_manager *rm);
/* Evicts until options.room grants `size` bytes in one block. POOL_UNSUPPORTED: no such pool. */
pool_status resource_make_room(resource_manager *rm, size_t size);

/* Walks the invariants; false after a message. */
bool resource_check(resource_manager *rm);

#endif
