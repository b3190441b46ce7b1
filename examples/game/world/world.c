/* SPDX-License-Identifier: MIT */
/*
 * world.c - streaming decisions, and turning a loaded part into a clump.
 *
 * 1. parts[i] is ABSENT, ASKED (a job of the ring has it) or PRESENT (clumps[i] is in the RpWorld).
 * 2. The ring holds jobs in the order of asking; a job is taken exactly PART_LATENCY frames later.
 * 3. Every texture a clump uses is in the dictionary; purging it drops what no clump uses.
 * Locking: main thread only. Cost: a look at each part a frame.
 */
#include "world/world.h"

#include "core/hash.h"
#include "stream/stream.h"

#include <string.h>

enum {
    WORLD_MAX_PARTS = 8192,
    WORLD_RING = 32,
    PART_LATENCY = 8,
    REACH_IN = 1600,
    REACH_OUT = 2200,
    FRAMES_A_WALK = 40,
    STEP_HEIGHT = 24
};

typedef enum part_state { PART_ABSENT, PART_ASKED, PART_PRESENT } part_state;

typedef struct world_job {
    stream_job *job;
    long frame; /* asked for in */
} world_job;

static struct {
    Level *level;
    RpWorld *clumps;
    RwTexDictionary *textures;
    unsigned char parts[WORLD_MAX_PARTS]; /* part_state */
    RpClump *clump_of[WORLD_MAX_PARTS];   /* of a part that is PRESENT */
    LevelPart *loaded[WORLD_MAX_PARTS];   /* the same */
    world_job ring[WORLD_RING];
    int ring_first, ring_number;
    int purge_due;              /* a clump has gone since the last purge */
    const LevelThing *spawn_at; /* handed out last by world_next_spawn */
    world_totals totals;
    uint64_t hash; /* of the parts put in place so far, in order */
} world;

void world_start(void)
{
    world.clumps = RpWorldCreate();
    world.textures = RwTexDictionaryCreate();
    world.hash = 1;
}

void world_stop(void)
{
    RwTexDictionaryDestroy(world.textures);
    RpWorldDestroy(world.clumps);
}

const char *world_name(void)
{
    return world.level->name;
}

RpWorld *world_clumps(void)
{
    return world.clumps;
}

const world_totals *world_get_totals(void)
{
    return &world.totals;
}

int world_next_spawn(world_spawn *spawn, int first)
{
    world.spawn_at = first ? world.level->things : world.spawn_at->next;
    if (!world.spawn_at)
        return 0;
    *spawn = (world_spawn){world.spawn_at->type, world.spawn_at->x, world.spawn_at->y, world.spawn_at->angle};
    return 1;
}

int world_floor(int x, int y)
{
    return world.level->sectors[Level_SectorAt(world.level, x, y)].floor;
}

/* One step up is walked, a few steps down are jumped; a wall is a floor too high. */
int world_can_step(int x, int y, int to_x, int to_y)
{
    int rise = world_floor(to_x, to_y) - world_floor(x, y);
    return rise <= STEP_HEIGHT && rise >= -4 * STEP_HEIGHT;
}

/* The camera walks from thing to thing in the order of the map. */
void world_camera_at(long frame, double *x, double *y)
{
    long walk = frame / FRAMES_A_WALK % world.level->num_things;
    double part = (double)(frame % FRAMES_A_WALK) / FRAMES_A_WALK;
    const LevelThing *from = world.level->things;
    while (walk--)
        from = from->next;
    const LevelThing *to = from->next ? from->next : world.level->things;
    *x = from->x + part * (to->x - from->x);
    *y = from->y + part * (to->y - from->y);
}

/* The material that shows an image, made when the geometry has none yet. */
static int world_material(RpGeometry *g, int *images, int image)
{
    for (int i = 0; i < g->numMaterials; i++)
        if (images[i] == image)
            return i;
    if (g->numMaterials == STREAM_MAX_IMAGES)
        return 0;
    images[g->numMaterials] = image;
    return RpGeometryAddMaterial(g,
                                 RpMaterialCreate(RwTexDictionaryFind(world.textures, image), 0xFF00FFFFu));
}

static int world_add_poly(RpGeometry *g, const LevelPoly *poly, int first, int *images)
{
    int material = world_material(g, images, poly->image);
    for (int i = 0; i < poly->num_corners; i++) {
        const float *c = poly->corners[i];
        g->vertices[first + i] = (RwV3d){c[0], c[1], c[2]};
        g->texCoords[2 * (first + i)] = c[3];
        g->texCoords[2 * (first + i) + 1] = c[4];
        if (i >= 2)
            RpGeometryAddTriangle(g, first, first + i - 1, first + i, material);
    }
    return first + poly->num_corners;
}

