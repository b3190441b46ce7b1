/* SPDX-License-Identifier: MIT */
/*
 * rheap_query.c - see retail.h: what a retail heap can be asked: sizes, free bytes in three meanings, the
 * trial search, a walk of the live allocations, and the check of every invariant.
 *
 * The check goes over the heap twice: once in block order by the bitmaps, piece by piece, and once along the
 * lists; what the two count must agree, so nothing can be missing in either. It trusts no number before it
 * has compared it with the limit, and therefore ends on any damage.
 * Cost: the counters are immediate; largest_run walks the free runs; the probe makes about 40 trials; the
 * check walks everything. Only the probe changes the heap. Read next: retail.c.
 */
#include "rheap_internal.h"

uint32_t rheap_size(const rheap *h, uint32_t offset)
{
    return rheap_is_live(h, offset) ? rheap_size_of_live(h, offset) : 0;
}

uint32_t rheap_free_bytes(const rheap *h)
{
    return h->usable - h->used;
}

uint32_t rheap_unusable(const rheap *h)
{
    uint64_t lost = (uint64_t)rheap_table_blocks(h) * RHEAP_BLOCK + h->usable % RHEAP_BLOCK;
    return lost < rheap_free_bytes(h) ? (uint32_t)lost : rheap_free_bytes(h); /* too small to give anything */
}

uint32_t rheap_true_free(const rheap *h)
{
    return rheap_free_bytes(h) - rheap_unusable(h);
}

uint32_t rheap_largest_run(const rheap *h)
{
    uint32_t best = rheap_core_left(h);
    if (!h->records)
        return best * RHEAP_BLOCK;
    uint32_t last = rheap_record_of(h, 0)->prev;
    if (last && last + rheap_record_of(h, last)->length == h->limit)
        best += rheap_record_of(h, last)->length;
    for (uint32_t b = rheap_record_of(h, 0)->next; b; b = rheap_record_of(h, b)->next) {
        if (rheap_record_of(h, b)->length > best)
            best = rheap_record_of(h, b)->length;
    }
    return best * RHEAP_BLOCK;
}

/* Half the free bytes as first step; each failure halves the step towards the best size that worked. */
uint32_t rheap_largest_probe(rheap *h)
{
    uint32_t step = rheap_free_bytes(h) / 2, best = 0, at;
    while (step) {
        uint64_t guess = (uint64_t)best + step;
        if (guess <= h->usable && rheap_alloc(h, (uint32_t)guess, 16, &at) == POOL_OK) {
            rheap_free(h, at);
            best = (uint32_t)guess;
        } else {
            step /= 2;
        }
    }
    return best;
}

/* Bits are looked for a word at a time, 512 bytes of heap. */
uint32_t rheap_next_live(const rheap *h, uint32_t offset)
{
    uint32_t word = offset >> 9, words = (h->core + 511) >> 9;
    if (word >= words)
        return 0;
    uint64_t bits = h->live[word] & (~0ull << ((offset + 7) >> 3 & 63));
    if (offset % 512 > 504) /* rounding up went past this word */
        bits = 0;
    while (!bits) {
        if (++word >= words)
            return 0;
        bits = h->live[word];
    }
    return word << 9 | (uint32_t)__builtin_ctzll(bits) << 3;
}

/* --- the check ------------------------------------------------------------------------------------- */

/* What one walk has counted, to be compared with what another finds. */
struct tally {
    uint64_t used;      /* bytes of live allocations */
    uint64_t free_runs; /* free runs met in block order */
    uint64_t free_frags;
};

/* Strictly ascending, so a ring that has been bent into a cycle ends here too. */
static const char *check_ring(const rheap *h, uint64_t *runs)
{
    uint32_t prev = 0, end = 0;
    for (uint32_t b = rheap_record_of(h, 0)->next; b; b = rheap_record_of(h, b)->next) {
        const rheap_record *r = rheap_record_of(h, b);
        if (b >= h->limit || r->shape != RECORD_FREE || !r->length || r->length > h->limit - b)
            return "a free run has a bad record or passes the limit";
        if (b <= end || r->prev != prev)
            return "the free runs are not sorted, touch each other or are linked wrongly";
        if (!rheap_run_starts(h, b))
            return "a free run is missing in the bitmap";
        prev = b;
        end = b + r->length;
        ++*runs;
    }
    return rheap_record_of(h, 0)->prev == prev ? NULL : "the ring of free runs is not closed";
}

/* Live allocations that start in a block: two words of the bitmap. */
static unsigned live_starts(const rheap *h, uint32_t block)
{
    const uint64_t *w = &h->live[rheap_block_offset(block) >> 9];
    return count_ones(w[0]) + count_ones(w[1]);
}

