/* SPDX-License-Identifier: MIT */
/* archives.h - small archives built in memory: LIB, WAD and zip, sound or broken as a test wants them. */
#ifndef POOLMEM_TEST_ARCHIVES_H
#define POOLMEM_TEST_ARCHIVES_H

#include <stddef.h>
#include <stdint.h>

/* One file to be packed. */
typedef struct packed_file {
    const char *name;
    const void *data;
    size_t size;
} packed_file;

/* An archive under construction; `bytes` holds `size` bytes. */
typedef struct packed {
    uint8_t bytes[1 << 17];
    size_t size;
} packed;

void pack_lib(packed *to, const packed_file *files, int count);
void pack_wad(packed *to, const packed_file *files, int count);
/* Stored where deflate is false. */
void pack_zip(packed *to, const packed_file *files, int count, int deflate);
/* Overwrites 16 or 32 bits, little-endian. */
void patch16(packed *to, size_t at, uint32_t value);
void patch32(packed *to, size_t at, uint32_t value);

#endif
