/* SPDX-License-Identifier: MIT */
/*
 * rheap_fragment.c - see retail.h: fragments of a block, sizes 8 to 512 in powers of two.
 *
 * A class has one list of free fragments, linked through the fragments themselves. A fresh block gives its
 * fragment 0 and lists the rest from the highest address down; a freed fragment goes directly behind its
 * block's foremost free one, so that a block's free fragments always stand together and can be taken out
 * in one walk when the last live one goes.
 * Cost: constant, but for a block that comes or goes: one step a fragment of it.
 * Read next: rheap_query.c.
 */
#include "rheap_internal.h"

static void list_insert(rheap *h, unsigned log, uint32_t offset, uint32_t prev)
{
    uint32_t *slot = prev ? &rheap_links_of(h, prev)->next : &h->heads[log];
    uint32_t next = *slot;
    *rheap_links_of(h, offset) = (rheap_links){.next = next, .prev = prev};
    *slot = offset;
    if (next)
        rheap_links_of(h, next)->prev = offset;
}

/* Closes the list over everything between prev and next. */
static void list_close(rheap *h, unsigned log, uint32_t prev, uint32_t next)
{
    if (prev)
        rheap_links_of(h, prev)->next = next;
    else
        h->heads[log] = next;
    if (next)
        rheap_links_of(h, next)->prev = prev;
}

/* Turns a fresh block into fragments and gives the first. */
static NOINLINE uint32_t fragment_block(rheap *h, unsigned log)
{
    uint32_t block = rheap_run_take(h, 1), base = rheap_block_offset(block), n = RHEAP_BLOCK >> log;
    if (!block)
        return 0;
    for (uint32_t i = 1; i < n; i++)
        list_insert(h, log, base + (i << log), 0);
    *rheap_record_of(h, block) =
        (rheap_record){.shape = RECORD_FRAGMENTS, .length = log, .count = n - 1, .first = n - 1};
    return base;
}

uint32_t rheap_fragment_take(rheap *h, unsigned log)
{
    uint32_t offset = h->heads[log];
    if (likely(offset)) {
        uint32_t next = rheap_links_of(h, offset)->next;
        rheap_record *r = rheap_record_of(h, rheap_block_of(offset));
        list_close(h, log, 0, next);
        if (--r->count)
            r->first = next % RHEAP_BLOCK >> log;
    } else if (!(offset = fragment_block(h, log))) {
        return 0;
    }
    h->used += 1u << log;
    rheap_live_set(h, offset);
    return offset;
}

/* The block's last live fragment goes: take the others out of the list and free the block as a run. */
static NOINLINE void dissolve_block(rheap *h, uint32_t block, const rheap_record *r)
{
    unsigned log = r->length;
    uint32_t next = rheap_block_offset(block) + (r->first << log), prev = rheap_links_of(h, next)->prev;
    for (uint32_t i = 0; i < r->count; i++)
        next = rheap_links_of(h, next)->next;
    list_close(h, log, prev, next);
    rheap_run_release(h, block, 1, true);
}

void rheap_fragment_release(rheap *h, uint32_t offset)
{
    uint32_t block = rheap_block_of(offset);
    rheap_record *r = rheap_record_of(h, block);
    unsigned log = r->length;
    h->used -= 1u << log;
    rheap_live_clear(h, offset);
    if (r->count == (RHEAP_BLOCK >> log) - 1) {
        dissolve_block(h, block, r);
    } else if (r->count) {
        list_insert(h, log, offset, rheap_block_offset(block) + (r->first << log));
        r->count++;
    } else {
        list_insert(h, log, offset, 0);
        r->count = 1;
        r->first = offset % RHEAP_BLOCK >> log;
    }
}
