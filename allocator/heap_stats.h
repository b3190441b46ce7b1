/* SPDX-License-Identifier: MIT */
/*
 * heap_stats.h - floor F2: what a native heap holds right now, added up from its block records. The same code
 * serves this process and, through a reader of another process's memory, `poolmem stat`.
 * Locking: none; exact at a quiet moment, never torn (every word is read once).
 */
#ifndef POOLMEM_HEAP_STATS_H
#define POOLMEM_HEAP_STATS_H

#include "base.h"

/* Copies n bytes at `address` of the inspected process to `to`; false when they cannot be read. */
typedef bool memory_reader(void *arg, uint64_t address, void *to, size_t n);

typedef struct heap_figures {
    uint64_t live_bytes, live_blocks; /* usable bytes and blocks the program holds */
    uint64_t committed_bytes;         /* bytes of blocks in use or kept dirty, with the carved part only */
    uint64_t free_bytes;              /* free fragments and dirty free blocks */
    uint64_t largest_free_bytes;      /* largest request it could serve without asking for more */
    uint64_t overhead_bytes;          /* records and live bits touched */
} heap_figures;

/* `heap` is stats_pool.heap, `world` stats_header.world. Reader NULL: this process. Async-signal-safe. */
bool heap_figures_read(uint64_t world, uint64_t heap, memory_reader *reader, void *arg, heap_figures *out);

#endif
