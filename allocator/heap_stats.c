/* SPDX-License-Identifier: MIT */
/*
 * heap_stats.c - see heap_stats.h: adds up a heap's block records, in this process or in another's memory.
 * Records are read in batches, then the bits of each block that holds fragments.
 * Locking: none. Cost: 640 bytes a block, and 512 more for each block with pending frees.
 */
#include "heap_stats.h"
#include "heap.h"

#include <string.h>

#define BATCH 8u

struct source {
    memory_reader *reader;
    void *arg;
    struct world w;
};

static bool read_bytes(const struct source *s, const void *address, void *to, size_t n)
{
    if (s->reader)
        return s->reader(s->arg, (uint64_t)(uintptr_t)address, to, n);
    memcpy(to, address, n);
    return true;
}

static bool local_reader(void *arg, uint64_t address, void *to, size_t n)
{
    memcpy(to, (const void *)(uintptr_t)address, n);
    return true;
}

/* Fragments that the program holds. */
static uint32_t held(const struct source *s, const block *b, uint32_t number)
{
    uint64_t pending[BLOCK_MAPS] = {0};
    int n = 0;
    if (block_is_large(b))
        pending[0] = b->freed;
    else if (b->in_remote &&
             !read_bytes(s, s->w.pending + (size_t)number * BLOCK_MAPS, pending, sizeof pending))
        return 0;
    for (size_t i = 0; i < BLOCK_MAPS; i++)
        n += (int)count_ones(b->live[i]) - (int)count_ones(pending[i]);
    return n > 0 ? (uint32_t)n : 0; /* the owner may be taking some back meanwhile */
}

static void add_fragments(const struct source *s, const block *b, uint32_t number, heap_figures *out)
{
    uint32_t used = held(s, b, number);
    uint64_t live = (uint64_t)used * b->size;
    out->live_blocks += used;
    out->live_bytes += live;
    out->committed_bytes += b->carved;
    out->free_bytes += b->carved - live;
}

static void add_block(const struct source *s, const block *b, uint32_t number, uint32_t heap_id,
                      heap_figures *out)
{
    if (b->heap != heap_id || b->pool) /* a pool that lives in a run tells its own figures */
        return;
    out->overhead_bytes += sizeof *b;
    if (b->kind == BLOCK_FRAGMENTS && b->owner) {
        add_fragments(s, b, number, out);
    } else if (b->kind == BLOCK_RUN) {
        out->live_blocks++;
        out->live_bytes += b->run_bytes;
        out->committed_bytes += b->run_bytes;
    }
}

static bool add_zone(const struct source *s, const zone *z, uint32_t heap_id, heap_figures *out)
{
    block batch[BATCH];
    for (uint32_t at = 0; at < z->high; at += BATCH) {
        uint32_t n = z->high - at < BATCH ? z->high - at : BATCH;
        if (!read_bytes(s, s->w.records + z->first + at, batch, n * sizeof *batch))
            return false;
        for (uint32_t i = 0; i < n; i++)
            add_block(s, &batch[i], z->first + at + i, heap_id, out);
    }
    return true;
}

/* The least that stands between the heap and its limits or the end of its zone. */
static bool largest(const struct source *s, const heap *h, const zone *z, heap_figures *out)
{
    uint64_t room = (uint64_t)(z->count - z->high) << BLOCK_SHIFT;
    if (!s->reader) /* the maps are read without the lock: an estimate while others allocate */
        room = (uint64_t)zone_largest(h->zone) << BLOCK_SHIFT;
    heap a = *h;
    for (;;) {
        if (a.pool.limit && a.pool.over != OVER_WARN) {
            uint64_t left = a.pool.limit > a.taken ? a.pool.limit - a.taken : 0;
            room = left < room ? left : room;
        }
        if (!a.parent)
            break;
        if (!read_bytes(s, a.parent, &a, sizeof a))
            return false;
    }
    out->largest_free_bytes = room;
    return true;
}

/* Free blocks kept dirty belong to no heap: the zone's own heap shows them, or the outermost of those that
 * share it. */
static bool add_dirty(const struct source *s, const heap *h, const zone *z, heap_figures *out)
{
    heap parent = {.zone = NULL};
    if (h->parent && !read_bytes(s, h->parent, &parent, sizeof parent))
        return false;
    if (parent.zone != h->zone) {
        out->committed_bytes += (uint64_t)z->dirty << BLOCK_SHIFT;
        out->free_bytes += (uint64_t)z->dirty << BLOCK_SHIFT;
    }
    return true;
}

bool heap_figures_read(uint64_t world_at, uint64_t heap_at, memory_reader *reader, void *arg,
                       heap_figures *out)
{
    struct source s = {.reader = reader ? reader : local_reader, .arg = arg};
    heap h;
    zone z;
    memset(out, 0, sizeof *out);
    if (!s.reader(arg, world_at, &s.w, sizeof s.w) || !s.reader(arg, heap_at, &h, sizeof h) || !h.zone)
        return false;
    s.reader = reader;
    return read_bytes(&s, h.zone, &z, sizeof z) && add_zone(&s, &z, h.id, out) && largest(&s, &h, &z, out) &&
           add_dirty(&s, &h, &z, out);
}
