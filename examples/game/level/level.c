/* SPDX-License-Identifier: MIT */
/*
 * level.c - one map: its lumps read in the order of the file and turned into linked, checked data.
 *
 * 1. Each LevelLoad* reads one lump, checks each index in it against what is loaded already, and frees the
 *    raw lump; what refers forward (a seg's line, a node's child) comes later in the file.
 * 2. A map that fails half-way is freed whole by Level_Free.
 * Locking: none; see level.h. Cost: one allocation a lump, one a thing, a growing one a sector.
 * Read next: level_part.c.
 */
#include "core/count.h"
#include "level/level.h"

#include <string.h>

enum {
    LUMP_THINGS = 1,
    LUMP_LINES,
    LUMP_SIDES,
    LUMP_VERTEXES,
    LUMP_SEGS,
    LUMP_SUBSECTORS,
    LUMP_NODES,
    LUMP_SECTORS,
    LUMP_REJECT,
    LUMP_BLOCKMAP
};

/* In the order of the file; a map's lumps follow its marker in this very order. */
static const char *const lump_names[] = {"",         "THINGS", "LINEDEFS", "SIDEDEFS", "VERTEXES", "SEGS",
                                         "SSECTORS", "NODES",  "SECTORS",  "REJECT",   "BLOCKMAP"};

/* Where the loading stands: the map, the raw lump being read, and the line for a failure. */
typedef struct LevelLoader {
    Level *level;
    LevelError *error;
    int lump; /* LUMP_* */
    uint8_t *raw;
} LevelLoader;

/* Returns the number of records, or -1. The last one that fails to match its size is refused. */
static int LevelBeginLump(LevelLoader *l, int lump, uint32_t record, int least)
{
    const LevelWad *wad = l->level->wad;
    int index = l->level->marker + lump;
    l->lump = lump;
    if (index >= wad->num_lumps || wad->lumps[index].name != LevelName(lump_names[lump]))
        return LevelFail(l->error, "%s: map %s: lump %s is missing", wad->path, l->level->name,
                         lump_names[lump]);
    uint32_t size = wad->lumps[index].size;
    if (size % record || size / record < (uint32_t)least || size / record > 65536)
        return LevelFail(l->error, "%s: map %s: %s: %u bytes are not %d or more records of %u", wad->path,
                         l->level->name, lump_names[lump], size, least, record);
    l->raw = LevelWad_Load(wad, index, l->error);
    return l->raw ? (int)(size / record) : -1;
}

/* Frees the raw lump on the way out, whatever the way. */
static int LevelEndLump(LevelLoader *l, int result)
{
    Level_FreeData(l->raw);
    l->raw = NULL;
    return result;
}

/* An index that must lie in 0..limit-1. */
static int LevelCheckIndex(LevelLoader *l, int record, const char *what, int index, int limit)
{
    if (index >= 0 && index < limit)
        return 0;
    return LevelFail(l->error, "%s: map %s: %s %d: %s %d, expected 0..%d", l->level->wad->path,
                     l->level->name, lump_names[l->lump], record, what, index, limit - 1);
}

/* Names in records have no end when they are eight long. */
static uint64_t LevelNameAt(const uint8_t *p)
{
    char text[9] = {0};
    memcpy(text, p, 8);
    return LevelName(text);
}

static int LevelLoadThings(LevelLoader *l)
{
    int n = LevelBeginLump(l, LUMP_THINGS, 10, 1);
    LevelThing **tail = &l->level->things;
    for (int i = 0; i < n; i++) {
        const uint8_t *p = l->raw + 10 * i;
        LevelThing *t = game_malloc(SUB_LEVEL, sizeof *t);
        *t = (LevelThing){NULL,
                          level_get16(p),
                          level_get16(p + 2),
                          level_get16(p + 4),
                          level_get16(p + 6),
                          level_get16(p + 8)};
        *tail = t;
        tail = &t->next;
        l->level->num_things++;
    }
    return LevelEndLump(l, n < 0 ? -1 : 0);
}

static int LevelLoadVertexes(LevelLoader *l)
{
    int n = LevelBeginLump(l, LUMP_VERTEXES, 4, 3);
    if (n < 0)
        return -1;
    l->level->vertexes = game_malloc(SUB_LEVEL, (size_t)n * sizeof *l->level->vertexes);
    l->level->num_vertexes = n;
    for (int i = 0; i < n; i++)
        l->level->vertexes[i] = (LevelVertex){level_get16(l->raw + 4 * i), level_get16(l->raw + 4 * i + 2)};
    return LevelEndLump(l, 0);
}

