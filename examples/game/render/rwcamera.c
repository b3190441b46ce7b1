/* SPDX-License-Identifier: MIT */
/*
 * rwcamera.c - one frame's picture: what is near enough is transformed, and the sums go into the checksum.
 *
 * 1. The checksum does not depend on the order of clumps in the world: each atomic adds its own hash.
 * 2. Scratch memory lives from BeginUpdate to EndUpdate, and grows by realloc in between.
 * Locking: none; see rw.h. Cost: one transform a vertex, one display-list packet an atomic.
 */
#include "render/rwmemory.h"

#include "core/hash.h"

#include <math.h>

enum { SCRATCH_START = 256, PACKET_BYTES = 48 };

RwCamera *RwCameraCreate(float farPlane)
{
    RwCamera *c = RwCalloc(1, sizeof *c);
    c->frame = RwFrameCreate();
    c->farPlane = farPlane;
    return c;
}

void RwCameraDestroy(RwCamera *c)
{
    RwFrameDestroy(c->frame);
    RwFree(c);
}

void RwCameraBeginUpdate(RwCamera *c)
{
    c->maxScratch = SCRATCH_START;
    c->scratch = RwMalloc(SCRATCH_START * sizeof *c->scratch);
    c->numScratch = c->numTriangles = c->numAtomics = 0;
    c->hash = 0;
}

static void RwCameraReserve(RwCamera *c, int number)
{
    if (c->numScratch + number <= c->maxScratch)
        return;
    while (c->numScratch + number > c->maxScratch)
        c->maxScratch *= 2;
    c->scratch = RwRealloc(c->scratch, (size_t)c->maxScratch * sizeof *c->scratch);
}

/* By distance alone: a camera that renders nothing need not look anywhere. */
static int RwCameraSees(const RwCamera *c, const RwMatrix *m, const RpGeometry *g)
{
    float x = m->pos.x + g->centre.x - c->frame->modelling.pos.x;
    float y = m->pos.y + g->centre.y - c->frame->modelling.pos.y;
    float reach = c->farPlane + g->radius;
    return x * x + y * y <= reach * reach;
}

static uint64_t RwTransformVertices(const RwMatrix *m, const RpGeometry *g, RwV3d *to)
{
    float x = 0, y = 0, z = 0;
    for (int i = 0; i < g->numVertices; i++) {
        RwV3d v = g->vertices[i];
        to[i].x = m->right.x * v.x + m->up.x * v.y + m->at.x * v.z + m->pos.x;
        to[i].y = m->right.y * v.x + m->up.y * v.y + m->at.y * v.z + m->pos.y;
        to[i].z = m->right.z * v.x + m->up.z * v.y + m->at.z * v.z + m->pos.z;
        x += to[i].x;
        y += to[i].y;
        z += to[i].z;
    }
    return hash_double(hash_double(hash_double(1, x), y), z);
}

/* A packet of the display list: made, filled and sent for each atomic. */
static uint64_t RwSendPacket(const RpGeometry *g, uint64_t hash)
{
    uint64_t *packet = RwMalloc(PACKET_BYTES + (size_t)g->numMaterials * sizeof *packet);
    int words = PACKET_BYTES / 8;
    for (int i = 0; i < words; i++)
        packet[i] = hash + (uint64_t)(i * g->numTriangles);
    for (int i = 0; i < g->numMaterials; i++) {
        const RwTexture *t = g->materials[i]->texture;
        packet[words + i] = t ? t->raster->pixels[0] : g->materials[i]->color;
    }
    hash = hash_bytes(hash, packet, (size_t)(words + g->numMaterials) * sizeof *packet);
    RwFree(packet);
    return hash;
}

static void RwCameraRenderAtomic(RwCamera *c, RpAtomic *a)
{
    const RwMatrix *m = RwFrameGetLTM(a->frame);
    if (!RwCameraSees(c, m, a->geometry))
        return;
    RwCameraReserve(c, a->geometry->numVertices);
    uint64_t hash = RwTransformVertices(m, a->geometry, c->scratch + c->numScratch);
    c->numScratch += a->geometry->numVertices;
    c->numTriangles += a->geometry->numTriangles;
    c->numAtomics++;
    c->hash += RwSendPacket(a->geometry, hash);
}

void RwCameraRenderWorld(RwCamera *c, RpWorld *w)
{
    for (int i = 0; i < w->numClumps; i++)
        for (RpAtomic *a = w->clumps[i]->atomics; a; a = a->next)
            RwCameraRenderAtomic(c, a);
}

void RwIm3DRenderParticles(RwCamera *c, const RwV3d *at, int number)
{
    if (!number)
        return;
    RwV3d *corners = RwMalloc((size_t)number * 4 * sizeof *corners);
    for (int i = 0; i < 4 * number; i++) {
        corners[i] = at[i / 4];
        corners[i].x += i & 1 ? 4 : -4;
        corners[i].z += i & 2 ? 4 : -4;
    }
    c->hash += hash_bytes(2, corners, (size_t)number * 4 * sizeof *corners);
    c->numTriangles += 2 * number;
    RwFree(corners);
}

uint64_t RwCameraEndUpdate(RwCamera *c)
{
    RwFree(c->scratch);
    c->scratch = NULL;
    return hash_u64(c->hash, (uint64_t)c->numTriangles << 32 | (uint32_t)c->numAtomics);
}
