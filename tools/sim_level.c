/* SPDX-License-Identifier: MIT */
/*
 * sim_level.c - see sim.h: one level, its walk, and the stores: the residents of each policy and the heap or
 * ledger their memory comes from.
 *
 * A level comes from its own random numbers, drawn before any policy runs, and the walk's are drawn once a
 * step for all: so policies and their order cannot change what is asked for. What a policy cannot load stays
 * wanted and is asked for again at the next step.
 * A real store pays as the original does: a clump for the thing and 24 bytes for the clump's object. A ledger
 * counts the same bytes, rounded as a heap would, and never fails for lack of one piece.
 * Cost: a walk of the items an eviction and a comparison; a row of 60 x 1,500 steps some 0.2 s.
 */
#include "os.h"
#include "random.h"
#include "sim.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ITEMS = 6000, OBJECT = 24 /* bytes of a clump's object */, RETURN_ODDS = 12, MOVE_ODDS = 3 };

/* --- a level --------------------------------------------------------------------------------------- */

struct level {
    uint32_t parts, items; /* items: the parts, then the resources */
    uint32_t size[ITEMS];  /* what a load asks for at first */
    uint32_t used[ITEMS];  /* what it really takes; differs for parts */
    uint16_t uses[1000][SIM_USES];
    uint8_t use_count[1000];
    uint32_t window, position;
    int direction;
};

/* Log-normal between the bounds, one and a half deviations to either side. */
static uint32_t pick_resource(uint64_t *random, sim_range bounds)
{
    double low = log(bounds.low), high = log(bounds.high), x;
    do {
        double radius = sqrt(-2 * log(1 - random_unit(random)));
        x = (low + high) / 2 + (high - low) / 3 * radius * cos(6.283185307179586 * random_unit(random));
    } while (x < low || x > high);
    return (uint32_t)exp(x);
}

/* Weights between 1 and 3, scaled to the row's sum; a first load shows how much of a part is really used. */
static void make_parts(struct level *l, const sim_row *row, uint64_t *random)
{
    uint64_t weights = 0;
    for (uint32_t i = 0; i < l->parts; i++)
        weights += l->size[i] = random_between(random, 500, 1500);
    for (uint32_t i = 0; i < l->parts; i++) {
        l->size[i] = (uint32_t)((uint64_t)l->size[i] * row->part_bytes / weights);
        l->used[i] = (uint32_t)((uint64_t)l->size[i] * random_between(random, 90, 100) / 100);
    }
}

/* A part uses mostly what its neighbours use too, and now and then anything. */
static void make_uses(struct level *l, const sim_row *row, uint64_t *random)
{
    uint32_t resources = l->items - l->parts;
    for (uint32_t i = 0; i < l->parts; i++) {
        uint32_t near = i * resources / l->parts, spread = resources / 6 + 1;
        l->use_count[i] = (uint8_t)(resources ? random_between(random, row->uses.low, row->uses.high) : 0);
        for (uint32_t k = 0; k < l->use_count[i]; k++) {
            bool local = random_below(random, 3);
            uint32_t pick =
                local ? (near + random_below(random, spread)) % resources : random_below(random, resources);
            l->uses[i][k] = (uint16_t)(l->parts + pick);
        }
    }
}

static void make_level(struct level *l, const sim_row *row, uint64_t *random)
{
    l->parts = random_between(random, row->parts.low, row->parts.high);
    l->items = l->parts + random_between(random, row->resources.low, row->resources.high);
    l->window = random_between(random, row->window.low, row->window.high);
    l->window = l->window < l->parts ? l->window : l->parts;
    l->position = random_below(random, l->parts);
    l->direction = 1;
    make_parts(l, row, random);
    for (uint32_t i = l->parts; i < l->items; i++)
        l->size[i] = l->used[i] = pick_resource(random, row->resource_bytes);
    make_uses(l, row, random);
}

/* Mostly on in one direction, round the level, with a turn now and then. */
static void walk(struct level *l, uint64_t *random)
{
    if (random_below(random, RETURN_ODDS) == 0)
        l->direction = -l->direction;
    if (random_below(random, MOVE_ODDS) == 0)
        l->position = (l->position + l->parts + (uint32_t)l->direction) % l->parts;
}

/* What a step wants, each item once. */
struct wanted {
    uint32_t item[ITEMS], count;
    bool listed[ITEMS];
};

static void want(struct wanted *w, uint32_t item)
{
    if (!w->listed[item])
        w->item[w->count++] = item;
    w->listed[item] = true;
}

