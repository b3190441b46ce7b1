/* SPDX-License-Identifier: MIT */
/*
 * level_image.c - what walls and floors look like: textures composed of patches, and flats.
 *
 * 1. A texture's definition is kept while the WAD is open; its pixels are composed anew by each
 * LevelImage_Load.
 * 2. A patch that is missing or broken leaves its part of the texture black; it never fails a load.
 * Locking: none; see level.h. Cost: one read of each patch a load.
 * Read next: level_part.c (who asks for which image).
 */
#include "core/count.h"
#include "level/level.h"

#include <string.h>

enum { FLAT_SIDE = 64, TEXTURE_MAX_SIDE = 4096, POST_END = 255 };

typedef struct LevelPatchNames {
    int number;
    int *lumps; /* -1: not in the WAD */
} LevelPatchNames;

static int LevelLoadPatchNames(const LevelWad *wad, LevelPatchNames *names, LevelError *error)
{
    int lump = LevelWad_Find(wad, LevelName("PNAMES"), -1);
    uint8_t *raw = lump < 0 ? NULL : LevelWad_Load(wad, lump, error);
    if (!raw)
        return LevelFail(error, "%s: no patch names (lump PNAMES)", wad->path);
    uint32_t size = wad->lumps[lump].size, number = size < 4 ? 0 : level_get32(raw);
    if (!number || number > (size - 4) / 8) {
        Level_FreeData(raw);
        return LevelFail(error, "%s: PNAMES: %u names do not fit into %u bytes", wad->path, number, size);
    }
    names->number = (int)number;
    names->lumps = game_malloc(SUB_LEVEL, number * sizeof *names->lumps);
    for (uint32_t i = 0; i < number; i++) {
        char text[9] = {0};
        memcpy(text, raw + 4 + 8 * i, 8);
        names->lumps[i] = LevelWad_Find(wad, LevelName(text), -1);
    }
    Level_FreeData(raw);
    return 0;
}

/* raw: one definition, at most size bytes of it. */
static int LevelReadTexture(LevelTexture *t, const uint8_t *raw, uint32_t size, const LevelPatchNames *names)
{
    char text[9] = {0};
    if (size < 22)
        return -1;
    memcpy(text, raw, 8);
    t->name = LevelName(text);
    t->width = level_get16(raw + 12);
    t->height = level_get16(raw + 14);
    int number = level_get16(raw + 20);
    if (t->width < 1 || t->height < 1 || t->width > TEXTURE_MAX_SIDE || t->height > TEXTURE_MAX_SIDE ||
        number < 1 || (uint32_t)number > (size - 22) / 10)
        return -1;
    t->num_patches = number;
    t->patches = game_calloc(SUB_LEVEL, (size_t)number, sizeof *t->patches);
    for (int i = 0; i < number; i++) {
        const uint8_t *p = raw + 22 + 10 * i;
        int patch = level_get16(p + 4);
        t->patches[i] = (LevelTexturePatch){level_get16(p), level_get16(p + 2),
                                            patch >= 0 && patch < names->number ? names->lumps[patch] : -1};
    }
    return 0;
}

static int LevelReadTextures(LevelWad *wad, const char *lump_name, const LevelPatchNames *names,
                             LevelError *error)
{
    int lump = LevelWad_Find(wad, LevelName(lump_name), -1);
    if (lump < 0)
        return 0;
    uint8_t *raw = LevelWad_Load(wad, lump, error);
    if (!raw)
        return -1;
    uint32_t size = wad->lumps[lump].size, number = size < 4 ? 0 : level_get32(raw);
    /* Each texture has an offset behind the number. */
    int failed = number > size / 4 - (size >= 4);
    if (failed)
        LevelFail(error, "%s: %s: %u textures do not fit into %u bytes", wad->path, lump_name, number, size);
    for (uint32_t i = 0; i < number && !failed; i++) {
        wad->textures =
            game_realloc(SUB_LEVEL, wad->textures, ((size_t)wad->num_textures + 1) * sizeof *wad->textures);
        LevelTexture *t = &wad->textures[wad->num_textures++];
        uint32_t offset = level_get32(raw + 4 + 4 * i);
        *t = (LevelTexture){0};
        failed = offset > size || LevelReadTexture(t, raw + offset, size - offset, names);
        if (failed)
            LevelFail(error, "%s: %s: texture %u is broken", wad->path, lump_name, i);
    }
    Level_FreeData(raw);
    return failed ? -1 : 0;
}

int LevelLoadTextures(LevelWad *wad, LevelError *error)
{
    LevelPatchNames names = {0};
    if (LevelLoadPatchNames(wad, &names, error))
        return -1;
    int failed = LevelReadTextures(wad, "TEXTURE1", &names, error) ||
                 LevelReadTextures(wad, "TEXTURE2", &names, error);
    game_free(SUB_LEVEL, names.lumps);
    return failed ? -1 : 0;
}

