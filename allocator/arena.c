/* SPDX-License-Identifier: MIT */
/*
 * arena.c - see arena.h: chunks, marks and the pool interface of the arena.
 * Behaviour follows the arena of the game's own scripts: what is full says so and stays as it was, memory is
 * zeroed when handed out, a reset keeps peak and contents. Ours: marks that know when they are stale, sizes
 * compared without wrapping, growth by chunks.
 */
#include "arena.h"
#include "fatal.h"
#include "fmt.h"

static const pool_ops arena_ops;

static arena *of_pool(pool *p)
{
    return (arena *)p;
}

/* --- memory of the chunks ------------------------------------------------------------------------ */

static void *take_block(arena *a, size_t size)
{
    if (a->source)
        return a->source->take(&a->pool, a->pool.parent, size);
    return a->pool.parent ? pool_get(a->pool.parent, size, 16) : os_map(size);
}

static void give_block(arena *a, void *block, size_t size)
{
    if (a->source)
        a->source->give(a->pool.parent, block);
    else if (a->pool.parent)
        pool_free(a->pool.parent, block);
    else
        os_unmap(block, size);
}

/* From here on blocks come from this chunk. */
static void enter_chunk(arena *a, arena_chunk *c, size_t filled)
{
    a->current = c;
    a->cursor = c->base + filled;
    a->end = c->base + c->size;
}

bool arena_init(arena *a, int64_t size, const arena_options *options)
{
    static const arena_options none;
    const arena_options *o = options ? options : &none;
    if (size <= 0 || a->first.base)
        return false;
    pool_init(&a->pool, &arena_ops, POOL_ARENA, o->name ? o->name : "arena", o->parent);
    a->pool.flags = POOL_QUICK_STATS;
    a->source = o->source;
    char *base = take_block(a, (size_t)size);
    if (!base)
        return false;
    a->first = (arena_chunk){.base = base, .size = (size_t)size};
    a->chunk = o->chunk;
    a->pool.first = (uintptr_t)base;
    a->pool.last = (uintptr_t)base + (size_t)size - 1;
    enter_chunk(a, &a->first, 0);
    return true;
}

/* Gives back every chunk behind `last`. */
static void drop_chunks_after(arena *a, arena_chunk *last)
{
    arena_chunk *c = last->next;
    last->next = NULL;
    while (c) {
        arena_chunk *next = c->next;
        give_block(a, c, sizeof *c + c->size);
        c = next;
    }
}

void arena_free(arena *a)
{
    if (!a->first.base)
        return;
    drop_chunks_after(a, &a->first);
    give_block(a, a->first.base, a->first.size);
    memset(a, 0, sizeof *a);
}

void arena_trim(arena *a)
{
    if (a->current)
        drop_chunks_after(a, a->current);
}

/* --- figures ------------------------------------------------------------------------------------- */

size_t arena_used(const arena *a)
{
    return a->current ? a->current->origin + (size_t)(a->cursor - a->current->base) : 0;
}

size_t arena_size(const arena *a)
{
    return a->current ? a->current->origin + a->current->size : 0;
}

size_t arena_peak(const arena *a)
{
    size_t used = arena_used(a);
    return used > a->peak ? used : a->peak;
}

/* --- growth and the slow path ---------------------------------------------------------------------- */

/* The first chunk was paid for at the start: only growth can meet the limit. */
static bool limit_allows(arena *a, size_t more)
{
    if (!a->pool.limit || arena_size(a) + more <= a->pool.limit)
        return true;
    a->pool.counts.over_limit++;
    return a->pool.over == OVER_WARN;
}

/* Its head stands in front of the bytes it hands out. */
static arena_chunk *new_chunk(arena *a, size_t need)
{
    size_t size = need > a->chunk ? need : a->chunk, whole;
    if (add_wraps(size, sizeof(arena_chunk), &whole) || !limit_allows(a, size))
        return NULL;
    arena_chunk *c = take_block(a, whole);
    if (c)
        *c = (arena_chunk){.prev = a->current, .base = (char *)(c + 1), .size = size};
    return c;
}

