/* SPDX-License-Identifier: MIT */
/*
 * api_handles.c - see api.h: handle tables of poolmem.h. The table's lock is taken around every call; hooks
 * run under it and may call again from the same thread.
 */
#include "api.h"
#include "os.h"

#include <string.h>

/* Only the holder ever reads its own id in owner, so a relaxed load tells whether the lock is this thread's
 * already. */
void api_enter(poolmem_handles *t)
{
    int self = os_thread_id();
    if (__atomic_load_n(&t->owner, __ATOMIC_RELAXED) != self) {
        lock_take(&t->core.lock);
        __atomic_store_n(&t->owner, self, __ATOMIC_RELAXED);
    }
    t->depth++;
}

void api_leave(poolmem_handles *t)
{
    if (--t->depth)
        return;
    __atomic_store_n(&t->owner, 0, __ATOMIC_RELAXED);
    lock_drop(&t->core.lock);
}

static void forward_event(void *arg, handle h, handle_event what)
{
    poolmem_handles *t = arg;
    t->hook(t->hook_arg, h, what == HANDLE_IS_PURGED);
}

poolmem_handles *poolmem_handles_create(poolmem_pool *p, uint32_t capacity, int compact)
{
    poolmem_handles *t = p && pool_is_gone(core_pool(p)) ? NULL : os_map(sizeof *t);
    handle_options o = {.pool = core_pool(p), .capacity = capacity, .compact = compact != 0};
    if (t && handle_init(&t->core, &o) != POOL_OK) {
        os_unmap(t, sizeof *t);
        t = NULL;
    }
    return t;
}

void poolmem_handles_destroy(poolmem_handles *t)
{
    if (!t)
        return;
    handle_destroy(&t->core);
    os_unmap(t, sizeof *t);
}

void poolmem_handles_set_hook(poolmem_handles *t, poolmem_handle_hook *hook, void *arg)
{
    if (!t)
        return;
    api_enter(t);
    t->hook = hook;
    t->hook_arg = arg;
    handle_set_notify(&t->core, hook ? forward_event : NULL, t);
    api_leave(t);
}

size_t poolmem_handles_compact(poolmem_handles *t, size_t want)
{
    if (!t)
        return 0;
    api_enter(t);
    size_t freed = handle_compact(&t->core, want);
    api_leave(t);
    return freed;
}

/*
 * One call of the core under the table's lock. `arguments` is what must be there for it: places for results,
 * names. Without a table there is no such handle.
 */
#define LOCKED(arguments, call)                                                                              \
    do {                                                                                                     \
        if (!t)                                                                                              \
            return POOLMEM_STALE;                                                                            \
        if (!(arguments))                                                                                    \
            return POOLMEM_INVALID;                                                                          \
        api_enter(t);                                                                                        \
        pool_status s = (call);                                                                              \
        api_leave(t);                                                                                        \
        return public_status(s);                                                                             \
    } while (0)

poolmem_status poolmem_handles_check(poolmem_handles *t)
{
    LOCKED(true, handle_check(&t->core) ? POOL_OK : POOL_CORRUPT);
}

poolmem_status poolmem_handle_alloc(poolmem_handles *t, size_t size, uint32_t id, uint32_t flags,
                                    poolmem_handle *out)
{
    LOCKED(out, handle_alloc(&t->core, size, id, flags, out));
}

poolmem_status poolmem_handle_map(poolmem_handles *t, const char *path, uint64_t offset, size_t size,
                                  poolmem_map how, uint32_t id, poolmem_handle *out)
{
    LOCKED(path && out && (unsigned)how <= POOLMEM_MAP_SNAPSHOT,
           handle_map(&t->core, path, offset, size, (handle_file)how, id, out));
}

poolmem_status poolmem_handle_free(poolmem_handles *t, poolmem_handle h)
{
    LOCKED(true, handle_free(&t->core, h));
}

poolmem_status poolmem_handle_free_id(poolmem_handles *t, uint32_t id, size_t *freed)
{
    LOCKED(true, handle_free_id(&t->core, id, freed));
}

poolmem_status poolmem_handle_read(poolmem_handles *t, poolmem_handle h, const void **out)
{
    LOCKED(out, handle_read(&t->core, h, out));
}

poolmem_status poolmem_handle_write(poolmem_handles *t, poolmem_handle h, void **out)
{
    LOCKED(out, handle_write(&t->core, h, out));
}

poolmem_status poolmem_handle_edit(poolmem_handles *t, poolmem_handle h, void **out)
{
    LOCKED(out, handle_edit(&t->core, h, out));
}

poolmem_status poolmem_handle_use(poolmem_handles *t, poolmem_handle h, uint32_t flags)
{
    LOCKED(true, handle_use(&t->core, h, flags));
}

poolmem_status poolmem_handle_flags(poolmem_handles *t, poolmem_handle h, uint32_t *flags)
{
    LOCKED(flags, handle_flags(&t->core, h, flags));
}

poolmem_status poolmem_handle_size(poolmem_handles *t, poolmem_handle h, size_t *size)
{
    LOCKED(size, handle_size(&t->core, h, size));
}

poolmem_status poolmem_handle_lock(poolmem_handles *t, poolmem_handle h)
{
    LOCKED(true, handle_lock(&t->core, h));
}

poolmem_status poolmem_handle_unlock(poolmem_handles *t, poolmem_handle h)
{
    LOCKED(true, handle_unlock(&t->core, h));
}
