/* SPDX-License-Identifier: MIT */
/*
 * reload.c - objects come and go at the same address while threads unwind: no tag may be of what stood there
 * before. Two plug-ins of one layout but other frames and other pools take turns; other threads allocate
 * through a stack of their own all the time and must see their own pool. Argument: rounds.
 */
#include "entries.h"
#include "publish.h"
#include "stubs.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void plugin_fn(void (*call)(void *), void *arg);

static const struct plugin {
    const char *file, *function;
    uint32_t pool;
} plugins[] = {{"plugin_a.so", "plugin_pool3", 3}, {"plugin_b.so", "plugin_pool5", 5}};

static unsigned long checked, wrong; /* atomic */
static bool done;

static void check(const seen *s, void *arg)
{
    uint32_t pool, want = *(const uint32_t *)arg;
    stub_site_of(s->tag, &pool);
    __atomic_fetch_add(&checked, 1, __ATOMIC_RELAXED);
    if (pool != want && __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED) < 5)
        fprintf(stderr, "call from %lx: pool %u, expected %u\n", s->frame.ret, pool, want);
}

__attribute__((noinline)) static void allocate(void *arg)
{
    entry_lean(16, check, arg);
    __asm__ volatile("" ::: "memory");
}

__attribute__((noinline, visibility("default"))) void steady_pool9(uint32_t *want)
{
    allocate(want);
    __asm__ volatile("" ::: "memory");
}

static void *steady(void *unused)
{
    uint32_t want = 9;
    while (!__atomic_load_n(&done, __ATOMIC_RELAXED))
        steady_pool9(&want);
    return NULL;
}

/* A thread of its own for the calls into the plug-in: what it knows must not outlive the plug-in either. */
static plugin_fn *function;
static uint32_t wanted;
static pthread_barrier_t before, after;

static void *visitor(void *unused)
{
    for (;;) {
        pthread_barrier_wait(&before);
        if (!function)
            return NULL;
        for (int i = 0; i < 3; i++)
            function(allocate, &wanted);
        pthread_barrier_wait(&after);
    }
}

static void visit(const char *folder, const struct plugin *p, void **place)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, p->file);
    void *handle = dlopen(path, RTLD_NOW);
    if (!handle) {
        fprintf(stderr, "%s\n", dlerror());
        exit(2);
    }
    function = (plugin_fn *)dlsym(handle, p->function);
    wanted = p->pool;
    *place = (void *)(uintptr_t)function;
    for (int i = 0; i < 3; i++)
        function(allocate, &wanted);
    pthread_barrier_wait(&before);
    pthread_barrier_wait(&after);
    dlclose(handle);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 300;
    char *folder = strdup(argv[0]);
    void *place[2];
    unsigned long same = 0;
    pthread_t thread[3];
    *strrchr(folder, '/') = 0;
    pthread_barrier_init(&before, NULL, 2);
    pthread_barrier_init(&after, NULL, 2);
    pthread_create(&thread[0], NULL, steady, NULL);
    pthread_create(&thread[1], NULL, steady, NULL);
    pthread_create(&thread[2], NULL, visitor, NULL);
    for (int i = 0; i < rounds; i++) {
        visit(folder, &plugins[0], &place[0]);
        visit(folder, &plugins[1], &place[1]);
        same += place[0] == place[1];
    }
    function = NULL;
    pthread_barrier_wait(&before);
    done = true;
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
    printf("%lu tags (%lu walked), %lu of %d reloads at the same address, %lu stale\n", checked,
           published->unwound, same, rounds, wrong);
    return wrong != 0 || !same;
}
