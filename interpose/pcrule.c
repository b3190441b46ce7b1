/* SPDX-License-Identifier: MIT */
/*
 * pcrule.c - see pcrule.h: the table of return addresses. Open addressing, at most half full, doubled when
 * it is; closed objects leave tombstones, which later keys reuse.
 */
#include "pcrule.h"
#include "os.h"

#include <string.h>

enum { FIRST_ENTRIES = 1024, TOMBSTONE = 1 };

static struct {
    pc_table table;
    pc_info none[2];
} empty = {.table = {.mask = 1}};

pc_table *pc_rules = &empty.table;

pc_info pc_resolve(pc_key key)
{
    uintptr_t address = (uintptr_t)(key & ~PC_EXACT);
    bool exact = key & PC_EXACT;
    symbol_info symbol;
    symbol_find(address + exact, &symbol); /* it looks at the address - 1 */
    pc_info info = {.key = key, .rule = cfi_find(exact ? address : address - 1)};
    info.verdict = rules_verdict(&symbol);
    info.by_size = rules_by_size(info.verdict);
    return info;
}

static void insert(pc_table *table, const pc_info *info)
{
    size_t i = pc_hash(info->key);
    while (table->info[i & table->mask].key > TOMBSTONE)
        i++;
    pc_info *place = &table->info[i & table->mask];
    table->used += place->key != TOMBSTONE;
    pc_key key = info->key;
    place->rule = info->rule;
    place->verdict = info->verdict;
    place->by_size = info->by_size;
    __atomic_store_n(&place->key, key, __ATOMIC_RELEASE);
}

static bool grow(void)
{
    pc_table *old = pc_rules;
    size_t entries = old == &empty.table ? FIRST_ENTRIES : 2 * (old->mask + 1);
    pc_table *table = os_map(sizeof *table + entries * sizeof(pc_info));
    if (!table)
        return false;
    table->mask = entries - 1;
    for (size_t i = 0; i <= old->mask; i++)
        if (old->info[i].key > TOMBSTONE)
            insert(table, &old->info[i]);
    __atomic_store_n(&pc_rules, table, __ATOMIC_RELEASE);
    return true;
}

bool pc_keep(const pc_info *info)
{
    if (2 * (pc_rules->used + 1) > pc_rules->mask && !grow())
        return false;
    insert(pc_rules, info);
    return true;
}

void pc_forget(uintptr_t first, uintptr_t last)
{
    for (size_t i = 0; i <= pc_rules->mask; i++) {
        uintptr_t address = (uintptr_t)(pc_rules->info[i].key & ~PC_EXACT);
        if (address - first <= last - first)
            __atomic_store_n(&pc_rules->info[i].key, TOMBSTONE, __ATOMIC_RELEASE);
    }
}
