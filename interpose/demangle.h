/* SPDX-License-Identifier: MIT */
/*
 * demangle.h - floor F4: readable names. A C++ name becomes its function's name with all scopes and template
 * arguments, without return type and parameters: `std::vector<int, std::allocator<int> >::reserve`. Any other
 * name stays, without what compilers and linkers append to it (`.part.0`, `@VERSION`).
 * Locking: the caller holds the resolve lock.
 */
#ifndef POOLMEM_DEMANGLE_H
#define POOLMEM_DEMANGLE_H

#include "base.h"

typedef struct symbol_text {
    const char *raw;  /* as in the file */
    const char *name; /* readable */
} symbol_text;

/* Both texts of a symbol, kept for ever, one copy each. */
symbol_text symbol_text_keep(const char *raw);
/* Writes the readable name, cut at cap - 1 bytes. */
void demangle_name(const char *raw, char *out, size_t cap);

#endif
