/* SPDX-License-Identifier: MIT */
/*
 * malloc.c - floor F4: the C entry points, with glibc's semantics and errno. Each finds its caller's tag,
 * takes memory from the tag's front and counts in the tag's tally; what is rare goes to the cold half below.
 *
 * free goes to the owner by address whatever is on top; realloc stays in the block's own pool and is counted
 * there. A pointer that is not ours is counted and left alone (realloc copies what can be read of it).
 * Locking: none here. Cost: see heap.h and caller.h.
 */
#include "alloc_entry.h"
#include "arena.h"
#include "aside.h"
#include "config.h"
#include "misuse.h"
#include "os.h"
#include "pools.h"
#include "site.h"
#include "track.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

size_t malloc_fast_end = SMALL_MAX + 1;

/* --- the cold half ------------------------------------------------------------------------------ */

static caller_frame frame_at(uintptr_t cfa, uintptr_t rbp)
{
    return (caller_frame){.ret = ((uintptr_t *)cfa)[-1], .cfa = cfa, .rbp = rbp};
}

static void *no_memory(void)
{
    errno = ENOMEM;
    return NULL;
}

/* The pool that served, when the tag's own would not (spill): the call-site is counted there. */
static const tag *served_by(const tag *g)
{
    heap_thread *t = g->front->owner;
    front *f = t->served;
    if (likely(!f))
        return g;
    t->served = NULL;
    return site_within((thread *)t, g, f->locked ? f->locked->id : f->heap->id);
}

static void *counted(const tag *g, void *p, size_t size)
{
    if (unlikely(!p))
        return no_memory();
    g = served_by(g);
    tally_alloc(g, p, size);
    if (unlikely(config_now.track))
        track_alloc(p, usable_size(p), g->tally->site);
    return p;
}

void *malloc_cold(const tag *g, size_t size)
{
    return counted(g, front_alloc_aligned(g->front, size, GRANULE), size);
}

void *alloc_walked(size_t size, uintptr_t cfa, uintptr_t rbp, entry_id entry)
{
    const memo_entry *e = caller_hit_forked(self, entry, cfa, rbp);
    const tag *g = likely(e != NULL) ? &e->now : caller_tag_searched(self, entry, size, cfa, rbp);
    void *p = alloc_quick(g, size);
    return likely(p != NULL) ? p : malloc_cold(g, size);
}

void *malloc_aligned_cold(const tag *g, size_t size, size_t align, bool zero)
{
    if (unlikely(aside_now.memalign) && !zero)
        return aside_now.memalign(align, size);
    void *p = zero ? front_alloc_zero(g->front, size) : front_alloc_aligned(g->front, size, align);
    return counted(g, p, size);
}

static heap_thread *my_side(void)
{
    thread *t = self;
    return &(unlikely(t == &cold_thread) ? thread_start() : t)->heap;
}

static pool_status free_owned(void *p)
{
    if (likely(world_owns(p)) && likely(relaxed_load(&block_of(p)->owner) != NULL))
        return heap_free_cold(my_side(), p); /* a fragment: pools of fixed size live in runs */
    pool *fixed = pools_fixed_anywhere(p);
    if (unlikely(fixed != NULL)) {
        pool_status s = pool_free(fixed, p);
        return s == POOL_UNSUPPORTED ? POOL_OK : s; /* a strict arena keeps it, as it was told */
    }
    return world_owns(p) ? heap_free_cold(my_side(), p) : POOL_FOREIGN;
}

void free_cold(void *p, uintptr_t cfa, uintptr_t rbp, const char *call)
{
    if (!p)
        return;
    if (unlikely(aside_now.free) && !world_owns(p) && strcmp(call, "free") != 0) {
        aside_now.free(p);
        return;
    }
    int saved = errno;
    if (unlikely(config_now.track))
        track_free(p);
    pool_status s = free_owned(p);
    if (unlikely(s != POOL_OK))
        misuse_report(call, p, s, frame_at(cfa, rbp));
    errno = saved;
}

void free_other(void *p, uintptr_t cfa, uintptr_t rbp, const char *call)
{
    if (unlikely(!heap_free_other(&self->heap, p)))
        free_cold(p, cfa, rbp, call);
}

size_t usable_size(const void *p)
{
    pool *fixed = p ? pools_fixed_anywhere(p) : NULL;
    if (fixed || !p)
        return fixed ? pool_size(fixed, p) : 0;
    if (world_owns(p))
        return heap_usable(p);
    return aside_now.malloc_usable_size ? aside_now.malloc_usable_size((void *)p) : 0;
}