static int LevelLoadSectors(LevelLoader *l)
{
    int n = LevelBeginLump(l, LUMP_SECTORS, 26, 1);
    if (n < 0)
        return -1;
    const LevelWad *wad = l->level->wad;
    l->level->sectors = game_calloc(SUB_LEVEL, (size_t)n, sizeof *l->level->sectors);
    l->level->num_sectors = n;
    for (int i = 0; i < n; i++) {
        const uint8_t *p = l->raw + 26 * i;
        LevelSector *s = &l->level->sectors[i];
        s->floor = level_get16(p);
        s->ceiling = level_get16(p + 2);
        s->floor_image = LevelImage_Find(wad, LevelNameAt(p + 4), 1);
        s->ceiling_image = LevelImage_Find(wad, LevelNameAt(p + 12), 1);
        s->light = level_get16(p + 20);
        s->special = level_get16(p + 22);
        s->tag = level_get16(p + 24);
    }
    return LevelEndLump(l, 0);
}

static int LevelLoadSides(LevelLoader *l)
{
    int n = LevelBeginLump(l, LUMP_SIDES, 30, 1), failed = n < 0;
    if (failed)
        return -1;
    const LevelWad *wad = l->level->wad;
    l->level->sides = game_malloc(SUB_LEVEL, (size_t)n * sizeof *l->level->sides);
    l->level->num_sides = n;
    for (int i = 0; i < n && !failed; i++) {
        const uint8_t *p = l->raw + 30 * i;
        l->level->sides[i] = (LevelSide){level_get16(p),
                                         level_get16(p + 2),
                                         LevelImage_Find(wad, LevelNameAt(p + 4), 0),
                                         LevelImage_Find(wad, LevelNameAt(p + 12), 0),
                                         LevelImage_Find(wad, LevelNameAt(p + 20), 0),
                                         (uint16_t)level_get16(p + 28)};
        failed = LevelCheckIndex(l, i, "sector", l->level->sides[i].sector, l->level->num_sectors);
    }
    return LevelEndLump(l, failed);
}

/* Sectors do not know how many lines they will have: the list doubles. */
static void LevelAddSectorLine(LevelSector *s, int line)
{
    if (s->num_lines == s->max_lines) {
        s->max_lines = s->max_lines ? 2 * s->max_lines : 4;
        s->lines = game_realloc(SUB_LEVEL, s->lines, (size_t)s->max_lines * sizeof *s->lines);
    }
    s->lines[s->num_lines++] = line;
}

static int LevelReadLine(LevelLoader *l, int i, const uint8_t *p)
{
    LevelLine *line = &l->level->lines[i];
    *line = (LevelLine){(uint16_t)level_get16(p), (uint16_t)level_get16(p + 2), level_get16(p + 4),
                        level_get16(p + 6),       level_get16(p + 8),           {-1, -1}};
    if (LevelCheckIndex(l, i, "vertex", line->v1, l->level->num_vertexes) ||
        LevelCheckIndex(l, i, "vertex", line->v2, l->level->num_vertexes))
        return -1;
    for (int k = 0; k < 2; k++) {
        int side = (uint16_t)level_get16(p + 10 + 2 * k);
        /* A line at the rim of the world has no second side. */
        if (side == 0xFFFF)
            continue;
        if (LevelCheckIndex(l, i, "side", side, l->level->num_sides))
            return -1;
        line->side[k] = side;
        LevelAddSectorLine(&l->level->sectors[l->level->sides[side].sector], i);
    }
    return 0;
}

static int LevelLoadLines(LevelLoader *l)
{
    int n = LevelBeginLump(l, LUMP_LINES, 14, 3), failed = n < 0;
    if (failed)
        return -1;
    l->level->lines = game_malloc(SUB_LEVEL, (size_t)n * sizeof *l->level->lines);
    l->level->num_lines = n;
    for (int i = 0; i < n && !failed; i++)
        failed = LevelReadLine(l, i, l->raw + 14 * i);
    return LevelEndLump(l, failed);
}

/* Segs stay in the file: parts read theirs when they are loaded. Here they are only checked. */
static int LevelCheckSegs(LevelLoader *l)
{
    int n = LevelBeginLump(l, LUMP_SEGS, 12, 1), failed = n < 0;
    l->level->num_segs = n;
    for (int i = 0; i < n && !failed; i++) {
        const uint8_t *p = l->raw + 12 * i;
        int line = (uint16_t)level_get16(p + 6), side = level_get16(p + 8);
        failed = LevelCheckIndex(l, i, "vertex", (uint16_t)level_get16(p), l->level->num_vertexes) ||
                 LevelCheckIndex(l, i, "vertex", (uint16_t)level_get16(p + 2), l->level->num_vertexes) ||
                 LevelCheckIndex(l, i, "line", line, l->level->num_lines) ||
                 LevelCheckIndex(l, i, "side of its line", side, 2) ||
                 LevelCheckIndex(l, i, "side", l->level->lines[line].side[side], l->level->num_sides);
    }
    return LevelEndLump(l, failed);
}

static int LevelSegSector(const Level *level, const uint8_t *seg)
{
    const LevelLine *line = &level->lines[(uint16_t)level_get16(seg + 6)];
    return level->sides[line->side[level_get16(seg + 8)]].sector;
}

