/* SPDX-License-Identifier: MIT */
/*
 * hunk.c - see hunk.h: commit, blocks, marks, listing and the pool interface of the hunk.
 * A hunk inside another pool has all its memory from the start; committing then means zeroing, so that
 * invariant 3 holds in both cases and payloads need no zeroing of their own.
 */
#include "hunk.h"
#include "fatal.h"
#include "fmt.h"

#include <string.h>

static const pool_ops hunk_ops;
static const char *const side_name[] = {"low", "high"};

static hunk *of_pool(pool *p)
{
    return (hunk *)p;
}

/* --- the range ------------------------------------------------------------------------------------------ */

/* A parent gives memory, the system only addresses. */
static void *take_range(hunk *h, size_t size)
{
    return h->nested ? pool_get(h->pool.parent, size, 16) : os_reserve(size, OS_PAGE);
}

static bool set_step(hunk *h, size_t step)
{
    size_t page = os_page_size();
    step = step ? step : HUNK_STEP;
    h->step = step > page ? step : page;
    return is_pow2(step);
}

/* The reserve in whole steps; 0 when that cannot be expressed. */
static size_t whole_steps(const hunk *h, size_t size)
{
    return size <= SIZE_LIMIT / 4 ? round_up(size, h->step) : 0;
}

pool_status hunk_init(hunk *h, const hunk_options *options)
{
    static const hunk_options none;
    const hunk_options *o = options ? options : &none;
    if (h->end[0].base)
        return POOL_EXISTS;
    if (!set_step(h, o->step))
        return POOL_ALIGN;
    size_t low = whole_steps(h, o->low ? o->low : HUNK_LOW),
           high = whole_steps(h, o->high ? o->high : HUNK_HIGH);
    if (!low || !high)
        return POOL_OVERFLOW;
    pool_init(&h->pool, &hunk_ops, POOL_HUNK, o->name ? o->name : "hunk", o->parent);
    h->pool.flags = POOL_QUICK_STATS;
    h->nested = o->parent && !o->apart;
    char *base = take_range(h, low + high);
    if (!base)
        return POOL_NOMEM;
    h->pool.first = (uintptr_t)base;
    h->pool.last = (uintptr_t)base + low + high - 1;
    h->end[HUNK_SIDE_LOW] = (hunk_end){.base = base, .reserve = low};
    h->end[HUNK_SIDE_HIGH] = (hunk_end){.base = base + low, .reserve = high};
    h->temp_pool = o->temp;
    h->decommit = o->decommit;
    return POOL_OK;
}

void hunk_free(hunk *h)
{
    char *base = h->end[0].base;
    if (!base)
        return;
    hunk_temp_free(h);
    if (h->nested)
        pool_free(h->pool.parent, base);
    else
        os_unmap(base, h->end[0].reserve + h->end[1].reserve);
    memset(h, 0, sizeof *h);
}

static bool commit_bytes(hunk *h, char *p, size_t size)
{
    if (!h->nested)
        return os_commit(p, size);
    memset(p, 0, size);
    return true;
}

/* Makes [0, need) touchable, in whole steps and one call. */
static bool commit_to(hunk *h, hunk_end *e, size_t need)
{
    size_t want = round_up(need, h->step);
    if (want <= e->commit)
        return true;
    if (!commit_bytes(h, e->base + e->commit, want - e->commit))
        return false;
    e->commit = want;
    return true;
}

/* Gives whole steps above the mark back. */
static void decommit_above(hunk *h, hunk_end *e)
{
    size_t keep = round_up(e->mark, h->step);
    if (keep >= e->commit || h->nested)
        return;
    os_decommit(e->base + keep, e->commit - keep);
    e->commit = keep;
}

/* --- blocks --------------------------------------------------------------------------------------------- */

static void write_head(hunk_head *head, size_t size, const char *name)
{
    head->sentinel = HUNK_SENTINEL;
    head->size = (uint32_t)size;
    memset(head->name, 0, sizeof head->name);
    memcpy(head->name, name, strnlen(name, sizeof head->name));
}

