/* SPDX-License-Identifier: MIT */
/*
 * boot.h - floor F3: the original's pool tree, built in the original's order on its arena of 26,049,684
 * bytes, with every address it had on the console (a fixed distance from the host's).
 *
 *   0x00715b70  All System (clump), the whole arena; its 16 bytes: the object of the heap that follows
 *   0x00715b80    Global Memory (heap): everything else; stays on the bottom of the heap stack
 *   0x00761000      Filter Pool              0x0078a000  Debug Heap      0x0078a400  registry's records
 *   0x00bbc000      Level Dynamic & LUA Pool
 *   0x00f62000      Sector Pool: what is then the largest free block, less 128 KB
 *   0x01fcd800      Sector Pool 2: what is left, less 128 KB, at least 4 KB
 *   0x01fce800      ResourceManager
 *
 * The figures of a replay are compared with those of a retail console by boot_check.
 * Locking: none. Read next: budget.h (how the Sector Pool is spent).
 */
#ifndef POOLMEM_BOOT_H
#define POOLMEM_BOOT_H

#include "clump.h"
#include "manager.h"
#include "retail.h"

#define BOOT_ARENA_BASE 0x00715b70u
#define BOOT_ARENA_SIZE 26049684u

/* One number of the replay: as the console has it, and as it came out. */
typedef struct boot_figure {
    const char *name; /* of a pool or of what was allocated */
    const char *what; /* "object", "block", "size" ...; may be empty */
    uint32_t want, got;
} boot_figure;

#define BOOT_FIGURES_MAX 48

typedef struct boot {
    char *mapping; /* where the arena lies */
    char *arena;   /* its first byte: BOOT_ARENA_BASE on the console */
    clump all_system;
    retail_pool global, filter, debug, level, sector, sector2;
    registry registry; /* 512 records, names of 15 characters */
    manager manager;   /* stack of 16 */
    boot_figure figures[BOOT_FIGURES_MAX];
    unsigned figure_count;
} boot;

/* Builds the tree. Any status but POOL_OK: nothing is left of it. */
pool_status boot_build(boot *b);
void boot_destroy(boot *b);
/* The first figure that is not the console's, NULL when all are equal. */
const boot_figure *boot_check(const boot *b);
/* The console's address of a host pointer into the arena, and back. */
uint32_t boot_address(const boot *b, const void *p);
void *boot_pointer(const boot *b, uint32_t address);

#endif
