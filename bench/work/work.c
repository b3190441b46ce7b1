/* SPDX-License-Identifier: MIT */
/*
 * work.c - main() of every workload program and the helpers of work.h.
 *
 * Prints four lines that bench/compare reads: `malloc FILE` (the object that malloc really came from),
 * `ns N` per operation, `rss_end KB` (resident after everything was freed) and `result HEX`.
 */
#include "work.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MAX_THREADS 256

uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t rss_now_kb(void)
{
    unsigned long size, resident = 0;
    FILE *f = fopen("/proc/self/statm", "re");
    if (!f)
        return 0;
    if (fscanf(f, "%lu %lu", &size, &resident) != 2)
        resident = 0;
    fclose(f);
    return (uint64_t)resident * (uint64_t)sysconf(_SC_PAGESIZE) / 1024;
}

uint64_t work_count(const work_args *a, double full)
{
    double n = full * a->scale;
    return n < 1 ? 1 : (uint64_t)n;
}

static void die(const char *what)
{
    fprintf(stderr, "bench: %s\n", what);
    exit(1);
}

void *must_malloc(size_t size)
{
    void *p = malloc(size);
    if (!p)
        die("malloc failed");
    return p;
}

void *must_realloc(void *old, size_t size)
{
    void *p = realloc(old, size);
    if (!p)
        die("realloc failed");
    return p;
}

pthread_t thread_start(void *(*body)(void *), void *arg)
{
    pthread_t t;
    if (pthread_create(&t, NULL, body, arg))
        die("pthread_create failed");
    return t;
}

typedef struct crew {
    uint64_t (*body)(unsigned, void *);
    void *shared;
    unsigned number;
    uint64_t sum;
} crew;

static void *crew_main(void *arg)
{
    crew *c = arg;
    c->sum = c->body(c->number, c->shared);
    return NULL;
}

uint64_t threads_run(unsigned n, uint64_t (*body)(unsigned, void *), void *shared)
{
    pthread_t threads[MAX_THREADS];
    crew members[MAX_THREADS];
    uint64_t sum = 0;
    if (n > MAX_THREADS)
        die("too many threads");
    for (unsigned i = 0; i < n; i++) {
        members[i] = (crew){body, shared, i, 0};
        threads[i] = thread_start(crew_main, &members[i]);
    }
    for (unsigned i = 0; i < n; i++) {
        pthread_join(threads[i], NULL);
        sum += members[i].sum;
    }
    return sum;
}

static const work *work_find(const char *name)
{
    for (const work *w = work_table; w->name; w++)
        if (strcmp(w->name, name) == 0)
            return w;
    return NULL;
}

static int usage(const char *program)
{
    fprintf(stderr, "usage: %s VARIANT [SCALE [THREADS]], where VARIANT is one of:", program);
    for (const work *w = work_table; w->name; w++)
        fprintf(stderr, " %s", w->name);
    fputc('\n', stderr);
    return 2;
}

int main(int argc, char **argv)
{
    const work *w = argc > 1 ? work_find(argv[1]) : NULL;
    if (!w)
        return usage(argv[0]);
    work_args a = {argc > 2 ? atof(argv[2]) : 1, argc > 3 ? (unsigned)atoi(argv[3]) : 0,
                   argv + (argc > 4 ? 4 : argc)};
    uint64_t start = now_ns();
    work_result r = w->run(&a);
    double ns = (double)(r.ns ? r.ns : now_ns() - start);
    Dl_info where = {0};
    void *entry = dlsym(RTLD_DEFAULT, "malloc");
    if (entry)
        dladdr(entry, &where);
    printf("malloc %s\nns %.3f\nrss_end %llu\nresult %016llx\n", where.dli_fname ? where.dli_fname : "?",
           ns / (double)(r.ops ? r.ops : 1), (unsigned long long)rss_now_kb(), (unsigned long long)r.sum);
    return 0;
}