static bool limit_allows(hunk *h, size_t more)
{
    if (!h->pool.limit || h->end[0].mark + h->end[1].mark + more <= h->pool.limit)
        return true;
    h->pool.counts.over_limit++;
    return h->pool.over == OVER_WARN;
}

/* All tests come first: a block that is refused has changed nothing. */
static pool_status place_block(hunk *h, hunk_end *e, int64_t size, const char *name, void **out)
{
    size_t room = e->reserve - e->mark;
    if (size < 0)
        return POOL_OVERFLOW;
    if (room < HUNK_HEAD || (size_t)size > room - HUNK_HEAD || (size_t)size > HUNK_BLOCK_MOST - HUNK_HEAD)
        return POOL_LIMIT;
    size_t total = HUNK_HEAD + round_up((size_t)size, 16); /* fits: mark and reserve are multiples of 16 */
    if (!limit_allows(h, total))
        return POOL_LIMIT;
    if (!commit_to(h, e, e->mark + total))
        return POOL_NOMEM;
    hunk_head *head = (hunk_head *)(e->base + e->mark);
    write_head(head, total, name);
    e->mark += total;
    e->peak = e->mark > e->peak ? e->mark : e->peak;
    e->blocks++;
    *out = head + 1;
    return POOL_OK;
}

pool_status hunk_alloc(hunk *h, hunk_side side, int64_t size, const char *name, void **out)
{
    *out = NULL;
    if (!h->end[0].base)
        return POOL_INVALID;
    if (side == HUNK_SIDE_HIGH)
        hunk_temp_free(h);
    pool_status s = place_block(h, &h->end[side], size, name ? name : "unused", out);
    h->pool.counts.failed += s != POOL_OK;
    return s;
}

size_t hunk_mark(hunk *h, hunk_side side)
{
    if (side == HUNK_SIDE_HIGH)
        hunk_temp_free(h);
    return h->end[side].mark;
}

/* The next head, or NULL at the end or where the chain is broken. */
static const hunk_head *next_head(const hunk_end *e, size_t at)
{
    const hunk_head *head = (const hunk_head *)(e->base + at);
    if (at >= e->mark || head->sentinel != HUNK_SENTINEL)
        return NULL;
    return head->size < HUNK_HEAD || head->size % 16 || head->size > e->mark - at ? NULL : head;
}

/* Whether a block begins at the mark; counts the blocks below it. */
static bool count_to_mark(const hunk_end *e, size_t mark, size_t *blocks)
{
    size_t at = 0;
    const hunk_head *head;
    for (*blocks = 0; at < mark && (head = next_head(e, at)); at += head->size)
        ++*blocks;
    return at == mark;
}

pool_status hunk_free_to_mark(hunk *h, hunk_side side, int64_t mark)
{
    hunk_end *e = &h->end[side];
    size_t blocks;
    if (side == HUNK_SIDE_HIGH)
        hunk_temp_free(h);
    if (mark < 0 || (size_t)mark > e->mark || !count_to_mark(e, (size_t)mark, &blocks))
        return POOL_INVALID;
    if ((size_t)mark == e->mark) /* also a hunk that was never used */
        return POOL_OK;
    memset(e->base + mark, 0, e->mark - (size_t)mark); /* above the old mark all is zero already */
    h->dead += e->blocks - blocks;
    e->blocks = blocks;
    e->mark = (size_t)mark;
    if (h->decommit)
        decommit_above(h, e);
    return POOL_OK;
}

/* --- the temporary block -------------------------------------------------------------------------------- */

void hunk_temp_free(hunk *h)
{
    if (!h->temp)
        return;
    if (h->temp_pool)
        pool_free(h->temp_pool, h->temp);
    else
        os_unmap(h->temp, h->temp_size);
    h->temp = NULL;
    h->temp_size = 0;
}

void *hunk_temp_alloc(hunk *h, int64_t size)
{
    hunk_temp_free(h);
    if (size < 0)
        return NULL;
    size_t n = size ? (size_t)size : 1;
    h->temp = h->temp_pool ? pool_get(h->temp_pool, n, 16) : os_map(n);
    h->temp_size = h->temp ? n : 0;
    return h->temp;
}