/* --- realloc -------------------------------------------------------------------------------------- */

/* The call-site of this realloc, in the block's pool. */
INLINE const tag *realloc_tag(uint32_t pool_id, size_t size, caller_frame f)
{
    const tag *g = caller_tag(self, ENTRY_REALLOC, size, f);
    thread *t = self;
    return likely(g->front == t->heap.by_heap[pool_id]) ? g : site_within(t, g, pool_id);
}

INLINE void count_resized(const tag *g, size_t size)
{
    relaxed_add(&g->tally->reallocs, 1);
    relaxed_add(&g->tally->bytes, size);
}

/* A block that had to move to another pool (spill) is an allocation there. */
static void count_realloc(uint32_t pool_id, size_t size, caller_frame f)
{
    const tag *own = realloc_tag(pool_id, size, f), *g = served_by(own);
    if (g == own)
        count_resized(g, size);
    else
        tally_alloc(g, NULL, size);
}

/* Reads as much of a stranger's block as is mapped: there is no telling how long it is. */
static void *copy_foreign(void *p, size_t size)
{
    void *to = malloc_cold(thread_base(self, STATS_POOL_GLOBAL), size);
    if (to)
        process_vm_readv(getpid(), &(struct iovec){to, size}, 1, &(struct iovec){p, size}, 1, 0);
    return to;
}

static bool is_misuse(pool_status s)
{
    return s == POOL_INVALID || s == POOL_DOUBLE_FREE || s == POOL_FOREIGN;
}

/* What may be copied of a block: an arena keeps no sizes. */
static size_t content_size(pool *p, const void *block)
{
    return p->kind == POOL_ARENA ? arena_bytes_from((const arena *)p, block) : pool_size(p, block);
}

/* A clump cannot resize and a full pool may spill: then moved to where an allocation would be served. */
static pool_status resize_fixed(pool *p, void *block, size_t size, void **to)
{
    pool_status s = pool_resize(p, block, &(pool_request){.size = size, .align = GRANULE}, to);
    if (s == POOL_OK || is_misuse(s))
        return s;
    void *moved = front_alloc_aligned(thread_base(self, p->id)->front, size, GRANULE);
    if (!moved)
        return POOL_NOMEM;
    bool counted = s != POOL_BUSY; /* as a failure, which it is not after all */
    size_t old = content_size(p, block);
    memcpy(moved, block, old < size ? old : size);
    s = pool_free(p, block);
    if (is_misuse(s)) { /* only a clump has not looked before */
        free_owned(moved);
        my_side()->served = NULL;
        return s;
    }
    *to = moved;
    pool_count_refused(p, false, counted);
    return POOL_OK;
}

/* NULL: the status says why. */
static void *resize_owned(void *p, size_t size, pool *fixed, pool_status *why)
{
    void *to = NULL;
    *why = POOL_NOMEM;
    if (size > SIZE_LIMIT)
        return NULL;
    if (!fixed)
        return heap_resize(my_side(), p, size);
    *why = resize_fixed(fixed, p, size, &to);
    return to;
}

/* The old record goes first: as soon as the block has moved another thread may have its address. */
static void *resize_tracked(void *p, size_t size, pool *fixed, caller_frame f, pool_status *why)
{
    size_t old_size;
    uint32_t old_site;
    bool known = track_take(p, &old_size, &old_site);
    void *to = resize_owned(p, size, fixed, why);
    if (to)
        track_alloc(to, usable_size(to), caller_tag(self, ENTRY_REALLOC, size, f)->tally->site);
    else if (known)
        track_alloc(p, old_size, old_site);
    return to;
}

void *realloc_block(void *p, size_t size, uintptr_t cfa, uintptr_t rbp)
{
    pool *fixed = pools_fixed_anywhere(p);
    pool_status s = fixed ? POOL_OK : likely(world_owns(p)) ? heap_judge(p) : POOL_FOREIGN;
    if (unlikely(s != POOL_OK)) {
        misuse_report("realloc", p, s, frame_at(cfa, rbp));
        return s == POOL_FOREIGN ? copy_foreign(p, size) : no_memory();
    }
    uint32_t id = fixed ? fixed->id : block_of(p)->heap;
    void *to = unlikely(config_now.track) ? resize_tracked(p, size, fixed, frame_at(cfa, rbp), &s)
                                          : resize_owned(p, size, fixed, &s);
    if (unlikely(!to)) {
        if (is_misuse(s))
            misuse_report("realloc", p, s, frame_at(cfa, rbp));
        return no_memory();
    }
    count_realloc(id, size, frame_at(cfa, rbp));
    return to;
}

