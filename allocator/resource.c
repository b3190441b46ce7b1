/* SPDX-License-Identifier: MIT */
/*
 * resource.c - see resource.h: slots, the shortcut cache, hooks, loading and eviction.
 *
 *   by_name[hash]   -> slot -> slot -> 0        a name finds its slot
 *   by_handle[hash] -> slot -> slot -> 0        a handle that is freed finds it too
 *   cache[0..19]    the slots used last, most recent first
 *
 * Hooks are the program's and may do anything with the manager: load, free, evict. So every pointer to a slot
 * is looked up again by its handle after a hook has run, and what must not be evicted meanwhile is pinned. An
 * entry leaves both chains and the cache before its hook and its handle's end, so that nothing that follows
 * can find it half gone.
 */
#include "resource.h"
#include "fatal.h"
#include "os.h"

#include <string.h>

static void on_handle(void *arg, handle h, handle_event what);

static bool evict_for_budget(void *arg)
{
    return resource_evict(arg);
}

static size_t slots_bytes(uint32_t slots)
{
    return slots * sizeof(resource) + 2 * RESOURCE_BUCKETS * sizeof(uint32_t);
}

pool_status resource_init(resource_manager *rm, const resource_options *options)
{
    if (rm->slots)
        return POOL_EXISTS;
    if (!options || !options->handles)
        return POOL_INVALID;
    uint32_t slots = options->slots ? options->slots : RESOURCES;
    if (slots > UINT32_MAX / sizeof(resource))
        return POOL_OVERFLOW;
    void *memory = os_map(slots_bytes(slots));
    if (!memory)
        return POOL_NOMEM;
    rm->slots = memory;
    rm->by_name = (uint32_t *)(rm->slots + slots);
    rm->by_handle = rm->by_name + RESOURCE_BUCKETS;
    rm->options = *options;
    rm->options.slots = slots;
    if (!options->cache || options->cache > RESOURCE_CACHE)
        rm->options.cache = RESOURCE_CACHE;
    for (uint32_t i = slots; i-- > 0; rm->free = i + 1)
        rm->slots[i].next_name = rm->free;
    if (options->room)
        budget_init(&rm->budget, options->room, evict_for_budget, rm);
    handle_set_notify(options->handles, on_handle, rm);
    return POOL_OK;
}

/* --- slots -------------------------------------------------------------------------------------------------
 */

/* Upper and lower case fall into one bucket. */
static uint32_t name_bucket(const char *name)
{
    uint32_t h = 2166136261u; /* FNV-1a */
    for (; *name; name++)
        h = (h ^ (unsigned char)archive_upper(*name)) * 16777619u;
    return (h ^ h >> 15) % RESOURCE_BUCKETS;
}

static uint32_t handle_bucket(handle h)
{
    return (uint32_t)h % RESOURCE_BUCKETS;
}

static resource *slot_by_name(const resource_manager *rm, const char *name)
{
    for (uint32_t at = rm->by_name[name_bucket(name)]; at; at = rm->slots[at - 1].next_name)
        if (!archive_name_compare(rm->slots[at - 1].name, name))
            return &rm->slots[at - 1];
    return NULL;
}

static resource *slot_by_handle(const resource_manager *rm, handle h)
{
    for (uint32_t at = rm->by_handle[handle_bucket(h)]; at; at = rm->slots[at - 1].next_handle)
        if (rm->slots[at - 1].handle == h)
            return &rm->slots[at - 1];
    return NULL;
}

static uint32_t number_of(const resource_manager *rm, const resource *r)
{
    return (uint32_t)(r - rm->slots) + 1;
}

/* Out of both chains; a slot in use is in each of them, so the walks end. */
static void unlink_slot(resource_manager *rm, resource *r)
{
    uint32_t number = number_of(rm, r), *at;
    for (at = &rm->by_name[name_bucket(r->name)]; *at != number; at = &rm->slots[*at - 1].next_name)
        ;
    *at = r->next_name;
    for (at = &rm->by_handle[handle_bucket(r->handle)]; *at != number; at = &rm->slots[*at - 1].next_handle)
        ;
    *at = r->next_handle;
}

