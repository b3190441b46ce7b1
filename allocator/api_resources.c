/* SPDX-License-Identifier: MIT */
/*
 * api_resources.c - see api.h: resources of poolmem.h, each with its own archive index, over a handle table
 * whose lock they share. Hooks of the program are reached through one of ours, since its types are the public
 * ones.
 */
#include "api.h"
#include "os.h"
#include "resource.h"

#include <string.h>

/* A hook of the program's and what it wants with it. */
struct api_hook {
    poolmem_resources *of;
    poolmem_resource_hook *hook;
    void *arg;
    char name[ARCHIVE_NAME + 1];
};

struct poolmem_resources {
    resource_manager core;
    archive_index index;
    poolmem_handles *table;
    struct api_hook hooks[RESOURCE_TYPES * RESOURCE_WHENS];
    uint32_t hook_count;
};

poolmem_resources *poolmem_resources_create(poolmem_handles *table, const poolmem_resource_options *options)
{
    static const poolmem_resource_options none;
    const poolmem_resource_options *o = options ? options : &none;
    poolmem_resources *r = table ? os_map(sizeof *r) : NULL;
    if (!r)
        return NULL;
    resource_options core = {.handles = &table->core,
                             .index = &r->index,
                             .room = core_pool(o->room),
                             .slots = o->slots,
                             .cache = o->cache,
                             .cache_owns = o->cache_owns != 0,
                             .purgeable = o->purgeable != 0};
    r->table = table;
    index_init(&r->index, o->long_names ? INDEX_LONG_NAMES : 0);
    api_enter(table);
    pool_status s = resource_init(&r->core, &core);
    api_leave(table);
    if (s == POOL_OK)
        return r;
    os_unmap(r, sizeof *r);
    return NULL;
}

void poolmem_resources_destroy(poolmem_resources *r)
{
    if (!r)
        return;
    api_enter(r->table);
    resource_destroy(&r->core);
    index_close(&r->index);
    api_leave(r->table);
    os_unmap(r, sizeof *r);
}

/*
 * One call of the core under the table's lock. `arguments` is what must be there for it: places for results,
 * names. Without resources nothing is found.
 */
#define LOCKED(arguments, call)                                                                              \
    do {                                                                                                     \
        if (!r)                                                                                              \
            return POOLMEM_NOT_FOUND;                                                                        \
        if (!(arguments))                                                                                    \
            return POOLMEM_INVALID;                                                                          \
        api_enter(r->table);                                                                                 \
        pool_status s = (call);                                                                              \
        api_leave(r->table);                                                                                 \
        return public_status(s);                                                                             \
    } while (0)

poolmem_status poolmem_resources_mount(poolmem_resources *r, const char *path)
{
    LOCKED(path, index_mount(&r->index, path));
}

poolmem_status poolmem_resources_mount_all(poolmem_resources *r, const char *folder)
{
    LOCKED(folder, index_mount_all(&r->index, folder));
}

poolmem_status poolmem_resources_mount_route(poolmem_resources *r, const char *folder, const char *extension)
{
    LOCKED(folder && extension, index_mount_route(&r->index, folder, extension));
}

void poolmem_resources_collisions(poolmem_resources *r, poolmem_collision *each, void *arg)
{
    if (!r || !each)
        return;
    api_enter(r->table);
    for (const index_collision *c = r->index.collisions; c; c = c->next)
        each(arg, index_name(&c->kept), r->index.archives[c->kept.archive].label,
             r->index.archives[c->hidden.archive].label);
    api_leave(r->table);
}

/* --- hooks ------------------------------------------------------------------------------------------------
 */

/* The core's hook for all of the program's: what it answers is the program's answer. */
static pool_status call_hook(resource_manager *rm, const char *name, handle *h, void *arg)
{
    const struct api_hook *k = arg;
    poolmem_status s = k->hook(k->of, name, h, k->arg);
    return s == POOLMEM_ABSENT ? POOL_UNSUPPORTED : (pool_status)s;
}

/* A place for the hook: that of the same name set before, or a new one. */
static struct api_hook *hook_place(poolmem_resources *r, const char *name)
{
    uint32_t i = 0;
    while (i < r->hook_count && archive_name_compare(r->hooks[i].name, name))
        i++;
    return i < RESOURCE_TYPES * RESOURCE_WHENS ? &r->hooks[i] : NULL;
}

