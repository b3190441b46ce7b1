/* SPDX-License-Identifier: MIT */
/*
 * zone.c - see world.h: blocks of one zone, handed out first fit by address.
 *
 * Three bitmaps, one bit a block below `high`: free, young (free, its pages touched and given back by the
 * program in this half of the decay time) and old (in the half before). Merging is implicit. A single block
 * is looked for among dirty ones first, because a fresh page costs more than a thousand allocations.
 *
 * Invariants: (1) young and old are subsets of free and do not overlap; (2) no free block lies under
 * low_free; (3) the block below high is in use or dirty or clean, never beyond committed; (4) a free block
 * that is neither young nor old reads as zero.
 * Locking: everything under zone.lock but zone_decay, which takes it. Cost: a scan of 64 blocks a word.
 */
#include "world.h"
#include "fatal.h"
#include "os.h"

#include <string.h>

#define COMMIT_MIN  16u   /* blocks: 1 MiB */
#define COMMIT_MAX  1024u /* blocks: 64 MiB */
#define HUGE_FROM   MIB(64)
#define HUGE_BLOCKS 32u /* blocks of one huge page */
#define NO_BLOCK    UINT32_MAX

static bool bit_get(const uint64_t *map, uint32_t i)
{
    return map[i / 64 * ZONE_MAPS] >> (i % 64) & 1;
}

/* Mask of the bits of word w that lie in [from, to). */
static uint64_t word_mask(uint32_t w, uint32_t from, uint32_t to)
{
    uint64_t mask = ~0ull;
    if (w == from / 64)
        mask &= ~0ull << (from % 64);
    if (w == to / 64)
        mask &= (1ull << (to % 64)) - 1;
    return mask;
}

static void bits_set(uint64_t *map, uint32_t from, uint32_t to)
{
    for (uint32_t w = from / 64; w <= (to - 1) / 64; w++)
        map[w * ZONE_MAPS] |= word_mask(w, from, to);
}

/* Clears [from, to), returns how many were set. */
static uint32_t bits_clear(uint64_t *map, uint32_t from, uint32_t to)
{
    uint32_t were = 0;
    for (uint32_t w = from / 64; w <= (to - 1) / 64; w++) {
        uint64_t mask = word_mask(w, from, to), *word = &map[w * ZONE_MAPS];
        were += count_ones(*word & mask);
        *word &= ~mask;
    }
    return were;
}

/* First bit with this value in [from, to), else `to`. */
static uint32_t next_bit(const uint64_t *map, uint32_t from, uint32_t to, bool value)
{
    for (uint32_t w = from / 64; from < to && w <= (to - 1) / 64; w++) {
        uint64_t word = map[w * ZONE_MAPS], found = (value ? word : ~word) & word_mask(w, from, to);
        if (found)
            return w * 64 + (uint32_t)__builtin_ctzll(found);
    }
    return to;
}

/* The zone is aligned no better than the world: align the address, not the number. */
static uint32_t align_block(const zone *z, uint32_t at, uint32_t align)
{
    uint64_t before = (world.base >> BLOCK_SHIFT) + z->first;
    return (uint32_t)(round_up(before + at, align) - before);
}

static uint32_t find_run(const zone *z, uint32_t blocks, uint32_t align)
{
    uint32_t at = next_bit(z->free_map, z->low_free, z->high, true);
    while (at < z->high) {
        uint32_t end = next_bit(z->free_map, at, z->high, false);
        uint32_t start = align_block(z, at, align);
        if (start + blocks <= end)
            return start;
        at = next_bit(z->free_map, end, z->high, true);
    }
    return NO_BLOCK;
}

static bool commit_pages(const void *from, const void *to)
{
    uintptr_t start = round_down((uintptr_t)from, OS_PAGE);
    return os_commit((void *)start, round_up((uintptr_t)to, OS_PAGE) - start);
}

static bool commit_tables(size_t from, size_t to)
{
    return commit_pages(&world.records[from], &world.records[to]) &&
           commit_pages(&world.pending[from * BLOCK_MAPS], &world.pending[to * BLOCK_MAPS]);
}

static char *zone_address(const zone *z, uint32_t i)
{
    return (char *)(world.base + ((size_t)(z->first + i) << BLOCK_SHIFT));
}

