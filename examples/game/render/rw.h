/* SPDX-License-Identifier: MIT */
/*
 * rw.h - a small retained-mode renderer with names in the manner of RenderWare: Rw* core objects, Rp* the
 * scene's geometry, Rt* tools. It draws nothing; it transforms, sorts and folds the result into a checksum.
 *
 * 1. Memory comes through RwMemory, a table of hooks; without hooks the entries are libc's own functions.
 * 2. Every allocation is made inside a function whose name starts with Rw, Rp or Rt.
 * 3. Textures, materials and geometries count their users; Destroy gives up one use.
 * Locking: none. An object has one thread at a time; rasters and textures may be created on any thread.
 * Read next: rwcore.c, rwtexture.c, rpworld.c, rtanim.c, rwcamera.c.
 */
#ifndef GAME_RW_H
#define GAME_RW_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct RwMemoryFunctions {
    void *(*rwmalloc)(size_t size);
    void (*rwfree)(void *p);
    void *(*rwrealloc)(void *p, size_t size);
    void *(*rwcalloc)(size_t number, size_t size);
} RwMemoryFunctions;

extern RwMemoryFunctions RwMemory;

typedef struct RwV3d {
    float x, y, z;
} RwV3d;

typedef struct RwMatrix {
    RwV3d right, up, at, pos;
} RwMatrix;

typedef struct RwFrame {
    struct RwFrame *parent, *child, *next;
    RwMatrix modelling, ltm; /* ltm: modelling through all parents */
    int dirty;
} RwFrame;

typedef struct RwRaster {
    int width, height; /* pixels */
    uint32_t *pixels;  /* RGBA */
} RwRaster;

typedef struct RwTexture {
    struct RwTexture *next; /* in its dictionary */
    RwRaster *raster;
    int key; /* what the owner finds it by */
    int refCount;
    char name[16];
} RwTexture;

typedef struct RwTexDictionary {
    RwTexture *first;
    int numTextures;
    size_t numBytes; /* pixels of all textures */
} RwTexDictionary;

typedef struct RwStream {
    uint8_t *data;
    size_t size, room, at; /* bytes */
} RwStream;

typedef struct RpMaterial {
    RwTexture *texture;
    uint32_t color;
    int refCount;
} RpMaterial;

typedef struct RpTriangle {
    uint16_t vertex[3], material;
} RpTriangle;

typedef struct RpGeometry {
    int numVertices, numTriangles, maxTriangles, numMaterials, maxMaterials, refCount;
    RwV3d *vertices;
    float *texCoords; /* two a vertex */
    RpTriangle *triangles;
    RpMaterial **materials;
    RwV3d centre;
    float radius;
} RpGeometry;

typedef struct RpAtomic {
    struct RpAtomic *next; /* in its clump */
    RwFrame *frame;
    RpGeometry *geometry;
} RpAtomic;

typedef struct RpClump {
    RwFrame *frame;
    RpAtomic *atomics;
    int worldIndex; /* -1: in no world */
} RpClump;

typedef struct RpWorld {
    RpClump **clumps;
    int numClumps, maxClumps;
} RpWorld;

typedef struct RtAnimKey {
    float time; /* seconds */
    RwV3d offset;
} RtAnimKey;

typedef struct RtAnimAnimation {
    int numKeys, refCount;
    RtAnimKey *keys;
} RtAnimAnimation;

typedef struct RtAnimInterpolator {
    RtAnimAnimation *anim;
    float time; /* seconds */
    int at;     /* key passed last */
    RwV3d offset;
} RtAnimInterpolator;

typedef struct RwCamera {
    RwFrame *frame;
    float farPlane; /* map units */
    RwV3d *scratch; /* transformed vertices of one frame */
    int numScratch, maxScratch, numTriangles, numAtomics;
    uint64_t hash;
} RwCamera;

/* rwcore.c */
void RwEngineInit(const RwMemoryFunctions *hooks);
RwFrame *RwFrameCreate(void);
void RwFrameDestroy(RwFrame *frame);
void RwFrameAddChild(RwFrame *parent, RwFrame *child);
void RwFrameTranslate(RwFrame *frame, float x, float y, float z);
void RwFrameRotate(RwFrame *frame, float sine, float cosine);
const RwMatrix *RwFrameGetLTM(RwFrame *frame);
RwStream *RwStreamOpen(void);
void RwStreamWrite(RwStream *stream, const void *data, size_t size);
int RwStreamRead(RwStream *stream, void *data, size_t size);
void RwStreamClose(RwStream *stream);

/* rwtexture.c */
RwRaster *RwRasterCreate(int width, int height);
void RwRasterDestroy(RwRaster *raster);
RwTexture *RwTextureCreate(RwRaster *raster, int key, const char *name);
void RwTextureAddRef(RwTexture *texture);
void RwTextureDestroy(RwTexture *texture);
RwTexDictionary *RwTexDictionaryCreate(void);
RwTexture *RwTexDictionaryFind(const RwTexDictionary *dict, int key);
RwTexture *RwTexDictionaryAdd(RwTexDictionary *dict, RwTexture *texture);
void RwTexDictionaryPurge(RwTexDictionary *dict);
void RwTexDictionaryDestroy(RwTexDictionary *dict);

/* rpworld.c */
RpMaterial *RpMaterialCreate(RwTexture *texture, uint32_t color);
void RpMaterialDestroy(RpMaterial *material);
RpGeometry *RpGeometryCreate(int numVertices);
void RpGeometryAddTriangle(RpGeometry *g, int a, int b, int c, int material);
int RpGeometryAddMaterial(RpGeometry *g, RpMaterial *material);
void RpGeometryUnlock(RpGeometry *g);
void RpGeometryDestroy(RpGeometry *g);
RpGeometry *RpGeometryStreamRead(RwStream *stream);
void RpGeometryStreamWrite(const RpGeometry *g, RwStream *stream);
RpAtomic *RpAtomicCreate(RpGeometry *g);
void RpAtomicDestroy(RpAtomic *atomic);
RpClump *RpClumpCreate(void);
void RpClumpAddAtomic(RpClump *clump, RpAtomic *atomic);
RpClump *RpClumpClone(const RpClump *clump);
void RpClumpDestroy(RpClump *clump);
RpWorld *RpWorldCreate(void);
void RpWorldAddClump(RpWorld *world, RpClump *clump);
void RpWorldRemoveClump(RpWorld *world, RpClump *clump);
void RpWorldDestroy(RpWorld *world);

/* rtanim.c */
RtAnimAnimation *RtAnimCreate(int numKeys, uint32_t seed);
void RtAnimDestroy(RtAnimAnimation *anim);
RtAnimInterpolator *RtAnimInterpolatorCreate(RtAnimAnimation *anim);
void RtAnimInterpolatorAddTime(RtAnimInterpolator *in, float seconds);
void RtAnimInterpolatorDestroy(RtAnimInterpolator *in);

/* rwcamera.c */
RwCamera *RwCameraCreate(float farPlane);
void RwCameraBeginUpdate(RwCamera *camera);
void RwCameraRenderWorld(RwCamera *camera, RpWorld *world);
void RwIm3DRenderParticles(RwCamera *camera, const RwV3d *at, int number);
uint64_t RwCameraEndUpdate(RwCamera *camera);
void RwCameraDestroy(RwCamera *camera);

#ifdef __cplusplus
}
#endif
#endif
