/* SPDX-License-Identifier: MIT */
/*
 * rwcore.c - the memory hooks, frames (a tree of transforms) and memory streams.
 *
 * 1. A frame is dirty until its ltm has been worked out again; moving a frame makes what hangs below dirty.
 * 2. Destroying a frame destroys its children and unlinks it from its parent.
 * 3. A stream is one growing buffer, written from the front and read from the front.
 * Locking: none; see rw.h. Cost: one allocation a frame; a stream's buffer doubles.
 * Read next: rwtexture.c.
 */
#include "render/rwmemory.h"

#include <string.h>

RwMemoryFunctions RwMemory = {malloc, free, realloc, calloc};

void RwEngineInit(const RwMemoryFunctions *hooks)
{
    if (hooks)
        RwMemory = *hooks;
}

RwFrame *RwFrameCreate(void)
{
    RwFrame *f = RwCalloc(1, sizeof *f);
    f->modelling.right.x = f->modelling.up.y = f->modelling.at.z = 1;
    f->dirty = 1;
    return f;
}

static void RwFrameUnlink(RwFrame *f)
{
    RwFrame **link = f->parent ? &f->parent->child : NULL;
    while (link && *link != f)
        link = &(*link)->next;
    if (link)
        *link = f->next;
    f->parent = f->next = NULL;
}

void RwFrameDestroy(RwFrame *f)
{
    while (f->child)
        RwFrameDestroy(f->child);
    RwFrameUnlink(f);
    RwFree(f);
}

static void RwFrameSetDirty(RwFrame *f)
{
    f->dirty = 1;
    for (RwFrame *c = f->child; c; c = c->next)
        RwFrameSetDirty(c);
}

void RwFrameAddChild(RwFrame *parent, RwFrame *child)
{
    RwFrameUnlink(child);
    child->parent = parent;
    child->next = parent->child;
    parent->child = child;
    RwFrameSetDirty(child);
}

void RwFrameTranslate(RwFrame *f, float x, float y, float z)
{
    f->modelling.pos = (RwV3d){x, y, z};
    RwFrameSetDirty(f);
}

void RwFrameRotate(RwFrame *f, float sine, float cosine)
{
    f->modelling.right = (RwV3d){cosine, sine, 0};
    f->modelling.up = (RwV3d){-sine, cosine, 0};
    RwFrameSetDirty(f);
}

/* The turning part only; positions are added by the caller. */
static RwV3d RwMatrixTurn(const RwMatrix *m, RwV3d v)
{
    return (RwV3d){m->right.x * v.x + m->up.x * v.y + m->at.x * v.z,
                   m->right.y * v.x + m->up.y * v.y + m->at.y * v.z,
                   m->right.z * v.x + m->up.z * v.y + m->at.z * v.z};
}

const RwMatrix *RwFrameGetLTM(RwFrame *f)
{
    if (!f->dirty)
        return &f->ltm;
    f->ltm = f->modelling;
    if (f->parent) {
        const RwMatrix *p = RwFrameGetLTM(f->parent);
        RwV3d pos = RwMatrixTurn(p, f->modelling.pos);
        f->ltm.right = RwMatrixTurn(p, f->modelling.right);
        f->ltm.up = RwMatrixTurn(p, f->modelling.up);
        f->ltm.at = RwMatrixTurn(p, f->modelling.at);
        f->ltm.pos = (RwV3d){pos.x + p->pos.x, pos.y + p->pos.y, pos.z + p->pos.z};
    }
    f->dirty = 0;
    return &f->ltm;
}

RwStream *RwStreamOpen(void)
{
    return RwCalloc(1, sizeof(RwStream));
}

void RwStreamWrite(RwStream *s, const void *data, size_t size)
{
    if (s->size + size > s->room) {
        while (s->size + size > s->room)
            s->room = s->room ? 2 * s->room : 256;
        s->data = RwRealloc(s->data, s->room);
    }
    memcpy(s->data + s->size, data, size);
    s->size += size;
}

int RwStreamRead(RwStream *s, void *data, size_t size)
{
    if (size > s->size - s->at)
        return -1;
    memcpy(data, s->data + s->at, size);
    s->at += size;
    return 0;
}

void RwStreamClose(RwStream *s)
{
    RwFree(s->data);
    RwFree(s);
}
