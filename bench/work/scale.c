/* SPDX-License-Identifier: MIT */
/*
 * scale.c - one operation (replace a random block), while one thing grows: PROGRAM VARIANT SCALE 0 N [DIR].
 *
 * threads N: each with blocks of its own; CPU time per operation, so that N may exceed the cores.
 * pools N: the caller is one of N functions, each of which a rule may send to a pool of its own.
 * live N: N blocks are live. modules N: the stack leads through two of N shared objects of DIR.
 * giveback N: N MB are allocated and freed; rss_end says what stays behind after a short rest.
 */
#include "work.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SLOTS 4096
#define BURST 32 /* operations by one caller before the next one's turn: programs do things in bursts */

static uint64_t number_of(const work_args *a)
{
    uint64_t n = a->rest[0] ? strtoull(a->rest[0], NULL, 10) : 0;
    return n ? n : 1;
}

static uint64_t cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* How a variant makes a block: `which` chooses among its callers. */
typedef void *maker(size_t size, uint64_t which);

/* n replacements among `slots` blocks, after all are filled; returns the time of the replacements. */
static uint64_t replace(maker *make, uint64_t callers, void **slot, size_t slots, uint64_t n, uint64_t seed)
{
    uint64_t rng = rng_seed(seed), start;
    for (size_t i = 0; i < slots; i++)
        slot[i] = make(rng_range(&rng, 16, 64), i % callers);
    start = now_ns();
    for (uint64_t i = 0; i < n; i++) {
        uint64_t r = rng_next(&rng);
        size_t k = (size_t)((r >> 32) % slots);
        free(slot[k]);
        slot[k] = make(16 + (r & 31), i / BURST % callers);
    }
    return now_ns() - start;
}

static void slots_free(void **slot, size_t slots)
{
    for (size_t i = 0; i < slots; i++)
        free(slot[i]);
    free(slot);
}

static void **slots_make(size_t slots)
{
    return must_malloc(slots * sizeof(void *));
}

static __attribute__((noinline)) void *make_plain(size_t size, uint64_t which)
{
    (void)which;
    uint64_t *p = must_malloc(size);
    *p = size;
    return p;
}

static uint64_t thread_main(unsigned number, void *shared)
{
    uint64_t n = *(uint64_t *)shared;
    void **slot = slots_make(SLOTS);
    replace(make_plain, 1, slot, SLOTS, n, number);
    slots_free(slot, SLOTS);
    return n;
}

static work_result run_threads(const work_args *a)
{
    uint64_t threads = number_of(a), n = work_count(a, 16e6 / (double)threads), start = cpu_ns();
    uint64_t sum = threads_run((unsigned)threads, thread_main, &n);
    return (work_result){n * threads, sum, cpu_ns() - start};
}

static work_result run_live(const work_args *a)
{
    uint64_t n = work_count(a, 5e6);
    size_t slots = number_of(a);
    void **slot = slots_make(slots);
    uint64_t ns = replace(make_plain, 1, slot, slots, n, 1);
    slots_free(slot, slots);
    return (work_result){n, n, ns};
}

/* 256 functions, site_00 .. site_ff, exported so that rules can tell them apart. */
#define SITE(x)                                                                                              \
    __attribute__((noinline, noclone)) void *site_##x(size_t size);                                          \
    void *site_##x(size_t size)                                                                              \
    {                                                                                                        \
        uint64_t *p = must_malloc_inline(size);                                                              \
        *p = 0x##x;                                                                                          \
        return p;                                                                                            \
    }