/* Moves on to a chunk with room for `need` bytes: a spare one that is large enough, or a new one. */
static bool grow(arena *a, size_t need)
{
    arena_chunk *now = a->current, *next = now->next;
    if (!next || next->size < need) {
        arena_chunk *fresh = new_chunk(a, need);
        if (!fresh)
            return false;
        drop_chunks_after(a, now);
        now->next = next = fresh;
    }
    now->filled = (size_t)(a->cursor - now->base);
    next->origin = now->origin + now->size;
    enter_chunk(a, next, 0);
    return true;
}

/* The whole of an allocation, for any alignment and size, compared without wrapping. */
static void *place(arena *a, size_t bytes, size_t align)
{
    size_t room = (size_t)(a->end - a->cursor);
    size_t skip = round_up((uintptr_t)a->cursor, align) - (uintptr_t)a->cursor;
    if (skip > room || bytes > room - skip)
        return NULL;
    char *start = a->cursor + skip;
    a->cursor = start + bytes;
    a->blocks++;
    return start;
}

static void *place_or_grow(arena *a, size_t bytes, size_t align)
{
    size_t need;
    void *p = a->current ? place(a, bytes, align) : NULL;
    if (p || !a->chunk || !a->current || add_wraps(bytes, align - 1, &need) || !grow(a, need))
        return p;
    return place(a, bytes, align);
}

static void say_full(const arena *a, int64_t bytes)
{
    message(MESSAGE_WARNING, "arena full: %zu of %zu bytes used, asked for %lld more", arena_used(a),
            arena_size(a), (long long)bytes);
}

void *arena_alloc_cold(arena *a, int64_t bytes, size_t align, bool zero)
{
    void *p = bytes < 0 ? NULL : place_or_grow(a, (size_t)bytes, align);
    if (!p) {
        a->pool.counts.failed++;
        say_full(a, bytes);
        return NULL;
    }
    return zero ? memset(p, 0, (size_t)bytes) : p;
}

/* --- marks ------------------------------------------------------------------------------------------ */

arena_mark arena_get_mark(arena *a)
{
    arena_mark m = {.used = arena_used(a), .blocks = a->blocks};
    arena_mark *top = a->marks ? &a->stack[a->marks - 1] : NULL;
    /* the same place again is the same mark: a loop of mark and restore does not fill the stack */
    if (top && top->used == m.used && top->blocks == m.blocks)
        return *top;
    if (a->marks < ARENA_MARKS && a->serial < UINT32_MAX) {
        m.serial = ++a->serial;
        a->stack[a->marks++] = m;
    }
    return m;
}

/* Marks that are not remembered (nested too deep) are checked by their range alone. */
static pool_status check_mark(const arena *a, arena_mark m)
{
    if (m.used > arena_used(a) || m.blocks > a->blocks)
        return POOL_INVALID;
    for (uint32_t i = 0; m.serial && i < a->marks; i++)
        if (a->stack[i].serial == m.serial)
            return a->stack[i].used == m.used ? POOL_OK : POOL_INVALID;
    return m.serial ? POOL_STALE : POOL_OK;
}

/* Peak is looked at here and when asked for, not on each allocation: between two restores use only grows. */
static void go_back(arena *a, size_t used, uint64_t blocks)
{
    arena_chunk *c = a->current;
    a->peak = arena_peak(a);
    while (c->prev && used < c->origin)
        c = c->prev;
    enter_chunk(a, c, used - c->origin);
    a->dead += a->blocks - blocks;
    a->blocks = blocks;
    a->last = a->last_end = NULL;
    while (a->marks && (a->stack[a->marks - 1].used > used || a->stack[a->marks - 1].blocks > blocks))
        a->marks--;
}

pool_status arena_restore(arena *a, arena_mark m)
{
    pool_status s = a->current ? check_mark(a, m) : POOL_INVALID;
    if (s == POOL_OK)
        go_back(a, m.used, m.blocks);
    return s;
}

void arena_reset(arena *a)
{
    if (a->current)
        go_back(a, 0, 0);
}