/* A subsector lies in the sector that its first seg faces. */
static int LevelLoadSubsectors(LevelLoader *l)
{
    int n = LevelBeginLump(l, LUMP_SUBSECTORS, 4, 1), failed = n < 0;
    if (failed)
        return -1;
    Level *level = l->level;
    level->subsectors = game_malloc(SUB_LEVEL, (size_t)n * sizeof *level->subsectors);
    level->num_subsectors = n;
    for (int i = 0; i < n && !failed; i++) {
        int number = (uint16_t)level_get16(l->raw + 4 * i), first = (uint16_t)level_get16(l->raw + 4 * i + 2);
        level->subsectors[i] = (LevelSubsector){first, number, 0, 0};
        failed = LevelCheckIndex(l, i, "first seg", first, level->num_segs) ||
                 LevelCheckIndex(l, i, "number of segs", number - 1, level->num_segs - first);
        uint8_t seg[12];
        if (!failed && !LevelWad_Read(level->wad, level->marker + LUMP_SEGS, 12 * (uint32_t)first, seg, 12))
            level->subsectors[i].sector = LevelSegSector(level, seg);
    }
    return LevelEndLump(l, failed);
}

static int LevelLoadNodes(LevelLoader *l)
{
    int n = LevelBeginLump(l, LUMP_NODES, 28, 0), failed = n < 0;
    if (failed)
        return -1;
    Level *level = l->level;
    level->nodes = game_malloc(SUB_LEVEL, ((size_t)n + 1) * sizeof *level->nodes);
    level->num_nodes = n;
    for (int i = 0; i < n && !failed; i++) {
        const uint8_t *p = l->raw + 28 * i;
        LevelNode *node = &level->nodes[i];
        *node = (LevelNode){level_get16(p),
                            level_get16(p + 2),
                            level_get16(p + 4),
                            level_get16(p + 6),
                            {(uint16_t)level_get16(p + 24), (uint16_t)level_get16(p + 26)}};
        /* A child comes before its parent, so a walk down always ends. */
        for (int k = 0; k < 2 && !failed; k++)
            failed =
                node->child[k] & NODE_LEAF
                    ? LevelCheckIndex(l, i, "subsector", node->child[k] & ~NODE_LEAF, level->num_subsectors)
                    : LevelCheckIndex(l, i, "child", node->child[k], i);
    }
    return LevelEndLump(l, failed);
}

/* Sight and collision tables: kept as they are, and a map may lack them. */
static uint8_t *LevelLoadTable(LevelLoader *l, int lump)
{
    const LevelWad *wad = l->level->wad;
    int index = l->level->marker + lump;
    if (index >= wad->num_lumps || wad->lumps[index].name != LevelName(lump_names[lump]))
        return NULL;
    return LevelWad_Load(wad, index, l->error);
}

Level *Level_Load(const LevelWad *wad, int map, LevelError *error)
{
    Level *level = game_calloc(SUB_LEVEL, 1, sizeof *level);
    LevelLoader l = {level, error, 0, NULL};
    level->wad = wad;
    level->marker = wad->maps[map];
    LevelNameText(wad->lumps[level->marker].name, level->name);
    if (LevelLoadThings(&l) || LevelLoadVertexes(&l) || LevelLoadSectors(&l) || LevelLoadSides(&l) ||
        LevelLoadLines(&l) || LevelCheckSegs(&l) || LevelLoadSubsectors(&l) || LevelLoadNodes(&l)) {
        Level_Free(level);
        return NULL;
    }
    level->reject = LevelLoadTable(&l, LUMP_REJECT);
    level->blockmap = LevelLoadTable(&l, LUMP_BLOCKMAP);
    LevelBuildParts(level);
    return level;
}

static void LevelFreeThings(Level *level)
{
    while (level->things) {
        LevelThing *t = level->things;
        level->things = t->next;
        game_free(SUB_LEVEL, t);
    }
}

void Level_Free(Level *level)
{
    LevelFreeParts(level);
    LevelFreeThings(level);
    for (int i = 0; i < level->num_sectors; i++)
        game_free(SUB_LEVEL, level->sectors[i].lines);
    void *tables[] = {level->vertexes,   level->lines, level->sides,  level->sectors,
                      level->subsectors, level->nodes, level->reject, level->blockmap};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        game_free(SUB_LEVEL, tables[i]);
    game_free(SUB_LEVEL, level);
}

/* Down the tree: child 0 is on the right of the node's line, child 1 on its left. */
int Level_SectorAt(const Level *level, int x, int y)
{
    int at = level->num_nodes ? level->num_nodes - 1 : NODE_LEAF;
    while (!(at & NODE_LEAF)) {
        const LevelNode *n = &level->nodes[at];
        int64_t cross = (int64_t)(y - n->y) * n->dx - (int64_t)(x - n->x) * n->dy;
        at = n->child[cross > 0];
    }
    return level->subsectors[at & ~NODE_LEAF].sector;
}
