/* SPDX-License-Identifier: MIT */
/* plain_heap.c - see plain_heap.h. */
#include "plain_heap.h"

#include <stddef.h>
#include <string.h>

static uint32_t kilobytes(uint32_t bytes)
{
    return (bytes + PLAIN_KB - 1) / PLAIN_KB;
}

static uint32_t block_at(uint32_t offset)
{
    return offset / PLAIN_KB + 1;
}

static uint32_t offset_of(uint32_t block)
{
    return (block - 1) * PLAIN_KB;
}

void plain_init(plain_heap *h, uint32_t usable)
{
    memset(h, 0, offsetof(plain_heap, list));
    h->usable = usable;
}

/* --- runs ------------------------------------------------------------------------------------------ */

static void run_delete(plain_heap *h, uint32_t i)
{
    h->run_count--;
    memmove(&h->runs[i], &h->runs[i + 1], (h->run_count - i) * sizeof *h->runs);
}

static uint32_t run_place(const plain_heap *h, uint32_t block)
{
    uint32_t i = 0;
    while (i < h->run_count && h->runs[i].start < block)
        i++;
    return i;
}

static uint32_t top_block(const plain_heap *h)
{
    return block_at(kilobytes(h->core) * PLAIN_KB);
}

static bool take_core(plain_heap *h, uint32_t blocks)
{
    uint32_t from = kilobytes(h->core);
    if (from + blocks > h->usable / PLAIN_KB)
        return false;
    h->core = (from + blocks) * PLAIN_KB;
    return true;
}

/* The first run from the rover on, round to it again, that is long enough; run_count: none. */
static uint32_t run_search(const plain_heap *h, uint32_t n)
{
    uint32_t first = h->rover ? run_place(h, h->rover) : 0;
    for (uint32_t k = 0; k < h->run_count; k++) {
        uint32_t i = (first + k) % h->run_count;
        if (h->runs[i].length >= n)
            return i;
    }
    return h->run_count;
}

static uint32_t run_get(plain_heap *h, uint32_t n)
{
    uint32_t i = run_search(h, n), start;
    if (i == h->run_count && i) { /* the last run, made longer */
        plain_run *last = &h->runs[i - 1];
        if (last->start + last->length == top_block(h) && take_core(h, n - last->length)) {
            last->length = n;
            i--;
        }
    }
    if (i == h->run_count) {
        start = top_block(h);
        return take_core(h, n) ? start : 0;
    }
    start = h->runs[i].start;
    if (h->runs[i].length == n) {
        run_delete(h, i);
        h->rover = i < h->run_count ? h->runs[i].start : 0;
    } else {
        h->runs[i].start += n;
        h->runs[i].length -= n;
        h->rover = h->runs[i].start;
    }
    return start;
}

static void run_put(plain_heap *h, uint32_t start, uint32_t n, bool give_back)
{
    uint32_t i = run_place(h, start);
    memmove(&h->runs[i + 1], &h->runs[i], (h->run_count - i) * sizeof *h->runs);
    h->runs[i] = (plain_run){start, n};
    h->run_count++;
    if (i && h->runs[i - 1].start + h->runs[i - 1].length == start) {
        h->runs[--i].length += n;
        run_delete(h, i + 1);
    }
    if (i + 1 < h->run_count && h->runs[i].start + h->runs[i].length == h->runs[i + 1].start) {
        h->runs[i].length += h->runs[i + 1].length;
        run_delete(h, i + 1);
    }
    plain_run merged = h->runs[i];
    h->rover = merged.start;
    if (give_back && merged.length >= 8 && merged.start + merged.length == top_block(h)) {
        run_delete(h, i);
        h->core = offset_of(merged.start);
        h->rover = i ? h->runs[i - 1].start : 0;
    }
}

/* --- fragments ------------------------------------------------------------------------------------- */

static void list_insert(plain_heap *h, unsigned log, uint32_t place, uint32_t at)
{
    uint32_t *list = h->list[log];
    memmove(&list[place + 1], &list[place], (h->list_count[log] - place) * sizeof *list);
    list[place] = at;
    h->list_count[log]++;
}

static uint32_t list_delete(plain_heap *h, unsigned log, uint32_t place)
{
    uint32_t *list = h->list[log], at = list[place];
    h->list_count[log]--;
    memmove(&list[place], &list[place + 1], (h->list_count[log] - place) * sizeof *list);
    return at;
}

