/* SPDX-License-Identifier: MIT */
/*
 * script.c - a host with Lua inside (liblua5.4), as games have it: a state per script, opened, run, closed.
 *
 * PROGRAM run SCALE THREADS FILE...: runs each file in a fresh state, as often as SCALE says. A script ends
 * with `return NUMBER`; the sum of those is the result. Lua allocates all it needs through one realloc call.
 */
#include "work.h"

#include <lauxlib.h>
#include <lualib.h>
#include <stdio.h>

static uint64_t script_run(const char *file)
{
    lua_State *state = luaL_newstate();
    luaL_openlibs(state);
    if (luaL_dofile(state, file)) {
        fprintf(stderr, "script: %s\n", lua_tostring(state, -1));
        exit(1);
    }
    uint64_t value = (uint64_t)lua_tointeger(state, -1);
    lua_close(state);
    return value;
}

static work_result run_scripts(const work_args *a)
{
    uint64_t rounds = work_count(a, 6), sum = 0;
    for (uint64_t r = 0; r < rounds; r++)
        for (char **file = a->rest; *file; file++)
            sum += script_run(*file);
    return (work_result){rounds, sum, 0};
}

const work work_table[] = {{"run", run_scripts}, {NULL, NULL}};
