/* SPDX-License-Identifier: MIT */
/*
 * sdl_hooks.c - SDL's own memory in a pool: SDL_SetMemoryFunctions with poolmem's calls, before SDL_Init.
 * Works linked and header-only; without the library SDL stays on malloc. cc sdl_hooks.c $(pkg-config --cflags
 * --libs sdl2 poolmem) -o sdl_hooks
 */
#include <SDL.h>
#include <poolmem.h>
#include <stdio.h>

static poolmem_pool *sdl_pool;

static void *SDLCALL sdl_malloc(size_t size)
{
    return poolmem_alloc(sdl_pool, size ? size : 1);
}

static void *SDLCALL sdl_calloc(size_t count, size_t size)
{
    return poolmem_calloc(sdl_pool, count, size);
}

static void *SDLCALL sdl_realloc(void *block, size_t size)
{
    return poolmem_realloc(sdl_pool, block, size ? size : 1);
}

static void SDLCALL sdl_free(void *block)
{
    poolmem_free(block);
}

int main(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    sdl_pool = poolmem_pool_create("SDL", NULL, POOLMEM_HEAP, NULL);
    if (SDL_SetMemoryFunctions(sdl_malloc, sdl_calloc, sdl_realloc, sdl_free) != 0 ||
        SDL_Init(SDL_INIT_EVENTS) != 0) {
        fprintf(stderr, "sdl_hooks: %s\n", SDL_GetError());
        return 1;
    }
    SDL_Surface *picture = SDL_CreateRGBSurfaceWithFormat(0, 320, 200, 32, SDL_PIXELFORMAT_RGBA32);
    poolmem_stats s = {0};
    poolmem_pool_stats(sdl_pool, &s);
    printf("picture %s, SDL holds %s\n", picture ? "made" : "failed",
           !poolmem_present()             ? "malloc's memory"
           : s.live_bytes > 320 * 200 * 4 ? "its pool's memory"
                                          : "nothing");
    SDL_FreeSurface(picture);
    SDL_Quit();
    return 0;
}