static uint32_t fragment_get(plain_heap *h, unsigned log)
{
    uint32_t at;
    if (h->list_count[log]) {
        at = list_delete(h, log, 0);
    } else {
        uint32_t block = run_get(h, 1);
        if (!block)
            return 0;
        h->class[block] = (uint8_t)log;
        at = offset_of(block);
        for (uint32_t i = 1; i < (uint32_t)PLAIN_KB >> log; i++)
            list_insert(h, log, 0, at + (i << log));
    }
    h->used += 1u << log;
    return at;
}

static void fragment_put(plain_heap *h, uint32_t at)
{
    uint32_t block = block_at(at), first = 0, count = 0;
    unsigned log = h->class[block];
    for (uint32_t i = h->list_count[log]; i-- > 0;) {
        if (block_at(h->list[log][i]) == block) {
            first = i;
            count++;
        }
    }
    h->used -= 1u << log;
    if (count + 1 == (uint32_t)PLAIN_KB >> log) {
        for (; count; count--)
            list_delete(h, log, first);
        h->class[block] = 0;
        run_put(h, block, 1, true);
    } else {
        list_insert(h, log, count ? first + 1 : 0, at);
    }
}

/* --- the calls ------------------------------------------------------------------------------------- */

static uint32_t get(plain_heap *h, uint32_t size)
{
    if (size <= 512) {
        unsigned log = 3;
        while (1u << log < size)
            log++;
        return fragment_get(h, log);
    }
    uint32_t n = kilobytes(size), block = run_get(h, n);
    if (!block)
        return 0;
    h->busy[block] = n;
    h->used += n * PLAIN_KB;
    return offset_of(block);
}

uint32_t plain_alloc(plain_heap *h, uint32_t size, uint32_t align)
{
    size = (size + align - 1) / align * align;
    if (!size || size > h->usable)
        return 0;
    if (!h->table) {
        uint32_t bytes = (h->usable / PLAIN_KB + 1) * 12;
        if (bytes > h->usable)
            return 0;
        h->core = bytes;
        h->table = true;
    }
    return get(h, size);
}

static void put(plain_heap *h, uint32_t at, bool give_back)
{
    uint32_t block = block_at(at), n = h->busy[block];
    if (h->class[block]) {
        fragment_put(h, at);
        return;
    }
    h->busy[block] = 0;
    h->used -= n * PLAIN_KB;
    run_put(h, block, n, give_back);
}

void plain_free(plain_heap *h, uint32_t at)
{
    put(h, at, true);
}

static void shrink(plain_heap *h, uint32_t block, uint32_t n)
{
    uint32_t had = h->busy[block];
    if (n == had)
        return;
    h->busy[block] = n;
    h->used -= (had - n) * PLAIN_KB;
    run_put(h, block + n, had - n, true);
}

/* Tries it out: when it does not work, all but the fragments, which runs do not touch, is put back. */
static uint32_t grow(plain_heap *h, uint32_t at, uint32_t size)
{
    static plain_heap before;
    memcpy(&before, h, offsetof(plain_heap, list));
    put(h, at, false);
    uint32_t to = get(h, size);
    if (!to)
        memcpy(h, &before, offsetof(plain_heap, list));
    return to;
}

uint32_t plain_realloc(plain_heap *h, uint32_t at, uint32_t size, uint32_t align, bool *kept)
{
    uint32_t block = block_at(at), to;
    *kept = true;
    size = (size + align - 1) / align * align;
    if (size > h->usable)
        return 0;
    if (!size || h->class[block] || size <= 512) {
        uint32_t class = h->class[block] ? 1u << h->class[block] : 0;
        if (size && class && size > class / 2 && size <= class)
            return at;
        to = size ? get(h, size) : 0;
        *kept = size && !to;
        if (!*kept)
            plain_free(h, at);
        if (*kept && !class) {
            shrink(h, block, 1);
            return at;
        }
        return to;
    }
    if (kilobytes(size) <= h->busy[block]) {
        shrink(h, block, kilobytes(size));
        return at;
    }
    to = grow(h, at, size);
    *kept = !to;
    return to;
}

uint32_t plain_largest(plain_heap *h)
{
    uint32_t step = (h->usable - h->used) / 2, best = 0, guess = step;
    while (step) {
        uint32_t at = plain_alloc(h, guess, 16);
        if (at) {
            plain_free(h, at);
            best = guess;
            guess += step;
        } else {
            step /= 2;
            guess = best + step;
        }
    }
    return best;
}
