/* SPDX-License-Identifier: MIT */
/* pools_bed.h - stands for the pools of a process while the configuration is tested. */
#ifndef POOLMEM_POOLS_BED_H
#define POOLMEM_POOLS_BED_H

#include "../../interpose/pools.h"

struct defined {
    char name[POOL_NAME_MAX + 1], parent[POOL_NAME_MAX + 1];
    pool_kind kind;
    uint64_t size;
    pool_over over;
};

extern struct defined defined_pools[64];
extern uint32_t defined_count;

/* Forgets all but Global and System. */
void pools_bed_reset(void);

#endif