static void list_wanted(const struct level *l, sim_range roaming, uint64_t *random, struct wanted *w)
{
    uint32_t resources = l->items - l->parts, more = random_between(random, roaming.low, roaming.high);
    for (; w->count; w->count--)
        w->listed[w->item[w->count - 1]] = false;
    for (uint32_t k = 0; k < l->window; k++) {
        uint32_t part = (l->position + k) % l->parts;
        want(w, part);
        for (uint32_t u = 0; u < l->use_count[part]; u++)
            want(w, l->uses[part][u]);
    }
    for (uint32_t k = 0; resources && k < more; k++)
        want(w, l->parts + random_below(random, resources));
}

/* --- stores ---------------------------------------------------------------------------------------- */

struct store {
    pool ledger; /* answers for counters; first member */
    uint32_t capacity, counted;
    bool real;
    retail_pool heap;
    void *memory;
    budget budget;
    const struct level *level;
    uint64_t now;
    bool in[ITEMS], held[ITEMS];
    uint64_t touched[ITEMS];
    void *block[ITEMS], *object[ITEMS];
    uint32_t taken[ITEMS]; /* bytes counted for a resident */
    budget_part part[ITEMS];
    sim_result *result;
};

static size_t ledger_room(pool *p)
{
    const struct store *s = (const struct store *)(void *)p;
    return s->counted < s->capacity ? s->capacity - s->counted : 0;
}

static const pool_ops ledger_ops = {.largest_free = ledger_room};

/* Bytes as a heap counts them: whole kilobytes and the object. */
static uint32_t counted_size(uint32_t size)
{
    return (uint32_t)round_up(size, RHEAP_BLOCK) + 32;
}

static void release(struct store *s, uint32_t item)
{
    if (s->real) {
        pool_free(&s->heap.base, s->block[item]);
        pool_free(&s->heap.base, s->object[item]);
    }
    s->counted -= s->taken[item];
    s->in[item] = false;
}

/* The budget's hook. */
static bool evict_oldest(void *arg)
{
    struct store *s = arg;
    uint32_t oldest = ITEMS;
    for (uint32_t i = 0; i < s->level->items; i++) {
        if (s->in[i] && !s->held[i] && (oldest == ITEMS || s->touched[i] < s->touched[oldest]))
            oldest = i;
    }
    if (oldest == ITEMS)
        return false;
    release(s, oldest);
    return true;
}

/* The empty heap's figure for a counter, the heap itself for the others. */
static bool open_store(struct store *s, const sim_config *c, const sim_policy *p, const struct level *l,
                       sim_result *result)
{
    memset(s, 0, sizeof *s);
    s->level = l;
    s->result = result;
    s->real = p->kind == BUDGET_LARGEST || p->kind == BUDGET_LARGEST_RUN;
    s->memory = os_map(c->pool_bytes);
    if (!s->memory)
        return false;
    pool_init(&s->ledger, &ledger_ops, POOL_RETAIL, "ledger", NULL);
    if (retail_init_in_place(&s->heap, NULL, s->memory, c->pool_bytes, "Sector Pool") != POOL_OK)
        return false;
    s->capacity =
        p->kind == BUDGET_TRUE_FREE ? rheap_true_free(&s->heap.heap) : rheap_free_bytes(&s->heap.heap);
    budget_init(&s->budget, s->real ? &s->heap.base : &s->ledger, evict_oldest, s);
    s->budget.policy = s->real ? p->kind : BUDGET_LARGEST;
    s->budget.hold_back = p->hold_back;
    for (uint32_t i = 0; i < l->items; i++)
        s->part[i].heap_size = l->size[i];
    return true;
}

static void close_store(struct store *s, const sim_config *c)
{
    s->result->calls += s->budget.calls;
    s->result->evictions += s->budget.evictions;
    s->result->failures += s->budget.failures;
    rheap_done(&s->heap.heap);
    if (s->memory)
        os_unmap(s->memory, c->pool_bytes);
}

static void load_fixed(struct store *s, const sim_row *row)
{
    for (unsigned i = 0; i < row->fixed_count; i++) {
        s->counted += counted_size(row->fixed[i]);
        if (s->real) {
            pool_get(&s->heap.base, OBJECT, 16);
            pool_get(&s->heap.base, row->fixed[i], 128);
        }
    }
}

static bool take_memory(struct store *s, uint32_t item, uint32_t size)
{
    if (!s->real)
        return budget_make_room(&s->budget, size) == POOL_OK;
    pool_request r = {.size = size, .align = 128};
    if (budget_alloc(&s->budget, &r, &s->block[item]) != POOL_OK)
        return false;
    s->object[item] = pool_get(&s->heap.base, OBJECT, 16);
    return true;
}

