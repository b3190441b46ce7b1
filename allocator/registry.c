/* SPDX-License-Identifier: MIT */
/*
 * registry.c - see registry.h. The sorted array is the truth; parents, children and neighbours are links
 * made from it whenever it changes, which is rare. With nested ranges in that order, the deepest range
 * holding an address is the last one that starts at or before it, or one of that one's ancestors.
 *
 * Why not insert into the tree itself, as the original does: a parent that comes late must adopt, a record
 * that goes must hand its children on, and pools without a range of their own hang where their payer is. Made
 * anew, all three are the same code.
 * Locking: the registry's lock round everything but registry_next, whose caller holds the world still or only
 * reads. Cost: see registry.h; 512 pools are relinked in some 100 us.
 */
#include "registry.h"
#include "os.h"

#include <string.h>

static size_t mapping_bytes(uint32_t cap)
{
    return cap * (sizeof(registry_record) + sizeof(registry_record *));
}

pool_status registry_init(registry *r, uint32_t cap, uint32_t options)
{
    memset(r, 0, sizeof *r);
    r->records = os_map(mapping_bytes(cap));
    if (!r->records)
        return POOL_NOMEM;
    r->order = (registry_record **)(r->records + cap);
    r->cap = cap;
    r->options = options;
    r->lock.rank = RANK_REGISTRY;
    return POOL_OK;
}

void registry_done(registry *r)
{
    os_unmap(r->records, mapping_bytes(r->cap));
    memset(r, 0, sizeof *r);
}

void registry_normalise(const registry *r, const char *name, char *out)
{
    size_t most = r->options & REGISTRY_RETAIL_NAMES ? REGISTRY_RETAIL_NAME : POOL_NAME_MAX, n = 0;
    for (; name && name[n] && n < most; n++) {
        bool dash = r->options & REGISTRY_RETAIL_NAMES && (name[n] == ' ' || name[n] == '_');
        out[n] = dash ? '-' : name[n];
    }
    out[n] = 0;
}

/* --- ranges ---------------------------------------------------------------------------------------- */

static bool has_range(const registry_record *a)
{
    return a->last != 0;
}

static bool holds(const registry_record *outer, uintptr_t first, uintptr_t last)
{
    return has_range(outer) && outer->first <= first && last <= outer->last;
}

static bool crosses(const registry_record *a, const registry_record *b)
{
    bool apart = a->last < b->first || b->last < a->first;
    return has_range(a) && has_range(b) && !apart && !holds(a, b->first, b->last) &&
           !holds(b, a->first, a->last);
}

/* Whether a stands before b in the sorted array; equal ranges keep the order in which they were added. */
static bool stands_before(const registry_record *a, const registry_record *b)
{
    if (has_range(a) != has_range(b))
        return has_range(a);
    if (a->first != b->first)
        return a->first < b->first;
    return a->last >= b->last;
}

/* --- links ----------------------------------------------------------------------------------------- */

static registry_record *find_record(const registry *r, const pool *p)
{
    for (uint32_t i = 0; p && i < r->count; i++) {
        if (r->order[i]->pool == p)
            return r->order[i];
    }
    return NULL;
}

/* The nearest pool that pays for this one and is registered. */
static registry_record *paying(const registry *r, const registry_record *of)
{
    for (const pool *p = of->pool->parent; p; p = p->parent) {
        registry_record *found = find_record(r, p);
        if (found)
            return found;
    }
    return NULL;
}

/* `inside` is the record before in address order: the parent by address is it or one of its ancestors. */
static registry_record *parent_of(const registry *r, const registry_record *of, registry_record *inside)
{
    while (inside && !holds(inside, of->first, of->last))
        inside = inside->parent;
    return inside && has_range(of) ? inside : paying(r, of);
}

/* Records come in address order, so the last of the list is the neighbour below. */
static void append_sibling(registry *r, registry_record *record)
{
    registry_record **slot = record->parent ? &record->parent->child : &r->roots;
    record->below = NULL;
    while (*slot) {
        record->below = *slot;
        slot = &(*slot)->above;
    }
    *slot = record;
}

static void link_tree(registry *r)
{
    r->roots = NULL;
    for (uint32_t i = 0; i < r->count; i++)
        r->order[i]->parent = r->order[i]->child = r->order[i]->above = NULL;
    for (uint32_t i = 0; i < r->count; i++)
        r->order[i]->parent = parent_of(r, r->order[i], i ? r->order[i - 1] : NULL);
    for (uint32_t i = 0; i < r->count; i++)
        append_sibling(r, r->order[i]);
}

/* --- add and remove -------------------------------------------------------------------------------- */

/* Records never move: others hold pointers to them. */
static registry_record *free_record(const registry *r)
{
    for (uint32_t i = 0; i < r->cap; i++) {
        if (!r->records[i].pool)
            return &r->records[i];
    }
    return NULL;
}

/* One pass finds the place, a pool that is there already, and a range that crosses. */
static pool_status add_locked(registry *r, pool *p, const char *name)
{
    registry_record *record = free_record(r);
    if (!record)
        return POOL_FULL;
    *record = (registry_record){.pool = p, .first = p->first, .last = p->last};
    registry_normalise(r, name, record->name);
    uint32_t at = r->count;
    for (uint32_t i = r->count; i-- > 0;) {
        if (r->order[i]->pool == p || crosses(r->order[i], record)) {
            record->pool = NULL;
            return POOL_EXISTS;
        }
        if (!stands_before(r->order[i], record))
            at = i;
    }
    memmove(&r->order[at + 1], &r->order[at], (r->count - at) * sizeof *r->order);
    r->order[at] = record;
    r->count++;
    link_tree(r);
    return POOL_OK;
}

