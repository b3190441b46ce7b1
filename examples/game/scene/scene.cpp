// SPDX-License-Identifier: MIT
/*
 * scene.cpp - entities and the frame's work on them: the grid, contacts, timers, events, clumps.
 *
 * 1. The grid holds each entity once, in the order of ids; cells are CELL units wide.
 * 2. Each prototype clump is made at start; an entity gets a clone, which shares the geometry.
 * Locking: main thread only. Read next: scene_path.cpp.
 */
#include "scene/scene.h"

#include "core/hash.h"
#include "world/world.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace scene
{

constexpr int CELL = 128, CELL_STRIDE = 1024, MODEL_RINGS = 6, MODEL_SIDES = 8;
constexpr double REACH_CONTACT = 48;
constexpr float FRAME_SECONDS = 1.0f / 60;

/* Cells are numbered row by row, from far outside any map. */
static int cell_at(double x, double y)
{
    int cx = (int)std::floor(x / CELL) + CELL_STRIDE / 2, cy = (int)std::floor(y / CELL) + CELL_STRIDE / 2;
    return cy * CELL_STRIDE + cx;
}

/* A tube of rings, a little wider or narrower by its shape. */
static RpGeometry *make_model(int shape)
{
    RpGeometry *g = RpGeometryCreate(MODEL_RINGS * MODEL_SIDES);
    RpGeometryAddMaterial(g, RpMaterialCreate(nullptr, 0x800000FFu + (unsigned)shape * 4096));
    for (int r = 0; r < MODEL_RINGS; r++)
        for (int s = 0; s < MODEL_SIDES; s++) {
            int v = r * MODEL_SIDES + s, up = v + MODEL_SIDES, side = r * MODEL_SIDES + (s + 1) % MODEL_SIDES;
            float wide = (float)(8 + (shape + r) % 5);
            g->vertices[v] = {s & 1 ? wide : -wide, s & 2 ? wide : -wide, (float)(r * 8)};
            g->texCoords[2 * v] = (float)s / MODEL_SIDES;
            g->texCoords[2 * v + 1] = (float)r / MODEL_RINGS;
            if (r + 1 == MODEL_RINGS)
                continue;
            RpGeometryAddTriangle(g, v, side, up, 0);
            RpGeometryAddTriangle(g, side, side + MODEL_SIDES, up, 0);
        }
    RpGeometryUnlock(g);
    return g;
}

/* Models come out of a stream, as they would out of a file. */
static RpGeometry *stream_model(int shape)
{
    RpGeometry *g = make_model(shape);
    RwStream *s = RwStreamOpen();
    RpGeometryStreamWrite(g, s);
    RpGeometryDestroy(g);
    g = RpGeometryStreamRead(s);
    RwStreamClose(s);
    RpGeometryAddMaterial(g, RpMaterialCreate(nullptr, 0x800000FFu + (unsigned)shape * 4096));
    return g;
}

void scene::make_prototypes()
{
    for (int i = 0; i < PROTOTYPES; i++) {
        RpGeometry *body = stream_model(i), *head = stream_model(i + PROTOTYPES);
        prototypes_[i] = RpClumpCreate();
        RpClumpAddAtomic(prototypes_[i], RpAtomicCreate(body));
        RpClumpAddAtomic(prototypes_[i], RpAtomicCreate(head));
        RpGeometryDestroy(body);
        RpGeometryDestroy(head);
        anims_[i] = RtAnimCreate(8 + i, (std::uint32_t)i);
    }
}

void scene::start(std::uint64_t seed)
{
    random_ = hash_u64(1, seed) | 1;
    make_prototypes();
}

void scene::stop()
{
    store_.clear();
    for (int i = 0; i < PROTOTYPES; i++) {
        RpClumpDestroy(prototypes_[i]);
        RtAnimDestroy(anims_[i]);
    }
}

/* Ids start again in each map, so that a map is the same whatever was played before it. */
void scene::enter()
{
    next_id_ = 1;
}

void scene::leave()
{
    for (int id = 1; id < next_id_; id++)
        remove(id);
    store_.clear();
}

int scene::spawn(int type, double x, double y, const char *name)
{
    int id = next_id_++, shape = (unsigned)type % PROTOTYPES;
    entity *e = store_.add(id, type, name);
    e->x = x;
    e->y = y;
    e->z = world_floor((int)x, (int)y);
    e->health = 100;
    e->clump = RpClumpClone(prototypes_[shape]);
    e->anim = RtAnimInterpolatorCreate(anims_[shape]);
    RwFrameTranslate(e->clump->frame, (float)e->x, (float)e->y, (float)e->z);
    RpWorldAddClump(world_clumps(), e->clump);
    store_.wake(id);
    return id;
}

entity *scene::find(int id)
{
    auto at = store_.entities.find(id);
    return at == store_.entities.end() ? nullptr : at->second.get();
}

int scene::find_name(const char *name)
{
    /* No temporary string: looking up must not allocate outside the store. */
    for (const auto &n : store_.names)
        if (n.first == name)
            return n.second;
    return 0;
}

bool scene::remove(int id)
{
    entity *e = find(id);
    if (!e)
        return false;
    RpWorldRemoveClump(world_clumps(), e->clump);
    RpClumpDestroy(e->clump);
    RtAnimInterpolatorDestroy(e->anim);
    store_.remove(id);
    return true;
}

/* False when the floor there is out of a step's reach; the entity stays where it is. */
bool scene::move(int id, double x, double y)
{
    entity *e = find(id);
    if (!e || x < -32000 || x > 32000 || y < -32000 || y > 32000)
        return false;
    if (!world_can_step((int)e->x, (int)e->y, (int)x, (int)y))
        return false;
    e->x = x;
    e->y = y;
    e->z = world_floor((int)x, (int)y);
    store_.wake(id);
    return true;
}

/* In the order of ids, as the cells are visited in an order that means nothing. */
void scene::near(double x, double y, double reach, ids &out)
{
    int around = (int)(reach / CELL) + 1, middle = cell_at(x, y);
    for (int dy = -around; dy <= around; dy++)
        for (int dx = -around; dx <= around; dx++)
            for (int id : store_.cell_copy(middle + dy * CELL_STRIDE + dx)) {
                const entity *e = find(id);
                if (e && (e->x - x) * (e->x - x) + (e->y - y) * (e->y - y) < reach * reach)
                    store_.append(out, id);
            }
    std::sort(out.begin(), out.end());
}

void scene::emit(const char *name, int id, int value)
{
    store_.event_add(name, id, value);
}

void scene::emit_later(long frames, const char *name, int id, int value)
{
    store_.timer_add(frame_ + frames, name, id, value);
}

bool scene::next_event(event &out)
{
    if (store_.events.empty())
        return false;
    out = std::move(store_.events.front());
    store_.events.pop_front();
    return true;
}

void scene::message(const char *text)
{
    log_hash_ = hash_bytes(log_hash_, text, std::strlen(text));
    store_.message_add(text);
}

/* Made anew every frame, as engines do that would rather not track what moved. */
void scene::build_grid()
{
    store_.grid.clear();
    for (int id = 1; id < next_id_; id++)
        if (const entity *e = find(id))
            store_.grid_add(cell_at(e->x, e->y), id);
}

void scene::find_contacts()
{
    store_.contacts.clear();
    for (int id : store_.awake) {
        const entity *e = find(id);
        ids around;
        near(e->x, e->y, REACH_CONTACT, around);
        for (int other : around) {
            const entity *o = find(other);
            if (other > id)
                store_.contact_add({id, other, std::hypot(o->x - e->x, o->y - e->y)});
        }
    }
    /* A list's sort is stable: equal distances stay in the order of ids. */
    store_.contacts.sort([](const contact &a, const contact &b) { return a.distance < b.distance; });
    for (const contact &c : store_.contacts) {
        store_.touch(*find(c.a), c.b);
        store_.touch(*find(c.b), c.a);
        if (random_next(&random_) % 16 == 0)
            store_.event_add("touch", c.a, c.b);
    }
}

void scene::fire_timers(long frame)
{
    auto end = store_.timers.upper_bound(frame);
    for (auto at = store_.timers.begin(); at != end; ++at)
        store_.event_add(at->second);
    store_.timers.erase(store_.timers.begin(), end);
}

void scene::update(long frame)
{
    frame_ = frame;
    build_grid();
    find_contacts();
    fire_timers(frame);
    for (int id : store_.awake) {
        entity *e = find(id);
        RtAnimInterpolatorAddTime(e->anim, FRAME_SECONDS);
        RwFrameTranslate(e->clump->frame, (float)e->x, (float)e->y, (float)e->z + e->anim->offset.z);
        for (RpAtomic *a = e->clump->atomics; a; a = a->next)
            RwFrameTranslate(a->frame, e->anim->offset.x, e->anim->offset.y, 0);
    }
    /* Who has not moved since falls asleep: no contacts, no animation. */
    if (frame % 32 == 0)
        store_.awake.clear();
}

/* One spark where two touch. */
int scene::particles(RwV3d *out, int room) const
{
    int number = 0;
    for (const contact &c : store_.contacts) {
        const entity *e = store_.entities.at(c.a).get();
        if (number < room)
            out[number++] = {(float)e->x, (float)e->y, (float)(e->z + c.distance)};
    }
    return number;
}

std::uint64_t scene::hash() const
{
    std::uint64_t h = log_hash_;
    for (const auto &n : store_.names) {
        const entity *e = store_.entities.at(n.second).get();
        h = hash_double(hash_double(hash_u64(h, (std::uint64_t)e->id), e->x), e->y);
        h = hash_u64(h, (std::uint64_t)e->health << 32 | (std::uint32_t)e->touched.size());
    }
    return hash_u64(h, store_.entities.size() << 32 | (std::uint32_t)store_.contacts.size());
}

} // namespace scene