/* A process that has grown, and fills the blocks it takes: many threads with a few fragments each would
   otherwise have all their blocks resident. */
static bool deserves_huge(void)
{
    uint64_t taken = relaxed_load(&world.taken);
    return world.huge_allowed && taken > HUGE_FROM && taken > relaxed_load(&world.grown) / 2;
}

static bool commit_to(zone *z, uint32_t to)
{
    uint32_t from = z->committed;
    size_t bytes = (size_t)(to - from) << BLOCK_SHIFT;
    if (!commit_tables(z->first + from, z->first + to) || !os_commit(zone_address(z, from), bytes))
        return false;
    if (deserves_huge())
        os_huge(zone_address(z, from), bytes, true);
    z->committed = to;
    return true;
}

/* Makes blocks below `to` usable: in growing steps, and exactly when the system refuses a step. */
static bool commit(zone *z, uint32_t to)
{
    if (to <= z->committed)
        return true;
    uint32_t step = z->committed / 4;
    step = step < COMMIT_MIN ? COMMIT_MIN : step > COMMIT_MAX ? COMMIT_MAX : step;
    uint32_t wish = (uint32_t)round_up(to + step, COMMIT_MIN);
    if (wish > z->count)
        wish = z->count;
    return commit_to(z, wish) || commit_to(z, to);
}

static void count_growth(uint32_t blocks)
{
    __atomic_fetch_add(&world.grown, (uint64_t)blocks << BLOCK_SHIFT, __ATOMIC_RELAXED);
}

/* New blocks at the top. A free stretch that ends there is taken into the run. */
static uint32_t extend(zone *z, uint32_t blocks, uint32_t align)
{
    uint32_t start = z->high;
    while (start > z->low_free && bit_get(z->free_map, start - 1))
        start--;
    start = align_block(z, start, align);
    if ((uint64_t)start + blocks > z->count || !commit(z, start + blocks))
        return NO_BLOCK;
    if (start > z->high) { /* what alignment skipped */
        bits_set(z->free_map, z->high, start);
        if (z->low_free > z->high)
            z->low_free = z->high;
    }
    count_growth(start + blocks - z->high);
    z->high = start + blocks;
    return start;
}

static void count_dirty(zone *z, int32_t blocks)
{
    relaxed_store(&z->dirty, z->dirty + (uint32_t)blocks);
}

/* Takes blocks out of the maps; true when none was dirty. */
static bool claim(zone *z, uint32_t from, uint32_t to)
{
    bits_clear(z->free_map, from, to);
    uint32_t dirty = bits_clear(z->young_map, from, to) + bits_clear(z->old_map, from, to);
    if (dirty)
        count_dirty(z, -(int32_t)dirty);
    if (from == z->low_free)
        z->low_free = to;
    return dirty == 0;
}

static uint32_t find_dirty(const zone *z)
{
    uint32_t at = z->dirty ? next_bit(z->young_map, z->low_free, z->high, true) : z->high;
    if (z->dirty && at == z->high)
        at = next_bit(z->old_map, z->low_free, z->high, true);
    return at < z->high ? at : NO_BLOCK;
}

uint32_t zone_take(zone *z, uint32_t blocks, uint32_t align, bool *zeroed)
{
    uint32_t at = blocks == 1 && align == 1 ? find_dirty(z) : NO_BLOCK;
    if (at == NO_BLOCK)
        at = find_run(z, blocks, align);
    if (at == NO_BLOCK)
        at = extend(z, blocks, align);
    if (at == NO_BLOCK)
        return NO_BLOCK;
    *zeroed = claim(z, at, at + blocks);
    return z->first + at;
}

bool zone_take_at(zone *z, uint32_t from, uint32_t blocks)
{
    uint32_t at = from - z->first, end = at + blocks;
    if (end > z->count || end < at)
        return false;
    uint32_t inside = end < z->high ? end : z->high;
    if (at < inside && next_bit(z->free_map, at, inside, false) != inside)
        return false;
    if (end > z->high) {
        if (!commit(z, end))
            return false;
        count_growth(end - z->high);
        z->high = end;
    }
    claim(z, at, end);
    return true;
}

