/* SPDX-License-Identifier: MIT */
/*
 * rheap.c - see retail.h: set-up, core, runs of blocks, and the three calls alloc, free, realloc.
 *
 * A run is looked for from the rover round the ring (next fit); one that is too long gives its front and its
 * rest becomes the rover. When nothing fits, the run below the break is lengthened with new core, or new
 * core is taken whole. Where a freed run belongs is found in a two-level bitmap of run starts, so a free
 * costs the same however many runs there are; the result is the one a walk of the ring would give.
 *
 * What this file must keep:
 *  (1) the break is rounded up before core is taken, so limit is always the block at the break;
 *  (2) whatever refuses does so before anything is written: after a failure the heap is as it was, but for
 *      the table, which the first request makes;
 *  (3) a run's first record, its bit in `starts` (free) or its live bit (busy) change together.
 * Locking: none. Cost: a run a walk from the rover; a free two bitmap words and at most three records.
 * Read next: rheap_fragment.c.
 */
#include "os.h"
#include "rheap_internal.h"

#include <string.h>

/* --- set-up ---------------------------------------------------------------------------------------- */

pool_status rheap_init(rheap *h, void *block, size_t bytes)
{
    uintptr_t at = (uintptr_t)block, start = round_up(at + RHEAP_DESCRIPTOR, RHEAP_BLOCK);
    memset(h, 0, sizeof *h);
    if (bytes > UINT32_MAX)
        return POOL_OVERFLOW;
    h->base = (char *)start;
    h->usable = start - at < bytes ? (uint32_t)(bytes - (start - at)) : 0;
    size_t live = h->usable / 512 + 1, starts = h->usable / RHEAP_BLOCK / 64 + 1, summary = starts / 64 + 1;
    h->side_bytes = (live + starts + summary) * sizeof(uint64_t);
    h->live = os_map(h->side_bytes);
    if (!h->live)
        return POOL_NOMEM;
    h->starts = h->live + live;
    h->summary = h->starts + starts;
    return POOL_OK;
}

void rheap_done(rheap *h)
{
    if (h->live)
        os_unmap(h->live, h->side_bytes);
    memset(h, 0, sizeof *h);
}

/* The table covers the heap from the start and never grows: one record per whole block and record 0. */
static uint32_t table_records(const rheap *h)
{
    return h->usable / RHEAP_BLOCK + 1;
}

uint32_t rheap_table_blocks(const rheap *h)
{
    return rheap_blocks_for(table_records(h) * RHEAP_RECORD);
}

/* At the first request, as in the original: so an untouched heap has no byte of its block written. The
   records of blocks need no clearing, because bitmaps tell which of them mean anything. */
static COLD bool make_table(rheap *h)
{
    uint32_t bytes = table_records(h) * RHEAP_RECORD;
    if (bytes > h->usable)
        return false;
    *rheap_record_of(h, 0) = (rheap_record){.shape = RECORD_FREE};
    h->records = table_records(h);
    h->core = h->core_high = bytes;
    return true;
}

/* --- core ------------------------------------------------------------------------------------------ */

/* Rounds the break up first and tests then, so no block can pass the end of the heap. */
static bool core_take(rheap *h, uint32_t n)
{
    if (n > rheap_core_left(h))
        return false;
    h->core = (rheap_blocks_for(h->core) + n) * RHEAP_BLOCK;
    h->limit = rheap_block_of(h->core);
    if (h->core > h->core_high)
        h->core_high = h->core;
    return true;
}

/* --- runs ------------------------------------------------------------------------------------------ */

/* The lower level has a bit a block, the upper a bit for each word of the lower that is not 0: a heap of
   1 GB is searched in 256 words at the worst. */
static void start_set(rheap *h, uint32_t block)
{
    h->starts[block >> 6] |= 1ull << (block & 63);
    h->summary[block >> 12] |= 1ull << (block >> 6 & 63);
}

