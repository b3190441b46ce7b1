/* SPDX-License-Identifier: MIT */
/* stubs.c - see stubs.h. */
#include "stubs.h"
#include "../../interpose/sandbox.h"
#include "publish.h"
#include "fatal.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static stats_header header = {.site_max = 1u << 30};
stats_header *published = &header;
config config_now = {.depth = 32};
thread cold_thread = {.memo = memo_dead, .call_key = MEMO_UNUSABLE};
__thread thread *self __attribute__((tls_model("initial-exec"))) = &cold_thread;

enum { SITES = 1 << 17, INDEX = 1 << 19 };
static stub_site *sites;
static stats_tally *tallies; /* of site n; those of base sites come first */
static uint32_t *site_index, site_count = STATS_POOLS;

static void *map(size_t size)
{
    return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

__attribute__((constructor)) static void make(void)
{
    sites = map(SITES * sizeof *sites);
    tallies = map(SITES * sizeof *tallies);
    site_index = map(INDEX * sizeof *site_index);
}

/* The heap's side is not needed here, and it is large: threads are made by mmap and kept. */
thread *thread_start(void)
{
    thread *t = map(sizeof *t);
    if (!caller_thread_start(t))
        abort();
    return self = t;
}

const tag *thread_emergency_tag(void)
{
    abort();
}

const tag *thread_base(thread *t, uint32_t pool)
{
    t->base[pool] = (tag){(struct front *)(uintptr_t)(pool + 1), &tallies[pool]};
    return &t->base[pool];
}

tag thread_tag(thread *t, uint32_t pool, uint32_t site)
{
    return (tag){(struct front *)(uintptr_t)(pool + 1), &tallies[site]};
}

uint32_t publish_site(uint32_t pool, const uintptr_t *pcs, unsigned n)
{
    stub_site s = {.pool = pool, .frames = n};
    memcpy(s.pcs, pcs, n * sizeof *pcs);
    uint64_t hash = pool;
    for (unsigned i = 0; i < n; i++)
        hash = (hash ^ pcs[i]) * 0x9e3779b97f4a7c15u;
    uint32_t at = (uint32_t)(hash >> 40) & (INDEX - 1);
    for (; site_index[at]; at = (at + 1) & (INDEX - 1))
        if (memcmp(&sites[site_index[at]], &s, sizeof s) == 0)
            return site_index[at];
    if (site_count == SITES)
        return pool;
    sites[site_count] = s;
    return site_index[at] = site_count++;
}

const stub_site *stub_site_of(const tag *g, uint32_t *pool)
{
    size_t n = (size_t)(g->tally - tallies);
    *pool = (uint32_t)(uintptr_t)g->front - 1;
    return n < STATS_POOLS ? NULL : &sites[n];
}

void publish_forget(void)
{
}

void symbols_forget(void)
{
}

bool symbol_find(uintptr_t return_address, symbol_info *out)
{
    Dl_info info;
    bool found = dladdr((void *)(return_address - 1), &info) != 0;
    *out = (symbol_info){.module = found ? info.dli_fname : "", .name = found ? info.dli_sname : NULL};
    return found;
}

static int pool_in(const char *name)
{
    const char *at = name ? strstr(name, "_pool") : NULL;
    return at ? atoi(at + 5) : RULE_NO_POOL;
}

verdict rules_verdict(const symbol_info *s)
{
    bool by_size = s->name && strstr(s->name, "_bysize");
    return (verdict){(int16_t)pool_in(s->name), by_size};
}

jmp_buf *stub_escape;

int rules_decide(verdict v, entry_id entry, size_t size, unsigned depth)
{
    jmp_buf *away = stub_escape;
    if (away) {
        stub_escape = NULL;
        longjmp(*away, 1);
    }
    return v.conditional ? 7 + (size > 100) : v.pool;
}

bool rules_by_size(verdict v)
{
    return v.conditional;
}

int stub_pool_of(uintptr_t return_address)
{
    symbol_info s;
    symbol_find(return_address, &s);
    return pool_in(s.name);
}

bool sandboxed;