void zone_give(zone *z, uint32_t from, uint32_t blocks, bool purge)
{
    uint32_t at = from - z->first;
    if (at >= z->count) { /* taken apart */
        os_purge(zone_address(z, at), (size_t)blocks << BLOCK_SHIFT);
        return;
    }
    bits_set(z->free_map, at, at + blocks);
    if (purge) {
        os_purge(zone_address(z, at), (size_t)blocks << BLOCK_SHIFT);
    } else {
        bits_set(z->young_map, at, at + blocks);
        count_dirty(z, (int32_t)blocks);
    }
    if (at < z->low_free)
        z->low_free = at;
}

static void purge_map(zone *z, uint64_t *map)
{
    for (uint32_t at = next_bit(map, 0, z->high, true); at < z->high;) {
        uint32_t end = next_bit(map, at, z->high, false);
        os_purge(zone_address(z, at), (size_t)(end - at) << BLOCK_SHIFT);
        count_dirty(z, -(int32_t)bits_clear(map, at, end));
        at = next_bit(map, end, z->high, true);
    }
}

void zone_decay(zone *z, uint64_t now, bool force)
{
    uint64_t elapsed = now - relaxed_load(&z->decayed_at);
    if (!relaxed_load(&z->dirty) || (!force && elapsed < world.decay_ns / 2))
        return;
    if (!zone_enter(z))
        return;
    purge_map(z, z->old_map);
    if (force || elapsed >= world.decay_ns) /* nobody has come by for so long: what is young is old by now */
        purge_map(z, z->young_map);
    uint64_t *young = z->young_map;
    z->young_map = z->old_map;
    z->old_map = young;
    relaxed_store(&z->decayed_at, now);
    lock_drop(&z->lock);
}

/* The section that was interrupted may be about to commit more: half of what was never used is left to it. */
uint32_t zone_take_apart(zone *z, uint32_t blocks)
{
    if (blocks > (z->count - z->committed) / 2)
        return NO_BLOCK;
    uint32_t at = z->count - blocks;
    if (!commit_tables(z->first + at, z->first + z->count) ||
        !os_commit(zone_address(z, at), (size_t)blocks << BLOCK_SHIFT))
        return NO_BLOCK;
    z->count = at;
    count_growth(blocks);
    return z->first + at;
}

void zone_abandon(zone *z)
{
    size_t used = (z->committed + 63) / 64;
    z->young_map = z->free_map + 1; /* they may have been about to change places */
    z->old_map = z->free_map + 2;
    memset(z->free_map, 0, used * ZONE_MAPS * sizeof *z->free_map);
    count_dirty(z, -(int32_t)z->dirty);
    z->high = z->low_free = z->committed;
}

uint32_t zone_largest(zone *z)
{
    uint32_t best = z->count - z->high;
    uint32_t at = next_bit(z->free_map, z->low_free, z->high, true);
    while (at < z->high) {
        uint32_t end = next_bit(z->free_map, at, z->high, false);
        uint32_t length = end - at + (end == z->high ? z->count - z->high : 0);
        best = length > best ? length : best;
        at = next_bit(z->free_map, end, z->high, true);
    }
    return best;
}

bool zone_check(zone *z)
{
    uint32_t dirty = 0;
    for (uint32_t w = 0; w <= z->high / 64 && z->count; w++) {
        uint64_t young = z->young_map[w * ZONE_MAPS], old = z->old_map[w * ZONE_MAPS];
        dirty += count_ones(young | old);
        if ((young & old) || ((young | old) & ~z->free_map[w * ZONE_MAPS])) {
            message(MESSAGE_FATAL, "zone of block %u: maps disagree at block %u", z->first, w * 64);
            return false;
        }
    }
    if (dirty != z->dirty || z->high > z->committed || z->committed > z->count) {
        message(MESSAGE_FATAL, "zone of block %u: %u dirty blocks counted as %u, high %u committed %u",
                z->first, dirty, z->dirty, z->high, z->committed);
        return false;
    }
    if (z->count && next_bit(z->free_map, 0, z->high, true) < z->low_free) {
        message(MESSAGE_FATAL, "zone of block %u: a free block lies under low_free %u", z->first,
                z->low_free);
        return false;
    }
    return true;
}
