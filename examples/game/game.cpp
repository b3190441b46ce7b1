// SPDX-License-Identifier: MIT
/*
 * game.cpp - the frame loop: maps change, parts stream, scripts think, the scene moves, the camera renders,
 * sound mixes; each frame's results are folded into the checksum in that order.
 *
 * 1. Nothing folded in depends on time, addresses or the order in which threads get on.
 * 2. run() stops what it started, in reverse, also when it fails half-way.
 * Locking: main thread only; stream/ and audio/ have threads of their own.
 */
#include "game.h"

#include "audio/audio.h"
#include "core/count.h"
#include "core/hash.h"
#include "scene/scene.h"
#include "script/script.h"
#include "world/world.h"

#include <algorithm>
#include <cstdio>

extern "C" {
#include "stream/stream.h"
const RwMemoryFunctions *game_render_hooks(void);
}

namespace game
{

enum { FAR_PLANE = 1400, MOST_PARTICLES = 512 };

namespace
{

struct engine {
    const options &wanted;
    result &made;
    LevelWad *wad = nullptr;
    RwCamera *camera = nullptr;
    scene::scene scene;
    script::host script;
    int map = 0;
    bool in_map = false;
};

int fail(const char *text)
{
    std::fprintf(stderr, "game: %s\n", text);
    return -1;
}

void fold(engine &g, std::uint64_t value)
{
    g.made.checksum = hash_u64(g.made.checksum, value);
}

/* Also after a failure half-way through a map: everything a map brought in goes. */
int leave_map(engine &g)
{
    if (!g.in_map)
        return 0;
    g.in_map = false;
    bool fine = g.script.leave();
    g.scene.leave();
    world_leave();
    return fine ? 0 : fail(g.script.error());
}

int enter_map(engine &g)
{
    LevelError error;
    if (world_enter(g.wad, g.map, &error))
        return fail(error.text);
    g.map = (g.map + 1) % g.wad->num_maps;
    g.in_map = true;
    g.made.maps++;
    g.scene.enter();
    return g.script.enter(world_name()) ? 0 : fail(g.script.error());
}

void render(engine &g, double x, double y)
{
    RwV3d particles[MOST_PARTICLES];
    RwFrameTranslate(g.camera->frame, (float)x, (float)y, 0);
    RwCameraBeginUpdate(g.camera);
    RwCameraRenderWorld(g.camera, world_clumps());
    RwIm3DRenderParticles(g.camera, particles, g.scene.particles(particles, MOST_PARTICLES));
    fold(g, RwCameraEndUpdate(g.camera));
    g.made.triangles += g.camera->numTriangles;
}

int play_frame(engine &g, long frame)
{
    double x, y;
    long in_map = frame % g.wanted.frames_a_map;
    if (!in_map && (leave_map(g) || enter_map(g)))
        return -1;
    world_camera_at(in_map, &x, &y);
    fold(g, world_update(frame, x, y));
    if (!g.script.frame(frame))
        return fail(g.script.error());
    g.scene.update(frame);
    fold(g, g.scene.hash());
    render(g, x, y);
    fold(g, audio_frame(g.script.sounds, g.script.num_sounds));
    g.made.most_entities = std::max(g.made.most_entities, (long)g.scene.size());
    g.made.most_lua_kib = std::max(g.made.most_lua_kib, g.script.objects_kib());
    return 0;
}

int play(engine &g)
{
    if (!g.script.start(g.wanted.scripts, g.scene, g.wanted.seed))
        return fail(g.script.error());
    for (long frame = 0; frame < g.wanted.frames; frame++)
        if (play_frame(g, frame))
            return -1;
    return 0;
}

int open_wad(engine &g)
{
    LevelError error;
    g.wad = LevelWad_Open(g.wanted.wad, &error);
    if (!g.wad)
        return fail(error.text);
    g.map = g.wanted.map ? LevelWad_FindMap(g.wad, g.wanted.map) : 0;
    if (g.map >= 0)
        return 0;
    std::fprintf(stderr, "game: %s: no map %s in it\n", g.wanted.wad, g.wanted.map);
    return -1;
}

/* What has threads; failing to start one is an error of the system, not of a file. */
int start_threads(engine &g)
{
    if (audio_start(g.wad, g.wanted.threads > 0) || stream_start((int)g.wanted.threads))
        return fail("a thread cannot be started");
    return 0;
}

/* 2: what was started is stopped whatever play came to. */
int run_with_wad(engine &g)
{
    RwEngineInit(game_render_hooks());
    g.camera = RwCameraCreate(FAR_PLANE);
    world_start();
    g.scene.start(g.wanted.seed);
    int failed = start_threads(g);
    if (!failed)
        failed = play(g);
    if (leave_map(g))
        failed = -1;
    g.script.stop();
    stream_stop();
    fold(g, audio_stop());
    g.scene.stop();
    world_stop();
    RwCameraDestroy(g.camera);
    return failed;
}

} // namespace

int run(const options &wanted, result &made)
{
    engine g{.wanted = wanted, .made = made, .scene = {}, .script = {}};
    int failed = open_wad(g);
    if (!failed)
        failed = run_with_wad(g);
    if (g.wad)
        LevelWad_Close(g.wad);
    const world_totals *totals = world_get_totals();
    made.parts_in = totals->parts_in;
    made.parts_out = totals->parts_out;
    made.most_texture_bytes = totals->most_texture_bytes;
    return failed;
}

} // namespace game
