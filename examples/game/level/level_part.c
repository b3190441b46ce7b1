/* SPDX-License-Identifier: MIT */
/*
 * level_part.c - a map cut into square parts, each loaded from the file on its own, by any thread.
 *
 * 1. A subsector belongs to the part that the middle of its first seg lies in.
 * 2. LevelBuildParts notes each part's subsectors and images; polygons exist only in a loaded LevelPart.
 * 3. Loading a part reads its segs from the WAD again: the file is the store, memory holds what is near.
 * Locking: none; a Level does not change, a LevelPart has one holder at a time.
 * Cost: one read a subsector, one allocation a polygon. Read next: stream.c.
 */
#include "core/count.h"
#include "level/level.h"

enum { PART_SIDE = 768, SEG_BYTES = 12, LUMP_SEGS = 5, UNITS_PER_IMAGE = 64 };

/* Division that rounds down: parts left of zero are as wide as the others. */
static int LevelFloorDiv(int a, int b)
{
    return a >= 0 ? a / b : -((b - 1 - a) / b);
}

static int LevelFindPart(Level *level, int x, int y)
{
    int cx = LevelFloorDiv(x, PART_SIDE) * PART_SIDE + PART_SIDE / 2;
    int cy = LevelFloorDiv(y, PART_SIDE) * PART_SIDE + PART_SIDE / 2;
    for (int i = 0; i < level->num_parts; i++)
        if (level->parts[i].x == cx && level->parts[i].y == cy)
            return i;
    if (level->num_parts == level->max_parts) {
        level->max_parts += 16;
        level->parts = game_realloc(SUB_LEVEL, level->parts, (size_t)level->max_parts * sizeof *level->parts);
    }
    level->parts[level->num_parts] = (LevelPartInfo){.x = cx, .y = cy};
    return level->num_parts++;
}

static void LevelAppend(int **list, int *number, int *room, int value)
{
    if (*number == *room) {
        *room = *room ? 2 * *room : 8;
        *list = game_realloc(SUB_LEVEL, *list, (size_t)*room * sizeof **list);
    }
    (*list)[(*number)++] = value;
}

static void LevelPartNeeds(LevelPartInfo *part, int image)
{
    for (int i = 0; i < part->num_images; i++)
        if (part->images[i] == image)
            return;
    if (image >= 0)
        LevelAppend(&part->images, &part->num_images, &part->max_images, image);
}

static uint8_t *LevelReadSegs(const Level *level, const LevelSubsector *s)
{
    uint32_t size = (uint32_t)s->num_segs * SEG_BYTES;
    uint8_t *raw = game_malloc(SUB_LEVEL, size);
    if (!LevelWad_Read(level->wad, level->marker + LUMP_SEGS, (uint32_t)s->first_seg * SEG_BYTES, raw, size))
        return raw;
    game_free(SUB_LEVEL, raw);
    return NULL;
}

/* back 0: the side the seg shows, 1: the one behind it, NULL when there is none. */
static const LevelSide *LevelSegSide(const Level *level, const uint8_t *seg, int back)
{
    const LevelLine *line = &level->lines[(uint16_t)level_get16(seg + 6)];
    int side = line->side[level_get16(seg + 8) ^ back];
    return side < 0 ? NULL : &level->sides[side];
}

static void LevelAddToPart(Level *level, int index)
{
    LevelSubsector *s = &level->subsectors[index];
    const LevelSector *sector = &level->sectors[s->sector];
    uint8_t *segs = LevelReadSegs(level, s);
    if (!segs)
        return;
    const LevelVertex *a = &level->vertexes[(uint16_t)level_get16(segs)];
    const LevelVertex *b = &level->vertexes[(uint16_t)level_get16(segs + 2)];
    s->part = LevelFindPart(level, (a->x + b->x) / 2, (a->y + b->y) / 2);
    LevelPartInfo *part = &level->parts[s->part];
    LevelAppend(&part->subsectors, &part->num_subsectors, &part->max_subsectors, index);
    LevelPartNeeds(part, sector->floor_image);
    LevelPartNeeds(part, sector->ceiling_image);
    for (int i = 0; i < s->num_segs; i++) {
        const LevelSide *side = LevelSegSide(level, segs + SEG_BYTES * i, 0);
        LevelPartNeeds(part, side->top);
        LevelPartNeeds(part, side->middle);
        LevelPartNeeds(part, side->bottom);
    }
    game_free(SUB_LEVEL, segs);
}

void LevelBuildParts(Level *level)
{
    for (int i = 0; i < level->num_subsectors; i++)
        LevelAddToPart(level, i);
}

