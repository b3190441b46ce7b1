/* SPDX-License-Identifier: MIT */
/*
 * archive_lib.c - see archive.h: the LIB archive of Electronic Arts' and Jane's games.
 *
 *   "EALIB", count (16 bits), then count + 1 times { name[13], one byte, offset (32 bits) }, then the files.
 *
 * An entry ends where the next begins; the last, nameless one tells the end of the file. The byte before the
 * offset says how a file is packed; it is kept as `method`, and unpacking is left to whoever reads. All
 * numbers little-endian.
 */
#include "archive.h"
#include "os.h"

#include <string.h>

enum { LIB_HEAD = 7, LIB_ENTRY = 18, LIB_NAME = 13 };

static bool lib_knows(const uint8_t *head, size_t size)
{
    return size >= LIB_HEAD && !memcmp(head, "EALIB", 5);
}

/* Where the entry after number i begins; the end of the file when the closing record is missing a place. */
static uint64_t lib_offset(const uint8_t *table, uint32_t i)
{
    return archive_u32(table + (size_t)i * LIB_ENTRY + LIB_NAME + 1);
}

static pool_status lib_entries(archive *a, const uint8_t *table, uint32_t count)
{
    pool_status s = archive_make_room(a, count);
    uint64_t first = LIB_HEAD + (uint64_t)(count + 1) * LIB_ENTRY;
    for (uint32_t i = 0; s == POOL_OK && i < count; i++) {
        const uint8_t *record = table + (size_t)i * LIB_ENTRY;
        uint64_t begin = lib_offset(table, i), end = lib_offset(table, i + 1);
        if (begin < first || end < begin || end > a->size)
            return archive_broken(a, "entry %u lies at %lu to %lu of %lu bytes", i, begin, end, a->size);
        archive_entry e = {
            .offset = begin, .size = end - begin, .packed = end - begin, .method = record[LIB_NAME]};
        s = archive_add(a, &e, (const char *)record, LIB_NAME);
    }
    return s;
}

static pool_status lib_directory(archive *a)
{
    uint8_t head[LIB_HEAD];
    if (!archive_source(a, 0, head, sizeof head))
        return POOL_IO;
    uint32_t count = archive_u16(head + 5);
    size_t bytes = (size_t)(count + 1) * LIB_ENTRY;
    if (bytes > a->size - LIB_HEAD)
        return archive_broken(a, "%u entries do not fit into %lu bytes", count, a->size);
    uint8_t *table = os_map(bytes);
    if (!table)
        return POOL_NOMEM;
    pool_status s = archive_source(a, LIB_HEAD, table, bytes) ? lib_entries(a, table, count) : POOL_IO;
    os_unmap(table, bytes);
    return s;
}

const archive_kind archive_lib = {"lib", lib_knows, lib_directory, archive_read_plain};
