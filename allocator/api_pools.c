/* SPDX-License-Identifier: MIT */
/*
 * api_pools.c - see api.h: the calls of poolmem.h for one pool of any kind, for arenas, hunks and Lua. A pool
 * of another kind than the call is for gives POOLMEM_UNSUPPORTED, NULL or 0. Shared pools are locked around
 * each call.
 */
#include "api.h"
#include "arena.h"
#include "fatal.h"
#include "hunk.h"

_Static_assert((int)POOLMEM_FATAL == (int)MESSAGE_FATAL, "levels are the core's");

const char *poolmem_status_text(poolmem_status status)
{
    return status == POOLMEM_ABSENT ? "the library is absent" : pool_status_text((pool_status)status);
}

/* The program's hook, and the one that was there before it. */
static struct {
    poolmem_message_hook *hook;
    void *arg;
    message_hook *before;
    void *before_arg;
} said;

static void forward_line(message_level level, const char *line, void *arg)
{
    said.hook((poolmem_level)level, line, said.arg);
}

void poolmem_set_message_hook(poolmem_message_hook *hook, void *arg)
{
    if (!said.hook)
        said.before = message_get_hook(&said.before_arg);
    said.hook = hook;
    said.arg = arg;
    message_set_hook(hook ? forward_line : said.before, hook ? NULL : said.before_arg);
}

poolmem_status poolmem_pool_set_option(poolmem_pool *p, poolmem_option option, size_t value)
{
    if (!p || pool_is_gone(core_pool(p)))
        return p ? POOLMEM_STALE : POOLMEM_INVALID;
    return public_status(pool_set_option(core_pool(p), (int)option, value));
}

size_t poolmem_pool_largest_free(poolmem_pool *p)
{
    return p && !pool_is_gone(core_pool(p)) ? pool_largest_free(core_pool(p)) : 0;
}

/* --- arena ------------------------------------------------------------------------------------------------
 */

/* The arena, its lock taken; NULL: it is none, or destroyed. */
static arena *enter_arena(poolmem_pool *p)
{
    if (!p || core_pool(p)->kind != POOL_ARENA || pool_is_gone(core_pool(p)))
        return NULL;
    pool_enter(core_pool(p));
    return (arena *)p;
}

void *poolmem_arena_alloc_aligned(poolmem_pool *p, size_t size, size_t align)
{
    arena *a = size <= SIZE_LIMIT ? enter_arena(p) : NULL;
    if (!a)
        return NULL;
    void *block = arena_alloc_aligned(a, (int64_t)size, align);
    pool_leave(&a->pool);
    return block;
}

void *poolmem_arena_alloc(poolmem_pool *p, size_t size)
{
    return poolmem_arena_alloc_aligned(p, size, ARENA_ALIGN);
}

poolmem_status poolmem_arena_mark(poolmem_pool *p, poolmem_arena_point *out)
{
    if (!out)
        return POOLMEM_INVALID;
    arena *a = enter_arena(p);
    if (!a)
        return POOLMEM_UNSUPPORTED;
    arena_mark m = arena_get_mark(a);
    pool_leave(&a->pool);
    *out = (poolmem_arena_point){m.used, m.blocks, m.serial, 0};
    return POOLMEM_OK;
}

poolmem_status poolmem_arena_restore(poolmem_pool *p, const poolmem_arena_point *point)
{
    if (!point)
        return POOLMEM_INVALID;
    arena *a = enter_arena(p);
    if (!a)
        return POOLMEM_UNSUPPORTED;
    pool_status s = arena_restore(a, (arena_mark){point->used, point->blocks, point->serial});
    pool_leave(&a->pool);
    return public_status(s);
}

poolmem_status poolmem_arena_reset(poolmem_pool *p)
{
    arena *a = enter_arena(p);
    if (!a)
        return POOLMEM_UNSUPPORTED;
    arena_reset(a);
    pool_leave(&a->pool);
    return POOLMEM_OK;
}

static size_t arena_figure(poolmem_pool *p, size_t (*figure)(const arena *))
{
    arena *a = enter_arena(p);
    if (!a)
        return 0;
    size_t n = figure(a);
    pool_leave(&a->pool);
    return n;
}

size_t poolmem_arena_used(poolmem_pool *p)
{
    return arena_figure(p, arena_used);
}

size_t poolmem_arena_peak(poolmem_pool *p)
{
    return arena_figure(p, arena_peak);
}

char *poolmem_arena_strdup(poolmem_pool *p, const char *text)
{
    arena *a = enter_arena(p);
    if (!a)
        return NULL;
    char *copy = arena_strdup(a, text);
    pool_leave(&a->pool);
    return copy;
}

char *poolmem_arena_vformat(poolmem_pool *p, const char *format, va_list args)
{
    arena *a = format ? enter_arena(p) : NULL;
    if (!a)
        return NULL;
    char *text = arena_vformat(a, format, args);
    pool_leave(&a->pool);
    return text;
}

/* --- hunk
 * --------------------------------------------------------------------------------------------------- */

static hunk *enter_hunk(poolmem_pool *p, poolmem_side side)
{
    if (!p || core_pool(p)->kind != POOL_HUNK || pool_is_gone(core_pool(p)) || (unsigned)side > POOLMEM_HIGH)
        return NULL;
    pool_enter(core_pool(p));
    return (hunk *)p;
}

void *poolmem_hunk_alloc(poolmem_pool *p, poolmem_side side, size_t size, const char *name)
{
    hunk *h = size <= SIZE_LIMIT ? enter_hunk(p, side) : NULL;
    void *block;
    if (!h)
        return NULL;
    hunk_alloc(h, (hunk_side)side, (int64_t)size, name, &block);
    pool_leave(&h->pool);
    return block;
}

size_t poolmem_hunk_mark(poolmem_pool *p, poolmem_side side)
{
    hunk *h = enter_hunk(p, side);
    if (!h)
        return 0;
    size_t mark = hunk_mark(h, (hunk_side)side);
    pool_leave(&h->pool);
    return mark;
}

poolmem_status poolmem_hunk_free_to_mark(poolmem_pool *p, poolmem_side side, size_t mark)
{
    hunk *h = enter_hunk(p, side);
    if (!h)
        return POOLMEM_UNSUPPORTED;
    pool_status s = mark <= SIZE_LIMIT ? hunk_free_to_mark(h, (hunk_side)side, (int64_t)mark) : POOL_INVALID;
    pool_leave(&h->pool);
    return public_status(s);
}

void *poolmem_hunk_temp_alloc(poolmem_pool *p, size_t size)
{
    hunk *h = size <= SIZE_LIMIT ? enter_hunk(p, POOLMEM_LOW) : NULL;
    if (!h)
        return NULL;
    void *block = hunk_temp_alloc(h, (int64_t)size);
    pool_leave(&h->pool);
    return block;
}

void poolmem_hunk_temp_free(poolmem_pool *p)
{
    hunk *h = enter_hunk(p, POOLMEM_LOW);
    if (!h)
        return;
    hunk_temp_free(h);
    pool_leave(&h->pool);
}

_Static_assert(sizeof(poolmem_hunk_row) == sizeof(hunk_row) &&
                   offsetof(poolmem_hunk_row, bytes) == offsetof(hunk_row, bytes),
               "rows are the core's");

size_t poolmem_hunk_list(poolmem_pool *p, poolmem_hunk_row *rows, size_t cap)
{
    hunk *h = rows ? enter_hunk(p, POOLMEM_LOW) : NULL;
    if (!h)
        return 0;
    size_t n = hunk_list(h, (hunk_row *)rows, cap);
    pool_leave(&h->pool);
    return n;
}