/* --- listing -------------------------------------------------------------------------------------------- */

struct listing {
    hunk_row *rows;
    size_t count, cap;
};

/* The row of a name at an end, made when there is room; otherwise the last row, under a common name. */
static hunk_row *row_of(struct listing *l, hunk_side side, const char *name)
{
    for (size_t i = 0; i < l->count; i++)
        if (l->rows[i].side == side && !strncmp(l->rows[i].name, name, HUNK_NAME))
            return &l->rows[i];
    if (l->count == l->cap) {
        hunk_row *last = &l->rows[l->cap - 1];
        memcpy(last->name, "(others)", sizeof last->name);
        return last;
    }
    hunk_row *row = &l->rows[l->count++];
    *row = (hunk_row){.side = side};
    memcpy(row->name, name, HUNK_NAME);
    return row;
}

static void list_end(const hunk_end *e, hunk_side side, struct listing *l)
{
    const hunk_head *head;
    for (size_t at = 0; (head = next_head(e, at)); at += head->size) {
        hunk_row *row = row_of(l, side, head->name);
        row->blocks++;
        row->bytes += head->size;
    }
}

size_t hunk_list(const hunk *h, hunk_row *rows, size_t cap)
{
    struct listing l = {rows, 0, cap};
    for (int side = 0; cap && side < 2; side++)
        list_end(&h->end[side], (hunk_side)side, &l);
    return l.count;
}

/* --- invariants ----------------------------------------------------------------------------------------- */

static bool broken(const hunk *h, int side, size_t at, const char *what)
{
    message(MESSAGE_MISUSE, "hunk %s: %s end, offset %zu: %s", h->pool.name, side_name[side], at, what);
    return false;
}

/* The chain from 0: unlike next_head it says what is wrong with a head. */
static bool check_heads(const hunk *h, int side)
{
    const hunk_end *e = &h->end[side];
    size_t at = 0, blocks = 0;
    for (; at < e->mark; blocks++) {
        const hunk_head *head = (const hunk_head *)(e->base + at);
        if (head->sentinel != HUNK_SENTINEL)
            return broken(h, side, at, "trashed sentinel");
        if (head->size < HUNK_HEAD || head->size % 16 || head->size > e->mark - at)
            return broken(h, side, at, "bad size");
        at += head->size;
    }
    return blocks == e->blocks || broken(h, side, at, "wrong number of blocks");
}

static bool check_zeros(const hunk *h, int side)
{
    const hunk_end *e = &h->end[side];
    for (size_t at = e->mark; at < e->commit; at += 16) {
        const uint64_t *words = (const uint64_t *)(e->base + at);
        if (words[0] | words[1])
            return broken(h, side, at, "written to above the mark");
    }
    return true;
}

bool hunk_check(hunk *h)
{
    for (int side = 0; h->end[0].base && side < 2; side++) {
        const hunk_end *e = &h->end[side];
        if (e->mark > e->commit || e->commit > e->reserve || e->mark % 16 || e->mark > e->peak)
            return broken(h, side, e->mark, "mark, commit and reserve are out of order");
        if (!check_heads(h, side) || !check_zeros(h, side))
            return false;
    }
    return true;
}

/* --- the pool interface ------------------------------------------------------------------------------------
 */

static size_t usable(const hunk_head *head)
{
    return head->size - HUNK_HEAD;
}

static pool_status op_alloc(pool *p, const pool_request *r, void **out, size_t *size)
{
    hunk *h = of_pool(p);
    if (r->align > 16)
        return POOL_ALIGN;
    const char *name = r->name ? r->name : r->tag ? r->tag : "unused";
    pool_status s = place_block(h, &h->end[HUNK_SIDE_LOW], (int64_t)r->size, name, out);
    if (s == POOL_OK)
        *size = usable((const hunk_head *)*out - 1);
    return s;
}

/* The head of a live block, or NULL when none begins there. */
static const hunk_head *head_of(const hunk *h, const void *block)
{
    for (int side = 0; side < 2; side++) {
        const hunk_end *e = &h->end[side];
        size_t at = (uintptr_t)block - (uintptr_t)e->base - HUNK_HEAD;
        if (at < e->mark && at % 16 == 0)
            return next_head(e, at);
    }
    return NULL;
}