/* --- text ---------------------------------------------------------------------------------------------- */

char *arena_strdup(arena *a, const char *text)
{
    if (!text)
        return NULL;
    size_t n = strlen(text) + 1;
    char *copy = arena_bump(a, (int64_t)n, ARENA_ALIGN, false);
    return copy ? memcpy(copy, text, n) : NULL;
}

char *arena_vformat(arena *a, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    size_t n = fmt_vtext(NULL, 0, format, again) + 1;
    va_end(again);
    char *text = arena_bump(a, (int64_t)n, ARENA_ALIGN, false);
    if (text)
        fmt_vtext(text, n, format, args);
    return text;
}

char *arena_format(arena *a, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = arena_vformat(a, format, args);
    va_end(args);
    return text;
}

/* --- the pool interface ------------------------------------------------------------------------------ */

static pool_status op_alloc(pool *p, const pool_request *r, void **out, size_t *size)
{
    arena *a = of_pool(p);
    *out = place_or_grow(a, r->size, r->align ? r->align : ARENA_ALIGN);
    if (!*out)
        return POOL_NOMEM; /* whoever asks a pool of any kind knows what a full one means and says it */
    memset(*out, 0, r->size);
    a->last = *out;
    a->last_end = a->cursor;
    *size = (size_t)(a->last_end - a->last);
    return POOL_OK;
}

size_t arena_bytes_from(const arena *a, const void *block)
{
    for (const arena_chunk *c = a->current; c; c = c->prev) {
        size_t filled = c == a->current ? (size_t)(a->cursor - c->base) : c->filled;
        if ((uintptr_t)block - (uintptr_t)c->base < filled)
            return filled - (size_t)((const char *)block - c->base);
    }
    return 0;
}

static bool is_last(const arena *a, const void *block)
{
    return block == a->last && a->last && a->last_end == a->cursor;
}

static size_t op_size(pool *p, const void *block)
{
    const arena *a = of_pool(p);
    return is_last(a, block) ? (size_t)(a->last_end - a->last) : 0;
}

/* A single block does not come back: marks and reset are the way. That is no fault unless strict. */
static pool_status op_free(pool *p, void *block, size_t *size)
{
    const arena *a = of_pool(p);
    if (!arena_bytes_from(a, block) && !is_last(a, block))
        return POOL_FOREIGN;
    *size = op_size(p, block);
    return a->strict ? POOL_UNSUPPORTED : POOL_OK;
}

static pool_status op_resize(pool *p, void *block, const pool_request *r, void **out)
{
    arena *a = of_pool(p);
    size_t old = arena_bytes_from(a, block), size;
    if (!old && !is_last(a, block))
        return POOL_FOREIGN;
    if (!r->size)
        return op_free(p, block, &size) == POOL_OK ? POOL_ZERO : POOL_UNSUPPORTED;
    if (is_last(a, block) && r->size <= (size_t)(a->end - a->last)) {
        char *end = a->last + r->size;
        if (end > a->cursor)
            memset(a->cursor, 0, (size_t)(end - a->cursor));
        a->cursor = a->last_end = end;
        *out = block;
        return POOL_OK;
    }
    pool_status s = op_alloc(p, r, out, &size);
    if (s == POOL_OK) /* sizes are not kept: what lies behind the old block may be copied along, which is
                         harmless */
        memcpy(*out, block, old < r->size ? old : r->size);
    return s;
}

static bool op_check_empty(pool *p)
{
    return of_pool(p)->blocks == 0;
}

static size_t op_largest_free(pool *p)
{
    const arena *a = of_pool(p);
    size_t start = round_up((uintptr_t)a->cursor, ARENA_ALIGN);
    return start < (uintptr_t)a->end ? (uintptr_t)a->end - start : 0;
}

static size_t op_free_bytes(pool *p)
{
    return arena_size(of_pool(p)) - arena_used(of_pool(p));
}

static pool_status op_destroy(pool *p)
{
    arena_free(of_pool(p));
    return POOL_OK;
}

