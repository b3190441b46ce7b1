/* SPDX-License-Identifier: MIT */
/*
 * pcrule.c - see pcrule.h: the table of return addresses. Open addressing, at most half full, doubled when
 * it is; closed objects leave tombstones, which later keys reuse.
 */
#include "pcrule.h"
#include "os.h"

#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <string.h>

enum { FIRST_ENTRIES = 1024, TOMBSTONE = 1 };

static union {
    pc_table table;
    char room[sizeof(pc_table) + 2 * sizeof(pc_info)];
} empty = {.table = {.mask = 1}};

pc_table *pc_rules = &empty.table;

static bool is_plain(const cfi_rule *r)
{
    return r->kind == CFI_FRAME && r->base == CFI_RSP && !r->deref && r->ra_at == CFI_AT_CFA && r->ra == -8 &&
           r->cfa > 0 && (r->rbp_at == CFI_SAME || r->rbp_at == CFI_AT_CFA);
}

/* Functions without a name in the C library are its static ones: which of them start a stack the place tells
   where they stand in it (unwind.c). */
static pc_role role_of(uintptr_t address, const symbol_info *symbol, const cfi_rule *rule)
{
    struct dl_find_object libc;
    if (rule->kind == CFI_END)
        return PC_OUTERMOST;
    if (_dl_find_object((void *)(uintptr_t)gnu_get_libc_version, &libc) != 0 ||
        address < (uintptr_t)libc.dlfo_map_start || address >= (uintptr_t)libc.dlfo_map_end)
        return PC_ORDINARY;
    if (!symbol->raw || strcmp(symbol->raw, "__libc_start_call_main") == 0 ||
        strcmp(symbol->raw, "start_thread") == 0)
        return PC_START;
    return strncmp(symbol->raw, "__libc_start_main", 17) == 0 ? PC_START_MAIN : PC_ORDINARY;
}

pc_info pc_resolve(pc_key key)
{
    uintptr_t address = (uintptr_t)(key & ~PC_EXACT);
    bool exact = key & PC_EXACT;
    symbol_info symbol;
    symbol_find(address + exact, &symbol); /* it looks at the address - 1 */
    pc_info info = {.key = key, .rule = cfi_find(exact ? address : address - 1)};
    info.verdict = rules_verdict(&symbol);
    info.by_size = rules_by_size(info.verdict);
    info.silent = info.verdict.pool == RULE_NO_POOL && !info.verdict.conditional;
    info.plain = is_plain(&info.rule);
    info.role = (uint8_t)role_of(address, &symbol, &info.rule);
    return info;
}

static void insert(pc_table *table, const pc_info *info)
{
    size_t i = pc_hash(info->key);
    while (table->info[i & table->mask].key > TOMBSTONE)
        i++;
    pc_info *place = &table->info[i & table->mask];
    table->used += place->key != TOMBSTONE;
    pc_info hidden = *info;
    hidden.key = TOMBSTONE;
    *place = hidden;
    __atomic_store_n(&place->key, info->key, __ATOMIC_RELEASE);
}

static bool grow(void)
{
    pc_table *old = pc_rules;
    size_t live = 0, entries = FIRST_ENTRIES;
    for (size_t i = 0; i <= old->mask; i++)
        live += old->info[i].key > TOMBSTONE;
    while (entries < 4 * live)
        entries *= 2;
    pc_table *table = os_map_table(sizeof *table + entries * sizeof(pc_info));
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

/* Whether the object at the address is loaded; the range it was found in is kept for the next question. */
static bool loaded(uintptr_t address, uintptr_t range[2])
{
    struct dl_find_object object;
    if (address - range[0] < range[1] - range[0])
        return true;
    if (_dl_find_object((void *)address, &object) != 0)
        return false;
    range[0] = (uintptr_t)object.dlfo_map_start;
    range[1] = (uintptr_t)object.dlfo_map_end;
    return true;
}

void pc_forget_closed(bool all)
{
    uintptr_t range[2] = {0, 0};
    for (size_t i = 0; i <= pc_rules->mask; i++) {
        pc_key key = pc_rules->info[i].key;
        if (key > TOMBSTONE && (all || !loaded((uintptr_t)(key & ~PC_EXACT) - 1, range)))
            __atomic_store_n(&pc_rules->info[i].key, TOMBSTONE, __ATOMIC_RELEASE);
    }
}
