/* SPDX-License-Identifier: MIT */
/*
 * scene.cpp - a small game world in the containers of the C++ library.
 *
 * Entities with names, component lists and shared meshes; a spatial map; an event queue of closures; maps by
 * name. Each frame spawns and removes entities, moves them between cells, runs the events and formats a few
 * strings. So: many short strings, tree and hash nodes, vectors that grow, shared ownership; operator new all
 * the way, deep behind inlined library code.
 */
#include "work.h"

#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace
{
struct Mesh {
    std::string name;
    std::vector<float> points;
};

struct Component {
    virtual ~Component() = default;
    virtual uint64_t tick(uint64_t frame) = 0;
};

struct Timer : Component {
    std::list<uint64_t> marks;
    uint64_t tick(uint64_t frame) override
    {
        marks.push_back(frame);
        if (marks.size() > 6)
            marks.pop_front();
        return marks.front();
    }
};

struct Inventory : Component {
    std::map<std::string, int> items;
    uint64_t tick(uint64_t frame) override
    {
        items["a rather long item name " + std::to_string(frame % 13)]++;
        if (items.size() > 8)
            items.erase(items.begin());
        return items.size();
    }
};

struct Entity {
    uint64_t id;
    std::string name;
    std::shared_ptr<Mesh> mesh;
    std::vector<std::unique_ptr<Component>> components;
    uint64_t cell;
};

class Scene
{
  public:
    explicit Scene(uint64_t seed) : rng_(rng_seed(seed))
    {
    }
    uint64_t frame(uint64_t number);
    size_t size() const
    {
        return entities_.size();
    }

  private:
    void spawn(uint64_t frame);
    void remove_some(uint64_t n);
    void move_all(uint64_t frame);
    std::shared_ptr<Mesh> mesh_for(uint64_t kind);

    uint64_t rng_, next_id_ = 0, sum_ = 0;
    std::unordered_map<uint64_t, std::unique_ptr<Entity>> entities_;
    std::map<uint64_t, std::set<uint64_t>> cells_;
    std::unordered_map<std::string, uint64_t> by_name_;
    std::map<std::string, std::weak_ptr<Mesh>> meshes_;
    std::deque<std::function<void(Scene &)>> events_;
};

std::shared_ptr<Mesh> Scene::mesh_for(uint64_t kind)
{
    std::string name = "models/characters/kind_" + std::to_string(kind) + ".mesh";
    auto &slot = meshes_[name];
    auto mesh = slot.lock();
    if (!mesh) {
        mesh = std::make_shared<Mesh>();
        mesh->name = name;
        for (uint64_t i = 0; i < 64 + kind * 8; i++)
            mesh->points.push_back(static_cast<float>(i));
        slot = mesh;
    }
    return mesh;
}

void Scene::spawn(uint64_t frame)
{
    auto e = std::make_unique<Entity>();
    e->id = next_id_++;
    e->name = "entity number " + std::to_string(e->id);
    e->mesh = mesh_for(rng_next(&rng_) >> 58);
    e->components.push_back(std::make_unique<Timer>());
    if (e->id % 2)
        e->components.push_back(std::make_unique<Inventory>());
    e->cell = rng_next(&rng_) >> 56;
    cells_[e->cell].insert(e->id);
    by_name_[e->name] = e->id;
    uint64_t id = e->id;
    events_.push_back([id, frame, note = e->name](Scene &s) { s.sum_ += id + frame + note.size(); });
    entities_[id] = std::move(e);
}

void Scene::remove_some(uint64_t n)
{
    for (uint64_t i = 0; i < n && !entities_.empty(); i++) {
        auto it = entities_.find(rng_next(&rng_) % next_id_);
        if (it == entities_.end())
            continue;
        Entity &e = *it->second;
        auto cell = cells_.find(e.cell);
        cell->second.erase(e.id);
        if (cell->second.empty())
            cells_.erase(cell);
        by_name_.erase(e.name);
        entities_.erase(it);
    }
}

void Scene::move_all(uint64_t frame)
{
    std::vector<uint64_t> crowd;
    for (const auto &cell : cells_)
        if ((cell.first + frame) % 8 == 0)
            crowd.insert(crowd.end(), cell.second.begin(), cell.second.end());
    for (uint64_t id : crowd) {
        Entity &e = *entities_[id];
        auto from = cells_.find(e.cell);
        from->second.erase(id);
        if (from->second.empty())
            cells_.erase(from);
        e.cell = (e.cell + 7) & 255;
        cells_[e.cell].insert(id);
        for (auto &c : e.components)
            sum_ += c->tick(frame);
    }
}

uint64_t Scene::frame(uint64_t number)
{
    for (unsigned i = 0; i < 40; i++)
        spawn(number);
    move_all(number);
    while (events_.size() > 60) {
        events_.front()(*this);
        events_.pop_front();
    }
    remove_some(entities_.size() > 2000 ? 600 : 20);
    std::string line =
        "frame " + std::to_string(number) + ": " + std::to_string(entities_.size()) + " entities";
    return sum_ + line.size();
}

work_result run_scene(const work_args *a)
{
    uint64_t frames = work_count(a, 500), sum = 0;
    {
        Scene scene(3);
        for (uint64_t i = 0; i < frames; i++)
            sum += scene.frame(i);
        sum += scene.size();
    }
    return work_result{frames, sum, 0};
}
} // namespace

extern "C" const work work_table[] = {{"stl-scene", run_scene}, {nullptr, nullptr}};
