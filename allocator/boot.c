/* SPDX-License-Identifier: MIT */
/*
 * boot.c - see boot.h. The steps follow the console's boot; what no source names is one block of the sum
 * that is known. The pools' structs live in `boot`; the 16-byte objects of the original are allocated where
 * it allocated them, because they decide the addresses of what follows.
 *
 * Every address is noted as it comes and compared by boot_check alone: a figure that is off does not stop the
 * boot, so one sees all that are off at once. Steps run until one fails; boot_destroy then takes down
 * whatever stands.
 * Locking: none. Cost: some 100 us, and 26 MB of address space of which little is touched.
 */
#include "boot.h"
#include "os.h"

#include <string.h>

enum {
    OBJECT = 16,               /* bytes of a heap object */
    SPARE = 128 * 1024,        /* what the Sector Pool leaves of the largest free block */
    SECTOR2_MIN = 4096,        /* bytes */
    FILTER_SIZE = 0x29000,     /* RenderWare's scratch pool */
    DEBUG_SIZE = 1024,         /* without a debug arena: too small to give anything */
    REGISTRY_RECORDS = 0x6000, /* 512 records of 0x30 bytes */
    REGISTRY_POINTERS = 0x800,
    LEVEL_SIZE = 0x1ef000,
    EARLY_OBJECTS = 4,      /* of 9..16 bytes: the free lists made before the level pool */
    EARLY_BYTES = 4371456,  /* taken between the registry and the level pool */
    MIDDLE_OBJECTS = 1,     /* between the level pool and the Sector Pool */
    MIDDLE_BYTES = 1798144, /* subsystems up to the Sector Pool */
    RESOURCE_MANAGER = 0x904c,
};

uint32_t boot_address(const boot *b, const void *p)
{
    return BOOT_ARENA_BASE + (uint32_t)((const char *)p - b->arena);
}

void *boot_pointer(const boot *b, uint32_t address)
{
    return b->arena + (address - BOOT_ARENA_BASE);
}

static void figure(boot *b, const char *name, const char *what, uint32_t want, uint32_t got)
{
    ensure(b->figure_count < BOOT_FIGURES_MAX);
    b->figures[b->figure_count++] = (boot_figure){name, what, want, got};
}

/* Takes bytes from the pool on top of the stack and notes where they are; want 0: of no interest. */
static pool_status take(boot *b, const char *name, const char *what, size_t size, uint32_t want)
{
    void *p;
    pool_request r = {.size = size, .align = 16, .tag = "u8", .name = name, .flag = 1};
    pool_status s = manager_alloc(&b->manager, &r, &p);
    if (s == POOL_OK && want)
        figure(b, name, what, want, boot_address(b, p));
    return s;
}

static pool_status take_objects(boot *b, int n)
{
    pool_status s = POOL_OK;
    for (int i = 0; i < n && s == POOL_OK; i++)
        s = take(b, "object", "", OBJECT, 0);
    return s;
}

/* Object first, then the heap's block from the global heap, then the registration. */
static pool_status make_heap(boot *b, retail_pool *p, const char *name, size_t size, uint32_t object,
                             uint32_t block)
{
    pool_status s = take(b, name, "object", OBJECT, object);
    if (s == POOL_OK)
        s = retail_init_in_parent(p, &b->global.base, size, name);
    if (s != POOL_OK)
        return s;
    figure(b, name, "block", block, boot_address(b, p->block));
    return registry_add(&b->registry, &p->base, name);
}

/* --- steps ----------------------------------------------------------------------------------------- */

/* The page offset of the arena is the console's, so every alignment comes out as it did there. */
static pool_status map_arena(boot *b)
{
    size_t skew = BOOT_ARENA_BASE % OS_PAGE;
    b->mapping = os_map(skew + BOOT_ARENA_SIZE);
    if (!b->mapping)
        return POOL_NOMEM;
    b->arena = b->mapping + skew;
    pool_status s = registry_init(&b->registry, REGISTRY_RETAIL_RECORDS, REGISTRY_RETAIL_NAMES);
    manager_init(&b->manager, &b->registry, POOL_STACK_RETAIL);
    return s;
}

static pool_status make_global(boot *b)
{
    void *object;
    pool_status s = clump_init_in_place(&b->all_system, NULL, b->arena, BOOT_ARENA_SIZE, "All System");
    if (s == POOL_OK)
        s = registry_add(&b->registry, &b->all_system.base, "All System");
    if (s == POOL_OK)
        s = pool_alloc(&b->all_system.base, &(pool_request){.size = OBJECT, .align = 16}, &object);
    if (s == POOL_OK)
        s = retail_init_in_parent(&b->global, &b->all_system.base, pool_free_bytes(&b->all_system.base),
                                  "Global Memory");
    if (s != POOL_OK)
        return s;
    figure(b, "arena", "size", 26049684, b->all_system.size);
    figure(b, "Global Memory", "object", 0x00715b70, boot_address(b, object));
    figure(b, "Global Memory", "block", 0x00715b80, boot_address(b, b->global.block));
    figure(b, "Global Memory", "size", 26049668, (uint32_t)b->global.size);
    figure(b, "Global Memory", "usable start", 0x00716000, boot_address(b, b->global.heap.base));
    figure(b, "Global Memory", "usable", 26048516, b->global.heap.usable);
    s = registry_add(&b->registry, &b->global.base, "Global Memory");
    return s == POOL_OK ? manager_set_global(&b->manager, &b->global.base) : s;
}