/* --- the comparison -------------------------------------------------------------------------------- */

struct run {
    const sim_config *config;
    struct level level;
    struct store stores[SIM_POLICIES];
    uint64_t share_samples[SIM_POLICIES], shared_samples;
};

/* How each policy would answer on the first one's own heap, right before it is asked. */
static void compare_first_test(struct run *r, uint32_t size)
{
    budget probe = {.pool = &r->stores[0].heap.base, .policy = BUDGET_LARGEST_RUN};
    bool answer = budget_room(&probe) >= (size_t)size + r->config->policies[0].hold_back;
    for (unsigned i = 0; i < r->config->policy_count; i++) {
        const sim_policy *p = &r->config->policies[i];
        sim_result *result = r->stores[i].result;
        probe.policy = p->kind == BUDGET_LARGEST ? BUDGET_LARGEST_RUN : p->kind;
        result->differ += (budget_room(&probe) >= (size_t)size + p->hold_back) != answer;
        result->tests++;
    }
}

/* How whole the free memory is when room is asked for. */
static void sample_share(struct run *r, unsigned which)
{
    struct store *s = &r->stores[which];
    uint32_t true_free = rheap_true_free(&s->heap.heap);
    if (!s->real || !true_free)
        return;
    s->result->largest_share += (double)rheap_largest_run(&s->heap.heap) / true_free;
    r->share_samples[which]++;
}

static void load(struct run *r, unsigned which, uint32_t item)
{
    struct store *s = &r->stores[which];
    uint32_t size = s->part[item].heap_size;
    if (which == 0 && s->real)
        compare_first_test(r, size);
    sample_share(r, which);
    if (!take_memory(s, item, size))
        return;
    s->taken[item] = counted_size(size);
    s->counted += s->taken[item];
    s->in[item] = true;
    budget_part_loaded(&s->part[item], r->level.used[item]);
}

static void step_store(struct run *r, unsigned which, const struct wanted *w)
{
    struct store *s = &r->stores[which];
    memset(s->held, 0, r->level.items * sizeof *s->held);
    for (uint32_t i = 0; i < w->count; i++)
        s->held[w->item[i]] = true;
    for (uint32_t i = 0; i < w->count; i++) {
        s->touched[w->item[i]] = ++s->now;
        if (!s->in[w->item[i]])
            load(r, which, w->item[i]);
    }
}

/* By things, not bytes: what pops in and out is things. */
static void compare_residents(struct run *r)
{
    const bool *first = r->stores[0].in;
    for (unsigned i = 0; i < r->config->policy_count; i++) {
        const bool *other = r->stores[i].in;
        uint32_t both = 0, either = 0;
        for (uint32_t k = 0; k < r->level.items; k++) {
            both += first[k] & other[k];
            either += first[k] | other[k];
        }
        r->stores[i].result->shared += either ? (double)both / either : 1;
    }
    r->shared_samples++;
}

static bool run_level(struct run *r, const sim_row *row, uint64_t random, sim_result *results)
{
    const sim_config *c = r->config;
    static struct wanted wanted;
    bool opened = true;
    make_level(&r->level, row, &random);
    for (unsigned i = 0; i < c->policy_count; i++)
        opened &= open_store(&r->stores[i], c, &c->policies[i], &r->level, &results[i]);
    for (unsigned i = 0; opened && i < c->policy_count; i++)
        load_fixed(&r->stores[i], row);
    for (uint32_t step = 0; opened && step < c->steps; step++) {
        walk(&r->level, &random);
        list_wanted(&r->level, row->roaming, &random, &wanted);
        for (unsigned i = 0; i < c->policy_count; i++)
            step_store(r, i, &wanted);
        compare_residents(r);
    }
    for (unsigned i = 0; i < c->policy_count; i++)
        close_store(&r->stores[i], c);
    return opened;
}

bool sim_run_row(const sim_config *c, const sim_row *row, sim_result *results)
{
    struct run *r = calloc(1, sizeof *r);
    bool done = r != NULL;
    uint64_t random = c->seed;
    memset(results, 0, c->policy_count * sizeof *results);
    for (uint32_t level = 0; done && level < c->levels; level++) {
        r->config = c;
        done = run_level(r, row, random_next(&random), results);
    }
    for (unsigned i = 0; done && i < c->policy_count; i++) {
        results[i].largest_share /= r->share_samples[i] ? (double)r->share_samples[i] : 1;
        results[i].shared /= (double)r->shared_samples;
    }
    free(r);
    return done;
}
