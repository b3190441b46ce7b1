/* SPDX-License-Identifier: MIT */
/*
 * symbols.h - floor F4: what is known about a code address: module, symbol, offset. Asked once per address.
 * Locking: the caller holds the resolve lock (caller.h) and runs on the resolve stack.
 */
#ifndef POOLMEM_SYMBOLS_H
#define POOLMEM_SYMBOLS_H

#include "base.h"

typedef struct symbol_info {
    const char *module; /* path of the object, "" unknown; lives for ever */
    uint64_t base;      /* load base of the object */
    uint64_t print;     /* of the object's first bytes in memory */
    uint64_t offset;    /* address - base */
    const char *raw;    /* symbol as in the file, NULL none covers the address; lives for ever */
    const char *name;   /* demangled, without return type and parameters; NULL none; lives for ever */
    uint64_t symbol_offset;
} symbol_info;

/* False when the address is in no known object (then module is ""). The address looked up is the return
   address - 1, so that a call at a function's end is not taken for the next function. */
bool symbol_find(uintptr_t return_address, symbol_info *out);

/* Adds `symbols MODULE = FILE` of the configuration; false after one line said about what is wrong. */
bool symbols_add_map(const char *module_glob, const char *file, const char *where);

/* Reads everything there is on the object at an address; after the seal no file is opened any more. */
void symbols_read_ahead(uintptr_t address);
void symbols_seal(void);

/* Objects have been loaded or closed: tables by address are built anew when next asked. Async-signal-safe. */
void symbols_forget(void);

#endif
