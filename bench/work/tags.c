/* SPDX-License-Identifier: MIT */
/*
 * tags.c - what does it cost to know the caller? The same malloc and free pair under stacks of a given depth.
 *
 * depth D: one stack, used over and over. stacks D N: N different stacks in a fixed, scattered order. first D
 * N: the first visit of each of N stacks, nothing before it. A rule on tag_outermost makes the outermost of
 * the D frames the one that decides; a rule on the leaf the innermost. The difference to a run without
 * unwinding is the price of the tag: the descent itself is in both.
 */
#include "stacks.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <string.h>

static uint64_t argument(const work_args *a, unsigned which, uint64_t otherwise)
{
    for (unsigned i = 0; i <= which; i++)
        if (!a->rest[i])
            return otherwise;
    return strtoull(a->rest[which], NULL, 10);
}

static walk walk_make(const work_args *a, uint64_t (*leaf)(walk *))
{
    walk w = {.depth = (unsigned)argument(a, 0, 8), .leaf = leaf};
    if (w.depth < 2 || w.depth > WALK_LEVELS)
        abort();
    return w;
}

static work_result run_depth(const work_args *a)
{
    walk w = walk_make(a, leaf_pairs);
    walk_choose(&w, 123456789);
    w.count = 1000;
    tag_outermost(&w);
    w.count = work_count(a, 20e6);
    w.ns = 0;
    uint64_t sum = tag_outermost(&w);
    return (work_result){w.count, sum & 0xff, w.ns};
}

/* An odd multiplier walks through all numbers below a power of two in a scattered order. */
static uint64_t stack_number(uint64_t i, uint64_t stacks)
{
    return i % stacks * 2654435761u;
}

static work_result run_stacks(const work_args *a)
{
    walk w = walk_make(a, leaf_pair);
    uint64_t stacks = argument(a, 1, 1000), n = work_count(a, 3e6), sum = 0;
    uint64_t warm = stacks < n / 2 ? stacks : n / 2;
    uint64_t start = 0;
    for (uint64_t i = 0; i < warm + n; i++) {
        if (i == warm)
            start = now_ns();
        walk_choose(&w, stack_number(i, stacks));
        sum += tag_outermost(&w);
    }
    return (work_result){n, sum, now_ns() - start};
}

static work_result run_first(const work_args *a)
{
    walk w = walk_make(a, leaf_pair);
    uint64_t stacks = argument(a, 1, 32), sum = 0, start = now_ns();
    for (uint64_t i = 0; i < stacks; i++) {
        walk_choose(&w, stack_number(i, stacks));
        sum += tag_outermost(&w);
    }
    return (work_result){stacks, sum, now_ns() - start};
}

/* The frames from here to tag_outermost, as a chain of return addresses: their number and their hash. */
static uint64_t leaf_look(walk *w)
{
    void *frame[WALK_LEVELS + 16];
    int n = backtrace(frame, WALK_LEVELS + 16);
    Dl_info where;
    w->count = 0;
    for (int i = 0; i < n; i++) {
        w->ns = (w->ns ^ (uintptr_t)frame[i]) * 0x100000001b3u;
        w->count++;
        if (dladdr(frame[i], &where) && where.dli_sname && strcmp(where.dli_sname, "tag_outermost") == 0)
            return w->ns;
    }
    return 0;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* check D N: are there N different stacks, each of D frames? The result is the number of those that are. */
static work_result run_check(const work_args *a)
{
    walk w = walk_make(a, leaf_look);
    uint64_t stacks = argument(a, 1, 1000), good = 0;
    uint64_t *hash = must_malloc(stacks * sizeof *hash);
    for (uint64_t i = 0; i < stacks; i++) {
        w.ns = 0;
        walk_choose(&w, stack_number(i, stacks));
        tag_outermost(&w);
        hash[i] = w.count == w.depth ? w.ns : 0;
    }
    qsort(hash, stacks, sizeof *hash, by_value);
    for (uint64_t i = 0; i < stacks; i++)
        good += hash[i] && (!i || hash[i] != hash[i - 1]);
    free(hash);
    return (work_result){stacks, good, 0};
}

const work work_table[] = {
    {"depth", run_depth}, {"stacks", run_stacks}, {"first", run_first}, {"check", run_check}, {NULL, NULL}};
