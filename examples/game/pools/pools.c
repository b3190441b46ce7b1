/* SPDX-License-Identifier: MIT */
/*
 * pools.c - see pools.h.
 *
 * 1. LevelWad_Open and Level_Load run with a place of the calling thread's: what they allocate goes to the
 * hunk or the arena.
 * 2. Raw lumps are resources, held from LevelWad_Load to Level_FreeData; what cannot be one (a name that
 * stands twice with another size, no room because all is held) is read by the game's own code.
 * 3. Blocks of hunk, arena and scratch do not come back singly: poolmem_free of one does nothing.
 * Locking: held lumps have a mutex; pools and resources lock themselves. Mix arenas belong to whoever mixes.
 */
#include "pools/pools.h"
#include "core/count.h"
#include "level/level.h"

#include <poolmem.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { SECTOR_BYTES = 1 << 20, VOICE_BYTES = 64, MOST_HELD = 64 };

typedef enum place { PLACE_HEAP, PLACE_DIRECTORY, PLACE_LEVEL, PLACE_SCRATCH } place;

/* A raw lump that somebody is using. */
typedef struct held_lump {
    const void *data;
    char name[16];
} held_lump;

static struct {
    poolmem_pool *level, *directory, *arena, *scratch, *sector, *audio, *voices, *render, *lua;
    poolmem_frames mix;
    poolmem_handles *handles;
    poolmem_resources *lumps;
    pthread_mutex_t lock;
    held_lump held[MOST_HELD];
} pools = {.lock = PTHREAD_MUTEX_INITIALIZER};

static __thread place here;
static __thread poolmem_arena_point scratch_mark;

/* --- setting up
 * --------------------------------------------------------------------------------------------- */

static poolmem_pool *pools_make(const char *name, poolmem_kind kind, size_t size, unsigned flags)
{
    poolmem_options o = {.size = size, .flags = flags};
    poolmem_pool *p = poolmem_pool_create(name, NULL, kind, &o);
    if (!p)
        game_out_of_memory(size);
    return p;
}

static void pools_start(void)
{
    pools.level = pools_make("Level", POOLMEM_HEAP, 0, 0);
    pools.render = pools_make("RenderWare", POOLMEM_HEAP, 0, 0);
    pools.lua = pools_make("Lua", POOLMEM_HEAP, 0, 0);
    pools.audio = pools_make("Audio", POOLMEM_HEAP, 0, 0);
    pools.directory = pools_make("Directory", POOLMEM_HUNK, 256 << 20, 0);
    pools.arena = pools_make("Level Arena", POOLMEM_ARENA, 1 << 20, POOLMEM_GROW);
    pools.scratch = pools_make("Scratch", POOLMEM_ARENA, 256 << 10, POOLMEM_GROW);
    pools.sector = pools_make("Sector", POOLMEM_RETAIL, SECTOR_BYTES, 0);
    pools.voices = pools_make("Voices", POOLMEM_CLUMP, 1 << 20, 0);
    pools.mix.half[0] = pools_make("Mix A", POOLMEM_ARENA, 64 << 10, 0);
    pools.mix.half[1] = pools_make("Mix B", POOLMEM_ARENA, 64 << 10, 0);
    pools.handles = poolmem_handles_create(pools.sector, 0, 0);
    pools.lumps = poolmem_resources_create(pools.handles, &(poolmem_resource_options){.room = pools.sector});
}

static void pools_report(void)
{
    poolmem_resource_stats s;
    const char *path = getenv("GAME_REPORT");
    if (poolmem_resources_stats(pools.lumps, &s) == POOLMEM_OK)
        printf("lumps     %llu loaded, %llu found in memory, %llu evicted\n", (unsigned long long)s.loads,
               (unsigned long long)(s.cache_hits + s.registry_hits), (unsigned long long)s.evictions);
    if (path && poolmem_report(path, POOLMEM_FORMAT_AUTO) != POOLMEM_OK)
        fprintf(stderr, "game: %s: the report cannot be written\n", path);
}

/* --- where a request goes
 * ------------------------------------------------------------------------------------- */

static void *in_level(size_t size)
{
    switch (here) {
    case PLACE_DIRECTORY:
        return poolmem_hunk_alloc(pools.directory, POOLMEM_LOW, size, "wad");
    case PLACE_LEVEL:
        return poolmem_arena_alloc(pools.arena, size);
    case PLACE_SCRATCH: /* one at a time: given back before the next is asked for */
        poolmem_arena_mark(pools.scratch, &scratch_mark);
        return poolmem_arena_alloc(pools.scratch, size);
    default:
        return poolmem_alloc(pools.level, size);
    }
}

/* Small blocks of the sound are voices; when their clump is full, the heap serves them. */
static void *in_audio(size_t size)
{
    void *p = size <= VOICE_BYTES ? poolmem_alloc(pools.voices, size) : NULL;
    return p ? p : poolmem_alloc(pools.audio, size);
}

void *pools_get(int sub, size_t size)
{
    switch (sub) {
    case SUB_LEVEL:
        return in_level(size);
    case SUB_AUDIO:
        return in_audio(size);
    case SUB_LUA:
        return poolmem_alloc(pools.lua, size);
    default:
        return poolmem_alloc(pools.render, size);
    }
}

/* What the sound asks zeroed is the mix of one frame: the one before it may still be looked at. */
void *pools_get_zeroed(int sub, size_t number, size_t size)
{
    if (sub == SUB_AUDIO)
        return poolmem_arena_alloc(poolmem_frame_begin(&pools.mix), number * size);
    void *p = pools_get(sub, number * size);
    return p ? memset(p, 0, number * size) : NULL;
}

