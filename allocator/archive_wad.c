/* SPDX-License-Identifier: MIT */
/*
 * archive_wad.c - see archive.h: the WAD of Doom and its relatives.
 *
 *   "IWAD" or "PWAD", count, offset of the directory; there count times { offset, size, name[8] }. All 32
 * bits.
 *
 * A level is an empty lump named E1M1 or MAP01 with its parts behind it, whose names are the same for every
 * level. They are given names of their own: the level's, a point and the first three letters of the part, so
 * that E1M1's THINGS are E1M1.THI: unique, 8.3, and with an extension that names a type.
 */
#include "archive.h"
#include "os.h"

#include <string.h>

enum { WAD_HEAD = 12, WAD_ENTRY = 16, WAD_NAME = 8 };

static bool wad_knows(const uint8_t *head, size_t size)
{
    return size >= WAD_HEAD && (!memcmp(head, "IWAD", 4) || !memcmp(head, "PWAD", 4));
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_level(const char *name)
{
    if (name[0] == 'E')
        return is_digit(name[1]) && name[2] == 'M' && is_digit(name[3]) && !name[4];
    return !memcmp(name, "MAP", 3) && is_digit(name[3]) && is_digit(name[4]) && !name[5];
}

static bool is_level_part(const char *name)
{
    static const char parts[][WAD_NAME + 1] = {"THINGS", "LINEDEFS", "SIDEDEFS", "VERTEXES",
                                               "SEGS",   "SSECTORS", "NODES",    "SECTORS",
                                               "REJECT", "BLOCKMAP", "BEHAVIOR", "SCRIPTS"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!strncmp(name, parts[i], WAD_NAME))
            return true;
    return false;
}

/* The name an entry gets; `level` holds the level whose parts are being read, or "". */
static void wad_name(const uint8_t *record, char *level, char *name)
{
    memset(name, 0, 2 * WAD_NAME);
    for (int i = 0; i < WAD_NAME && record[i]; i++)
        name[i] = archive_upper((char)record[i]);
    if (level[0] && is_level_part(name)) {
        char part[3];
        memcpy(part, name, 3);
        size_t n = strlen(level);
        memset(name, 0, 2 * WAD_NAME);
        memcpy(name, level, n);
        name[n] = '.';
        memcpy(name + n + 1, part, 3);
        return;
    }
    memcpy(level, is_level(name) ? name : "", is_level(name) ? WAD_NAME : 1);
}

static pool_status wad_entries(archive *a, const uint8_t *table, uint32_t count)
{
    char level[WAD_NAME] = "", name[2 * WAD_NAME];
    pool_status s = archive_make_room(a, count);
    for (uint32_t i = 0; s == POOL_OK && i < count; i++) {
        const uint8_t *record = table + (size_t)i * WAD_ENTRY;
        uint64_t offset = archive_u32(record), size = archive_u32(record + 4);
        if (size && (offset < WAD_HEAD || offset > a->size || size > a->size - offset))
            return archive_broken(a, "lump %u of %lu bytes at %lu is not inside %lu bytes", i, size, offset,
                                  a->size);
        archive_entry e = {.offset = size ? offset : 0, .size = size, .packed = size};
        wad_name(record + 8, level, name);
        s = archive_add(a, &e, name, sizeof name);
    }
    return s;
}

static pool_status wad_directory(archive *a)
{
    uint8_t head[WAD_HEAD];
    if (!archive_source(a, 0, head, sizeof head))
        return POOL_IO;
    uint64_t count = archive_u32(head + 4), offset = archive_u32(head + 8);
    size_t bytes = count * WAD_ENTRY;
    if (count > INT32_MAX || offset > a->size || bytes > a->size - offset)
        return archive_broken(a, "a directory of %lu lumps at %lu is not inside %lu bytes", count, offset,
                              a->size);
    uint8_t *table = os_map(bytes ? bytes : 1);
    if (!table)
        return POOL_NOMEM;
    pool_status s =
        archive_source(a, offset, table, bytes) ? wad_entries(a, table, (uint32_t)count) : POOL_IO;
    os_unmap(table, bytes ? bytes : 1);
    return s;
}

const archive_kind archive_wad = {"wad", wad_knows, wad_directory, archive_read_plain};
