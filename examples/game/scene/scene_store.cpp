// SPDX-License-Identifier: MIT
/*
 * scene_store.cpp - every growth of a container. Compiled with -fno-inline (see mk/game.mk and scene.h, 1).
 *
 * 1. Nothing here calls out of the containers: no renderer, no script.
 * Locking: main thread only. Cost: what the containers cost.
 */
#include "scene/scene.h"

#include <algorithm>

namespace scene
{

enum { MESSAGES_KEPT = 64, TOUCHED_KEPT = 24 };

/* Here and not in the class: a deque allocates when it is made. */
store::store() = default;

entity *store::add(int id, int type, const char *name)
{
    std::shared_ptr<entity> e = std::make_shared<entity>();
    e->id = id;
    e->type = type;
    e->name = name;
    entities[id] = e;
    names[e->name] = id;
    return e.get();
}

void store::remove(int id)
{
    auto at = entities.find(id);
    auto name = names.find(at->second->name);
    if (name != names.end() && name->second == id)
        names.erase(name);
    awake.erase(id);
    entities.erase(at);
}

void store::grid_add(int cell, int id)
{
    grid[cell].push_back(id);
}

void store::contact_add(const contact &c)
{
    contacts.push_back(c);
}

void store::event_add(const event &e)
{
    events.push_back(e);
}

void store::event_add(const char *name, int id, int value)
{
    events.push_back(event{name, id, value});
}

void store::timer_add(long frame, const char *name, int id, int value)
{
    timers.emplace(frame, event{name, id, value});
}

void store::message_add(const char *text)
{
    messages.push_back(text);
    if (messages.size() > MESSAGES_KEPT)
        messages.pop_front();
}

void store::touch(entity &e, int id)
{
    if (std::find(e.touched.begin(), e.touched.end(), id) != e.touched.end())
        return;
    if (e.touched.size() == TOUCHED_KEPT)
        e.touched.erase(e.touched.begin());
    e.touched.push_back(id);
}

void store::wake(int id)
{
    awake.insert(id);
}

bool store::visit(int cell, int from)
{
    return came_from.emplace(cell, from).second;
}

void store::open_add(int cost, int cell)
{
    open.push_back({cost, cell});
    std::push_heap(open.begin(), open.end());
}

void store::path_add(double x, double y)
{
    path.emplace_back(x, y);
}

ids store::cell_copy(int cell) const
{
    auto at = grid.find(cell);
    return at == grid.end() ? ids() : at->second;
}

void store::append(ids &to, int id)
{
    to.push_back(id);
}

/* Gives everything back, the containers' spare room too. */
void store::clear()
{
    *this = store();
}

} // namespace scene