/* A list that grows stays in the pool it began in; the WAD's lists are in the heap, where growing costs
 * nothing. */
void *pools_resize(int sub, void *old, size_t size)
{
    if (old)
        return poolmem_realloc(NULL, old, size);
    place was = here;
    here = was == PLACE_DIRECTORY ? PLACE_HEAP : was == PLACE_SCRATCH ? PLACE_LEVEL : was;
    void *p = pools_get(sub, size);
    here = was;
    return p;
}

void pools_give(int sub, void *block)
{
    if (block && sub == SUB_LEVEL && here == PLACE_SCRATCH && poolmem_pool_of(block) == pools.scratch)
        poolmem_arena_restore(pools.scratch, &scratch_mark);
    else
        poolmem_free(block);
}

void *pools_lua(void)
{
    return pools.lua;
}

/* --- lumps as resources
 * ---------------------------------------------------------------------------------------- */

/* The name of a lump in the archive's index: parts of a map have the map's name and three letters. */
static void lump_name(const LevelWad *wad, int lump, char name[16])
{
    char own[9], map[9];
    LevelNameText(wad->lumps[lump].name, own);
    snprintf(name, 16, "%s", own);
    for (int i = 0; i < wad->num_maps; i++) {
        int behind = lump - wad->maps[i];
        if (behind > 0 && behind <= 10)
            snprintf(name, 16, "%s.%.3s", LevelNameText(wad->lumps[wad->maps[i]].name, map), own);
    }
}

static int keep_held(const void *data, const char *name)
{
    int done = 0;
    pthread_mutex_lock(&pools.lock);
    for (int i = 0; i < MOST_HELD && !done; i++) {
        if (pools.held[i].data)
            continue;
        pools.held[i].data = data;
        memcpy(pools.held[i].name, name, sizeof pools.held[i].name);
        done = 1;
    }
    pthread_mutex_unlock(&pools.lock);
    return done;
}

/* The name under which these bytes are held; 0: they are no resource. */
static int take_held(const void *data, char name[16])
{
    int found = 0;
    pthread_mutex_lock(&pools.lock);
    for (int i = 0; i < MOST_HELD && !found; i++) {
        if (pools.held[i].data != data)
            continue;
        memcpy(name, pools.held[i].name, 16);
        pools.held[i].data = NULL;
        found = 1;
    }
    pthread_mutex_unlock(&pools.lock);
    return found;
}

static uint8_t *hold_lump(const LevelWad *wad, int lump)
{
    char name[16];
    poolmem_handle h;
    void *data;
    size_t size;
    lump_name(wad, lump, name);
    if (!wad->lumps[lump].size || poolmem_resource_hold(pools.lumps, name, &h) != POOLMEM_OK)
        return NULL;
    if (poolmem_handle_size(pools.handles, h, &size) == POOLMEM_OK && size == wad->lumps[lump].size &&
        poolmem_handle_edit(pools.handles, h, &data) == POOLMEM_OK && keep_held(data, name))
        return data;
    poolmem_resource_release(pools.lumps, name);
    return NULL;
}

/* --- calls of the level code, caught by the linker
 * ----------------------------------------------------------------- */

LevelWad *__real_LevelWad_Open(const char *path, LevelError *error);
void __real_LevelWad_Close(LevelWad *wad);
uint8_t *__real_LevelWad_Load(const LevelWad *wad, int lump, LevelError *error);
void __real_Level_FreeData(void *data);
Level *__real_Level_Load(const LevelWad *wad, int map, LevelError *error);
void __real_Level_Free(Level *level);
void __real_LevelBuildParts(Level *level);

LevelWad *__wrap_LevelWad_Open(const char *path, LevelError *error)
{
    pools_start();
    poolmem_resources_mount(pools.lumps, path); /* what is wrong with the file the game's own code says */
    here = PLACE_DIRECTORY;
    LevelWad *wad = __real_LevelWad_Open(path, error);
    here = PLACE_HEAP;
    return wad;
}

void __wrap_LevelWad_Close(LevelWad *wad)
{
    pools_report();
    __real_LevelWad_Close(wad);
    poolmem_hunk_free_to_mark(pools.directory, POOLMEM_LOW, 0);
    poolmem_resources_destroy(pools.lumps);
    poolmem_handles_destroy(pools.handles);
}

uint8_t *__wrap_LevelWad_Load(const LevelWad *wad, int lump, LevelError *error)
{
    uint8_t *data = hold_lump(wad, lump);
    return data ? data : __real_LevelWad_Load(wad, lump, error);
}

void __wrap_Level_FreeData(void *data)
{
    char name[16];
    if (data && take_held(data, name))
        poolmem_resource_release(pools.lumps, name);
    else
        __real_Level_FreeData(data);
}

Level *__wrap_Level_Load(const LevelWad *wad, int map, LevelError *error)
{
    here = PLACE_LEVEL;
    Level *level = __real_Level_Load(wad, map, error);
    here = PLACE_HEAP;
    if (level)
        poolmem_mark(level->name);
    return level;
}

/* Its segs are read for a moment each, under a mark; its lists stay. */
void __wrap_LevelBuildParts(Level *level)
{
    here = PLACE_SCRATCH;
    __real_LevelBuildParts(level);
    here = PLACE_LEVEL;
}

/* Every block of the map at once. */
void __wrap_Level_Free(Level *level)
{
    (void)level;
    poolmem_arena_reset(pools.arena);
}
