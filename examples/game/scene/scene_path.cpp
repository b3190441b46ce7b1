// SPDX-License-Identifier: MIT
/*
 * scene_path.cpp - the way from an entity to a point, best first over cells of STEP units.
 *
 * 1. The search looks at PATH_CELLS cells at most and then settles for the nearest one it has seen.
 * 2. Ties are broken by the cell's number: the path depends on the map alone.
 * Locking: main thread only.
 */
#include "scene/scene.h"

#include "world/world.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <initializer_list>

namespace scene
{

constexpr int STEP = 32, STEP_STRIDE = 4096, PATH_CELLS = 48;

static int step_at(double x, double y)
{
    return ((int)std::floor(y / STEP) + STEP_STRIDE / 2) * STEP_STRIDE + (int)std::floor(x / STEP) +
           STEP_STRIDE / 2;
}

static int step_x(int cell)
{
    return (cell % STEP_STRIDE - STEP_STRIDE / 2) * STEP + STEP / 2;
}

static int step_y(int cell)
{
    return (cell / STEP_STRIDE - STEP_STRIDE / 2) * STEP + STEP / 2;
}

static int steps_between(int a, int b)
{
    return std::abs(a % STEP_STRIDE - b % STEP_STRIDE) + std::abs(a / STEP_STRIDE - b / STEP_STRIDE);
}

void scene::rebuild_path(int from, int to)
{
    store_.path.clear();
    for (int cell = to; cell != from; cell = store_.came_from.at(cell))
        store_.path_add(step_x(cell), step_y(cell));
    std::reverse(store_.path.begin(), store_.path.end());
}

int scene::path(int id, double x, double y, double *next_x, double *next_y)
{
    const entity *e = find(id);
    if (!e)
        return 0;
    int from = step_at(e->x, e->y), to = step_at(x, y), best = from;
    store_.came_from.clear();
    store_.open.clear();
    store_.visit(from, from);
    store_.open_add(-steps_between(from, to), from);
    for (int n = 0; n < PATH_CELLS && !store_.open.empty() && best != to; n++) {
        std::pop_heap(store_.open.begin(), store_.open.end());
        int cell = store_.open.back().second;
        store_.open.pop_back();
        for (int next : {cell + 1, cell - 1, cell + STEP_STRIDE, cell - STEP_STRIDE}) {
            if (!world_can_step(step_x(cell), step_y(cell), step_x(next), step_y(next)))
                continue;
            if (!store_.visit(next, cell))
                continue;
            store_.open_add(-steps_between(next, to), next);
            if (steps_between(next, to) < steps_between(best, to))
                best = next;
        }
    }
    rebuild_path(from, best);
    if (!store_.path.empty()) {
        *next_x = store_.path.front().first;
        *next_y = store_.path.front().second;
    }
    return (int)store_.path.size();
}

} // namespace scene
