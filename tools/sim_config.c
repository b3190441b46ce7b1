/* SPDX-License-Identifier: MIT */
/*
 * sim_config.c - see sim.h: the INI file. Sections [sim], [policy NAME] and [row NAME]; a row starts as a
 * copy of the row before, so only what differs need be said. inih reads; the line number is that of the
 * line it has just been handed. The first error ends the reading: what follows may only follow from it.
 */
#include "../interpose/rule.h"
#include "command.h"
#include "sim.h"

#include <errno.h>
#include <ini.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    FILE *in;
    const char *path;
    unsigned line;
    bool bad;
    sim_config *config;
    char section[SIM_NAME + 16]; /* the one the last value stood in */
};

#define wrong(r, ...) wrong_at((r), __VA_ARGS__)

static bool wrong_at(struct reader *r, const char *what, const char *value, const char *expected)
{
    tell(STATUS_USAGE, "%s:%u: %s '%s', expected %s", r->path, r->line, what, value, expected);
    r->bad = true;
    return false;
}

static char *next_line(char *text, int size, void *arg)
{
    struct reader *r = arg;
    r->line++;
    return fgets(text, size, r->in);
}

/* --- values ---------------------------------------------------------------------------------------- */

static bool read_bytes(const char *text, const char *end, uint32_t *out)
{
    uint64_t n;
    if (!rule_bytes(text, end, &n) || n > UINT32_MAX)
        return false;
    *out = (uint32_t)n;
    return true;
}

static bool take_bytes(struct reader *r, const char *value, uint32_t least, uint32_t *out)
{
    if (read_bytes(value, value + strlen(value), out) && *out >= least)
        return true;
    return wrong(r, "bad number", value, "a number below 4 G that is not too small, with K, M or G");
}

static bool take_range(struct reader *r, const char *value, uint32_t most, sim_range *out)
{
    const char *dash = strchr(value, '-'), *end = value + strlen(value);
    bool good = read_bytes(value, dash ? dash : end, &out->low) &&
                read_bytes(dash ? dash + 1 : value, end, &out->high);
    if (good && out->low <= out->high && out->high <= most)
        return true;
    return wrong(r, "bad range", value, "LOW-HIGH or a number, within what a level can hold");
}

static bool take_fixed(struct reader *r, const char *value, sim_row *row)
{
    const char *at = value;
    row->fixed_count = 0;
    while (*at) {
        const char *end = at + strcspn(at, " \t");
        if (row->fixed_count == SIM_FIXED || !read_bytes(at, end, &row->fixed[row->fixed_count++]))
            return wrong(r, "bad list of sizes", value, "up to 16 sizes with blanks between");
        at = end + strspn(end, " \t");
    }
    return true;
}

static bool take_kind(struct reader *r, const char *value, budget_policy *out)
{
    static const char *const names[BUDGET_POLICIES] = {"largest", "largest_run", "free_bytes", "true_free"};
    for (int i = 0; i < BUDGET_POLICIES; i++) {
        if (strcmp(value, names[i]) == 0)
            return *out = (budget_policy)i, true;
    }
    return wrong(r, "unknown policy", value, "largest, largest_run, free_bytes or true_free");
}

/* --- sections -------------------------------------------------------------------------------------- */

static bool take_sim(struct reader *r, const char *name, const char *value)
{
    sim_config *c = r->config;
    if (strcmp(name, "pool") == 0)
        return take_bytes(r, value, 4096, &c->pool_bytes);
    if (strcmp(name, "levels") == 0)
        return take_bytes(r, value, 1, &c->levels);
    if (strcmp(name, "steps") == 0)
        return take_bytes(r, value, 1, &c->steps);
    uint32_t seed;
    if (strcmp(name, "seed") != 0)
        return wrong(r, "unknown key", name, "pool, levels, steps or seed");
    bool good = take_bytes(r, value, 0, &seed);
    c->seed = seed;
    return good;
}

static bool take_policy(struct reader *r, const char *name, const char *value)
{
    sim_policy *p = &r->config->policies[r->config->policy_count - 1];
    if (strcmp(name, "kind") == 0)
        return take_kind(r, value, &p->kind);
    if (strcmp(name, "hold_back") == 0)
        return take_bytes(r, value, 0, &p->hold_back);
    return wrong(r, "unknown key", name, "kind or hold_back");
}

