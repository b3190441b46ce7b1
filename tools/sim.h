/* SPDX-License-Identifier: MIT */
/*
 * sim.h - floor F5: `poolmem sim FILE` streams made-up levels through a Sector Pool, once for each policy
 * that may answer "is there room?", and tells how differently they decide.
 *
 * A row of the result is one kind of world, a level one random instance of it: fixed clumps, a line of world
 * parts, resources that parts use. A walk along the parts wants the parts in its window and their resources;
 * what is wanted is held, the rest stays until it is evicted, the least recently used first. Every policy
 * sees the same walk. The policies that ask a heap have a real one; counters have a ledger, as a program has
 * that counts bytes and allocates elsewhere.
 *
 *   sim_config.c: the file     sim_level.c: a level and its walk     sim.c: rows, policies, the entry
 *   sim_output.c: text, CSV, SVG
 */
#ifndef POOLMEM_SIM_H
#define POOLMEM_SIM_H

#include "budget.h"
#include "retail.h"

#include <stdio.h>

enum { SIM_NAME = 48, SIM_ROWS = 32, SIM_POLICIES = 12, SIM_FIXED = 16, SIM_USES = 16 };

/* low..high, both included. */
typedef struct sim_range {
    uint32_t low, high;
} sim_range;

typedef struct sim_policy {
    char name[SIM_NAME];
    budget_policy kind;
    uint32_t hold_back; /* bytes */
} sim_policy;

typedef struct sim_row {
    char name[SIM_NAME];
    uint32_t part_bytes;       /* all parts of a level together */
    uint32_t fixed[SIM_FIXED]; /* sizes of clumps that stay */
    unsigned fixed_count;
    sim_range parts, resources, resource_bytes, window;
    sim_range uses;    /* resources of a part */
    sim_range roaming; /* resources from anywhere that a step wants besides */
} sim_row;

typedef struct sim_config {
    uint32_t pool_bytes;
    uint64_t seed;
    uint32_t levels, steps;
    sim_policy policies[SIM_POLICIES]; /* the first is the one the others are compared with */
    unsigned policy_count;
    sim_row rows[SIM_ROWS];
    unsigned row_count;
} sim_config;

/* What a row came to for one policy. */
typedef struct sim_result {
    uint64_t calls; /* of MakeRoom */
    uint64_t evictions;
    uint64_t failures;    /* nothing was left to evict */
    uint64_t differ;      /* first tests the first policy answers otherwise, on its own heap */
    uint64_t tests;       /* of those compared */
    double largest_share; /* mean of largest run / true free, at each call; heaps only */
    double shared;        /* mean over steps: |both resident| / |either|, with the first policy */
} sim_result;

/* The status of the command; anything but STATUS_DONE after a message with the file and the line. */
int sim_config_read(const char *path, sim_config *out);
/* Runs all levels of a row; results has one place a policy. False: no memory. */
bool sim_run_row(const sim_config *c, const sim_row *row, sim_result *results);

void sim_print(FILE *out, const sim_config *c, const sim_row *row, const sim_result *results);
void sim_print_head(FILE *out, const sim_config *c);
void sim_write_csv(FILE *out, const sim_config *c, sim_result (*results)[SIM_POLICIES]);
void sim_write_svg(FILE *out, const sim_config *c, sim_result (*results)[SIM_POLICIES]);

/* `poolmem sim FILE [--csv OUT] [--svg OUT] [--seed N]`; argv[0] is "sim". */
int sim_main(int argc, char **argv);
int sim_usage(FILE *out, int status);

#endif