void LevelFreeParts(Level *level)
{
    for (int i = 0; i < level->num_parts; i++) {
        game_free(SUB_LEVEL, level->parts[i].subsectors);
        game_free(SUB_LEVEL, level->parts[i].images);
    }
    game_free(SUB_LEVEL, level->parts);
}

static LevelPoly *LevelAddPoly(LevelPart *part, int image, int light, int num_corners)
{
    LevelPoly *poly = game_malloc(SUB_LEVEL, sizeof *poly + (size_t)num_corners * sizeof poly->corners[0]);
    poly->next = part->polys;
    poly->image = image;
    poly->light = light;
    poly->num_corners = num_corners;
    part->polys = poly;
    part->num_polys++;
    part->num_corners += num_corners;
    return poly;
}

static void LevelSetCorner(LevelPoly *poly, int i, const LevelVertex *v, int z, float u, float w)
{
    float *c = poly->corners[i];
    c[0] = (float)v->x;
    c[1] = (float)v->y;
    c[2] = (float)z;
    c[3] = u;
    c[4] = w;
}

/* The corners of a floor are its segs' starts; a subsector is convex. */
static void LevelAddFlat(LevelPart *part, const Level *level, const LevelSubsector *s, const uint8_t *segs,
                         int ceiling)
{
    const LevelSector *sector = &level->sectors[s->sector];
    LevelPoly *poly =
        LevelAddPoly(part, ceiling ? sector->ceiling_image : sector->floor_image, sector->light, s->num_segs);
    for (int i = 0; i < s->num_segs; i++) {
        const LevelVertex *v = &level->vertexes[(uint16_t)level_get16(segs + SEG_BYTES * i)];
        LevelSetCorner(poly, i, v, ceiling ? sector->ceiling : sector->floor, (float)v->x / UNITS_PER_IMAGE,
                       (float)v->y / UNITS_PER_IMAGE);
    }
}

static void LevelAddWall(LevelPart *part, const Level *level, const uint8_t *seg, int image, int bottom,
                         int top)
{
    if (image < 0 || top <= bottom)
        return;
    const LevelVertex *a = &level->vertexes[(uint16_t)level_get16(seg)];
    const LevelVertex *b = &level->vertexes[(uint16_t)level_get16(seg + 2)];
    float height = (float)(top - bottom) / UNITS_PER_IMAGE, start = (float)level_get16(seg + 10);
    LevelPoly *poly = LevelAddPoly(part, image, level->sectors[LevelSegSide(level, seg, 0)->sector].light, 4);
    LevelSetCorner(poly, 0, a, bottom, start, height);
    LevelSetCorner(poly, 1, b, bottom, start + 1, height);
    LevelSetCorner(poly, 2, b, top, start + 1, 0);
    LevelSetCorner(poly, 3, a, top, start, 0);
}

/* One-sided: from floor to ceiling. Two-sided: only what the sector behind does not leave open. */
static void LevelAddWalls(LevelPart *part, const Level *level, const uint8_t *seg)
{
    const LevelSide *front = LevelSegSide(level, seg, 0), *back = LevelSegSide(level, seg, 1);
    const LevelSector *f = &level->sectors[front->sector];
    if (!back) {
        LevelAddWall(part, level, seg, front->middle, f->floor, f->ceiling);
        return;
    }
    const LevelSector *b = &level->sectors[back->sector];
    LevelAddWall(part, level, seg, front->top, b->ceiling, f->ceiling);
    LevelAddWall(part, level, seg, front->bottom, f->floor, b->floor);
}

LevelPart *LevelPart_Load(const Level *level, int index)
{
    const LevelPartInfo *info = &level->parts[index];
    LevelPart *part = game_calloc(SUB_LEVEL, 1, sizeof *part);
    part->index = index;
    for (int i = 0; i < info->num_subsectors; i++) {
        const LevelSubsector *s = &level->subsectors[info->subsectors[i]];
        uint8_t *segs = LevelReadSegs(level, s);
        if (!segs)
            continue;
        LevelAddFlat(part, level, s, segs, 0);
        LevelAddFlat(part, level, s, segs, 1);
        for (int k = 0; k < s->num_segs; k++)
            LevelAddWalls(part, level, segs + SEG_BYTES * k);
        game_free(SUB_LEVEL, segs);
    }
    return part;
}

void LevelPart_Free(LevelPart *part)
{
    while (part->polys) {
        LevelPoly *poly = part->polys;
        part->polys = poly->next;
        game_free(SUB_LEVEL, poly);
    }
    game_free(SUB_LEVEL, part);
}