static pool_status set_hook(poolmem_resources *r, const char *name, poolmem_resource_hook *hook, void *arg)
{
    struct api_hook *k = hook_place(r, name);
    if (!k)
        return POOL_FULL;
    pool_status s = resource_set_hook(&r->core, name, hook ? call_hook : NULL, k);
    if (s != POOL_OK)
        return s;
    r->hook_count += k == &r->hooks[r->hook_count];
    *k = (struct api_hook){.of = r, .hook = hook, .arg = arg};
    strncpy(k->name, name, ARCHIVE_NAME);
    return POOL_OK;
}

poolmem_status poolmem_resources_set_hook(poolmem_resources *r, const char *name, poolmem_resource_hook *hook,
                                          void *arg)
{
    LOCKED(name, set_hook(r, name, hook, arg));
}

void poolmem_resources_set_id(poolmem_resources *r, uint32_t id)
{
    if (!r)
        return;
    api_enter(r->table);
    r->core.id = id;
    api_leave(r->table);
}

/* --- the registry
 * ------------------------------------------------------------------------------------------- */

poolmem_status poolmem_resources_make_room(poolmem_resources *r, size_t size)
{
    LOCKED(true, resource_make_room(&r->core, size));
}

poolmem_status poolmem_resources_evict(poolmem_resources *r)
{
    LOCKED(true, resource_evict(&r->core) ? POOL_OK : POOL_EMPTY);
}

poolmem_status poolmem_resources_check(poolmem_resources *r)
{
    LOCKED(true, resource_check(&r->core) && index_check(&r->index) ? POOL_OK : POOL_CORRUPT);
}

static pool_status read_stats(const poolmem_resources *r, poolmem_resource_stats *out)
{
    const resource_stats *s = &r->core.stats;
    *out = (poolmem_resource_stats){.resources = s->resources,
                                    .held = s->held,
                                    .cache_hits = s->cache_hits,
                                    .registry_hits = s->registry_hits,
                                    .loads = s->loads,
                                    .reloads = s->reloads,
                                    .evictions = s->evictions,
                                    .failures = s->failures,
                                    .names = r->index.count,
                                    .collisions = r->index.collision_count,
                                    .refused_names = r->index.refused};
    return POOL_OK;
}

poolmem_status poolmem_resources_stats(poolmem_resources *r, poolmem_resource_stats *out)
{
    LOCKED(out, read_stats(r, out));
}

poolmem_status poolmem_resource_access(poolmem_resources *r, const char *name, poolmem_handle *out)
{
    LOCKED(name && out, resource_access(&r->core, name, out));
}

static pool_status read_resource(poolmem_resources *r, const char *name, const void **data, size_t *size)
{
    handle h;
    *data = NULL;
    *size = 0;
    pool_status s = resource_access(&r->core, name, &h);
    if (s == POOL_OK)
        s = handle_read(&r->table->core, h, data);
    return s == POOL_OK ? handle_size(&r->table->core, h, size) : s;
}

poolmem_status poolmem_resource_read(poolmem_resources *r, const char *name, const void **data, size_t *size)
{
    LOCKED(name && data && size, read_resource(r, name, data, size));
}

poolmem_status poolmem_resource_find(poolmem_resources *r, const char *name, poolmem_handle *out)
{
    LOCKED(name && out, resource_find(&r->core, name, out));
}

poolmem_status poolmem_resource_add(poolmem_resources *r, const char *name, poolmem_handle h)
{
    LOCKED(name, resource_add(&r->core, name, h, 0));
}

poolmem_status poolmem_resource_hold(poolmem_resources *r, const char *name, poolmem_handle *out)
{
    LOCKED(name && out, resource_hold(&r->core, name, out));
}

poolmem_status poolmem_resource_release(poolmem_resources *r, const char *name)
{
    LOCKED(name, resource_release(&r->core, name));
}

poolmem_status poolmem_resource_free(poolmem_resources *r, const char *name)
{
    LOCKED(name, resource_free(&r->core, name));
}
