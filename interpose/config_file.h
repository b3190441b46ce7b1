/* SPDX-License-Identifier: MIT */
/*
 * config_file.h - floor F4: one configuration file as data: pools, rules, symbol maps. Reading changes
 * nothing but the list of rules (rule.h) and the symbol maps; config.c then makes the pools. Locking: boot
 * only, one thread.
 */
#ifndef POOLMEM_CONFIG_FILE_H
#define POOLMEM_CONFIG_FILE_H

#include "pool.h"

enum { CONFIG_POOLS_MAX = 250 }; /* of a file; the table of pools also holds the built-in ones */

typedef struct config_pool {
    char name[POOL_NAME_MAX + 1];
    char parent[POOL_NAME_MAX + 1]; /* "" Global */
    pool_kind kind;
    pool_over over;
    uint64_t size; /* bytes, 0 none */
    unsigned line; /* of its section, for messages */
    unsigned keys; /* bit per key that was given */
} config_pool;

typedef struct config_file {
    const char *path;
    unsigned errors;
    bool builtin; /* starts with `include builtin` */
    unsigned pool_count;
    config_pool pools[CONFIG_POOLS_MAX];
} config_file;

/* Reads a file, says each error in one line, and leaves its rules in the list, the built-in ones behind them
   if it includes them. Returns whether it was good; if not, rules and maps are empty. */
bool config_file_read(const char *path, config_file *out);
/* Index of a pool by name, -1 none. */
int config_file_pool(const config_file *f, const char *name);

#endif