static RpClump *world_build_clump(const LevelPart *part)
{
    /* images[m] is what material m shows, while the geometry is being built. */
    int images[STREAM_MAX_IMAGES], at = 0;
    RpGeometry *g = RpGeometryCreate(part->num_corners);
    for (const LevelPoly *p = part->polys; p; p = p->next)
        at = world_add_poly(g, p, at, images);
    RpGeometryUnlock(g);
    RpClump *clump = RpClumpCreate();
    RpClumpAddAtomic(clump, RpAtomicCreate(g));
    RpGeometryDestroy(g);
    return clump;
}

static void world_note_textures(void)
{
    if (world.textures->numBytes > world.totals.most_texture_bytes)
        world.totals.most_texture_bytes = world.textures->numBytes;
}

static void world_put_part(stream_job *job)
{
    int i = job->index;
    stream_wait(job);
    for (int k = 0; k < job->num_images; k++)
        RwTexDictionaryAdd(world.textures, job->textures[k]);
    world_note_textures();
    world.loaded[i] = job->part;
    world.clump_of[i] = world_build_clump(job->part);
    RpWorldAddClump(world.clumps, world.clump_of[i]);
    world.parts[i] = PART_PRESENT;
    world.totals.parts_in++;
    world.hash = hash_u64(world.hash, (uint64_t)i << 32 | (uint32_t)job->part->num_polys);
    stream_release(job);
}

/* Parts in turn are freed here and on a streaming thread. */
static void world_drop_part(int i)
{
    RpWorldRemoveClump(world.clumps, world.clump_of[i]);
    RpClumpDestroy(world.clump_of[i]);
    if (world.totals.parts_out++ & 1)
        LevelPart_Free(world.loaded[i]);
    else
        stream_retire(world.loaded[i]);
    world.parts[i] = PART_ABSENT;
}

/* Asks for the part, and for those of its images that are not textures yet. */
static void world_ask(int i, long frame)
{
    const LevelPartInfo *info = &world.level->parts[i];
    int images[STREAM_MAX_IMAGES], number = 0;
    for (int k = 0; k < info->num_images && number < STREAM_MAX_IMAGES; k++)
        if (!RwTexDictionaryFind(world.textures, info->images[k]))
            images[number++] = info->images[k];
    int slot = (world.ring_first + world.ring_number++) % WORLD_RING;
    world.ring[slot] = (world_job){stream_request(world.level, i, images, number), frame};
    world.parts[i] = PART_ASKED;
}

/* All: those under way too, as the map is being left. */
static void world_take_jobs(long frame, int all)
{
    while (world.ring_number) {
        world_job *w = &world.ring[world.ring_first];
        if (!all && frame - w->frame < PART_LATENCY)
            return;
        world.ring_first = (world.ring_first + 1) % WORLD_RING;
        world.ring_number--;
        world_put_part(w->job);
    }
}

static int world_near(int i, double x, double y, double reach)
{
    double dx = world.level->parts[i].x - x, dy = world.level->parts[i].y - y;
    return dx * dx + dy * dy < reach * reach;
}

uint64_t world_update(long frame, double x, double y)
{
    world_take_jobs(frame, 0);
    for (int i = 0; i < world.level->num_parts; i++) {
        if (world.parts[i] == PART_ABSENT && world.ring_number < WORLD_RING && world_near(i, x, y, REACH_IN))
            world_ask(i, frame);
        if (world.parts[i] == PART_PRESENT && !world_near(i, x, y, REACH_OUT)) {
            world_drop_part(i);
            world.purge_due = 1;
        }
    }
    /* A job under way counts on the textures that were there when it was asked for. */
    if (world.purge_due && !world.ring_number) {
        RwTexDictionaryPurge(world.textures);
        world.purge_due = 0;
    }
    return world.hash;
}

/* The actors' pictures: the world's own use keeps them from being purged while the map is played. */
static void world_load_sprites(const LevelWad *wad)
{
    for (int i = LevelImage_NextSprite(wad, -1); i >= 0; i = LevelImage_NextSprite(wad, i))
        RwTextureAddRef(RwTexDictionaryAdd(world.textures, stream_load_texture(wad, i)));
    world_note_textures();
}

static void world_drop_sprites(const LevelWad *wad)
{
    for (RwTexture *t = world.textures->first; t; t = t->next)
        if (t->key >= wad->num_textures + wad->num_lumps)
            RwTextureDestroy(t);
}

int world_enter(const LevelWad *wad, int map, LevelError *error)
{
    world.level = Level_Load(wad, map, error);
    if (!world.level)
        return -1;
    world_load_sprites(wad);
    return 0;
}

void world_leave(void)
{
    world_take_jobs(0, 1);
    for (int i = 0; i < world.level->num_parts; i++)
        if (world.parts[i] == PART_PRESENT)
            world_drop_part(i);
    world_drop_sprites(world.level->wad);
    RwTexDictionaryPurge(world.textures);
    Level_Free(world.level);
    world.level = NULL;
}