/* --- the shortcut cache
 * ------------------------------------------------------------------------------------- */

static void cache_remove(resource_manager *rm, uint32_t number)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < rm->cached; i++)
        if (rm->cache[i] != number)
            rm->cache[kept++] = rm->cache[i];
    rm->cached = kept;
}

static void drop(resource_manager *rm, resource *r, bool free_handle);

static bool is_kept(const resource *r)
{
    return r->holds || r->pins;
}

/* Only the shortcut goes, unless the cache owns what is in it. */
static void cache_oldest_out(resource_manager *rm)
{
    resource *r = &rm->slots[rm->cache[--rm->cached] - 1];
    if (!rm->options.cache_owns || is_kept(r))
        return;
    rm->stats.evictions++;
    drop(rm, r, true);
}

static void cache_to_front(resource_manager *rm, resource *r)
{
    uint32_t number = number_of(rm, r);
    if (rm->cached && rm->cache[0] == number)
        return;
    cache_remove(rm, number);
    if (rm->cached == rm->options.cache)
        cache_oldest_out(rm);
    memmove(rm->cache + 1, rm->cache, rm->cached * sizeof *rm->cache);
    rm->cache[0] = number;
    rm->cached++;
}

static resource *cache_find(const resource_manager *rm, const char *name)
{
    for (uint32_t i = 0; i < rm->cached; i++)
        if (!archive_name_compare(rm->slots[rm->cache[i] - 1].name, name))
            return &rm->slots[rm->cache[i] - 1];
    return NULL;
}

/* --- hooks
 * ---------------------------------------------------------------------------------------------------- */

static resource_type *type_by_name(resource_manager *rm, const char *name)
{
    for (uint32_t i = 0; i < rm->type_count; i++)
        if (!archive_name_compare(rm->types[i].name, name))
            return &rm->types[i];
    return NULL;
}

/* NULL: the table of types is full. */
static resource_type *make_type(resource_manager *rm, const char *name)
{
    resource_type *t = type_by_name(rm, name);
    if (t || rm->type_count == RESOURCE_TYPES)
        return t;
    t = &rm->types[rm->type_count++];
    *t = (resource_type){0};
    for (size_t i = 0; name[i]; i++)
        t->name[i] = archive_upper(name[i]);
    return t;
}

pool_status resource_set_hook(resource_manager *rm, const char *name, resource_hook *hook, void *arg)
{
    static const char *const whens[RESOURCE_WHENS] = {"LOAD", "SETUP", "FREE"};
    char type[RESOURCE_TYPE_NAME + 1] = "";
    const char *line = strrchr(name, '_');
    if (!line || line == name || line - name > RESOURCE_TYPE_NAME)
        return POOL_INVALID;
    memcpy(type, name, (size_t)(line - name));
    for (int when = 0; when < RESOURCE_WHENS; when++) {
        if (archive_name_compare(line + 1, whens[when]))
            continue;
        resource_type *t = make_type(rm, type);
        if (!t)
            return POOL_FULL;
        t->hook[when] = hook;
        t->arg[when] = arg;
        return POOL_OK;
    }
    return POOL_INVALID;
}

/* The hook of the name's extension, if it has one. */
static pool_status run_hook(resource_manager *rm, enum resource_when when, const char *name, handle *h)
{
    const char *dot = strrchr(name, '.');
    const resource_type *t = dot ? type_by_name(rm, dot + 1) : NULL;
    return t && t->hook[when] ? t->hook[when](rm, name, h, t->arg[when]) : POOL_OK;
}

/* --- leaving
 * --------------------------------------------------------------------------------------------------- */

static void unlock_all(resource_manager *rm, const resource *r)
{
    for (uint32_t i = 0; i < r->holds; i++)
        handle_unlock(rm->options.handles, r->handle);
}