static void start_clear(rheap *h, uint32_t block)
{
    uint64_t *word = &h->starts[block >> 6];
    *word &= ~(1ull << (block & 63));
    if (!*word)
        h->summary[block >> 12] &= ~(1ull << (block >> 6 & 63));
}

uint32_t rheap_run_before(const rheap *h, uint32_t block)
{
    uint32_t word = block >> 6, group = word >> 6;
    uint64_t bits = h->starts[word] & ((1ull << (block & 63)) - 1);
    if (!bits) {
        uint64_t words = h->summary[group] & ((1ull << (word & 63)) - 1);
        while (!words) {
            if (!group)
                return 0;
            words = h->summary[--group];
        }
        word = group << 6 | log2_floor(words);
        bits = h->starts[word];
    }
    return word << 6 | log2_floor(bits);
}

/* Puts a free run into the ring behind `prev`. */
static void run_link(rheap *h, uint32_t block, uint32_t n, uint32_t prev)
{
    uint32_t next = rheap_record_of(h, prev)->next;
    *rheap_record_of(h, block) =
        (rheap_record){.shape = RECORD_FREE, .length = n, .next = next, .prev = prev};
    rheap_record_of(h, prev)->next = block;
    rheap_record_of(h, next)->prev = block;
    start_set(h, block);
}

/* The record keeps its words, so whoever unlinks may still read length and neighbours. */
static void run_unlink(rheap *h, uint32_t block)
{
    rheap_record *r = rheap_record_of(h, block);
    rheap_record_of(h, r->prev)->next = r->next;
    rheap_record_of(h, r->next)->prev = r->prev;
    start_clear(h, block);
}

/* First run from the rover that is long enough; the head has length 0 and never is. */
static uint32_t run_find(const rheap *h, uint32_t n)
{
    uint32_t block = h->rover;
    do {
        const rheap_record *r = rheap_record_of(h, block);
        if (r->length >= n)
            return block;
        block = r->next;
    } while (block != h->rover);
    return 0;
}

/* The run that ends at the break, made n long with new core; 0 when there is none or not enough core. */
static uint32_t run_lengthen_last(rheap *h, uint32_t n)
{
    uint32_t last = rheap_record_of(h, 0)->prev;
    rheap_record *r = rheap_record_of(h, last);
    if (!last || last + r->length != h->limit || !core_take(h, n - r->length))
        return 0;
    r->length = n;
    return last;
}

/* Gives the front of a free run; what is left becomes the rover, else the next run does. */
static void run_carve(rheap *h, uint32_t block, uint32_t n)
{
    rheap_record r = *rheap_record_of(h, block);
    run_unlink(h, block);
    h->rover = r.next;
    if (r.length > n) {
        run_link(h, block + n, r.length - n, r.prev);
        h->rover = block + n;
    }
}

/* The order of the three ways is the original's, and every address depends on it. */
uint32_t rheap_run_take(rheap *h, uint32_t n)
{
    uint32_t block = run_find(h, n);
    if (!block)
        block = run_lengthen_last(h, n);
    if (block)
        run_carve(h, block, n);
    else if (core_take(h, n))
        block = h->limit - n;
    else
        return 0;
    *rheap_record_of(h, block) = (rheap_record){.shape = RECORD_BUSY, .length = n};
    return block;
}

/* The rover goes to the run before, not after: there is none after. */
static void run_give_back(rheap *h, uint32_t block)
{
    h->rover = rheap_record_of(h, block)->prev;
    run_unlink(h, block);
    h->limit = block;
    h->core = rheap_block_offset(block);
}

