/* SPDX-License-Identifier: MIT */
/*
 * rtanim.c - key-frame animations and the interpolators that play them.
 *
 * 1. An animation's keys are in order of time; an interpolator keeps one use of its animation.
 * Locking: none; see rw.h. Memory: libc's own functions, as this tool knows no hooks.
 * Read next: rwcamera.c.
 */
#include "render/rwmemory.h"

#include "core/hash.h"

RtAnimAnimation *RtAnimCreate(int numKeys, uint32_t seed)
{
    RtAnimAnimation *a = game_malloc(SUB_RENDERWARE, sizeof *a);
    uint64_t state = seed + 1;
    *a = (RtAnimAnimation){numKeys, 1, game_malloc(SUB_RENDERWARE, (size_t)numKeys * sizeof *a->keys)};
    for (int i = 0; i < numKeys; i++) {
        float r = (float)(random_next(&state) >> 60);
        a->keys[i] = (RtAnimKey){(float)i / 8, {r, 16 - r, r / 2}};
    }
    return a;
}

void RtAnimDestroy(RtAnimAnimation *a)
{
    if (--a->refCount)
        return;
    game_free(SUB_RENDERWARE, a->keys);
    game_free(SUB_RENDERWARE, a);
}

RtAnimInterpolator *RtAnimInterpolatorCreate(RtAnimAnimation *anim)
{
    RtAnimInterpolator *in = game_calloc(SUB_RENDERWARE, 1, sizeof *in);
    in->anim = anim;
    anim->refCount++;
    return in;
}

void RtAnimInterpolatorAddTime(RtAnimInterpolator *in, float seconds)
{
    const RtAnimAnimation *a = in->anim;
    in->time += seconds;
    if (in->time >= a->keys[a->numKeys - 1].time) {
        in->time = 0;
        in->at = 0;
    }
    while (in->at + 1 < a->numKeys - 1 && a->keys[in->at + 1].time <= in->time)
        in->at++;
    const RtAnimKey *k = &a->keys[in->at], *n = k + 1;
    float part = (in->time - k->time) / (n->time - k->time);
    in->offset = (RwV3d){k->offset.x + part * (n->offset.x - k->offset.x),
                         k->offset.y + part * (n->offset.y - k->offset.y),
                         k->offset.z + part * (n->offset.z - k->offset.z)};
}

void RtAnimInterpolatorDestroy(RtAnimInterpolator *in)
{
    RtAnimDestroy(in->anim);
    game_free(SUB_RENDERWARE, in);
}
