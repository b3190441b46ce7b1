/* SPDX-License-Identifier: MIT */
/*
 * level.h - levels out of a WAD: the file, one map's data, the images its walls and floors need, and the
 * parts that are streamed in and out while the game runs. Everything here belongs to the subsystem Level.
 *
 * 1. Every allocation is made inside a function named Level*, with libc's malloc, calloc or realloc.
 * 2. An index read from the file is checked when it is read; whoever follows it later need not look.
 * 3. A LevelWad and a Level do not change once opened and loaded: any thread may read them.
 * Locking: none needed, by 3 (files are read with pread). Failure: -1 or NULL, with one line in LevelError.
 * Read next: wad.c, level.c, level_image.c, level_part.c.
 */
#ifndef GAME_LEVEL_H
#define GAME_LEVEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct LevelError {
    char text[256]; /* what is wrong and where, without a line end */
} LevelError;

typedef struct LevelLump {
    uint64_t name;   /* eight characters, upper case, padded with 0 */
    uint32_t offset; /* bytes from the start of the file */
    uint32_t size;   /* bytes */
} LevelLump;

typedef struct LevelTexturePatch {
    int x, y; /* pixels; may lie outside the texture */
    int lump; /* index of the patch's lump, -1 when the WAD lacks it */
} LevelTexturePatch;

typedef struct LevelTexture {
    uint64_t name;
    int width, height; /* pixels */
    int num_patches;
    LevelTexturePatch *patches;
} LevelTexture;

typedef struct LevelWad {
    int fd;
    int num_lumps, num_textures, num_maps;
    LevelLump *lumps;
    LevelTexture *textures;
    int *maps; /* lump index of each map's marker */
    char *path;
    uint32_t palette[256]; /* RGBA */
} LevelWad;

/*
 * An image is named by a number: a texture's index, or num_textures + a flat's lump index, or
 * num_textures + num_lumps + a sprite's lump index; -1 is none.
 */
typedef struct LevelImage {
    int width, height; /* pixels */
    uint32_t *pixels;  /* RGBA */
} LevelImage;

typedef struct LevelThing {
    struct LevelThing *next;
    int x, y; /* map units */
    int angle, type, flags;
} LevelThing;

typedef struct LevelVertex {
    int x, y; /* map units */
} LevelVertex;

typedef struct LevelLine {
    int v1, v2, flags, special, tag;
    int side[2]; /* -1: none */
} LevelLine;

typedef struct LevelSide {
    int x_offset, y_offset;
    int top, bottom, middle; /* images */
    int sector;
} LevelSide;

typedef struct LevelSector {
    int floor, ceiling;             /* map units */
    int floor_image, ceiling_image; /* images */
    int light, special, tag;
    int num_lines, max_lines;
    int *lines;
} LevelSector;

typedef struct LevelSubsector {
    int first_seg, num_segs, sector, part;
} LevelSubsector;

typedef struct LevelNode {
    int x, y, dx, dy;
    int child[2]; /* NODE_LEAF set: a subsector */
} LevelNode;

#define NODE_LEAF 0x8000

/* What is known of a part before it is loaded. */
typedef struct LevelPartInfo {
    int x, y; /* centre, map units */
    int num_subsectors, max_subsectors, num_images, max_images;
    int *subsectors;
    int *images; /* each once */
} LevelPartInfo;

typedef struct Level {
    const LevelWad *wad;
    char name[9];
    int marker; /* lump index */
    int num_things, num_vertexes, num_lines, num_sides, num_sectors, num_segs, num_subsectors, num_nodes;
    int num_parts, max_parts;
    LevelThing *things;
    LevelVertex *vertexes;
    LevelLine *lines;
    LevelSide *sides;
    LevelSector *sectors;
    LevelSubsector *subsectors;
    LevelNode *nodes;
    LevelPartInfo *parts;
    uint8_t *reject, *blockmap; /* as in the file */
} Level;

typedef struct LevelPoly {
    struct LevelPoly *next;
    int image, light, num_corners;
    float corners[][5]; /* x y z in map units, u v in images */
} LevelPoly;

typedef struct LevelPart {
    int index, num_polys, num_corners;
    LevelPoly *polys;
} LevelPart;

/* wad.c */
int LevelFail(LevelError *error, const char *format, ...) __attribute__((format(printf, 2, 3)));
LevelWad *LevelWad_Open(const char *path, LevelError *error);
void LevelWad_Close(LevelWad *wad);
int LevelWad_Find(const LevelWad *wad, uint64_t name, int after); /* lump index or -1 */
int LevelWad_FindMap(const LevelWad *wad, const char *name);      /* index into maps or -1 */
int LevelWad_Read(const LevelWad *wad, int lump, uint32_t offset, void *to, uint32_t size);
uint8_t *LevelWad_Load(const LevelWad *wad, int lump, LevelError *error); /* Level_FreeData */
void Level_FreeData(void *data);
uint64_t LevelName(const char *text);
const char *LevelNameText(uint64_t name, char text[9]);

/* level_image.c */
int LevelLoadTextures(LevelWad *wad, LevelError *error);
void LevelFreeTextures(LevelWad *wad);
int LevelImage_Find(const LevelWad *wad, uint64_t name, int flat);
int LevelImage_NextSprite(const LevelWad *wad, int image); /* -1: the first; -1 when there are no more */
LevelImage *LevelImage_Load(const LevelWad *wad, int image);
void LevelImage_Free(LevelImage *image);

/* level.c */
Level *Level_Load(const LevelWad *wad, int map, LevelError *error);
void Level_Free(Level *level);
int Level_SectorAt(const Level *level, int x, int y);

/* level_part.c */
void LevelBuildParts(Level *level);
void LevelFreeParts(Level *level);
LevelPart *LevelPart_Load(const Level *level, int index);
void LevelPart_Free(LevelPart *part);

static inline int level_get16(const uint8_t *p)
{
    return (int16_t)(p[0] | p[1] << 8);
}

static inline uint32_t level_get32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

#ifdef __cplusplus
}
#endif
#endif
