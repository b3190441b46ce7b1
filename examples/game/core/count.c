/* SPDX-License-Identifier: MIT */
/*
 * count.c - the counters of the counting build, and the JSON file they end in.
 *
 * 1. One row a subsystem; a row's fields are only ever added to.
 * 2. The operators new and delete of the game's own objects come through the linker's --wrap: only the
 *    containers use them here, so they are the row STL. The wrapper ends in a tail jump, so the
 *    operator's caller is still the container's code.
 * Locking: relaxed atomics. Cost: one atomic add or two a call, in the counting build only.
 */
#include "core/count.h"
#include "render/rw.h"

#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

void game_out_of_memory(size_t size)
{
    char line[80];
    int n = snprintf(line, sizeof line, "game: out of memory, %zu bytes asked for\n", size);
    if (write(STDERR_FILENO, line, (size_t)n) < 0)
        _exit(2);
    /* Not exit(): other threads are still using what its handlers would tear down. */
    _exit(1);
}

#if GAME_COUNT

typedef struct count_row {
    uint64_t allocs;        /* calls; every thread */
    uint64_t bytes;         /* asked for by allocs; every thread */
    uint64_t reallocs;      /* calls; every thread */
    uint64_t realloc_bytes; /* new sizes asked for; every thread */
    uint64_t frees;         /* calls; every thread */
} count_row;

static count_row rows[SUB_TOTAL];
static const char *const row_names[SUB_TOTAL] = {"Level", "Lua", "STL", "RenderWare", "Audio"};

static void count_add(uint64_t *field, uint64_t n)
{
    __atomic_fetch_add(field, n, __ATOMIC_RELAXED);
}

void count_alloc(subsystem sub, size_t size)
{
    count_add(&rows[sub].allocs, 1);
    count_add(&rows[sub].bytes, size);
}

void count_realloc(subsystem sub, size_t size)
{
    count_add(&rows[sub].reallocs, 1);
    count_add(&rows[sub].realloc_bytes, size);
}

void count_free(subsystem sub)
{
    count_add(&rows[sub].frees, 1);
}

int count_write(const char *path)
{
    FILE *f = fopen(path, "w");
    if (!f)
        return -1;
    for (int i = 0; i < SUB_TOTAL; i++) {
        const count_row *r = &rows[i];
        fprintf(f,
                "%s \"%s\": {\"allocs\": %ju, \"bytes\": %ju, \"reallocs\": %ju, \"realloc_bytes\": %ju, "
                "\"frees\": %ju}",
                i ? ",\n" : "{\n", row_names[i], (uintmax_t)r->allocs, (uintmax_t)r->bytes,
                (uintmax_t)r->reallocs, (uintmax_t)r->realloc_bytes, (uintmax_t)r->frees);
    }
    fputs("\n}\n", f);
    return fclose(f);
}

void *__real__Znwm(size_t size);
void __real__ZdlPv(void *p);
void __real__ZdlPvm(void *p, size_t size);
void *__wrap__Znwm(size_t size);
void __wrap__ZdlPv(void *p);
void __wrap__ZdlPvm(void *p, size_t size);

void *__wrap__Znwm(size_t size)
{
    count_alloc(SUB_STL, size);
    return __real__Znwm(size);
}

void __wrap__ZdlPv(void *p)
{
    if (p)
        count_free(SUB_STL);
    __real__ZdlPv(p);
}

void __wrap__ZdlPvm(void *p, size_t size)
{
    if (p)
        count_free(SUB_STL);
    __real__ZdlPvm(p, size);
}

static void *hook_malloc(size_t size)
{
    return game_malloc(SUB_RENDERWARE, size);
}

static void hook_free(void *p)
{
    game_free(SUB_RENDERWARE, p);
}

static void *hook_realloc(void *p, size_t size)
{
    return game_realloc(SUB_RENDERWARE, p, size);
}

static void *hook_calloc(size_t number, size_t size)
{
    return game_calloc(SUB_RENDERWARE, number, size);
}

const RwMemoryFunctions *game_render_hooks(void)
{
    static const RwMemoryFunctions hooks = {hook_malloc, hook_free, hook_realloc, hook_calloc};
    return &hooks;
}

#else

const RwMemoryFunctions *game_render_hooks(void)
{
    return NULL;
}

#endif
