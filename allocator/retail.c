/* SPDX-License-Identifier: MIT */
/*
 * retail.c - see retail.h: the pool kind `retail`, a retail heap over one block of its parent. Translates
 * host pointers to offsets and back, and the heap's answers to those of the pool interface.
 *
 * Where the interface asks for more than the original had: align 0 means 16, which a C program expects; sizes
 * beyond 32 bits are memory that is not there (POOL_NOMEM), so that a policy can send them elsewhere; check
 * empty stays false, as the original's, but leaks can be listed, because live bits tell them. The statistics
 * use the pure largest run: a report must not move the rover.
 * Locking: pool.c takes the pool's lock when the pool is shared; destroy, leaks and describe are for quiet
 * moments. Cost: that of rheap and a subtraction. Read next: clump.c.
 */
#include "fatal.h"
#include "fmt.h"
#include "rheap_internal.h"

#include <string.h>

static retail_pool *self(pool *p)
{
    return (retail_pool *)(void *)p;
}

/* Offset of a pointer, 0 for one that cannot be a block of this heap. */
static uint32_t offset_of(const rheap *h, const void *block)
{
    uintptr_t offset = (uintptr_t)block - (uintptr_t)h->base;
    return offset < h->usable ? (uint32_t)offset : 0;
}

static uint32_t align_of(const pool_request *r)
{
    if (!r->align)
        return RHEAP_DEFAULT_ALIGN;
    return r->align <= RHEAP_ALIGN_MAX ? (uint32_t)r->align : 0; /* 0 is refused by the heap */
}

static uint32_t size_of(const pool_request *r)
{
    return r->size < UINT32_MAX ? (uint32_t)r->size : UINT32_MAX; /* more than any heap holds */
}

/* The original stores a byte at address 0 here. */
static pool_status refused(retail_pool *rp, const pool_request *r, pool_status s)
{
    if (s == POOL_OVERFLOW)
        s = POOL_NOMEM;
    if (s == POOL_NOMEM && rp->on_no_memory)
        rp->on_no_memory(&rp->base, r, rp->on_no_memory_arg);
    return s;
}

static pool_status retail_alloc(pool *p, const pool_request *r, void **out, size_t *size)
{
    rheap *h = &self(p)->heap;
    uint32_t offset;
    pool_status s = rheap_alloc(h, size_of(r), align_of(r), &offset);
    if (unlikely(s != POOL_OK))
        return s == POOL_ZERO ? s : refused(self(p), r, s);
    *out = rheap_pointer(h, offset);
    *size = rheap_size_of_live(h, offset);
    return POOL_OK;
}

static pool_status retail_free(pool *p, void *block, size_t *size)
{
    rheap *h = &self(p)->heap;
    uint32_t offset = offset_of(h, block);
    if (!offset)
        return pool_contains(p, block) ? POOL_INVALID : POOL_FOREIGN;
    *size = rheap_is_live(h, offset) ? rheap_size_of_live(h, offset) : 0;
    return rheap_free(h, offset);
}

static pool_status retail_resize(pool *p, void *block, const pool_request *r, void **out)
{
    rheap *h = &self(p)->heap;
    uint32_t to, offset = offset_of(h, block);
    if (!offset)
        return pool_contains(p, block) ? POOL_INVALID : POOL_FOREIGN;
    pool_status s = rheap_realloc(h, offset, size_of(r), align_of(r), &to);
    *out = rheap_pointer(h, to);
    return s == POOL_NOMEM || s == POOL_OVERFLOW ? refused(self(p), r, s) : s;
}

static pool_status retail_set_option(pool *p, int which, uintptr_t value)
{
    if (which != POOL_OPTION_STRICT) /* the original takes every option and does nothing */
        return which == POOL_OPTION_COUNT_FREES ? POOL_OK : POOL_UNSUPPORTED;
    self(p)->strict = value != 0;
    return POOL_OK;
}

static bool retail_check_empty(pool *p)
{
    return false; /* the original's heap never says it is empty */
}

static size_t retail_largest_free(pool *p)
{
    return rheap_largest_probe(&self(p)->heap);
}

static size_t retail_free_bytes(pool *p)
{
    return rheap_free_bytes(&self(p)->heap);
}