void LevelFreeTextures(LevelWad *wad)
{
    for (int i = 0; i < wad->num_textures; i++)
        game_free(SUB_LEVEL, wad->textures[i].patches);
    game_free(SUB_LEVEL, wad->textures);
}

/* Textures and flats have names of their own; a name may be in use for both. */
int LevelImage_Find(const LevelWad *wad, uint64_t name, int flat)
{
    if (flat) {
        int lump = LevelWad_Find(wad, name, -1);
        return lump >= 0 && wad->lumps[lump].size >= FLAT_SIDE * FLAT_SIDE ? wad->num_textures + lump : -1;
    }
    for (int i = 0; i < wad->num_textures; i++)
        if (wad->textures[i].name == name)
            return i;
    return -1;
}

static LevelImage *LevelImage_Create(int width, int height)
{
    LevelImage *image = game_malloc(SUB_LEVEL, sizeof *image);
    *image = (LevelImage){width, height, NULL};
    image->pixels = game_calloc(SUB_LEVEL, (size_t)width * (size_t)height, sizeof *image->pixels);
    return image;
}

void LevelImage_Free(LevelImage *image)
{
    game_free(SUB_LEVEL, image->pixels);
    game_free(SUB_LEVEL, image);
}

static LevelImage *LevelFlat_Load(const LevelWad *wad, int lump)
{
    uint8_t raw[FLAT_SIDE * FLAT_SIDE] = {0};
    LevelImage *image = LevelImage_Create(FLAT_SIDE, FLAT_SIDE);
    if (!LevelWad_Read(wad, lump, 0, raw, sizeof raw))
        for (int i = 0; i < FLAT_SIDE * FLAT_SIDE; i++)
            image->pixels[i] = wad->palette[raw[i]];
    return image;
}

/* A column is posts of (row, length, pad, pixels..., pad), ended by POST_END. */
static void LevelDrawColumn(const LevelWad *wad, LevelImage *image, int x, int y, const uint8_t *post,
                            const uint8_t *end)
{
    while (end - post >= 4 && post[0] != POST_END && end - post >= post[1] + 4) {
        for (int i = 0; i < post[1]; i++) {
            int row = y + post[0] + i;
            if (row >= 0 && row < image->height)
                image->pixels[row * image->width + x] = wad->palette[post[3 + i]];
        }
        post += post[1] + 4;
    }
}

/* A patch is width, height, two offsets, then where each column's posts start. */
static void LevelDrawPatch(const LevelWad *wad, LevelImage *image, const LevelTexturePatch *patch)
{
    LevelError ignored;
    uint8_t *raw = patch->lump < 0 ? NULL : LevelWad_Load(wad, patch->lump, &ignored);
    if (!raw)
        return;
    uint32_t size = wad->lumps[patch->lump].size;
    int width = size < 8 ? 0 : level_get16(raw);
    for (int i = 0; i < width && 12 + 4 * (uint32_t)i <= size; i++) {
        uint32_t column = level_get32(raw + 8 + 4 * i);
        int x = patch->x + i;
        if (x >= 0 && x < image->width && column < size)
            LevelDrawColumn(wad, image, x, patch->y, raw + column, raw + size);
    }
    Level_FreeData(raw);
}

static LevelImage *LevelSprite_Load(const LevelWad *wad, int lump)
{
    uint8_t head[4] = {0};
    LevelWad_Read(wad, lump, 0, head, sizeof head);
    int width = level_get16(head), height = level_get16(head + 2);
    if (width < 1 || height < 1 || width > TEXTURE_MAX_SIDE || height > TEXTURE_MAX_SIDE)
        width = height = 1;
    LevelImage *image = LevelImage_Create(width, height);
    LevelDrawPatch(wad, image, &(LevelTexturePatch){0, 0, lump});
    return image;
}

/* Sprites lie between the markers S_START and S_END. */
int LevelImage_NextSprite(const LevelWad *wad, int image)
{
    int base = wad->num_textures + wad->num_lumps;
    int lump = image < 0 ? LevelWad_Find(wad, LevelName("S_START"), -1) : image - base;
    if ((image < 0 && lump < 0) || lump + 1 >= wad->num_lumps ||
        wad->lumps[lump + 1].name == LevelName("S_END"))
        return -1;
    return base + lump + 1;
}

LevelImage *LevelImage_Load(const LevelWad *wad, int image)
{
    if (image >= wad->num_textures + wad->num_lumps)
        return LevelSprite_Load(wad, image - wad->num_textures - wad->num_lumps);
    if (image >= wad->num_textures)
        return LevelFlat_Load(wad, image - wad->num_textures);
    const LevelTexture *t = &wad->textures[image];
    LevelImage *made = LevelImage_Create(t->width, t->height);
    for (int i = 0; i < t->num_patches; i++)
        LevelDrawPatch(wad, made, &t->patches[i]);
    return made;
}
