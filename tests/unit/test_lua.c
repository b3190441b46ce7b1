/* SPDX-License-Identifier: MIT */
/* test_lua.c - poolmem_lua_alloc under a real Lua 5.4: a budget is Lua's memory error, and the state lives on
 * after it. */
#define POOLMEM_LINKED 1
#include "poolmem.h"
#include "retail.h"

#include <criterion/criterion.h>

#if __has_include(<lua5.4/lua.h>)
#include <lua5.4/lauxlib.h>
#include <lua5.4/lua.h>
#include <lua5.4/lualib.h>

static char block[1 << 20] __attribute__((aligned(1024)));

static pool_stats stats_of(retail_pool *p)
{
    pool_stats s = {0};
    pool_get_stats(&p->base, &s);
    return s;
}

Test(lua, a_budget_is_luas_memory_error)
{
    retail_pool p;
    cr_assert_eq(retail_init_in_place(&p, NULL, block, 256 * 1024, "Lua"), POOL_OK);
    lua_State *L = lua_newstate(poolmem_lua_alloc, &p.base);
    cr_assert_not_null(L);
    luaL_openlibs(L);
    cr_assert_eq(luaL_dostring(L, "t = {} for i = 1, 500 do t[i] = 'entity ' .. i end return #t"), LUA_OK);
    cr_assert_eq(lua_tointeger(L, -1), 500);
    cr_assert_gt(stats_of(&p).live_bytes, 20000);
    cr_assert_eq(luaL_loadstring(L, "local s = {} for i = 1, 1e7 do s[i] = ('x'):rep(1000) .. i end"),
                 LUA_OK);
    cr_assert_eq(lua_pcall(L, 0, 0, 0), LUA_ERRMEM);
    cr_assert_str_eq(lua_tostring(L, -1), "not enough memory");
    cr_assert(pool_check(&p.base));
    cr_assert_eq(luaL_dostring(L, "collectgarbage() t = nil collectgarbage() return 1 + 1"), LUA_OK,
                 "it lives on");
    lua_close(L);
    cr_assert_eq(stats_of(&p).live_blocks, 0);
    cr_assert(pool_check(&p.base));
    pool_destroy(&p.base);
}

Test(lua, a_state_that_does_not_fit_is_none)
{
    retail_pool p;
    cr_assert_eq(retail_init_in_place(&p, NULL, block, 3 * 1024, "Lua"), POOL_OK);
    cr_assert_null(lua_newstate(poolmem_lua_alloc, &p.base));
    cr_assert_eq(stats_of(&p).live_blocks, 0);
    pool_destroy(&p.base);
    cr_assert_null(lua_newstate(poolmem_lua_alloc, NULL));
}

Test(lua, shrinking_never_fails)
{
    retail_pool p;
    cr_assert_eq(retail_init_in_place(&p, NULL, block, 3 * 1024, "Lua"), POOL_OK);
    char *b = poolmem_lua_alloc(&p.base, NULL, LUA_TSTRING, 512);
    b = b ? b : poolmem_lua_alloc(&p.base, NULL, LUA_TSTRING, 256);
    cr_assert_not_null(b);
    void *rest;
    while ((rest = poolmem_lua_alloc(&p.base, NULL, LUA_TSTRING, 64)))
        ;
    cr_assert_not_null(poolmem_lua_alloc(&p.base, b, 512, 64), "there is no room to move to");
    cr_assert_null(poolmem_lua_alloc(&p.base, b, 512, 4096));
    cr_assert_null(poolmem_lua_alloc(&p.base, b, 512, 0));
    pool_destroy(&p.base);
}
#endif
