/* SPDX-License-Identifier: MIT */
/*
 * symbol_table.h - floor F4: finds the function that covers an address in one symbol table (elf.h).
 * Locking: the caller holds the resolve lock.
 */
#ifndef POOLMEM_SYMBOL_TABLE_H
#define POOLMEM_SYMBOL_TABLE_H

#include "elf.h"

struct place;

typedef struct symbol_table {
    elf_symbols from;
    struct place *places; /* function symbols by address */
    uint32_t count;
    uint32_t back; /* places to look back for a symbol that starts earlier and still covers */
    uint64_t low;  /* the lowest function's link-time address */
} symbol_table;

/* Sorts what `from` holds; false: no functions in it, or no memory. */
bool symbol_table_make(symbol_table *t);
void symbol_table_drop(symbol_table *t);
/* The best symbol that covers a link-time address, NULL none. */
const ElfW(Sym) * symbol_table_find(const symbol_table *t, uint64_t address);

#endif
