/* SPDX-License-Identifier: MIT */
/*
 * retail_bench.c - what the retail system costs: small operations on the console's Sector Pool with 16,000
 * blocks in use, and a tracker's share of an operation at 10^6 live records.
 *
 *   retail_bench [heap|run|clump|track] [seconds]      (without a name: all)
 *
 * One line a measurement: ns an operation and million operations a second. The tracker is measured against
 * the same pool without it, in turns, and the difference is what it costs.
 */
#include "clump.h"
#include "os.h"
#include "retail.h"
#include "tracker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SECTOR = 17217536, BLOCKS = 16000, RECORDS = 1000000, TRACKED_SIZE = 48, BATCH = 1 << 16 };

static double seconds = 1;
static uint64_t seed = 42;

static uint32_t below(uint32_t n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((seed >> 33) * n >> 31);
}

static void say(const char *what, double ns)
{
    printf("%-44s %8.1f ns/op %8.1f M op/s\n", what, ns, 1e3 / ns);
}

/* The process's own time: others on the machine count less. */
static double cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Runs `batch` (which does BATCH operations) until the time is up; ns an operation. */
static double measure(void (*batch)(void *), void *arg)
{
    double start = cpu_ns(), now = start, operations = 0;
    while (now - start < seconds * 1e9) {
        batch(arg);
        operations += BATCH;
        now = cpu_ns();
    }
    return (now - start) / operations;
}

/* --- heap ------------------------------------------------------------------------------------------ */

struct heap_bench {
    rheap heap;
    uint32_t held[64];      /* what the small operations turn over */
    uint32_t least, spread; /* sizes */
};

/* Fills the heap to BLOCKS blocks with runs and fragmented blocks, as a level does. */
static void fill_heap(struct heap_bench *b)
{
    uint32_t at;
    void *memory = os_map(SECTOR);
    if (!memory || rheap_init(&b->heap, memory, SECTOR) != POOL_OK)
        exit(1);
    while (b->heap.used < BLOCKS / 2 * RHEAP_BLOCK)
        rheap_alloc(&b->heap, 1024 * (1 + below(8)), 16, &at);
    while (b->heap.used < (BLOCKS - 400) * RHEAP_BLOCK)
        rheap_alloc(&b->heap, 8 + below(505), 16, &at);
}

static void heap_batch(void *arg)
{
    struct heap_bench *b = arg;
    for (int i = 0; i < BATCH / 2; i++) {
        uint32_t *slot = &b->held[below(64)];
        rheap_free(&b->heap, *slot);
        rheap_alloc(&b->heap, b->least + below(b->spread), 16, slot);
    }
}

static void bench_heap(void)
{
    struct heap_bench b = {.least = 8, .spread = 500};
    fill_heap(&b);
    say("heap of 17 MB, 16,000 blocks, 8..508 bytes", measure(heap_batch, &b));
    b.spread = 57;
    say("heap of 17 MB, 16,000 blocks, 8..64 bytes", measure(heap_batch, &b));
    const char *wrong = rheap_check(&b.heap);
    if (wrong) {
        fprintf(stderr, "retail_bench: the heap is not sound: %s\n", wrong);
        exit(1);
    }
}

static void bench_runs(void)
{
    struct heap_bench b = {.least = 600, .spread = 6000};
    fill_heap(&b);
    say("heap of 17 MB, 16,000 blocks, runs to 6 KB", measure(heap_batch, &b));
}

/* --- clump ----------------------------------------------------------------------------------------- */

static void clump_batch(void *arg)
{
    pool *p = arg;
    void *last = NULL;
    for (int i = 0; i < BATCH / 2; i += 64) {
        void *all[64];
        for (int k = 0; k < 64; k++)
            all[k] = pool_get(p, 40, 16);
        for (int k = 0; k < 64; k++)
            pool_free(p, all[k]);
        last = all[63];
    }
    if (!last)
        exit(1);
}

static void bench_clump(void)
{
    static clump c;
    clump_init_in_place(&c, NULL, os_map(1 << 20), 1 << 20, "clump");
    pool_set_option(&c.base, POOL_OPTION_COUNT_FREES, 1);
    say("clump, counted frees, 40 bytes", measure(clump_batch, &c.base));
}

/* --- tracker --------------------------------------------------------------------------------------- */

enum replacing { THE_OLDEST, ANY_UNTOUCHED, ANY };

struct track_bench {
    pool *pool;
    void **live; /* RECORDS of them */
    enum replacing what;
    uint32_t next;
};

static void *get(pool *p)
{
    void *out;
    pool_request r = {.size = TRACKED_SIZE,
                      .align = 16,
                      .tag = "bench",
                      .file = "src/bench.c",
                      .line = 12,
                      .name = "object",
                      .stack = 7};
    if (pool_alloc(p, &r, &out) != POOL_OK)
        exit(1);
    return out;
}

/* Replaces one of 10^6 live blocks: the oldest, or any. A program reads what it gives back and writes what it
   gets; the loop that does neither shows the misses which then only the tracker waits for. */
static void track_batch(void *arg)
{
    volatile char seen = 0;
    struct track_bench *b = arg;
    for (int i = 0; i < BATCH / 2; i++) {
        b->next = b->what == THE_OLDEST ? (b->next + 1) % RECORDS : below(RECORDS);
        void **slot = &b->live[b->next];
        if (b->what != ANY_UNTOUCHED)
            seen = (char)(seen + *(const char *)*slot);
        pool_free(b->pool, *slot);
        *slot = get(b->pool);
        if (b->what != ANY_UNTOUCHED)
            memset(*slot, i, TRACKED_SIZE);
    }
}

static void track_make(struct track_bench *b, bool tracked)
{
    retail_pool *heap = calloc(1, sizeof *heap);
    tracker *t = calloc(1, sizeof *t);
    retail_init_in_place(heap, NULL, os_map(MIB(128)), MIB(128), "tracked");
    tracker_init(t, &heap->base, "track");
    *b = (struct track_bench){.pool = tracked ? &t->filter.base : &heap->base};
    b->live = malloc(RECORDS * sizeof *b->live);
    for (int i = 0; i < RECORDS; i++)
        b->live[i] = get(b->pool);
}

static void compare_track(struct track_bench *plain, struct track_bench *tracked, enum replacing what)
{
    enum { ROUNDS = 5 };
    static const char *const name[] = {"retail pool, 10^6 live, the oldest replaced",
                                       "retail pool, 10^6 live, any, untouched",
                                       "retail pool, 10^6 live, any"};
    double without = 0, with = 0;
    plain->what = tracked->what = what;
    seconds /= ROUNDS;
    for (int i = 0; i < ROUNDS; i++) {
        without += measure(track_batch, plain) / ROUNDS;
        with += measure(track_batch, tracked) / ROUNDS;
    }
    seconds *= ROUNDS;
    say(name[what], without);
    say("the same, tracked", with);
    printf("%-44s %8.1f ns/op\n", "the tracker's share", with - without);
}

static void bench_track(void)
{
    struct track_bench plain, tracked;
    track_make(&plain, false);
    track_make(&tracked, true);
    compare_track(&plain, &tracked, THE_OLDEST);
    compare_track(&plain, &tracked, ANY);
    compare_track(&plain, &tracked, ANY_UNTOUCHED);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } all[] = {{"heap", bench_heap}, {"run", bench_runs}, {"clump", bench_clump}, {"track", bench_track}};
    const char *only = argc > 1 ? argv[1] : "";
    if (argc > 2)
        seconds = atof(argv[2]);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (!*only || strcmp(only, all[i].name) == 0)
            all[i].run();
    }
    return 0;
}
