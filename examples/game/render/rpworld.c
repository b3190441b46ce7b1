/* SPDX-License-Identifier: MIT */
/*
 * rpworld.c - materials, geometries, atomics, clumps and the world that holds clumps.
 *
 * 1. A geometry's triangles and materials grow by realloc; its vertices are fixed when it is created.
 * 2. An atomic uses one geometry and owns one frame; a clump owns its atomics and its root frame, and each
 *    atomic's frame hangs below that root.
 * 3. world->clumps[c->worldIndex] == c for each clump in a world; removal moves the last one into the gap.
 * Locking: none; see rw.h. Cost: a clump with one atomic is four allocations.
 * Read next: rwcamera.c.
 */
#include "render/rwmemory.h"

#include <math.h>
#include <string.h>

RpMaterial *RpMaterialCreate(RwTexture *texture, uint32_t color)
{
    RpMaterial *m = RwMalloc(sizeof *m);
    *m = (RpMaterial){texture, color, 1};
    if (texture)
        RwTextureAddRef(texture);
    return m;
}

void RpMaterialDestroy(RpMaterial *m)
{
    if (--m->refCount)
        return;
    if (m->texture)
        RwTextureDestroy(m->texture);
    RwFree(m);
}

RpGeometry *RpGeometryCreate(int numVertices)
{
    RpGeometry *g = RwCalloc(1, sizeof *g);
    size_t n = (size_t)(numVertices ? numVertices : 1);
    g->numVertices = numVertices;
    g->refCount = 1;
    g->vertices = RwMalloc(n * sizeof *g->vertices);
    g->texCoords = RwMalloc(n * 2 * sizeof *g->texCoords);
    return g;
}

void RpGeometryAddTriangle(RpGeometry *g, int a, int b, int c, int material)
{
    RW_GROW(g->triangles, g->numTriangles, g->maxTriangles, 16);
    g->triangles[g->numTriangles++] =
        (RpTriangle){{(uint16_t)a, (uint16_t)b, (uint16_t)c}, (uint16_t)material};
}

int RpGeometryAddMaterial(RpGeometry *g, RpMaterial *material)
{
    RW_GROW(g->materials, g->numMaterials, g->maxMaterials, 4);
    g->materials[g->numMaterials] = material;
    return g->numMaterials++;
}

/* Ends the changes: gives back spare room and works out the bounding sphere. */
void RpGeometryUnlock(RpGeometry *g)
{
    if (g->numTriangles && g->numTriangles < g->maxTriangles) {
        g->maxTriangles = g->numTriangles;
        g->triangles = RwRealloc(g->triangles, (size_t)g->numTriangles * sizeof *g->triangles);
    }
    RwV3d sum = {0, 0, 0};
    for (int i = 0; i < g->numVertices; i++) {
        sum.x += g->vertices[i].x;
        sum.y += g->vertices[i].y;
        sum.z += g->vertices[i].z;
    }
    float n = (float)(g->numVertices ? g->numVertices : 1), far = 0;
    g->centre = (RwV3d){sum.x / n, sum.y / n, sum.z / n};
    for (int i = 0; i < g->numVertices; i++) {
        float x = g->vertices[i].x - g->centre.x, y = g->vertices[i].y - g->centre.y;
        float square = x * x + y * y;
        far = square > far ? square : far;
    }
    g->radius = sqrtf(far);
}

/* Gives up one use; the last one frees it. */
void RpGeometryDestroy(RpGeometry *g)
{
    if (--g->refCount)
        return;
    for (int i = 0; i < g->numMaterials; i++)
        RpMaterialDestroy(g->materials[i]);
    RwFree(g->materials);
    RwFree(g->triangles);
    RwFree(g->texCoords);
    RwFree(g->vertices);
    RwFree(g);
}

void RpGeometryStreamWrite(const RpGeometry *g, RwStream *s)
{
    RwStreamWrite(s, &g->numVertices, sizeof g->numVertices);
    RwStreamWrite(s, &g->numTriangles, sizeof g->numTriangles);
    RwStreamWrite(s, g->vertices, (size_t)g->numVertices * sizeof *g->vertices);
    RwStreamWrite(s, g->texCoords, (size_t)g->numVertices * 2 * sizeof *g->texCoords);
    RwStreamWrite(s, g->triangles, (size_t)g->numTriangles * sizeof *g->triangles);
}

/* The geometry comes back without materials: those are the reader's. */
RpGeometry *RpGeometryStreamRead(RwStream *s)
{
    int numVertices, numTriangles;
    if (RwStreamRead(s, &numVertices, sizeof numVertices) ||
        RwStreamRead(s, &numTriangles, sizeof numTriangles))
        return NULL;
    RpGeometry *g = RpGeometryCreate(numVertices);
    int failed = RwStreamRead(s, g->vertices, (size_t)numVertices * sizeof *g->vertices) ||
                 RwStreamRead(s, g->texCoords, (size_t)numVertices * 2 * sizeof *g->texCoords);
    for (int i = 0; i < numTriangles && !failed; i++) {
        RpTriangle t;
        failed = RwStreamRead(s, &t, sizeof t);
        if (!failed)
            RpGeometryAddTriangle(g, t.vertex[0], t.vertex[1], t.vertex[2], t.material);
    }
    RpGeometryUnlock(g);
    return g;
}

RpAtomic *RpAtomicCreate(RpGeometry *g)
{
    RpAtomic *a = RwMalloc(sizeof *a);
    *a = (RpAtomic){NULL, RwFrameCreate(), g};
    g->refCount++;
    return a;
}

void RpAtomicDestroy(RpAtomic *a)
{
    RwFrameDestroy(a->frame);
    RpGeometryDestroy(a->geometry);
    RwFree(a);
}

RpClump *RpClumpCreate(void)
{
    RpClump *c = RwMalloc(sizeof *c);
    *c = (RpClump){RwFrameCreate(), NULL, -1};
    return c;
}

void RpClumpAddAtomic(RpClump *c, RpAtomic *a)
{
    a->next = c->atomics;
    c->atomics = a;
    RwFrameAddChild(c->frame, a->frame);
}

/* Frames are the clone's own, geometries are shared. */
RpClump *RpClumpClone(const RpClump *c)
{
    RpClump *clone = RpClumpCreate();
    clone->frame->modelling = c->frame->modelling;
    for (const RpAtomic *a = c->atomics; a; a = a->next) {
        RpAtomic *copy = RpAtomicCreate(a->geometry);
        copy->frame->modelling = a->frame->modelling;
        RpClumpAddAtomic(clone, copy);
    }
    return clone;
}

void RpClumpDestroy(RpClump *c)
{
    while (c->atomics) {
        RpAtomic *a = c->atomics;
        c->atomics = a->next;
        RpAtomicDestroy(a);
    }
    RwFrameDestroy(c->frame);
    RwFree(c);
}

RpWorld *RpWorldCreate(void)
{
    return RwCalloc(1, sizeof(RpWorld));
}

void RpWorldAddClump(RpWorld *w, RpClump *c)
{
    RW_GROW(w->clumps, w->numClumps, w->maxClumps, 64);
    c->worldIndex = w->numClumps;
    w->clumps[w->numClumps++] = c;
}

void RpWorldRemoveClump(RpWorld *w, RpClump *c)
{
    RpClump *last = w->clumps[--w->numClumps];
    w->clumps[c->worldIndex] = last;
    last->worldIndex = c->worldIndex;
    c->worldIndex = -1;
}

void RpWorldDestroy(RpWorld *w)
{
    RwFree(w->clumps);
    RwFree(w);
}
