/* SPDX-License-Identifier: MIT */
/*
 * game.h - one run of the game: what was asked for, and what came of it. Read next: game.cpp.
 */
#ifndef GAME_GAME_H
#define GAME_GAME_H

#include <cstddef>
#include <cstdint>

namespace game
{

struct options {
    const char *wad = nullptr;     /* file; nullptr: the first that is there, see main.cpp */
    const char *map = nullptr;     /* first map; nullptr: the WAD's first */
    const char *scripts = nullptr; /* directory */
    const char *counts = nullptr;  /* file of the counting build */
    long frames = 1200;
    long frames_a_map = 200;
    long threads = 1; /* streaming threads; 0: everything on the main thread */
    std::uint64_t seed = 1;
};

struct result {
    std::uint64_t checksum = 1;
    long maps = 0;
    long parts_in = 0, parts_out = 0;
    long triangles = 0;
    long most_entities = 0, most_lua_kib = 0;
    std::size_t most_texture_bytes = 0;
};

/* 0, or -1 with one line on stderr. */
int run(const options &wanted, result &result);

} // namespace game

#endif