static const char *check_fragments(const rheap *h, uint32_t b, struct tally *t)
{
    const rheap_record *r = rheap_record_of(h, b);
    unsigned live = live_starts(h, b);
    if (r->length < RHEAP_CLASS_MIN || r->length >= RHEAP_CLASSES)
        return "a fragmented block has no valid class";
    if (live + r->count != RHEAP_BLOCK >> r->length)
        return "a fragmented block's free count disagrees with its live fragments";
    for (uint32_t i = 0; i < RHEAP_BLOCK; i += 8) {
        if (rheap_is_live(h, rheap_block_offset(b) + i) && i & ((1u << r->length) - 1))
            return "a live bit stands inside a fragment";
    }
    t->used += (uint64_t)live << r->length;
    t->free_frags += r->count;
    return NULL;
}

/* One piece of the tiling that starts at *b; moves *b behind it. */
static const char *check_piece(const rheap *h, uint32_t *b, struct tally *t)
{
    const rheap_record *r = rheap_record_of(h, *b);
    bool is_free = rheap_run_starts(h, *b), fragments = !is_free && r->shape == RECORD_FRAGMENTS;
    uint32_t n = fragments ? 1 : r->length;
    if (!is_free && !live_starts(h, *b))
        return "a block belongs to nothing";
    if (!n || n > h->limit - *b)
        return "a run passes the limit";
    if (fragments) {
        const char *wrong = check_fragments(h, *b, t);
        if (wrong)
            return wrong;
    } else if (!is_free) {
        if (r->shape != RECORD_BUSY || live_starts(h, *b) != 1 || !rheap_is_live(h, rheap_block_offset(*b)))
            return "a busy run has a bad record or live bits inside";
        t->used += (uint64_t)n * RHEAP_BLOCK;
    }
    for (uint32_t i = is_free ? 0 : 1; i < n; i++) {
        if (live_starts(h, *b + i) || (i && rheap_run_starts(h, *b + i)))
            return "something starts inside a run";
    }
    t->free_runs += is_free;
    *b += n;
    return NULL;
}

/* The list of a class, group by group: `first` and `count` of each block must tell exactly its group. */
static const char *check_class(const rheap *h, unsigned log, uint64_t *free_frags)
{
    uint32_t prev = 0, at = h->heads[log];
    while (at) {
        uint32_t block = rheap_block_of(at);
        const rheap_record *r = rheap_record_of(h, block);
        if (at >= h->core || r->shape != RECORD_FRAGMENTS || r->length != log || !r->count ||
            at != rheap_block_offset(block) + (r->first << log))
            return "a list of free fragments does not meet a block's foremost one";
        for (uint32_t i = 0; i < r->count; i++) {
            if (!at || rheap_block_of(at) != block || rheap_links_of(h, at)->prev != prev ||
                at & ((1u << log) - 1) || rheap_is_live(h, at))
                return "the free fragments of a block do not stand together";
            prev = at;
            at = rheap_links_of(h, at)->next;
        }
        *free_frags += r->count;
        if (*free_frags > h->usable / 8)
            return "a list of free fragments has a cycle";
    }
    return NULL;
}

/* Break, limit and rover against each other. */
static const char *check_core(const rheap *h)
{
    uint32_t table = h->records * RHEAP_RECORD;
    if (h->core > h->usable || h->core < table)
        return "the break is outside the heap";
    if (h->limit ? h->core != rheap_block_offset(h->limit) : h->core != table)
        return "the limit is not the block at the break";
    if (h->rover && (h->rover >= h->limit || !rheap_run_starts(h, h->rover)))
        return "the rover is not a free run";
    return NULL;
}

static const char *check_lists(const rheap *h, const struct tally *found)
{
    uint64_t runs = 0, frags = 0;
    const char *wrong = check_ring(h, &runs);
    for (unsigned log = RHEAP_CLASS_MIN; !wrong && log < RHEAP_CLASSES; log++)
        wrong = check_class(h, log, &frags);
    if (!wrong && runs != found->free_runs)
        wrong = "the bitmap has a free run that the ring has not";
    if (!wrong && frags != found->free_frags)
        wrong = "a free fragment is in no list";
    return wrong;
}

const char *rheap_check(const rheap *h)
{
    struct tally found = {0};
    if (!h->records)
        return h->used || h->core || h->limit ? "a heap without a table has memory in use" : NULL;
    const char *wrong = check_core(h);
    for (uint32_t b = rheap_table_blocks(h) + 1; !wrong && b < h->limit;)
        wrong = check_piece(h, &b, &found);
    if (!wrong)
        wrong = check_lists(h, &found);
    if (!wrong && found.used != h->used)
        wrong = "the bytes in use are not the sum of what is live";
    return wrong;
}