pool_status registry_add(registry *r, pool *p, const char *name)
{
    lock_take(&r->lock);
    pool_status s = add_locked(r, p, name);
    lock_drop(&r->lock);
    return s;
}

static pool_status remove_locked(registry *r, const pool *p)
{
    uint32_t at = 0;
    while (at < r->count && r->order[at]->pool != p)
        at++;
    if (at == r->count)
        return POOL_NOT_FOUND;
    r->order[at]->pool = NULL;
    r->count--;
    memmove(&r->order[at], &r->order[at + 1], (r->count - at) * sizeof *r->order);
    link_tree(r);
    return POOL_OK;
}

pool_status registry_remove(registry *r, const pool *p)
{
    lock_take(&r->lock);
    pool_status s = remove_locked(r, p);
    lock_drop(&r->lock);
    return s;
}

/* --- lookups --------------------------------------------------------------------------------------- */

const registry_record *registry_next(const registry *r, const registry_record *after, unsigned *depth)
{
    unsigned ignored = 0;
    depth = depth ? depth : &ignored;
    if (!after) {
        *depth = 0;
        return r->roots;
    }
    if (after->child) {
        ++*depth;
        return after->child;
    }
    while (after && !after->above) {
        after = after->parent;
        --*depth;
    }
    return after ? after->above : NULL;
}

static pool *find_name_locked(const registry *r, const char *name)
{
    char wanted[POOL_NAME_MAX + 1];
    registry_normalise(r, name, wanted);
    const registry_record *at = registry_next(r, NULL, NULL);
    while (at && strcmp(at->name, wanted) != 0)
        at = registry_next(r, at, NULL);
    return at ? at->pool : NULL;
}

pool *registry_find_name(registry *r, const char *name)
{
    lock_take(&r->lock);
    pool *p = find_name_locked(r, name);
    lock_drop(&r->lock);
    return p;
}

static pool *find_range_locked(const registry *r, uintptr_t first, uintptr_t last)
{
    uint32_t low = 0, high = r->count;
    while (low < high) { /* the last that starts at or before first */
        uint32_t middle = low + (high - low) / 2;
        if (has_range(r->order[middle]) && r->order[middle]->first <= first)
            low = middle + 1;
        else
            high = middle;
    }
    const registry_record *at = low ? r->order[low - 1] : NULL;
    while (at && !holds(at, first, last))
        at = at->parent;
    return at ? at->pool : NULL;
}

pool *registry_find_range(registry *r, uintptr_t first, uintptr_t last)
{
    lock_take(&r->lock);
    pool *p = find_range_locked(r, first, last);
    lock_drop(&r->lock);
    return p;
}

pool *registry_find_address(registry *r, uintptr_t address)
{
    return registry_find_range(r, address, address);
}

const registry_record *registry_record_of(registry *r, const pool *p)
{
    lock_take(&r->lock);
    const registry_record *record = find_record(r, p);
    lock_drop(&r->lock);
    return record;
}

/* --- tree ------------------------------------------------------------------------------------------ */

void registry_print(registry *r, const lines *to)
{
    unsigned depth;
    lock_take(&r->lock);
    for (const registry_record *at = registry_next(r, NULL, &depth); at; at = registry_next(r, at, &depth)) {
        int indent = (int)depth * 2, rest = indent < 40 ? 40 - indent : 1;
        size_t size = has_range(at) ? at->last - at->first + 1 : 0;
        lines_say(to, "%*s%-*s %-7s %lx..%lx %zu", indent, "", rest, at->name,
                  pool_kind_name((pool_kind)at->pool->kind), (unsigned long)at->first,
                  (unsigned long)at->last, size);
    }
    lock_drop(&r->lock);
}

/* Crossing ranges are neighbours in this order, or some neighbours cross as well. */
static const char *check_order(const registry *r)
{
    for (uint32_t i = 0; i + 1 < r->count; i++) {
        if (!stands_before(r->order[i], r->order[i + 1]))
            return "the records are not in address order";
        if (crosses(r->order[i], r->order[i + 1]))
            return "two ranges cross";
    }
    return NULL;
}

static const char *check_siblings(const registry_record *at)
{
    const registry_record *next = at->above;
    if (next && next->below != at)
        return "two neighbours disagree";
    if (next && has_range(next) && holds(at, next->first, next->last))
        return "a sibling's range holds another's";
    return next && next->parent != at->parent ? "two neighbours have different parents" : NULL;
}

static const char *check_locked(const registry *r)
{
    const char *wrong = check_order(r);
    uint32_t met = 0;
    const registry_record *at = registry_next(r, NULL, NULL);
    for (; at && !wrong && met <= r->count; at = registry_next(r, at, NULL), met++)
        wrong = check_siblings(at);
    return wrong || met == r->count ? wrong : "a record is not reachable from the roots";
}

const char *registry_check(registry *r)
{
    lock_take(&r->lock);
    const char *wrong = check_locked(r);
    lock_drop(&r->lock);
    return wrong;
}
