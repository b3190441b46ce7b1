/* SPDX-License-Identifier: MIT */
/*
 * symbol_map.h - floor F4: symbol maps that the user gives for stripped modules (`symbols MODULE = FILE`).
 * symbols.h declares symbols_add_map, which reads one; here is what looks names up in them.
 * Locking: maps are read at boot, then constant.
 */
#ifndef POOLMEM_SYMBOL_MAP_H
#define POOLMEM_SYMBOL_MAP_H

#include "base.h"

typedef struct symbol_map symbol_map;

/* The first map whose module pattern fits the path, NULL none. */
const symbol_map *symbol_map_for(const char *module_path);
/* The name at a link-time address and where it starts; NULL when none covers it. */
const char *symbol_map_find(const symbol_map *m, uint64_t address, uint64_t *start);
/* Drops all maps (the configuration was bad). */
void symbol_maps_clear(void);

#endif
