/* SPDX-License-Identifier: MIT */
/*
 * world.c - see world.h: reserves the address space of all heaps and the tables about it, once.
 *
 * Sizes tried: 16 TiB in 256 zones, then halves down to 256 GiB; below that one shared zone, by steps of a
 * quarter down to 4 MiB, so that a process under a small RLIMIT_AS still gets most of what it may have, and a
 * quarter of it is left. The tables are reserved with it and committed beside the blocks they speak of
 * (zone.c).
 */
#include "world.h"
#include "os.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define ZONED_MIN GIB(256)
#define WORLD_MAX (GIB(1024) * 16)
#define WORLD_MIN MIB(4)

/* Where things begin in what is reserved for them, so that their first lines keep out of each other's way in
   the processor's cache (world.h): two tables, in pages of the address bits that it hashes, and each zone. */
#define HASHED      MIB(256)
#define RECORDS_AT  0x5b
#define PENDING_AT  0xa6
#define ZONE_COLOUR (MIB(2) >> BLOCK_SHIFT) /* huge pages keep their alignment */

struct world world __attribute__((aligned(64))) = {.decay_ns = 1000000000};
ROOMY zone world_zones[WORLD_ZONES];

/* Readable throughout: a wild pointer into the world finds a record of zeros, not a fault. Begins so many
   pages into a multiple of HASHED, if there is room to choose. */
static void *reserve_table(size_t bytes, bool roomy, size_t pages)
{
    char *raw = os_reserve_zeros(bytes + (roomy ? HASHED : 0));
    if (!raw || !roomy)
        return raw;
    char *p = raw + ((pages * OS_PAGE - (uintptr_t)raw) & (HASHED - 1));
    if (p > raw)
        os_unmap(raw, (size_t)(p - raw));
    os_unmap(p + bytes, (size_t)(raw + HASHED - p));
    return p;
}

static bool reserve(size_t size)
{
    size_t blocks = size >> BLOCK_SHIFT;
    size_t record_bytes = round_up(blocks * sizeof(block), OS_PAGE);
    size_t pending_bytes = round_up(blocks * BLOCK_MAPS * sizeof(uint64_t), OS_PAGE);
    bool zoned = size >= ZONED_MIN;
    char *base = os_reserve(size, zoned ? GIB(1) : MIB(2) < size ? MIB(2) : BLOCK_SIZE);
    block *records = base ? reserve_table(record_bytes, zoned, RECORDS_AT) : NULL;
    uint64_t *pending = records ? reserve_table(pending_bytes, zoned, PENDING_AT) : NULL;
    if (!pending) {
        if (records)
            os_unmap(records, record_bytes);
        if (base)
            os_unmap(base, size);
        return false;
    }
    world.base = (uintptr_t)base;
    world.records = records;
    world.pending = pending;
    world.size = size;
    world.fast_granules = size / GRANULE;
    world.zoned = zoned;
    world.zone_blocks = (uint32_t)(world.zoned ? blocks / WORLD_ZONES : blocks);
    return true;
}

/* Where address space is short the host needs some of it too: stacks of its threads, objects, mappings. */
static bool reserve_and_leave(size_t size)
{
    void *left = os_reserve(size / 4, OS_PAGE);
    bool done = left && reserve(size);
    if (left)
        os_unmap(left, size / 4);
    return done;
}

/* "never" in the kernel's setting means that advice would be ignored at best. */
static bool huge_allowed(void)
{
    char text[64] = {0};
    int fd = open("/sys/kernel/mm/transparent_hugepage/enabled", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    return n > 0 && !strstr(text, "[never]");
}

bool world_boot(void)
{
    if (world.size)
        return true;
    for (size_t size = WORLD_MAX; size >= ZONED_MIN && !world.size; size /= 2)
        reserve(size);
    for (size_t size = ZONED_MIN / 2; size >= WORLD_MIN && !world.size;
         size = round_down(size / 4 * 3, BLOCK_SIZE))
        reserve_and_leave(size);
    world.huge_allowed = huge_allowed();
    world.counts_bits = os_counts_ones();
    return world.size != 0;
}

zone *world_zone(uint32_t heap_id, const char *name)
{
    zone *z = &world_zones[world.zoned ? heap_id : 0];
    if (z->count)
        return z;
    size_t words = (world.zone_blocks + 63) / 64;
    uint64_t *maps = os_map(ZONE_MAPS * words * sizeof(uint64_t));
    if (!maps)
        return NULL;
    z->lock.rank = RANK_ZONE;
    uint32_t number = (uint32_t)(z - world_zones), colour = number * ZONE_COLOUR;
    z->first = number * world.zone_blocks + colour;
    z->free_map = maps;
    z->young_map = maps + 1;
    z->old_map = maps + 2;
    atomic_raise(&world.zones_end, number + 1);
    z->count = world.zone_blocks - colour;
    /* once for all: what is committed later keeps the name of the reservation it is cut from */
    os_name_range((void *)(world.base + ((size_t)z->first << BLOCK_SHIFT)), (size_t)z->count << BLOCK_SHIFT,
                  world.zoned ? name : "poolmem");
    return z;
}
