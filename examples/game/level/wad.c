/* SPDX-License-Identifier: MIT */
/*
 * wad.c - a WAD file: its directory, its palette, the maps it holds, and reading its lumps.
 *
 * 1. A directory entry that reaches past the file's end is refused when the file is opened.
 * 2. Only open, pread and close touch the file: no stdio buffer, no position to share between threads.
 * Locking: none; see level.h. Cost: a lump is found by comparing 64-bit names, last first, as later wins.
 * Read next: level_image.c, level.c.
 */
#include "core/count.h"
#include "level/level.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WAD_HEADER = 12, WAD_ENTRY = 16, WAD_MAX_LUMPS = 65536 };

int LevelFail(LevelError *error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(error->text, sizeof error->text, format, args);
    va_end(args);
    return -1;
}

uint64_t LevelName(const char *text)
{
    unsigned char bytes[8] = {0};
    for (int i = 0; i < 8 && text[i]; i++)
        bytes[i] = (unsigned char)toupper((unsigned char)text[i]);
    uint64_t name;
    memcpy(&name, bytes, sizeof name);
    return name;
}

const char *LevelNameText(uint64_t name, char text[9])
{
    memcpy(text, &name, 8);
    text[8] = 0;
    for (int i = 0; text[i]; i++)
        text[i] = isprint((unsigned char)text[i]) ? text[i] : '?';
    return text;
}

static int LevelReadAt(int fd, uint64_t offset, void *to, size_t size)
{
    uint8_t *p = to;
    while (size) {
        ssize_t n = pread(fd, p, size, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return -1;
        p += n;
        offset += (uint64_t)n;
        size -= (size_t)n;
    }
    return 0;
}

int LevelWad_Read(const LevelWad *wad, int lump, uint32_t offset, void *to, uint32_t size)
{
    const LevelLump *l = &wad->lumps[lump];
    if (offset > l->size || size > l->size - offset)
        return -1;
    return LevelReadAt(wad->fd, (uint64_t)l->offset + offset, to, size);
}

uint8_t *LevelWad_Load(const LevelWad *wad, int lump, LevelError *error)
{
    const LevelLump *l = &wad->lumps[lump];
    uint8_t *data = game_malloc(SUB_LEVEL, l->size ? l->size : 1);
    if (!LevelWad_Read(wad, lump, 0, data, l->size))
        return data;
    char name[9];
    LevelFail(error, "%s: lump %s: cannot be read", wad->path, LevelNameText(l->name, name));
    game_free(SUB_LEVEL, data);
    return NULL;
}

void Level_FreeData(void *data)
{
    game_free(SUB_LEVEL, data);
}

int LevelWad_Find(const LevelWad *wad, uint64_t name, int after)
{
    for (int i = wad->num_lumps - 1; i > after; i--)
        if (wad->lumps[i].name == name)
            return i;
    return -1;
}

static int LevelReadDirectory(LevelWad *wad, LevelError *error)
{
    uint8_t head[WAD_HEADER];
    struct stat st;
    if (fstat(wad->fd, &st) || LevelReadAt(wad->fd, 0, head, sizeof head) ||
        (memcmp(head, "IWAD", 4) && memcmp(head, "PWAD", 4)))
        return LevelFail(error, "%s: not a WAD file (no IWAD or PWAD at its start)", wad->path);
    uint32_t number = level_get32(head + 4), offset = level_get32(head + 8);
    uint64_t end = (uint64_t)st.st_size;
    if (!number || number > WAD_MAX_LUMPS || offset + (uint64_t)number * WAD_ENTRY > end)
        return LevelFail(error, "%s: directory of %u lumps at %u does not fit into the file", wad->path,
                         number, offset);
    uint8_t *raw = game_malloc(SUB_LEVEL, (size_t)number * WAD_ENTRY);
    wad->lumps = game_calloc(SUB_LEVEL, number, sizeof *wad->lumps);
    wad->num_lumps = (int)number;
    int failed = LevelReadAt(wad->fd, offset, raw, (size_t)number * WAD_ENTRY);
    for (uint32_t i = 0; i < number && !failed; i++) {
        char name[9] = {0};
        memcpy(name, raw + i * WAD_ENTRY + 8, 8);
        LevelLump *l = &wad->lumps[i];
        *l = (LevelLump){LevelName(name), level_get32(raw + i * WAD_ENTRY),
                         level_get32(raw + i * WAD_ENTRY + 4)};
        failed = l->size && (uint64_t)l->offset + l->size > end;
        if (failed)
            LevelFail(error, "%s: lump %u (%s): %u bytes at %u reach past the file's end", wad->path, i,
                      LevelNameText(l->name, name), l->size, l->offset);
    }
    game_free(SUB_LEVEL, raw);
    return failed ? -1 : 0;
}

static int LevelReadPalette(LevelWad *wad, LevelError *error)
{
    uint8_t raw[768];
    int lump = LevelWad_Find(wad, LevelName("PLAYPAL"), -1);
    if (lump < 0 || LevelWad_Read(wad, lump, 0, raw, sizeof raw))
        return LevelFail(error, "%s: no palette (lump PLAYPAL of 768 bytes or more)", wad->path);
    for (int i = 0; i < 256; i++)
        wad->palette[i] =
            (uint32_t)raw[3 * i] << 24 | (uint32_t)raw[3 * i + 1] << 16 | (uint32_t)raw[3 * i + 2] << 8 | 255;
    return 0;
}

/* A map is a marker lump followed at once by THINGS and LINEDEFS; level.c looks at the rest. */
static int LevelFindMaps(LevelWad *wad, LevelError *error)
{
    uint64_t things = LevelName("THINGS"), lines = LevelName("LINEDEFS");
    for (int i = 0; i + 2 < wad->num_lumps; i++)
        if (wad->lumps[i + 1].name == things && wad->lumps[i + 2].name == lines) {
            wad->maps = game_realloc(SUB_LEVEL, wad->maps, ((size_t)wad->num_maps + 1) * sizeof *wad->maps);
            wad->maps[wad->num_maps++] = i;
        }
    return wad->num_maps ? 0 : LevelFail(error, "%s: no maps in it", wad->path);
}

int LevelWad_FindMap(const LevelWad *wad, const char *name)
{
    uint64_t wanted = LevelName(name);
    for (int i = 0; i < wad->num_maps; i++)
        if (wad->lumps[wad->maps[i]].name == wanted)
            return i;
    return -1;
}

LevelWad *LevelWad_Open(const char *path, LevelError *error)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        LevelFail(error, "%s: %s", path, strerror(errno));
        return NULL;
    }
    LevelWad *wad = game_calloc(SUB_LEVEL, 1, sizeof *wad);
    size_t length = strlen(path) + 1;
    wad->fd = fd;
    wad->path = memcpy(game_malloc(SUB_LEVEL, length), path, length);
    if (LevelReadDirectory(wad, error) || LevelReadPalette(wad, error) || LevelFindMaps(wad, error) ||
        LevelLoadTextures(wad, error)) {
        LevelWad_Close(wad);
        return NULL;
    }
    return wad;
}

void LevelWad_Close(LevelWad *wad)
{
    LevelFreeTextures(wad);
    game_free(SUB_LEVEL, wad->maps);
    game_free(SUB_LEVEL, wad->lumps);
    game_free(SUB_LEVEL, wad->path);
    close(wad->fd);
    game_free(SUB_LEVEL, wad);
}
