/* SPDX-License-Identifier: MIT */
/*
 * lua_budget.c - a Lua state with a budget: poolmem_lua_alloc under lua_newstate, in a pool whose limit is
 * Lua's memory error. The state lives on after it. cc lua_budget.c $(pkg-config --cflags --libs lua5.4
 * poolmem) -o lua_budget
 */
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <poolmem.h>
#include <stdio.h>

int main(void)
{
    poolmem_options budget = {.limit = 1 << 20, .over = POOLMEM_OVER_FAIL};
    poolmem_pool *pool = poolmem_pool_create("Scripts", NULL, POOLMEM_HEAP, &budget);
    lua_State *L = lua_newstate(poolmem_lua_alloc, pool);
    if (!L) {
        fprintf(stderr, "lua_budget: no memory for a state\n");
        return 1;
    }
    luaL_openlibs(L);
    int small = luaL_dostring(L, "local t = {} for i = 1, 1000 do t[i] = {i} end return #t");
    int large =
        luaL_dostring(L, "local t = {} for i = 1, 1e6 do t[i] = {i} if i == 500000 then break end end");
    printf("small: %s, large: %s\n", small ? lua_tostring(L, -1) : "ok", large ? lua_tostring(L, -1) : "ok");
    lua_settop(L, 0);
    printf("afterwards: %s\n", luaL_dostring(L, "collectgarbage() return 1") ? lua_tostring(L, -1) : "ok");
    lua_close(L);
    poolmem_stats s = {0};
    poolmem_pool_stats(pool, &s);
    printf("left: %llu\n", (unsigned long long)s.live_blocks);
    return 0;
}
