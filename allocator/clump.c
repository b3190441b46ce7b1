/* SPDX-License-Identifier: MIT */
/*
 * clump.c - see clump.h. The bump itself is three lines; the rest is what makes misuse visible.
 *
 * An extent is written for each allocation, in address order because a bump only goes up, so a pointer is
 * found by binary search and most often at the end at once. `live` is the original's count: it does not know
 * of frees that came while they were not counted, which the extents' freed marks do.
 * An alignment above what the block itself has is refused, so offset and address are aligned alike.
 * There is no resize: the original's returns nothing, and whoever needs one copies.
 * Locking: pool.c's. Cost: see clump.h. Read next: registry.c.
 */
#include "clump.h"
#include "fatal.h"
#include "fmt.h"

#include <string.h>

static clump *self(pool *p)
{
    return (clump *)(void *)p;
}

static clump_extent *extents_of(const clump *c)
{
    return c->extents.at;
}

/* The extent a pointer is the start of, NULL when it is none. */
static clump_extent *find_extent(const clump *c, const void *block)
{
    uintptr_t offset = (uintptr_t)block - (uintptr_t)c->block;
    if (offset > c->used || !c->extent_count)
        return NULL;
    clump_extent *extents = extents_of(c), *last = &extents[c->extent_count - 1];
    if (last->offset == offset)
        return last;
    uint32_t low = 0, high = c->extent_count;
    while (low < high) { /* the last extent at offset: empty ones share it with the next */
        uint32_t middle = low + (high - low) / 2;
        if (extents[middle].offset <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low && extents[low - 1].offset == offset ? &extents[low - 1] : NULL;
}

static pool_status clump_alloc(pool *p, const pool_request *r, void **out, size_t *size)
{
    clump *c = self(p);
    size_t align = r->align ? r->align : CLUMP_DEFAULT_ALIGN;
    if ((uintptr_t)c->block & (align - 1))
        return POOL_ALIGN;
    size_t offset = round_up(c->used, align);
    if (offset > c->size || r->size > c->size - offset)
        return POOL_NOMEM;
    size_t bytes = c->extent_count * sizeof(clump_extent);
    if (!growing_reserve(&c->extents, bytes, bytes + sizeof(clump_extent)))
        return POOL_NOMEM;
    extents_of(c)[c->extent_count++] = (clump_extent){.offset = (uint32_t)offset, .size = (uint32_t)r->size};
    c->used = (uint32_t)(offset + r->size);
    c->live++;
    *out = c->block + offset;
    *size = r->size;
    return POOL_OK;
}

/* Only the last one gives memory back: all of it. */
static void count_free(clump *c)
{
    if (--c->live == 0)
        c->used = c->extent_count = 0;
}

static pool_status clump_free(pool *p, void *block, size_t *size)
{
    clump *c = self(p);
    clump_extent *e = find_extent(c, block);
    if (!e)
        return pool_contains(p, block) ? POOL_INVALID : POOL_FOREIGN;
    while (e->freed && e > extents_of(c) && e[-1].offset == e->offset)
        e--; /* empty allocations share their address with what follows */
    if (e->freed)
        return POOL_DOUBLE_FREE;
    e->freed = 1;
    *size = e->size;
    if (c->count_frees)
        count_free(c);
    return POOL_OK;
}

static pool_status clump_set_option(pool *p, int which, uintptr_t value)
{
    if (which == POOL_OPTION_COUNT_FREES)
        self(p)->count_frees = value != 0;
    else if (which == POOL_OPTION_STRICT)
        self(p)->strict = value != 0;
    else
        return POOL_UNSUPPORTED;
    return POOL_OK;
}

static bool clump_check_empty(pool *p)
{
    return self(p)->live == 0;
}

static size_t clump_largest_free(pool *p)
{
    return 0; /* as the original's: a clump is never asked for room */
}

static size_t clump_free_bytes(pool *p)
{
    return self(p)->size - self(p)->used;
}

static size_t clump_size(pool *p, const void *block)
{
    const clump_extent *e = find_extent(self(p), block);
    return e && !e->freed ? e->size : 0;
}

/* Also without counted frees: a free is marked whether it counts or not. */
static size_t clump_report_leaks(pool *p)
{
    const clump *c = self(p);
    size_t n = 0;
    for (uint32_t i = 0; i < c->extent_count; i++) {
        const clump_extent *e = &extents_of(c)[i];
        if (e->freed)
            continue;
        message(MESSAGE_WARNING, "pool '%s': %u bytes at offset %u are still in use", p->name, e->size,
                e->offset);
        n++;
    }
    return n;
}

/* Without counted frees live says nothing, so then nothing is held against the caller. */
static pool_status clump_destroy(pool *p)
{
    clump *c = self(p);
    if (c->count_frees && c->live) {
        message(MESSAGE_WARNING, "pool '%s' destroyed with %u allocations live", p->name, c->live);
        if (c->strict)
            return POOL_BUSY;
    }
    growing_done(&c->extents);
    c->extent_count = c->size = c->used = c->live = 0;
    p->first = p->last = 0;
    return c->in_parent ? pool_free(p->parent, c->block) : POOL_OK;
}

static size_t clump_describe(pool *p, const void *block, char *out, size_t cap)
{
    const clump *c = self(p);
    const clump_extent *e = find_extent(c, block);
    if (!e)
        return fmt_text(out, cap, "%p: not the start of a block of pool '%s'", block, p->name);
    return fmt_text(out, cap, "%p: %u bytes at offset %u of pool '%s'%s", block, e->size, e->offset, p->name,
                    e->freed ? ", freed" : "");
}

/* Frees that were not counted leave live above what the marks say, never below. */
static const char *broken_extents(const clump *c)
{
    uint32_t end = 0, freed = 0;
    for (uint32_t i = 0; i < c->extent_count; i++) {
        const clump_extent *e = &extents_of(c)[i];
        if (e->offset < end)
            return "two allocations overlap";
        end = e->offset + e->size;
        freed += e->freed;
    }
    if (end > c->used)
        return "an allocation passes the used bytes";
    return c->live > c->extent_count || c->live < c->extent_count - freed ? "the live count is wrong" : NULL;
}

static bool clump_check(pool *p)
{
    const clump *c = self(p);
    const char *wrong = c->used > c->size ? "more used than it has" : broken_extents(c);
    if (wrong)
        message(MESSAGE_MISUSE, "pool '%s' is damaged: %s", p->name, wrong);
    return !wrong;
}

static void clump_stats(pool *p, pool_stats *out)
{
    out->committed_bytes = self(p)->size - p->hosted_bytes;
    out->free_bytes = out->largest_free_bytes = self(p)->size - self(p)->used;
}

static const pool_ops clump_ops = {
    .alloc = clump_alloc, /* no resize: the original's returns nothing */
    .free = clump_free,
    .set_option = clump_set_option,
    .check_empty = clump_check_empty,
    .largest_free = clump_largest_free,
    .free_bytes = clump_free_bytes,
    .size = clump_size,
    .destroy = clump_destroy,
    .report_leaks = clump_report_leaks,
    .describe = clump_describe,
    .check = clump_check,
    .stats = clump_stats,
};

pool_status clump_init_in_place(clump *c, pool *parent, void *block, size_t size, const char *name)
{
    if (!block || !size)
        return POOL_INVALID;
    if (size > CLUMP_SIZE_MAX)
        return POOL_OVERFLOW;
    memset(c, 0, sizeof *c);
    pool_init(&c->base, &clump_ops, POOL_CLUMP, name, parent);
    c->block = block;
    c->size = (uint32_t)size;
    pool_set_block(&c->base, block, size);
    return POOL_OK;
}

pool_status clump_init_in_parent(clump *c, pool *parent, size_t size, const char *name)
{
    void *block;
    pool_request r = {.size = size, .align = CLUMP_ALIGN, .tag = "MemoryPoolClumpInternal", .name = name};
    if (size > CLUMP_SIZE_MAX)
        return POOL_OVERFLOW;
    pool_status s = pool_alloc(parent, &r, &block);
    if (s == POOL_OK) {
        s = clump_init_in_place(c, parent, block, size, name);
        c->in_parent = true;
    }
    return s;
}

clump *clump_from_pool(pool *p)
{
    return p && p->ops == &clump_ops ? self(p) : NULL;
}