static pool_status make_first_pools(boot *b)
{
    pool_status s = make_heap(b, &b->filter, "Filter Pool", FILTER_SIZE, 0x00760c00, 0x00761000);
    figure(b, "Global Memory", "table records", 25439, b->global.heap.records);
    figure(b, "Global Memory", "table blocks", 299, rheap_table_blocks(&b->global.heap));
    figure(b, "Filter Pool", "size", 167936, (uint32_t)b->filter.size);
    if (s == POOL_OK)
        s = make_heap(b, &b->debug, "Debug Heap", DEBUG_SIZE, 0x00760ff0, 0x0078a000);
    if (s == POOL_OK)
        s = take(b, "registry records", "block", REGISTRY_RECORDS, 0x0078a400);
    if (s == POOL_OK)
        s = take(b, "registry pointers", "block", REGISTRY_POINTERS, 0x00790400);
    if (s == POOL_OK)
        s = take_objects(b, EARLY_OBJECTS);
    return s == POOL_OK ? take(b, "free lists", "block", EARLY_BYTES, 0x00790c00) : s;
}

static pool_status make_level_pool(boot *b)
{
    pool_status s = make_heap(b, &b->level, "Level Dynamic & LUA Pool", LEVEL_SIZE, 0x00760fa0, 0x00bbc000);
    figure(b, "Level Dynamic & LUA Pool", "size", 2027520, (uint32_t)b->level.size);
    figure(b, "Level Dynamic & LUA Pool", "usable", 2026496, b->level.heap.usable);
    if (s == POOL_OK)
        s = take_objects(b, MIDDLE_OBJECTS);
    return s == POOL_OK ? take(b, "subsystems", "block", MIDDLE_BYTES, 0x00dab000) : s;
}

/* The largest free block decides both sizes: asked by trial, with the effects that has. */
static pool_status make_sector_pools(boot *b)
{
    uint32_t largest = (uint32_t)manager_largest_free(&b->manager);
    figure(b, "largest free block before the Sector Pool", "", 17348608, largest);
    if (largest < SPARE)
        return POOL_NOMEM;
    pool_status s = make_heap(b, &b->sector, "Sector Pool", largest - SPARE, 0x00760f80, 0x00f62000);
    figure(b, "Sector Pool", "size", 17217536, (uint32_t)b->sector.size);
    figure(b, "Sector Pool", "usable", 17216512, b->sector.heap.usable);
    if (s != POOL_OK)
        return s;
    largest = (uint32_t)manager_largest_free(&b->manager);
    figure(b, "largest free block before Sector Pool 2", "", 131072, largest);
    uint32_t size = largest > SPARE + SECTOR2_MIN ? largest - SPARE : SECTOR2_MIN;
    s = make_heap(b, &b->sector2, "Sector Pool 2", size, 0x00760f70, 0x01fcd800);
    figure(b, "Sector Pool 2", "size", 4096, (uint32_t)b->sector2.size);
    return s;
}

static pool_status make_resource_manager(boot *b)
{
    figure(b, "largest free block before the ResourceManager", "", 126976,
           rheap_largest_run(&b->global.heap));
    pool_status s = take(b, "ResourceManager", "block", RESOURCE_MANAGER, 0x01fce800);
    figure(b, "largest free block at the end", "", 89088, rheap_largest_run(&b->global.heap));
    return s;
}

pool_status boot_build(boot *b)
{
    static pool_status (*const steps[])(boot *) = {map_arena,       make_global,       make_first_pools,
                                                   make_level_pool, make_sector_pools, make_resource_manager};
    memset(b, 0, sizeof *b);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        pool_status s = steps[i](b);
        if (s != POOL_OK) {
            boot_destroy(b);
            return s;
        }
    }
    return POOL_OK;
}

void boot_destroy(boot *b)
{
    rheap *heaps[] = {&b->sector2.heap, &b->sector.heap, &b->level.heap,
                      &b->debug.heap,   &b->filter.heap, &b->global.heap};
    for (size_t i = 0; i < sizeof heaps / sizeof *heaps; i++)
        rheap_done(heaps[i]); /* the arena goes as a whole, so no block is given back to a parent */
    if (b->all_system.base.ops)
        pool_destroy(&b->all_system.base);
    if (b->registry.records)
        registry_done(&b->registry);
    if (b->mapping)
        os_unmap(b->mapping, BOOT_ARENA_BASE % OS_PAGE + BOOT_ARENA_SIZE);
    memset(b, 0, sizeof *b);
}

const boot_figure *boot_check(const boot *b)
{
    for (unsigned i = 0; i < b->figure_count; i++) {
        if (b->figures[i].got != b->figures[i].want)
            return &b->figures[i];
    }
    return NULL;
}
