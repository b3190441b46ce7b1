/* SPDX-License-Identifier: MIT */
/*
 * rwtexture.c - rasters, textures and the dictionary of those in use.
 *
 * 1. A texture owns its raster. It is created with one use, which the dictionary takes over.
 * 2. In a dictionary a key is there once: adding a second one destroys it and hands out the first.
 * 3. Purge destroys what nobody but the dictionary uses.
 * Locking: none; see rw.h. Cost: find is a walk of the list, a few hundred long.
 * Read next: rpworld.c.
 */
#include "render/rwmemory.h"

#include <stdio.h>
#include <string.h>

RwRaster *RwRasterCreate(int width, int height)
{
    RwRaster *r = RwMalloc(sizeof *r);
    *r = (RwRaster){width, height, NULL};
    /* Pixels are asked of libc itself: large, and not for a hook's small-object heap. */
    r->pixels = game_malloc(SUB_RENDERWARE, (size_t)width * (size_t)height * sizeof *r->pixels);
    return r;
}

void RwRasterDestroy(RwRaster *r)
{
    game_free(SUB_RENDERWARE, r->pixels);
    RwFree(r);
}

RwTexture *RwTextureCreate(RwRaster *raster, int key, const char *name)
{
    RwTexture *t = RwCalloc(1, sizeof *t);
    t->raster = raster;
    t->key = key;
    t->refCount = 1;
    snprintf(t->name, sizeof t->name, "%s", name);
    return t;
}

void RwTextureAddRef(RwTexture *t)
{
    t->refCount++;
}

void RwTextureDestroy(RwTexture *t)
{
    if (--t->refCount)
        return;
    RwRasterDestroy(t->raster);
    RwFree(t);
}

RwTexDictionary *RwTexDictionaryCreate(void)
{
    return RwCalloc(1, sizeof(RwTexDictionary));
}

RwTexture *RwTexDictionaryFind(const RwTexDictionary *d, int key)
{
    for (RwTexture *t = d->first; t; t = t->next)
        if (t->key == key)
            return t;
    return NULL;
}

static size_t RwTextureBytes(const RwTexture *t)
{
    return (size_t)t->raster->width * (size_t)t->raster->height * sizeof *t->raster->pixels;
}

RwTexture *RwTexDictionaryAdd(RwTexDictionary *d, RwTexture *t)
{
    RwTexture *there = RwTexDictionaryFind(d, t->key);
    if (there) {
        RwTextureDestroy(t);
        return there;
    }
    t->next = d->first;
    d->first = t;
    d->numTextures++;
    d->numBytes += RwTextureBytes(t);
    return t;
}

static void RwTexDictionaryDrop(RwTexDictionary *d, int least)
{
    for (RwTexture **link = &d->first; *link;) {
        RwTexture *t = *link;
        if (t->refCount > least) {
            link = &t->next;
            continue;
        }
        *link = t->next;
        d->numTextures--;
        d->numBytes -= RwTextureBytes(t);
        RwTextureDestroy(t);
    }
}

void RwTexDictionaryPurge(RwTexDictionary *d)
{
    RwTexDictionaryDrop(d, 1);
}

void RwTexDictionaryDestroy(RwTexDictionary *d)
{
    RwTexDictionaryPurge(d);
    RwFree(d);
}
