/* SPDX-License-Identifier: MIT */
/*
 * elf.h - floor F4: reads symbols out of ELF objects, from the loaded image and from files. Nothing here
 * trusts what it reads: every offset and count is checked against the mapping or the file.
 * Locking: the caller holds the resolve lock.
 */
#ifndef POOLMEM_ELF_H
#define POOLMEM_ELF_H

#include "base.h"

#include <link.h>

/* A loaded object. */
typedef struct elf_image {
    uintptr_t low, high;       /* addresses it is mapped at, high excluded */
    uintptr_t base;            /* what the loader adds to link-time addresses */
    const ElfW(Dyn) * dynamic; /* its dynamic section in memory */
} elf_image;

/* What tells one build of an object from another. */
typedef struct elf_id {
    uint8_t build_id[64];
    uint32_t build_id_bytes;    /* 0: the object has none */
    const ElfW(Phdr) * headers; /* program headers in memory */
    uint32_t header_count;
} elf_id;

/* A symbol table with its strings. */
typedef struct elf_symbols {
    const ElfW(Sym) * symbols;
    uint32_t count;
    const char *strings;
    size_t string_bytes;
    const ElfW(Shdr) * sections; /* of a file; NULL of an image */
    uint32_t section_count;
    struct {
        void *at;
        size_t size;
    } mapped[3]; /* sections, symbols, strings of a file */
} elf_symbols;

/* The dynamic symbols of a loaded object; false: none that make sense. Valid while it is loaded. */
bool elf_read_image(const elf_image *image, elf_symbols *out);
void elf_image_id(const elf_image *image, elf_id *out);
/* The full symbol table of a file, if it has one and is of the same build. */
bool elf_read_file(const char *path, const elf_id *same, elf_symbols *out);
void elf_release(elf_symbols *s);
/* Where a separate debug file would be; false: the object has no build-id. */
bool elf_debug_path(const elf_id *id, char *out, size_t cap);
/* A name of the string table; "" when the offset is none. */
const char *elf_string(const elf_symbols *s, uint32_t offset);

#endif
