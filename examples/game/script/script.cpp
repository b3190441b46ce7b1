// SPDX-License-Identifier: MIT
/*
 * script.cpp - the Lua state, what scripts may call, and what the game calls in scripts.
 *
 * 1. A binding allocates nothing itself: what it makes is made by Lua, by the scene's containers or by the
 *    renderer, each in functions of their own.
 * 2. No C++ object with a destructor lives in a binding while Lua may raise an error.
 * Locking: main thread only.
 */
#include "script/script.h"

#include "core/count.h"
#include "core/hash.h"
#include "world/world.h"

#include <cstdio>
#include <fcntl.h>
#include <lua.hpp>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#if GAME_POOLS
#include <poolmem.h>
#endif

namespace script
{

static host *host_of(lua_State *L)
{
    return static_cast<host *>(lua_touserdata(L, lua_upvalueindex(1)));
}

static scene::entity *entity_argument(lua_State *L)
{
    scene::entity *e = host_of(L)->stage->find((int)luaL_checkinteger(L, 1));
    if (!e)
        luaL_argerror(L, 1, "no such entity");
    return e;
}

static int bind_spawn(lua_State *L)
{
    int type = (int)luaL_checkinteger(L, 1);
    double x = luaL_checknumber(L, 2), y = luaL_checknumber(L, 3);
    const char *name = luaL_checkstring(L, 4);
    lua_pushinteger(L, host_of(L)->stage->spawn(type, x, y, name));
    return 1;
}

static int bind_remove(lua_State *L)
{
    lua_pushboolean(L, host_of(L)->stage->remove((int)luaL_checkinteger(L, 1)));
    return 1;
}

static int bind_position(lua_State *L)
{
    const scene::entity *e = entity_argument(L);
    lua_pushnumber(L, e->x);
    lua_pushnumber(L, e->y);
    return 2;
}

static int bind_move(lua_State *L)
{
    int id = (int)luaL_checkinteger(L, 1);
    double x = luaL_checknumber(L, 2), y = luaL_checknumber(L, 3);
    lua_pushboolean(L, host_of(L)->stage->move(id, x, y));
    return 1;
}

static int bind_health(lua_State *L)
{
    scene::entity *e = entity_argument(L);
    e->health += (int)luaL_optinteger(L, 2, 0);
    lua_pushinteger(L, e->health);
    return 1;
}

static int bind_find(lua_State *L)
{
    lua_pushinteger(L, host_of(L)->stage->find_name(luaL_checkstring(L, 1)));
    return 1;
}

static int bind_near(lua_State *L)
{
    scene::ids &around = host_of(L)->around;
    double x = luaL_checknumber(L, 1), y = luaL_checknumber(L, 2), reach = luaL_checknumber(L, 3);
    around.clear();
    host_of(L)->stage->near(x, y, reach, around);
    lua_createtable(L, (int)around.size(), 0);
    for (std::size_t i = 0; i < around.size(); i++) {
        lua_pushinteger(L, around[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}

static int bind_path(lua_State *L)
{
    double x = 0, y = 0;
    int steps = host_of(L)->stage->path((int)luaL_checkinteger(L, 1), luaL_checknumber(L, 2),
                                        luaL_checknumber(L, 3), &x, &y);
    lua_pushinteger(L, steps);
    lua_pushnumber(L, x);
    lua_pushnumber(L, y);
    return 3;
}

static int bind_emit(lua_State *L)
{
    const char *name = luaL_checkstring(L, 1);
    int id = (int)luaL_checkinteger(L, 2), value = (int)luaL_optinteger(L, 3, 0);
    long later = (long)luaL_optinteger(L, 4, 0);
    if (later > 0)
        host_of(L)->stage->emit_later(later, name, id, value);
    else
        host_of(L)->stage->emit(name, id, value);
    return 0;
}

static int bind_sound(lua_State *L)
{
    host *h = host_of(L);
    int sound = (int)luaL_checkinteger(L, 1);
    if (h->num_sounds < MAX_SOUNDS && sound >= 0)
        h->sounds[h->num_sounds++] = sound;
    return 0;
}

static int bind_random(lua_State *L)
{
    lua_Integer limit = luaL_checkinteger(L, 1);
    luaL_argcheck(L, limit > 0, 1, "must be above 0");
    lua_pushinteger(L, (lua_Integer)(random_next(&host_of(L)->random) >> 33) % limit);
    return 1;
}

static int bind_message(lua_State *L)
{
    host_of(L)->stage->message(luaL_checkstring(L, 1));
    return 0;
}

static const char *map_file(const char *path, std::size_t *size)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    void *p = MAP_FAILED;
    if (fd >= 0 && !fstat(fd, &st) && st.st_size > 0)
        p = mmap(nullptr, (std::size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (fd >= 0)
        close(fd);
    *size = p == MAP_FAILED ? 0 : (std::size_t)st.st_size;
    return p == MAP_FAILED ? nullptr : static_cast<const char *>(p);
}

/* import(NAME): runs DIRECTORY/NAME.lua and returns what it returns. */
static int bind_import(lua_State *L)
{
    char path[4096], chunk[64];
    const char *name = luaL_checkstring(L, 1);
    std::size_t size;
    std::snprintf(path, sizeof path, "%s/%s.lua", host_of(L)->directory, name);
    std::snprintf(chunk, sizeof chunk, "@%s.lua", name);
    const char *text = map_file(path, &size);
    if (!text)
        return luaL_error(L, "%s: cannot be read", path);
    int status = luaL_loadbuffer(L, text, size, chunk);
    munmap(const_cast<char *>(text), size);
    if (status != LUA_OK)
        return lua_error(L);
    lua_call(L, 0, 1);
    return 1;
}

static const luaL_Reg bindings[] = {
    {"spawn", bind_spawn},   {"remove", bind_remove}, {"position", bind_position}, {"move", bind_move},
    {"health", bind_health}, {"find", bind_find},     {"near", bind_near},         {"path", bind_path},
    {"emit", bind_emit},     {"sound", bind_sound},   {"random", bind_random},     {"message", bind_message},
    {"import", bind_import}, {nullptr, nullptr},
};

#if GAME_COUNT
/* What luaL_newstate's own allocator does, with counters. Its caller is still Lua. */
static void *count_lua(void *, void *p, std::size_t, std::size_t size)
{
    if (size)
        return game_realloc(SUB_LUA, p, size);
    game_free(SUB_LUA, p);
    return nullptr;
}

static lua_State *new_state()
{
    return lua_newstate(count_lua, nullptr);
}
#elif GAME_POOLS
static lua_State *new_state()
{
    return lua_newstate(poolmem_lua_alloc, pools_lua());
}
#else
static lua_State *new_state()
{
    return luaL_newstate();
}
#endif

static int traceback(lua_State *L)
{
    luaL_traceback(L, L, lua_tostring(L, 1), 1);
    return 1;
}

bool host::fail()
{
    const char *text = lua_tostring(lua_, -1);
    std::snprintf(error_, sizeof error_, "%s", text ? text : "error without a text");
    /* One line: the traceback's lines are joined. */
    for (char *c = error_; *c; c++)
        if (*c == '\n' || *c == '\t')
            *c = ' ';
    lua_settop(lua_, 0);
    return false;
}

/* Function and arguments are on the stack; a result is dropped. */
bool host::call(int arguments)
{
    int handler = lua_gettop(lua_) - arguments;
    lua_pushcfunction(lua_, traceback);
    lua_insert(lua_, handler);
    if (lua_pcall(lua_, arguments, 0, handler) != LUA_OK)
        return fail();
    lua_remove(lua_, handler);
    return true;
}

bool host::start(const char *scripts, scene::scene &s, std::uint64_t seed)
{
    directory = scripts;
    stage = &s;
    random = hash_u64(2, seed) | 1;
    lua_ = new_state();
    if (!lua_)
        game_out_of_memory(0);
    luaL_openlibs(lua_);
    luaL_newlibtable(lua_, bindings);
    lua_pushlightuserdata(lua_, this);
    luaL_setfuncs(lua_, bindings, 1);
    lua_setglobal(lua_, "engine");
    /* Not the incremental mode: how its steps cut the work up depends on how tables hash their keys. */
    lua_gc(lua_, LUA_GCGEN, 0, 0);
    lua_getglobal(lua_, "engine");
    lua_getfield(lua_, -1, "import");
    lua_remove(lua_, -2);
    lua_pushstring(lua_, "main");
    return call(1);
}

bool host::enter(const char *map)
{
    lua_getglobal(lua_, "on_enter");
    lua_pushstring(lua_, map);
    lua_newtable(lua_);
    world_spawn at;
    int n = 0;
    for (int more = world_next_spawn(&at, 1); more; more = world_next_spawn(&at, 0)) {
        lua_createtable(lua_, 0, 4);
        lua_pushinteger(lua_, at.type);
        lua_setfield(lua_, -2, "type");
        lua_pushinteger(lua_, at.x);
        lua_setfield(lua_, -2, "x");
        lua_pushinteger(lua_, at.y);
        lua_setfield(lua_, -2, "y");
        lua_pushinteger(lua_, at.angle);
        lua_setfield(lua_, -2, "angle");
        lua_rawseti(lua_, -2, ++n);
    }
    return call(2);
}

bool host::leave()
{
    lua_getglobal(lua_, "on_leave");
    return call(0);
}

bool host::frame(long number)
{
    scene::event e;
    num_sounds = 0;
    while (stage->next_event(e)) {
        lua_getglobal(lua_, "on_event");
        lua_pushstring(lua_, e.name.c_str());
        lua_pushinteger(lua_, e.id);
        lua_pushinteger(lua_, e.value);
        if (!call(3))
            return false;
    }
    lua_getglobal(lua_, "on_frame");
    lua_pushinteger(lua_, number);
    return call(1);
}

long host::objects_kib() const
{
    return lua_gc(lua_, LUA_GCCOUNT);
}

void host::stop()
{
    if (lua_)
        lua_close(lua_);
    lua_ = nullptr;
}

} // namespace script