static size_t retail_size(pool *p, const void *block)
{
    return rheap_size(&self(p)->heap, offset_of(&self(p)->heap, block));
}

/* Memory in use is told and, unless the pool is strict, goes with it, as the original's does. */
static pool_status retail_destroy(pool *p)
{
    retail_pool *rp = self(p);
    if (rp->heap.used) {
        message(MESSAGE_WARNING, "pool '%s' destroyed with %u bytes in use", p->name, rp->heap.used);
        if (rp->strict)
            return POOL_BUSY;
    }
    rheap_done(&rp->heap);
    p->first = p->last = 0;
    return rp->in_parent ? pool_free(p->parent, rp->block) : POOL_OK;
}

static size_t retail_report_leaks(pool *p)
{
    const rheap *h = &self(p)->heap;
    size_t n = 0;
    for (uint32_t at = rheap_next_live(h, 0); at; at = rheap_next_live(h, at + 8), n++)
        message(MESSAGE_WARNING, "pool '%s': %u bytes at offset %u are still in use", p->name,
                rheap_size(h, at), at);
    return n;
}

static size_t retail_describe(pool *p, const void *block, char *out, size_t cap)
{
    const rheap *h = &self(p)->heap;
    uint32_t offset = offset_of(h, block), size = rheap_size(h, offset);
    if (!size)
        return fmt_text(out, cap, "%p: not the start of a live block of pool '%s'", block, p->name);
    return fmt_text(out, cap, "%p: %u bytes at offset %u of pool '%s'", block, size, offset, p->name);
}

static bool retail_check(pool *p)
{
    const char *wrong = rheap_check(&self(p)->heap);
    if (wrong)
        message(MESSAGE_MISUSE, "pool '%s' is damaged: %s", p->name, wrong);
    return !wrong;
}

static void retail_stats(pool *p, pool_stats *out)
{
    out->live_bytes = self(p)->heap.used - p->hosted_bytes;
    out->committed_bytes = self(p)->size - p->hosted_bytes;
    out->free_bytes = rheap_free_bytes(&self(p)->heap);
    out->largest_free_bytes = rheap_largest_run(&self(p)->heap);
    out->unusable_bytes = rheap_unusable(&self(p)->heap);
}

static const pool_ops retail_ops = {
    .alloc = retail_alloc,
    .free = retail_free,
    .resize = retail_resize,
    .set_option = retail_set_option,
    .check_empty = retail_check_empty,
    .largest_free = retail_largest_free,
    .free_bytes = retail_free_bytes,
    .size = retail_size,
    .destroy = retail_destroy,
    .report_leaks = retail_report_leaks,
    .describe = retail_describe,
    .check = retail_check,
    .stats = retail_stats,
};

pool_status retail_init_in_place(retail_pool *p, pool *parent, void *block, size_t size, const char *name)
{
    if (!block || !size)
        return POOL_INVALID;
    memset(p, 0, sizeof *p);
    pool_init(&p->base, &retail_ops, POOL_RETAIL, name, parent);
    pool_status s = rheap_init(&p->heap, block, size);
    if (s != POOL_OK)
        return s;
    p->block = block;
    p->size = size;
    pool_set_block(&p->base, block, size);
    return POOL_OK;
}

/* The parent's block has the alignment the original asks for, not 1 KB: usable start is rounded up. */
pool_status retail_init_in_parent(retail_pool *p, pool *parent, size_t size, const char *name)
{
    void *block;
    pool_request r = {.size = size, .align = 16, .tag = "u8", .name = name};
    pool_status s = pool_alloc(parent, &r, &block);
    if (s != POOL_OK)
        return s;
    s = retail_init_in_place(p, parent, block, size, name);
    p->in_parent = s == POOL_OK;
    if (s != POOL_OK)
        pool_free(parent, block);
    return s;
}

retail_pool *retail_from_pool(pool *p)
{
    return p && p->ops == &retail_ops ? self(p) : NULL;
}

size_t retail_true_free(retail_pool *p)
{
    bool shared = p->base.flags & POOL_SHARED;
    if (shared)
        lock_take(&p->base.lock);
    size_t n = rheap_true_free(&p->heap);
    if (shared)
        lock_drop(&p->base.lock);
    return n;
}