/* Out of the registry first, then the hook, then the handle: nothing that follows finds the entry again. */
static void drop(resource_manager *rm, resource *r, bool free_handle)
{
    resource gone = *r;
    unlock_all(rm, r);
    unlink_slot(rm, r);
    cache_remove(rm, number_of(rm, r));
    *r = (resource){.next_name = rm->free};
    rm->free = number_of(rm, r);
    rm->stats.resources--;
    rm->stats.held -= gone.holds > 0;
    handle h = gone.handle;
    run_hook(rm, RESOURCE_FREE, gone.name, &h);
    if (free_handle)
        handle_free(rm->options.handles, gone.handle);
}

/* A handle is being freed by somebody else: forget what it held. */
static void on_handle(void *arg, handle h, handle_event what)
{
    resource_manager *rm = arg;
    resource *r = what == HANDLE_IS_FREED ? slot_by_handle(rm, h) : NULL;
    if (r)
        drop(rm, r, false);
}

bool resource_evict(resource_manager *rm)
{
    resource *oldest = NULL;
    for (uint32_t i = 0; i < rm->options.slots; i++) {
        resource *r = &rm->slots[i];
        if (r->name[0] && !is_kept(r) && (!oldest || r->used_at < oldest->used_at))
            oldest = r;
    }
    if (!oldest)
        return false;
    rm->stats.evictions++;
    drop(rm, oldest, true);
    return true;
}

pool_status resource_make_room(resource_manager *rm, size_t size)
{
    return rm->options.room ? budget_make_room(&rm->budget, size) : POOL_UNSUPPORTED;
}

void resource_destroy(resource_manager *rm)
{
    if (!rm->slots)
        return;
    for (uint32_t i = 0; i < rm->options.slots; i++)
        if (rm->slots[i].name[0])
            drop(rm, &rm->slots[i], true);
    handle_set_notify(rm->options.handles, NULL, NULL);
    os_unmap(rm->slots, slots_bytes(rm->options.slots));
    memset(rm, 0, sizeof *rm);
}

/* --- coming
 * ------------------------------------------------------------------------------------------------------ */

/* A free slot, off the list; evicts when there is none. NULL: everything is held. */
static resource *take_slot(resource_manager *rm)
{
    if (!rm->free && !resource_evict(rm))
        return NULL;
    resource *r = &rm->slots[rm->free - 1];
    rm->free = r->next_name;
    return r;
}

static pool_status register_handle(resource_manager *rm, const char *name, handle h, uint32_t flags,
                                   resource **out)
{
    resource *r = take_slot(rm);
    if (!r)
        return POOL_FULL;
    uint32_t *names = &rm->by_name[name_bucket(name)], *handles = &rm->by_handle[handle_bucket(h)];
    *r = (resource){
        .handle = h, .flags = flags, .used_at = ++rm->clock, .next_name = *names, .next_handle = *handles};
    for (size_t i = 0; name[i]; i++)
        r->name[i] = archive_upper(name[i]);
    *names = *handles = number_of(rm, r);
    rm->stats.resources++;
    *out = r;
    return POOL_OK;
}

pool_status resource_add(resource_manager *rm, const char *name, handle h, uint32_t flags)
{
    size_t size, n = strlen(name);
    resource *r;
    if (!n || n > ARCHIVE_NAME)
        return POOL_INVALID;
    if (slot_by_name(rm, name) || slot_by_handle(rm, h))
        return POOL_EXISTS;
    if (handle_size(rm->options.handles, h, &size) != POOL_OK)
        return POOL_STALE;
    return register_handle(rm, name, h, flags, &r);
}

/* Memory for a file, evicting what nobody holds while there is none. */
static pool_status alloc_room(resource_manager *rm, size_t size, handle *out)
{
    uint32_t flags = rm->options.purgeable ? HANDLE_PURGEABLE : 0;
    pool_status s = rm->options.room ? resource_make_room(rm, size) : POOL_OK;
    while (s == POOL_OK) {
        s = handle_alloc(rm->options.handles, size, rm->id, flags, out);
        if ((s != POOL_NOMEM && s != POOL_LIMIT && s != POOL_FULL) || !resource_evict(rm))
            break;
        s = POOL_OK;
    }
    return s;
}

