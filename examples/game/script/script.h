/* SPDX-License-Identifier: MIT */
/*
 * script.h - the entities' behaviour, in Lua.
 *
 * 1. Scripts are read from files when they are imported, through a mapping: no buffer of ours.
 * 2. Memory comes from luaL_newstate's own allocator; in the counting build from one that does the same and
 * counts.
 * 3. An error in a script ends the game with one line.
 * Locking: main thread only. Read next: script.cpp, scripts/main.lua.
 */
#ifndef GAME_SCRIPT_H
#define GAME_SCRIPT_H

#include "scene/scene.h"

#include <cstdint>

struct lua_State;

namespace script
{

enum { MAX_SOUNDS = 16 };

class host
{
  public:
    bool start(const char *directory, scene::scene &scene, std::uint64_t seed);
    bool enter(const char *map);
    bool leave();
    bool frame(long number);
    void stop();
    long objects_kib() const;
    const char *error() const
    {
        return error_;
    }

    const char *directory = nullptr;
    scene::scene *stage = nullptr;
    scene::ids around; /* what engine.near found last: a local would be lost when Lua raises an error */
    int sounds[MAX_SOUNDS] = {}; /* started in this frame */
    int num_sounds = 0;
    std::uint64_t random = 1;

  private:
    bool call(int arguments);
    bool fail();

    lua_State *lua_ = nullptr;
    char error_[512] = "";
};

} // namespace script

#endif