/* Most of a row's keys are ranges; each says how much a level can hold of it. */
static bool take_row(struct reader *r, const char *name, const char *value)
{
    sim_row *row = &r->config->rows[r->config->row_count - 1];
    const struct {
        const char *name;
        sim_range *range;
        uint32_t most;
    } ranges[] = {{"parts", &row->parts, 1000},
                  {"resources", &row->resources, 5000},
                  {"resource_bytes", &row->resource_bytes, UINT32_MAX},
                  {"window", &row->window, 100},
                  {"uses", &row->uses, SIM_USES},
                  {"roaming", &row->roaming, 50}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        if (strcmp(name, ranges[i].name) == 0)
            return take_range(r, value, ranges[i].most, ranges[i].range);
    }
    if (strcmp(name, "part_bytes") == 0)
        return take_bytes(r, value, 0, &row->part_bytes);
    if (strcmp(name, "fixed") == 0)
        return take_fixed(r, value, row);
    return wrong(r, "unknown key", name,
                 "part_bytes, fixed, parts, resources, resource_bytes, window, uses or roaming");
}

static bool open_policy(struct reader *r, const char *name)
{
    sim_config *c = r->config;
    if (c->policy_count == SIM_POLICIES)
        return wrong(r, "too many policies at", name, "at most 12");
    sim_policy *p = &c->policies[c->policy_count++];
    *p = (sim_policy){.kind = BUDGET_LARGEST};
    strncpy(p->name, name, SIM_NAME - 1);
    return true;
}

static bool open_row(struct reader *r, const char *name)
{
    sim_config *c = r->config;
    if (c->row_count == SIM_ROWS)
        return wrong(r, "too many rows at", name, "at most 32");
    sim_row *row = &c->rows[c->row_count++];
    if (c->row_count > 1)
        *row = row[-1];
    memset(row->name, 0, sizeof row->name);
    strncpy(row->name, name, SIM_NAME - 1);
    return true;
}

static bool open_section(struct reader *r, const char *section)
{
    strncpy(r->section, section, sizeof r->section - 1);
    if (strncmp(section, "policy ", 7) == 0)
        return open_policy(r, section + 7);
    if (strncmp(section, "row ", 4) == 0)
        return open_row(r, section + 4);
    return strcmp(section, "sim") == 0 ||
           wrong(r, "unknown section", section, "sim, policy NAME or row NAME");
}

static int take_value(void *arg, const char *section, const char *name, const char *value)
{
    struct reader *r = arg;
    if (r->bad)
        return 1;
    if (strcmp(section, r->section) != 0 && !open_section(r, section))
        return 1;
    if (strncmp(section, "policy ", 7) == 0)
        take_policy(r, name, value);
    else if (strncmp(section, "row ", 4) == 0)
        take_row(r, name, value);
    else
        take_sim(r, name, value);
    return 1;
}

/* --- the whole ------------------------------------------------------------------------------------- */

static const sim_config defaults = {
    .pool_bytes = 17217536,
    .seed = 1,
    .levels = 60,
    .steps = 1500,
    .rows = {{.parts = {30, 80},
              .resources = {60, 200},
              .resource_bytes = {3072, 430080},
              .window = {2, 4},
              .uses = {2, 6},
              .roaming = {1, 1}}},
};

/* What only shows at the end. A walk needs parts, a logarithm a size above 0. */
static bool check_whole(const struct reader *r)
{
    const sim_config *c = r->config;
    const char *missing = !c->policy_count ? "[policy NAME]" : !c->row_count ? "[row NAME]" : NULL;
    for (unsigned i = 0; i < c->row_count; i++) {
        const sim_row *row = &c->rows[i];
        if (!row->parts.low || row->window.low < 1 || !row->resource_bytes.low)
            missing = "parts, window and resource_bytes above 0";
    }
    if (missing)
        tell(STATUS_USAGE, "%s:%u: nothing to run, expected %s", r->path, r->line, missing);
    return !missing;
}

int sim_config_read(const char *path, sim_config *out)
{
    struct reader r = {.in = fopen(path, "re"), .path = path, .config = out};
    *out = defaults;
    if (!r.in)
        return tell(STATUS_FAILED, "cannot open %s: %s", path, strerror(errno));
    int bad_line = ini_parse_stream(next_line, &r, take_value, &r);
    fclose(r.in);
    if (bad_line && !r.bad)
        return tell(STATUS_USAGE, "%s:%d: neither a section nor `name = value`", path, bad_line);
    return !r.bad && check_whole(&r) ? STATUS_DONE : STATUS_USAGE;
}
