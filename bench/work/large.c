/* SPDX-License-Identifier: MIT */
/*
 * large.c - blocks of pages rather than bytes.
 *
 * large: a few dozen blocks of 5 KB to 4 MB, replaced at random, some written from end to end and some only
 * at their edges. grow: arrays that grow by realloc to megabytes, several at once so that none can always
 * grow in place. append: many short buffers that grow by small steps, as text builders do.
 */
#include "work.h"

#include <string.h>

#define PAGE 4096

static uint64_t pages_write(char *p, size_t size, uint64_t stamp)
{
    for (size_t at = 0; at < size; at += PAGE)
        p[at] = (char)stamp;
    return (uint64_t)(unsigned char)p[0];
}

static work_result run_large(const work_args *a)
{
    enum { SLOTS = 32 };
    static char *slot[SLOTS];
    static size_t length[SLOTS];
    uint64_t n = work_count(a, 150e3), sum = 0, rng = rng_seed(11);
    for (uint64_t i = 0; i < n; i++) {
        size_t k = rng_range(&rng, 0, SLOTS - 1);
        if (slot[k])
            sum += (uint64_t)(unsigned char)slot[k][length[k] - 1];
        free(slot[k]);
        length[k] = (size_t)5000 << rng_range(&rng, 0, 9);
        length[k] += rng_range(&rng, 0, length[k] / 2);
        slot[k] = must_malloc(length[k]);
        if (rng_next(&rng) >> 62)
            slot[k][0] = (char)i;
        else
            sum += pages_write(slot[k], length[k], i);
        slot[k][length[k] - 1] = (char)i;
    }
    for (size_t k = 0; k < SLOTS; k++)
        free(slot[k]);
    return (work_result){n, sum, 0};
}

/* An array that grows by half when it is full. */
typedef struct vector {
    uint64_t *item;
    size_t n, room;
} vector;

static void vector_push(vector *v, uint64_t value)
{
    if (v->n == v->room) {
        v->room += v->room / 2 + 8;
        v->item = must_realloc(v->item, v->room * sizeof *v->item);
    }
    v->item[v->n++] = value;
}

static work_result run_grow(const work_args *a)
{
    enum { VECTORS = 6, ITEMS = 400000 };
    uint64_t rounds = work_count(a, 90), sum = 0, pushes = 0;
    for (uint64_t r = 0; r < rounds; r++) {
        vector v[VECTORS] = {0};
        for (size_t i = 0; i < ITEMS; i++)
            for (unsigned k = 0; k < VECTORS; k++)
                if (i % (k + 1) == 0)
                    vector_push(&v[k], i * k + r);
        for (unsigned k = 0; k < VECTORS; k++) {
            sum += v[k].item[v[k].n / 2] + v[k].item[v[k].n - 1];
            pushes += v[k].n;
            free(v[k].item);
        }
    }
    return (work_result){pushes, sum, 0};
}

static work_result run_append(const work_args *a)
{
    enum { BUFFERS = 64 };
    static char *buffer[BUFFERS];
    static size_t used[BUFFERS];
    uint64_t n = work_count(a, 12e6), sum = 0, rng = rng_seed(13);
    for (uint64_t i = 0; i < n; i++) {
        size_t k = rng_range(&rng, 0, BUFFERS - 1), more = rng_range(&rng, 4, 60);
        buffer[k] = must_realloc(buffer[k], used[k] + more);
        memset(buffer[k] + used[k], (int)i, more);
        used[k] += more;
        if (used[k] > 6000) {
            sum += (uint64_t)(unsigned char)buffer[k][used[k] / 2];
            free(buffer[k]);
            buffer[k] = NULL;
            used[k] = 0;
        }
    }
    for (size_t k = 0; k < BUFFERS; k++)
        free(buffer[k]);
    return (work_result){n, sum, 0};
}

const work work_table[] = {{"large", run_large}, {"grow", run_grow}, {"append", run_append}, {NULL, NULL}};