/* --- entries -------------------------------------------------------------------------------------- */

EXPORT void *malloc(size_t size)
{
    RETURN_ALLOC(ENTRY_MALLOC, size, alloc_walked);
}

/* A name of our own for the same function: tells whether the program's malloc is ours (boot.c). */
EXPORT void *poolmem_malloc(size_t size)
    __attribute__((alias("malloc"), nothrow, leaf, malloc, alloc_size(1)));

EXPORT void free(void *p)
{
    FREE_TAGGED(p, "free");
}

EXPORT void cfree(void *p)
{
    FREE_TAGGED(p, "cfree");
}

EXPORT void free_sized(void *p, size_t size)
{
    FREE_TAGGED(p, "free_sized");
}

EXPORT void free_aligned_sized(void *p, size_t align, size_t size)
{
    FREE_TAGGED(p, "free_aligned_sized");
}

EXPORT void *calloc(size_t count, size_t each)
{
    caller_frame f = CALLER_HERE();
    size_t size;
    if (unlikely(mul_wraps(count, each, &size)))
        return no_memory();
    const tag *g = caller_tag(self, ENTRY_CALLOC, size, f);
    void *p = alloc_quick(g, size);
    if (likely(p != NULL))
        return memset(p, 0, size);
    return malloc_aligned_cold(g, size, GRANULE, true);
}

static void *realloc_kept(void *p, size_t size, uintptr_t cfa, uintptr_t rbp)
{
    count_resized(realloc_tag(block_of(p)->heap, size, frame_at(cfa, rbp)), size);
    return p;
}

/* Returns from the enclosing entry with p resized; what malloc and free do for no block and for no size. */
#define RETURN_RESIZED(p, size)                                                                              \
    do {                                                                                                     \
        if (!(p))                                                                                            \
            RETURN_ALLOC(ENTRY_REALLOC, size, alloc_walked);                                                 \
        if (unlikely(!(size))) {                                                                             \
            FREE_TAGGED(p, "realloc");                                                                       \
            return NULL;                                                                                     \
        }                                                                                                    \
        return likely(heap_keeps(&self->heap, p, size))                                                      \
                   ? realloc_kept(p, size, CALLER_CFA(), CALLER_RBP())                                       \
                   : realloc_block(p, size, CALLER_CFA(), CALLER_RBP());                                     \
    } while (0)

EXPORT void *realloc(void *p, size_t size)
{
    RETURN_RESIZED(p, size);
}

EXPORT void *reallocarray(void *p, size_t count, size_t each)
{
    size_t size;
    if (unlikely(aside_now.reallocarray))
        return aside_now.reallocarray(p, count, each);
    if (unlikely(mul_wraps(count, each, &size)))
        return no_memory();
    RETURN_RESIZED(p, size);
}

INLINE void *aligned_tagged(size_t align, size_t size, caller_frame f)
{
    const tag *g = caller_tag(self, ENTRY_ALIGNED, size, f);
    return malloc_aligned_cold(g, size, align, false);
}

/* As glibc: an alignment that is no power of two is rounded up to one; a hopeless one is EINVAL. */
INLINE void *memalign_tagged(size_t align, size_t size, caller_frame f)
{
    if (unlikely(align > SIZE_MAX / 2 + 1)) {
        errno = EINVAL;
        return NULL;
    }
    if (unlikely(!is_pow2(align)))
        align = align < GRANULE ? GRANULE : (size_t)2 << log2_floor(align - 1);
    return aligned_tagged(align, size, f);
}

EXPORT void *memalign(size_t align, size_t size)
{
    return memalign_tagged(align, size, CALLER_HERE());
}

EXPORT void *aligned_alloc(size_t align, size_t size)
{
    return memalign_tagged(align, size, CALLER_HERE());
}

EXPORT int posix_memalign(void **out, size_t align, size_t size)
{
    caller_frame f = CALLER_HERE();
    if (!is_pow2(align) || align % sizeof(void *))
        return EINVAL;
    int saved = errno;
    void *p = aligned_tagged(align, size, f);
    errno = saved;
    if (!p)
        return ENOMEM;
    *out = p;
    return 0;
}

EXPORT void *valloc(size_t size)
{
    return aligned_tagged(os_page_size(), size, CALLER_HERE());
}

/* Whole pages come of the alignment: what is aligned to a page is a multiple of one. */
EXPORT void *pvalloc(size_t size)
{
    return aligned_tagged(os_page_size(), size, CALLER_HERE());
}

EXPORT size_t malloc_usable_size(void *p)
{
    return usable_size(p);
}
