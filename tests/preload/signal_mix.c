/* SPDX-License-Identifier: MIT */
/* Promise: the report signal may come at any moment of anything: while libraries are opened and closed,
 * threads start and end, children are forked, exceptions of the heap's own slow paths run. Nothing hangs,
 * nothing is lost. */
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include "check.h"

enum { SIGNALS = 600, ACTORS = 5 };
static atomic_bool stop;
static char plugin_path[PATH_MAX + 32];
static atomic_long turns[ACTORS];

static void open_and_close(void)
{
    void *plugin = dlopen(plugin_path, RTLD_NOW | RTLD_LOCAL);
    expect(plugin != NULL, "dlopen under signals, expected a handle, got %s", dlerror());
    void (*run)(int, void *(*)(size_t)) = (void (*)(int, void *(*)(size_t)))dlsym(plugin, "plugin_run");
    run(20, malloc);
    dlclose(plugin);
}

static void *live_briefly(void *unused)
{
    for (size_t bytes = 16; bytes < 100000; bytes *= 3)
        free(opaque(malloc(bytes)));
    return strdup("left behind");
}

static void start_and_end(void)
{
    pthread_t thread;
    void *left;
    expect_equal("pthread_create", 0, pthread_create(&thread, NULL, live_briefly, NULL));
    pthread_join(thread, &left);
    free(left);
}

static void fork_and_reap(void)
{
    pid_t pid = fork();
    if (pid == 0) {
        free(live_briefly(NULL));
        _exit(0);
    }
    int status = -1;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    expect(status == 0, "child under signals, expected status 0, got 0x%x", status);
}

static void grow_and_shrink(void)
{
    void *p = opaque(malloc(100));
    for (size_t bytes = 200; bytes < 8u << 20; bytes *= 2)
        p = opaque(realloc(p, bytes));
    for (size_t bytes = 8u << 20; bytes > 100; bytes /= 3)
        p = opaque(realloc(p, bytes));
    free(p);
}

static void fill_and_drop(void)
{
    static void *taken[3000];
    for (int i = 0; i < 3000; i++)
        taken[i] = opaque(malloc(16 + (size_t)i % 900));
    for (int i = 0; i < 3000; i++)
        free(taken[i]);
}

static void (*const acts[ACTORS])(void) = {open_and_close, start_and_end, fork_and_reap, grow_and_shrink,
                                           fill_and_drop};

static void *act(void *number)
{
    while (!stop) {
        acts[(uintptr_t)number]();
        turns[(uintptr_t)number]++;
    }
    return NULL;
}

static void nothing(int number)
{
}

int main(void)
{
    expect(readlink("/proc/self/exe", plugin_path, PATH_MAX - 1) > 0,
           "own path, expected found, got errno %d", errno);
    strcpy(strrchr(plugin_path, '/'), "/plugin_a.so");
    if (!library())
        signal(SIGUSR1, nothing);
    pthread_t actor[ACTORS];
    for (uintptr_t i = 0; i < ACTORS; i++)
        expect_equal("pthread_create", 0, pthread_create(&actor[i], NULL, act, (void *)i));
    for (int i = 0; i < SIGNALS; i++) {
        if (i % 3)
            pthread_kill(actor[i % ACTORS], SIGUSR1);
        else
            kill(getpid(), SIGUSR1);
        usleep(1000 + 997 * (unsigned)i % 3000);
    }
    stop = true;
    for (int i = 0; i < ACTORS; i++) {
        pthread_join(actor[i], NULL);
        expect(turns[i] > 0, "turns of actor %d, expected some, got none", i);
    }
    return passed();
}
