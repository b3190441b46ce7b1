/* SPDX-License-Identifier: MIT */
/*
 * pcrule.h - floor F4: what is known about one return address: how to get to the caller's frame (cfi.h) and
 * what the rules say about it (rules.h). One table for the process, read without a lock by every walk.
 *
 * Invariants: (1) an entry is complete before its key shows; (2) it changes only when its object was closed,
 * at a time when no thread can have the address on its stack; (3) tables that were outgrown stay mapped, for
 * a walk may still read them.
 * Locking: pc_find none; the rest under the resolve lock (caller.h). Cost: pc_find about 2 ns; pc_resolve a
 * few us. Read next: unwind.h.
 */
#ifndef POOLMEM_PCRULE_H
#define POOLMEM_PCRULE_H

#include "cfi.h"
#include "rules.h"

/* A code address as a walk meets it: a return address, or (bit 63) the exact place where a signal struck. */
typedef uint64_t pc_key;
#define PC_EXACT ((pc_key)1 << 63)

/* What a function is to the stacks it stands in. */
typedef enum pc_role {
    PC_ORDINARY,
    PC_START,      /* the C library's own that is entered once a thread: calls main, or a thread's function */
    PC_START_MAIN, /* __libc_start_main */
    PC_OUTERMOST   /* nobody called it */
} pc_role;

typedef struct pc_info {
    pc_key key;
    cfi_rule rule;
    verdict verdict;
    bool by_size; /* the verdict depends on the size asked for */
    bool
        plain; /* CFA = rsp + rule.cfa, the return address below it, rbp handed through or saved at the CFA */
    bool silent;  /* no rule can claim it */
    uint8_t role; /* pc_role */
} pc_info;

typedef struct pc_table {
    size_t mask, used; /* entries - 1; keys ever set, tombstones too */
    pc_info info[];
} pc_table;

extern HIDDEN pc_table *pc_rules;

INLINE size_t pc_hash(pc_key key)
{
    return (size_t)((key * 0x9e3779b97f4a7c15u) >> 32);
}

/* NULL: not asked about yet. */
INLINE const pc_info *pc_find(pc_key key)
{
    const pc_table *table = __atomic_load_n(&pc_rules, __ATOMIC_ACQUIRE);
    for (size_t i = pc_hash(key);; i++) {
        const pc_info *info = &table->info[i & table->mask];
        pc_key found = __atomic_load_n(&info->key, __ATOMIC_ACQUIRE);
        if (likely(found == key))
            return info;
        if (!found)
            return NULL;
    }
}

/* Finds out about an address, without keeping it. */
pc_info pc_resolve(pc_key key);
/* Keeps what was found; false: no memory for a larger table. */
bool pc_keep(const pc_info *info);
/* Forgets the addresses that no loaded object holds, or all. */
void pc_forget_closed(bool all);

#endif