/* Reads the file into a handle of its own, locked. */
static pool_status read_file(resource_manager *rm, const char *name, handle *out)
{
    handle_table *t = rm->options.handles;
    const index_record *found = rm->options.index ? index_find(rm->options.index, name) : NULL;
    void *to;
    if (!found)
        return POOL_NOT_FOUND;
    index_record r = *found; /* hooks of what is evicted may mount archives */
    pool_status s = alloc_room(rm, r.size, out);
    if (s != POOL_OK)
        return s;
    handle_lock(t, *out);
    s = handle_edit(t, *out, &to);
    if (s == POOL_OK)
        s = index_read(rm->options.index, &r, to, r.size);
    if (s != POOL_OK)
        handle_free(t, *out);
    return s;
}

/* The Setup hook of an entry that was just registered; drops it when the hook fails. */
static pool_status set_up(resource_manager *rm, handle h, resource **out)
{
    resource *r = slot_by_handle(rm, h);
    handle given = h;
    r->pins++; /* the hook may need room for others */
    pool_status s = run_hook(rm, RESOURCE_SETUP, r->name, &given);
    *out = r = slot_by_handle(rm, h);
    if (!r)
        return POOL_STALE; /* the hook freed it */
    r->pins--;
    if (s != POOL_OK)
        drop(rm, r, true);
    return s;
}

/* File, Load hook, registration, Setup hook. On failure nothing is left of it. */
static pool_status load(resource_manager *rm, const char *name, resource **out)
{
    handle raw, h;
    pool_status s = read_file(rm, name, &raw);
    if (s != POOL_OK)
        return s;
    h = raw;
    rm->stats.loads++;
    s = run_hook(rm, RESOURCE_LOAD, name, &h);
    handle_unlock(rm->options.handles, raw);
    if (s == POOL_OK)
        s = resource_add(rm, name, h, RESOURCE_RELOADS);
    if (s == POOL_OK)
        return set_up(rm, h, out);
    if (!slot_by_handle(rm, h)) /* the hook may have put another resource's handle there */
        handle_free(rm->options.handles, h);
    return s;
}

static bool is_husk(const resource_manager *rm, const resource *r)
{
    return r->flags & RESOURCE_RELOADS && handle_is_purged(rm->options.handles, r->handle);
}

/* The entry of a name with its memory, or NULL; a husk that can be loaded again is dropped. */
static resource *find_whole(resource_manager *rm, const char *name)
{
    resource *r = cache_find(rm, name);
    uint64_t *hits = r ? &rm->stats.cache_hits : &rm->stats.registry_hits;
    r = r ? r : slot_by_name(rm, name);
    if (!r)
        return NULL;
    if (is_husk(rm, r)) {
        rm->stats.reloads++;
        drop(rm, r, true);
        return NULL;
    }
    ++*hits;
    return r;
}

/* What is purged at once, by its own hook or by a compaction that a hook caused, is tried again, but not for
 * ever. */
static pool_status load_whole(resource_manager *rm, const char *name, resource **out)
{
    for (int i = 0; i < RESOURCE_TRIES; i++) {
        pool_status s = load(rm, name, out);
        if (s != POOL_OK || !is_husk(rm, *out))
            return s;
        drop(rm, *out, true);
    }
    return POOL_EMPTY;
}

/* Notes the access. What falls out of the cache may take others with it, by its Free hook. */
static pool_status use(resource_manager *rm, resource **r)
{
    handle h = (*r)->handle;
    (*r)->used_at = ++rm->clock;
    (*r)->pins++;
    cache_to_front(rm, *r);
    *r = slot_by_handle(rm, h);
    if (!*r)
        return POOL_STALE;
    (*r)->pins--;
    return POOL_OK;
}

