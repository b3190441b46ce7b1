/* SPDX-License-Identifier: MIT */
/*
 * levels.c - what a game does all evening: load a level, play it, throw it away, load the next.
 *
 * A level is big assets (textures, meshes, sounds), a tree of small nodes with names, and arrays that grow
 * while loading. Some things made during a level live on: scores, caches, saved states. They must not pin
 * the level's memory. `levels` loads in the main thread; `stream` has a loader thread make the next level
 * while the main thread plays and frees the last one.
 */
#include "work.h"

#include <stdio.h>
#include <string.h>

#define ASSETS 120
#define NODES  9000
#define FRAMES 40
#define KEPT   4096

typedef struct node {
    struct node *next, *child;
    char *name;
    float *matrix;
    uint64_t stamp;
} node;

typedef struct level {
    char *asset[ASSETS];
    node *root;
    uint64_t *grid;
    size_t cells;
    uint64_t rng;
} level;

static node *node_create(uint64_t *rng, uint64_t stamp)
{
    node *n = stamped_alloc(sizeof *n, 0);
    int length = (int)rng_range(rng, 4, 28);
    *n = (node){.stamp = stamp, .name = must_malloc((size_t)length + 8)};
    snprintf(n->name, (size_t)length + 8, "n%.*s", length, "odeodeodeodeodeodeodeodeodeode");
    if (stamp % 3 == 0)
        n->matrix = memset(must_malloc(16 * sizeof(float)), 0, 16 * sizeof(float));
    return n;
}

static void nodes_load(level *l, size_t nodes)
{
    node *parent = NULL;
    for (size_t i = 0; i < nodes; i++) {
        node *n = node_create(&l->rng, i);
        node **to = parent ? &parent->child : &l->root;
        n->next = *to;
        *to = n;
        if (!parent || i % 12 == 0)
            parent = n;
    }
}

static level *level_load(uint64_t number, size_t nodes)
{
    level *l = calloc(1, sizeof *l);
    l->rng = rng_seed(number);
    for (unsigned i = 0; i < ASSETS; i++) {
        size_t size = (size_t)600 << rng_range(&l->rng, 0, 9);
        l->asset[i] = must_malloc(size);
        memset(l->asset[i], (int)i, size);
    }
    nodes_load(l, nodes);
    for (size_t room = 0; l->cells < nodes * 2; l->cells++) {
        if (l->cells == room)
            l->grid = must_realloc(l->grid, (room += room / 2 + 64) * sizeof *l->grid);
        l->grid[l->cells] = l->cells ^ number;
    }
    return l;
}

static uint64_t nodes_free(node *n)
{
    uint64_t sum = 0;
    while (n) {
        node *next = n->next;
        sum += n->stamp + strlen(n->name) + nodes_free(n->child);
        free(n->name);
        free(n->matrix);
        free(n);
        n = next;
    }
    return sum;
}

static uint64_t level_unload(level *l)
{
    uint64_t sum = nodes_free(l->root) + l->grid[l->cells / 2];
    for (unsigned i = 0; i < ASSETS; i++) {
        sum += (uint64_t)(unsigned char)l->asset[i][0];
        free(l->asset[i]);
    }
    free(l->grid);
    free(l);
    return sum;
}

/* Per-frame garbage, and now and then something that outlives the level. */
static uint64_t level_play(level *l, void **kept, uint64_t number)
{
    uint64_t sum = 0;
    for (unsigned frame = 0; frame < FRAMES; frame++) {
        void *particle[64];
        for (unsigned i = 0; i < 64; i++)
            particle[i] = stamped_alloc(rng_range(&l->rng, 16, 200), i);
        for (unsigned i = 0; i < 64; i++)
            sum += stamped_free(particle[i]);
        void **place = &kept[(number * FRAMES + frame) % KEPT];
        sum += *place ? stamped_free(*place) : 0;
        *place = stamped_alloc(rng_range(&l->rng, 24, 160), frame);
    }
    return sum;
}

static uint64_t kept_free(void **kept)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < KEPT; i++) {
        sum += kept[i] ? stamped_free(kept[i]) : 0;
        kept[i] = NULL;
    }
    return sum;
}

static void *kept[KEPT];

static work_result run_levels(const work_args *a)
{
    uint64_t rounds = work_count(a, 300), sum = 0;
    for (uint64_t r = 0; r < rounds; r++) {
        level *l = level_load(r, NODES / 2 + r % 7 * 1000);
        sum += level_play(l, kept, r);
        sum += level_unload(l);
    }
    sum += kept_free(kept);
    return (work_result){rounds, sum, 0};
}

typedef struct order {
    uint64_t number;
    level *made;
} order;

static void *loader_main(void *arg)
{
    order *o = arg;
    o->made = level_load(o->number, NODES / 2 + o->number % 7 * 1000);
    return NULL;
}

static work_result run_stream(const work_args *a)
{
    uint64_t rounds = work_count(a, 300), sum = 0;
    level *now = level_load(0, NODES);
    for (uint64_t r = 0; r < rounds; r++) {
        order next = {.number = r + 1};
        pthread_t loader = thread_start(loader_main, &next);
        sum += level_play(now, kept, r);
        sum += level_unload(now);
        pthread_join(loader, NULL);
        now = next.made;
    }
    sum += level_unload(now) + kept_free(kept);
    return (work_result){rounds, sum, 0};
}

const work work_table[] = {{"levels", run_levels}, {"levels-stream", run_stream}, {NULL, NULL}};