void rheap_run_release(rheap *h, uint32_t block, uint32_t n, bool give_back)
{
    uint32_t prev = rheap_run_before(h, block);
    rheap_record *before = rheap_record_of(h, prev);
    if (prev && prev + before->length == block) {
        before->length += n;
        block = prev;
    } else {
        run_link(h, block, n, prev);
    }
    rheap_record *r = rheap_record_of(h, block);
    uint32_t next = r->next;
    if (next && block + r->length == next) {
        uint32_t more = rheap_record_of(h, next)->length;
        run_unlink(h, next);
        r->length += more;
    }
    if (give_back && r->length >= RHEAP_GIVE_BACK && block + r->length == h->limit)
        run_give_back(h, block);
    else
        h->rover = block;
}

/* --- the calls ------------------------------------------------------------------------------------- */

/* A run with its bytes counted and its live bit set; 0 when none can be had. */
static uint32_t alloc_run(rheap *h, uint32_t n)
{
    uint32_t block = rheap_run_take(h, n);
    if (!block)
        return 0;
    h->used += n * RHEAP_BLOCK;
    rheap_live_set(h, rheap_block_offset(block));
    return rheap_block_offset(block);
}

static void free_run(rheap *h, uint32_t offset, bool give_back)
{
    uint32_t block = rheap_block_of(offset), n = rheap_record_of(h, block)->length;
    h->used -= n * RHEAP_BLOCK;
    rheap_live_clear(h, offset);
    rheap_run_release(h, block, n, give_back);
}

static uint32_t alloc_rounded(rheap *h, uint32_t size)
{
    return size <= RHEAP_FRAGMENT_MAX ? rheap_fragment_take(h, rheap_class_of(size))
                                      : alloc_run(h, rheap_blocks_for(size));
}

/* Rounds *size up to align and refuses what the original would get wrong. */
static pool_status round_request(const rheap *h, uint32_t *size, uint32_t align)
{
    if (!is_pow2(align) || align > RHEAP_ALIGN_MAX)
        return POOL_ALIGN;
    if (*size > UINT32_MAX - (align - 1))
        return POOL_OVERFLOW;
    *size = (uint32_t)round_up(*size, align);
    return *size ? (*size > h->usable ? POOL_NOMEM : POOL_OK) : POOL_ZERO;
}

HOT pool_status rheap_alloc(rheap *h, uint32_t size, uint32_t align, uint32_t *out)
{
    *out = 0;
    pool_status s = round_request(h, &size, align);
    if (s != POOL_OK)
        return s;
    if (unlikely(!h->records) && !make_table(h))
        return POOL_NOMEM;
    *out = alloc_rounded(h, size);
    return *out ? POOL_OK : POOL_NOMEM;
}

/* What was wrong with a pointer that is no live allocation. */
static COLD pool_status classify_dead(const rheap *h, uint32_t offset)
{
    if (offset >= h->usable)
        return POOL_FOREIGN;
    if (offset & 7 || !h->records || offset < rheap_table_blocks(h) * RHEAP_BLOCK)
        return POOL_INVALID;
    if (offset >= h->core)
        return offset < h->core_high ? POOL_DOUBLE_FREE : POOL_INVALID;
    uint32_t block = rheap_block_of(offset), run = rheap_run_before(h, block + 1);
    if (run && block - run < rheap_record_of(h, run)->length)
        return POOL_DOUBLE_FREE;
    /* A block without any live start is the inside of a busy run. */
    const uint64_t *live = &h->live[rheap_block_offset(block) >> 9];
    const rheap_record *r = rheap_record_of(h, block);
    if (!(live[0] | live[1]) || r->shape != RECORD_FRAGMENTS || offset & ((1u << r->length) - 1))
        return POOL_INVALID;
    return POOL_DOUBLE_FREE;
}

HOT pool_status rheap_free(rheap *h, uint32_t offset)
{
    if (!offset)
        return POOL_OK;
    if (unlikely(!rheap_is_live(h, offset)))
        return classify_dead(h, offset);
    if (rheap_record_of(h, rheap_block_of(offset))->shape == RECORD_FRAGMENTS)
        rheap_fragment_release(h, offset);
    else
        free_run(h, offset, true);
    return POOL_OK;
}