/* What access, hold and read have in common: found or loaded, noted as used. */
static pool_status access_slot(resource_manager *rm, const char *name, resource **out)
{
    *out = find_whole(rm, name);
    pool_status s = *out ? POOL_OK : rm->depth == RESOURCE_DEPTH ? POOL_FULL : POOL_NOT_FOUND;
    if (s == POOL_NOT_FOUND) {
        rm->depth++;
        s = load_whole(rm, name, out);
        rm->depth--;
    }
    if (s != POOL_OK) {
        rm->stats.failures++;
        return s;
    }
    return use(rm, out);
}

pool_status resource_access(resource_manager *rm, const char *name, handle *out)
{
    resource *r;
    pool_status s = access_slot(rm, name, &r);
    *out = s == POOL_OK ? r->handle : 0;
    return s;
}

pool_status resource_find(resource_manager *rm, const char *name, handle *out)
{
    resource *r = find_whole(rm, name);
    *out = r ? r->handle : 0;
    return r ? POOL_OK : POOL_NOT_FOUND;
}

pool_status resource_hold(resource_manager *rm, const char *name, handle *out)
{
    resource *r;
    pool_status s = access_slot(rm, name, &r);
    *out = s == POOL_OK ? r->handle : 0;
    if (s != POOL_OK)
        return s;
    s = handle_lock(rm->options.handles, r->handle);
    if (s == POOL_OK)
        rm->stats.held += r->holds++ == 0;
    return s;
}

pool_status resource_release(resource_manager *rm, const char *name)
{
    resource *r = slot_by_name(rm, name);
    if (!r)
        return POOL_NOT_FOUND;
    if (!r->holds)
        return POOL_EMPTY;
    handle_unlock(rm->options.handles, r->handle);
    rm->stats.held -= --r->holds == 0;
    return POOL_OK;
}

pool_status resource_free(resource_manager *rm, const char *name)
{
    resource *r = slot_by_name(rm, name);
    if (r)
        drop(rm, r, true);
    return r ? POOL_OK : POOL_NOT_FOUND;
}

/* --- invariants
 * ------------------------------------------------------------------------------------------------- */

static bool broken(uint32_t slot, const char *what)
{
    message(MESSAGE_MISUSE, "resource slot %u: %s", slot, what);
    return false;
}

static bool check_slot(resource_manager *rm, uint32_t i)
{
    const resource *r = &rm->slots[i];
    size_t size;
    if (slot_by_name(rm, r->name) != r)
        return broken(i, "not found by its name");
    if (slot_by_handle(rm, r->handle) != r)
        return broken(i, "not found by its handle");
    if (handle_size(rm->options.handles, r->handle, &size) != POOL_OK)
        return broken(i, "its handle is gone");
    return true;
}

static bool check_cache(const resource_manager *rm)
{
    for (uint32_t i = 0; i < rm->cached; i++) {
        if (!rm->slots[rm->cache[i] - 1].name[0])
            return broken(rm->cache[i] - 1, "free, but in the cache");
        for (uint32_t k = 0; k < i; k++)
            if (rm->cache[k] == rm->cache[i])
                return broken(rm->cache[i] - 1, "twice in the cache");
    }
    return rm->cached <= rm->options.cache || broken(0, "too many in the cache");
}

bool resource_check(resource_manager *rm)
{
    uint64_t used = 0, held = 0, spare = 0;
    for (uint32_t i = 0; i < rm->options.slots; i++) {
        if (!rm->slots[i].name[0])
            continue;
        if (!check_slot(rm, i))
            return false;
        used++;
        held += rm->slots[i].holds > 0;
    }
    for (uint32_t at = rm->free; at && spare <= rm->options.slots; at = rm->slots[at - 1].next_name)
        spare++;
    if (used + spare != rm->options.slots || used != rm->stats.resources)
        return broken(rm->options.slots, "slots are neither free nor in use");
    return (held == rm->stats.held || broken(rm->options.slots, "the count of held ones is wrong")) &&
           check_cache(rm);
}
