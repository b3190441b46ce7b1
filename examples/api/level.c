/* SPDX-License-Identifier: MIT */
/*
 * level.c - the linked way: an engine's levels over poolmem. Each level lives in an arena that is emptied in
 * one go, scratch memory lives under a mark, names in a frame arena, and resources come from a WAD through a
 * pool with a budget, so that the least recently used ones leave when there is no room. Ends with a report.
 *   cc level.c $(pkg-config --cflags --libs poolmem) -o level && ./level freedoom1.wad
 */
#include <poolmem.h>

#include <stdio.h>
#include <string.h>

typedef struct level {
    const char *name;
    size_t things, lines;
    unsigned char *tiles;
} level;

/* Nothing to undo on failure: the next load empties the arena anyway. */
static int level_load(level *l, poolmem_pool *arena, poolmem_resources *wad, const char *name)
{
    poolmem_arena_point scratch;
    const void *data;
    size_t size;
    poolmem_arena_reset(arena);
    memset(l, 0, sizeof *l);
    l->tiles = poolmem_arena_alloc(arena, 64 * 64);
    l->name = poolmem_arena_strdup(arena, name);
    poolmem_arena_mark(arena, &scratch);
    char *things = poolmem_arena_format(arena, "%s.THI", name),
         *lines = poolmem_arena_format(arena, "%s.LIN", name);
    if (!l->tiles || !l->name || !things || !lines)
        return 0;
    if (poolmem_resource_read(wad, things, &data, &size) == POOLMEM_OK)
        l->things = size / 10;
    if (poolmem_resource_read(wad, lines, &data, &size) == POOLMEM_OK)
        l->lines = size / 14;
    return poolmem_arena_restore(arena, &scratch) == POOLMEM_OK;
}

static int play(poolmem_resources *wad, poolmem_pool *arena, poolmem_frames *frames)
{
    level l;
    for (int map = 1; map <= 9; map++) {
        char name[8];
        snprintf(name, sizeof name, "E1M%d", map);
        if (!level_load(&l, arena, wad, name))
            return 0;
        for (int frame = 0; frame < 3; frame++) {
            poolmem_pool *now = poolmem_frame_begin(frames);
            const char *line =
                poolmem_arena_format(now, "%s: %zu things, %zu lines", l.name, l.things, l.lines);
            if (line && !frame)
                puts(line);
        }
    }
    return 1;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: level FILE.WAD\n");
        return 2;
    }
    poolmem_options sector = {.size = 192 << 10}, arena = {.size = 64 << 10}, frame = {.size = 4 << 10};
    poolmem_pool *room = poolmem_pool_create("Sector", NULL, POOLMEM_RETAIL, &sector);
    poolmem_pool *level_arena = poolmem_pool_create("Level Arena", NULL, POOLMEM_ARENA, &arena);
    poolmem_frames frames = {{poolmem_pool_create("Frame A", NULL, POOLMEM_ARENA, &frame),
                              poolmem_pool_create("Frame B", NULL, POOLMEM_ARENA, &frame)},
                             0};
    poolmem_handles *handles = poolmem_handles_create(room, 0, 0);
    poolmem_resources *wad = poolmem_resources_create(handles, &(poolmem_resource_options){.room = room});
    poolmem_status s = poolmem_resources_mount(wad, argv[1]);
    if (s != POOLMEM_OK) {
        fprintf(stderr, "level: %s: %s\n", argv[1], poolmem_status_text(s));
        return 1;
    }
    poolmem_mark("before the first level");
    int played = play(wad, level_arena, &frames);
    poolmem_resource_stats stats;
    poolmem_resources_stats(wad, &stats);
    printf("loads %llu evictions %llu resident %llu peak of the level arena %zu\n",
           (unsigned long long)stats.loads, (unsigned long long)stats.evictions,
           (unsigned long long)stats.resources, poolmem_arena_peak(level_arena));
    fflush(stdout);
    poolmem_report_fd(1, POOLMEM_FORMAT_TEXT);
    poolmem_resources_destroy(wad);
    poolmem_handles_destroy(handles);
    return played ? 0 : 1;
}