/* --- realloc --------------------------------------------------------------------------------------- */

/* Copies and frees, when there is somewhere to copy to. */
static uint32_t move_content(rheap *h, uint32_t from, uint32_t to, uint32_t bytes)
{
    if (to) {
        memcpy(h->base + to, h->base + from, bytes);
        rheap_free(h, from);
    }
    return to;
}

/* A fragment stays only when its class is the one the new size would get, sizes up to half of 8 apart. */
static uint32_t resize_fragment(rheap *h, uint32_t offset, uint32_t size)
{
    uint32_t class = 1u << rheap_record_of(h, rheap_block_of(offset))->length;
    if (size > class / 2 && size <= class)
        return offset;
    return move_content(h, offset, alloc_rounded(h, size), size < class ? size : class);
}

/* In place; the tail is an ordinary free and may go back to the core. */
static uint32_t shrink_run(rheap *h, uint32_t offset, uint32_t n)
{
    uint32_t block = rheap_block_of(offset), had = rheap_record_of(h, block)->length;
    if (n < had) {
        rheap_record_of(h, block)->length = n;
        h->used -= (had - n) * RHEAP_BLOCK;
        rheap_run_release(h, block + n, had - n, true);
    }
    return offset;
}

/* Whether a run of n blocks could be had once this one is free. */
static bool growth_fits(const rheap *h, uint32_t block, uint32_t n)
{
    uint32_t prev = rheap_run_before(h, block), start = block,
             end = block + rheap_record_of(h, block)->length;
    if (prev && prev + rheap_record_of(h, prev)->length == block)
        start = prev;
    if (end < h->limit && rheap_run_starts(h, end))
        end += rheap_record_of(h, end)->length;
    uint32_t total = end - start + (end == h->limit ? rheap_core_left(h) : 0);
    return total >= n || rheap_largest_run(h) / RHEAP_BLOCK >= n;
}

/* Frees first, without giving core back, and allocates from the rover, which is then this very place: so a
   run grows where it is, slides down into a free run before it, or moves. */
static uint32_t grow_run(rheap *h, uint32_t offset, uint32_t n)
{
    uint32_t block = rheap_block_of(offset), had = rheap_record_of(h, block)->length;
    if (!growth_fits(h, block, n))
        return 0;
    free_run(h, offset, false);
    uint32_t to = alloc_run(h, n);
    if (to != offset)
        memmove(h->base + to, h->base + offset, (size_t)had * RHEAP_BLOCK);
    return to;
}

/* Down to a fragment when one can be had, as the original; without one, down to a single block. */
static uint32_t resize_run(rheap *h, uint32_t offset, uint32_t size)
{
    if (size <= RHEAP_FRAGMENT_MAX) {
        uint32_t to = move_content(h, offset, alloc_rounded(h, size), size);
        return to ? to : shrink_run(h, offset, 1);
    }
    uint32_t n = rheap_blocks_for(size), had = rheap_record_of(h, rheap_block_of(offset))->length;
    return n <= had ? shrink_run(h, offset, n) : grow_run(h, offset, n);
}

pool_status rheap_realloc(rheap *h, uint32_t offset, uint32_t size, uint32_t align, uint32_t *out)
{
    *out = 0;
    if (!offset)
        return rheap_alloc(h, size, align, out);
    if (!rheap_is_live(h, offset))
        return classify_dead(h, offset);
    pool_status s = round_request(h, &size, align);
    if (s == POOL_ZERO)
        rheap_free(h, offset);
    if (s != POOL_OK)
        return s;
    bool fragment = rheap_record_of(h, rheap_block_of(offset))->shape == RECORD_FRAGMENTS;
    *out = fragment ? resize_fragment(h, offset, size) : resize_run(h, offset, size);
    return *out ? POOL_OK : POOL_NOMEM;
}