/* Rows of macros: clang-format never settles on where to break them. */
/* clang-format off */
#define SITES(x)                                                                                             \
    SITE(x##0) SITE(x##1) SITE(x##2) SITE(x##3) SITE(x##4) SITE(x##5) SITE(x##6) SITE(x##7)                  \
    SITE(x##8) SITE(x##9) SITE(x##a) SITE(x##b) SITE(x##c) SITE(x##d) SITE(x##e) SITE(x##f)
#define NAMES(x)                                                                                             \
    site_##x##0, site_##x##1, site_##x##2, site_##x##3, site_##x##4, site_##x##5, site_##x##6, site_##x##7,  \
    site_##x##8, site_##x##9, site_##x##a, site_##x##b, site_##x##c, site_##x##d, site_##x##e, site_##x##f
/* clang-format on */

static inline __attribute__((always_inline)) void *must_malloc_inline(size_t size)
{
    void *p = malloc(size);
    if (!p)
        abort();
    return p;
}

/* clang-format off */
SITES(0) SITES(1) SITES(2) SITES(3) SITES(4) SITES(5) SITES(6) SITES(7)
SITES(8) SITES(9) SITES(a) SITES(b) SITES(c) SITES(d) SITES(e) SITES(f)

static void *(*const sites[256])(size_t) = {
    NAMES(0), NAMES(1), NAMES(2), NAMES(3), NAMES(4), NAMES(5), NAMES(6), NAMES(7),
    NAMES(8), NAMES(9), NAMES(a), NAMES(b), NAMES(c), NAMES(d), NAMES(e), NAMES(f)};
/* clang-format on */

static void *make_site(size_t size, uint64_t which)
{
    return sites[which & 255](size);
}

static work_result run_pools(const work_args *a)
{
    uint64_t n = work_count(a, 10e6);
    void **slot = slots_make(SLOTS);
    uint64_t ns = replace(make_site, number_of(a), slot, SLOTS, n, 1);
    slots_free(slot, SLOTS);
    return (work_result){n, n, ns};
}

/* What each shared object exports (bench/module.c): calls `inner`, from a frame of its own. */
typedef void *through(void *(*inner)(size_t, uint64_t), size_t size, uint64_t which);
static through *modules[256];
static uint64_t module_count;

static void *make_inner(size_t size, uint64_t which)
{
    return modules[which % module_count](make_plain, size, which);
}

static void *make_module(size_t size, uint64_t which)
{
    return modules[which * 7 % module_count](make_inner, size, which);
}

static through *module_load(const char *folder, uint64_t number)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/module_%02llu.so", folder, (unsigned long long)number);
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *entry = handle ? dlsym(handle, "module_through") : NULL;
    if (!entry) {
        fprintf(stderr, "scale: %s\n", dlerror());
        exit(1);
    }
    return (through *)entry;
}

static work_result run_modules(const work_args *a)
{
    uint64_t n = work_count(a, 8e6);
    void **slot = slots_make(SLOTS);
    module_count = number_of(a);
    for (uint64_t i = 0; i < module_count && i < 256; i++)
        modules[i] = module_load(a->rest[1] ? a->rest[1] : ".", i);
    uint64_t ns = replace(make_module, module_count, slot, SLOTS, n, 1);
    slots_free(slot, SLOTS);
    return (work_result){n, n, ns};
}

static work_result run_giveback(const work_args *a)
{
    uint64_t left = number_of(a) << 20, n = 0, rng = rng_seed(1);
    void **slot = slots_make(left / 64);
    while (left > 70000) {
        size_t size = rng_range(&rng, 16, n % 16 ? 600 : 60000);
        slot[n++] = memset(must_malloc(size), 1, size);
        left -= size;
    }
    slots_free(slot, n);
    /* Allocators that give back after a while look at the time when they are called. */
    for (unsigned i = 0; i < 30; i++) {
        usleep(100000);
        for (unsigned k = 0; k < 2000; k++)
            free(make_plain(16 + k * 8, 0));
    }
    return (work_result){n, n, 0};
}

const work work_table[] = {{"threads", run_threads}, {"pools", run_pools},       {"live", run_live},
                           {"modules", run_modules}, {"giveback", run_giveback}, {NULL, NULL}};