static size_t op_report_leaks(pool *p)
{
    return of_pool(p)->blocks;
}

static size_t op_describe(pool *p, const void *block, char *out, size_t cap)
{
    const arena *a = of_pool(p);
    size_t left = arena_bytes_from(a, block);
    return fmt_text(out, cap,
                    left ? "%p: in arena %s, %zu bytes below its cursor" : "%p: not live in arena %s", block,
                    p->name, left);
}

static bool op_check(pool *p)
{
    return arena_check(of_pool(p));
}

static pool_status op_set_option(pool *p, int which, uintptr_t value)
{
    if (which != POOL_OPTION_STRICT)
        return POOL_UNSUPPORTED;
    of_pool(p)->strict = value != 0;
    return POOL_OK;
}

static void op_stats(pool *p, pool_stats *out)
{
    const arena *a = of_pool(p);
    out->live_bytes = arena_used(a);
    out->live_blocks = a->blocks;
    out->peak_bytes = arena_peak(a);
    out->allocs = a->blocks + a->dead;
    out->frees = a->dead;
    out->committed_bytes = 0;
    for (const arena_chunk *c = &a->first; c; c = c->next)
        out->committed_bytes += c->size;
    out->free_bytes = out->committed_bytes - out->live_bytes;
    out->largest_free_bytes = op_largest_free(p);
}

static const pool_ops arena_ops = {
    .alloc = op_alloc,
    .free = op_free,
    .resize = op_resize,
    .set_option = op_set_option,
    .check_empty = op_check_empty,
    .largest_free = op_largest_free,
    .free_bytes = op_free_bytes,
    .size = op_size,
    .destroy = op_destroy,
    .report_leaks = op_report_leaks,
    .describe = op_describe,
    .check = op_check,
    .stats = op_stats,
};

/* --- invariants ------------------------------------------------------------------------------------- */

static bool broken(const arena *a, const char *what)
{
    message(MESSAGE_MISUSE, "arena %s: %s", a->pool.name, what);
    return false;
}

static bool check_chunks(const arena *a)
{
    size_t origin = 0;
    const arena_chunk *prev = NULL;
    for (const arena_chunk *c = &a->first; c; prev = c, c = c->next) {
        if (c->prev != prev)
            return broken(a, "a chunk does not point back to the one before");
        if (c->origin != origin)
            return broken(a, "a chunk's origin is not the sum of the sizes before it");
        if (c == a->current)
            return true;
        if (c->filled > c->size)
            return broken(a, "a chunk is filled beyond its size");
        origin += c->size;
    }
    return broken(a, "the current chunk is not in the chain");
}

static bool check_marks(const arena *a)
{
    for (uint32_t i = 0; i < a->marks; i++) {
        if (a->stack[i].used > arena_used(a) || a->stack[i].blocks > a->blocks)
            return broken(a, "a mark lies above what is used");
        if (i && (a->stack[i].used < a->stack[i - 1].used || a->stack[i].serial <= a->stack[i - 1].serial))
            return broken(a, "marks are out of order");
    }
    return true;
}

bool arena_check(arena *a)
{
    if (!a->first.base)
        return a->cursor == a->end || broken(a, "no memory, but a cursor");
    if (a->cursor < a->current->base || a->cursor > a->end || a->end != a->current->base + a->current->size)
        return broken(a, "the cursor is outside its chunk");
    return check_chunks(a) && check_marks(a);
}

/* --- frames --------------------------------------------------------------------------------------------- */

bool frame_arena_init(frame_arena *f, int64_t size, const arena_options *options)
{
    if (!arena_init(&f->half[0], size, options))
        return false;
    if (arena_init(&f->half[1], size, options))
        return true;
    arena_free(&f->half[0]);
    return false;
}

void frame_arena_free(frame_arena *f)
{
    arena_free(&f->half[0]);
    arena_free(&f->half[1]);
    f->frame = 0;
}

arena *frame_arena_begin(frame_arena *f)
{
    arena *a = &f->half[++f->frame & 1];
    arena_reset(a);
    return a;
}
