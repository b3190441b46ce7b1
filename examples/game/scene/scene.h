/* SPDX-License-Identifier: MIT */
/*
 * scene.h - what lives in a map: entities, who is near whom, timers, events, paths. Standard containers only.
 *
 * 1. Containers grow in scene_store alone, compiled without inlining: the call to operator new is then made
 * by a function of std:: that has a frame. scene.cpp and scene_path.cpp are compiled like the rest of a game,
 * and inline what does not allocate.
 * 2. Iteration that reaches the checksum runs in the order of keys, never of a hash table.
 * 3. An entity's clump is in the world from add to remove.
 * Locking: main thread only. Read next: scene_store.cpp, scene.cpp, scene_path.cpp.
 */
#ifndef GAME_SCENE_H
#define GAME_SCENE_H

#include "render/rw.h"

#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace scene
{

struct entity {
    int id, type;
    double x, y, z; /* map units */
    int health;
    std::string name;
    std::vector<int> touched; /* ids met, latest last */
    RpClump *clump;
    RtAnimInterpolator *anim;
};

struct event {
    std::string name;
    int id, value;
};

struct contact {
    int a, b; /* a < b */
    double distance;
};

using ids = std::vector<int>;

/* The containers, and the only functions that make them grow. */
class store
{
  public:
    std::unordered_map<int, std::shared_ptr<entity>> entities;
    std::map<std::string, int> names;
    std::map<int, ids> grid; /* cell -> ids; rebuilt every frame */
    std::multimap<long, event> timers;
    std::deque<event> events;
    std::list<contact> contacts;
    std::set<int> awake;
    std::deque<std::string> messages;
    std::map<int, int> came_from;          /* cell -> cell, of the path being looked for */
    std::vector<std::pair<int, int>> open; /* (cost, cell), a heap */
    std::vector<std::pair<double, double>> path;

    store();
    entity *add(int id, int type, const char *name);
    void remove(int id);
    void grid_add(int cell, int id);
    void contact_add(const contact &c);
    void event_add(const char *name, int id, int value);
    void event_add(const event &e);
    void timer_add(long frame, const char *name, int id, int value);
    void message_add(const char *text);
    void touch(entity &e, int id);
    void wake(int id);
    bool visit(int cell, int from);
    void open_add(int cost, int cell);
    void path_add(double x, double y);
    ids cell_copy(int cell) const;
    void append(ids &to, int id);
    void clear();
};

class scene
{
  public:
    void start(std::uint64_t seed);
    void enter();
    void leave();
    void stop();
    int spawn(int type, double x, double y, const char *name);
    bool remove(int id);
    entity *find(int id);
    int find_name(const char *name);
    bool move(int id, double x, double y);
    void near(double x, double y, double reach, ids &out);
    int path(int id, double x, double y, double *next_x, double *next_y);
    void emit(const char *name, int id, int value);
    void emit_later(long frames, const char *name, int id, int value);
    bool next_event(event &out);
    void message(const char *text);
    void update(long frame);
    int particles(RwV3d *out, int room) const;
    std::uint64_t hash() const;
    std::size_t size() const
    {
        return store_.entities.size();
    }

  private:
    enum { PROTOTYPES = 16 };

    void make_prototypes();
    void build_grid();
    void find_contacts();
    void fire_timers(long frame);
    void rebuild_path(int from, int to);

    store store_;
    int next_id_ = 1;
    long frame_ = 0;
    std::uint64_t random_ = 1, log_hash_ = 1;
    RpClump *prototypes_[PROTOTYPES] = {};
    RtAnimAnimation *anims_[PROTOTYPES] = {};
};

} // namespace scene

#endif