/* A single block does not come back: marks are the way. That is no fault unless strict. */
static pool_status op_free(pool *p, void *block, size_t *size)
{
    if (!pool_contains(p, block))
        return POOL_FOREIGN;
    const hunk_head *head = head_of(of_pool(p), block);
    if (!head)
        return POOL_INVALID;
    *size = usable(head);
    return of_pool(p)->strict ? POOL_UNSUPPORTED : POOL_OK;
}

static size_t op_size(pool *p, const void *block)
{
    const hunk_head *head = head_of(of_pool(p), block);
    return head ? usable(head) : 0;
}

static pool_status op_resize(pool *p, void *block, const pool_request *r, void **out)
{
    size_t old, size;
    pool_status s = op_free(p, block, &old);
    if (s == POOL_FOREIGN || s == POOL_INVALID)
        return s;
    if (!r->size)
        return s == POOL_OK ? POOL_ZERO : s;
    if (r->size <= old) {
        *out = block;
        return POOL_OK;
    }
    s = op_alloc(p, r, out, &size);
    if (s == POOL_OK)
        memcpy(*out, block, old);
    return s;
}

static pool_status op_set_option(pool *p, int which, uintptr_t value)
{
    if (which != POOL_OPTION_STRICT)
        return POOL_UNSUPPORTED;
    of_pool(p)->strict = value != 0;
    return POOL_OK;
}

static bool op_check_empty(pool *p)
{
    return of_pool(p)->end[0].mark == 0 && of_pool(p)->end[1].mark == 0;
}

static size_t op_largest_free(pool *p)
{
    const hunk_end *e = &of_pool(p)->end[HUNK_SIDE_LOW];
    size_t room = e->reserve - e->mark;
    room = room < HUNK_BLOCK_MOST ? room : HUNK_BLOCK_MOST;
    return room > HUNK_HEAD ? room - HUNK_HEAD : 0;
}

static size_t op_free_bytes(pool *p)
{
    const hunk *h = of_pool(p);
    return h->end[0].reserve - h->end[0].mark + h->end[1].reserve - h->end[1].mark;
}

static pool_status op_destroy(pool *p)
{
    hunk_free(of_pool(p));
    return POOL_OK;
}

static size_t op_report_leaks(pool *p)
{
    const hunk *h = of_pool(p);
    hunk_row rows[64];
    size_t n = hunk_list(h, rows, 64);
    for (size_t i = 0; i < n; i++)
        message(MESSAGE_NOTE, "hunk %s: %zu blocks '%s' hold %zu bytes of its %s end", p->name,
                rows[i].blocks, rows[i].name, rows[i].bytes, side_name[rows[i].side]);
    return h->end[0].blocks + h->end[1].blocks;
}

static size_t op_describe(pool *p, const void *block, char *out, size_t cap)
{
    const hunk_head *head = head_of(of_pool(p), block);
    if (!head)
        return fmt_text(out, cap, "%p: no block of hunk %s", block, p->name);
    return fmt_text(out, cap, "%p: block '%.*s' of %u bytes in hunk %s", block, HUNK_NAME, head->name,
                    (unsigned)(head->size - HUNK_HEAD), p->name);
}

static bool op_check(pool *p)
{
    return hunk_check(of_pool(p));
}

static void op_stats(pool *p, pool_stats *out)
{
    const hunk *h = of_pool(p);
    out->live_blocks = h->end[0].blocks + h->end[1].blocks;
    out->live_bytes = h->end[0].mark + h->end[1].mark - HUNK_HEAD * out->live_blocks;
    out->peak_bytes = h->end[0].peak + h->end[1].peak;
    out->allocs = out->live_blocks + h->dead;
    out->frees = h->dead;
    out->committed_bytes = h->end[0].commit + h->end[1].commit;
    out->free_bytes = out->committed_bytes - h->end[0].mark - h->end[1].mark;
    out->largest_free_bytes = op_largest_free(p);
}

static const pool_ops hunk_ops = {
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
