/* SPDX-License-Identifier: MIT */
/* Promise: handlers that fork in several threads at once, whatever they interrupted there: runs, pools at
 * their limits, stacks never seen before, a library that comes and goes. No side hangs, and every child has a
 * heap. Even children allocate in the handler, odd ones after it has returned. */
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include "check.h"

enum { WORKERS = 6, SLOTS = 64, PATIENCE = 60 };
static pthread_t worker[WORKERS];
static atomic_int forks, failures, ended;
static atomic_bool stop;
static volatile sig_atomic_t is_child;
static __thread volatile sig_atomic_t
    loading; /* the loader's file is the parent's too: only one may read on */
static char plugin[PATH_MAX + 32];

static void live_as_child(void)
{
    for (size_t bytes = 1; bytes < 400000; bytes = bytes * 2 + 1) {
        char *p = opaque(malloc(bytes));
        if (!p)
            _exit(4);
        p[0] = p[bytes - 1] = 1;
        free(p);
    }
    _exit(0);
}

static void at_signal(int signal_number)
{
    if (is_child || stop)
        return;
    int saved = errno, number = forks++;
    pid_t pid = fork();
    if (pid == 0) {
        signal(SIGALRM, SIG_DFL);
        alarm(PATIENCE);
        if (number % 2 == 0 || loading)
            live_as_child();
        is_child = 1;
    } else if (pid < 0) {
        failures++;
    }
    errno = saved;
}

/* --- what the handlers interrupt --------------------------------------------------------------------- */

static void churn(void **slots, unsigned *seed, size_t most)
{
    size_t slot = next_random(seed) % SLOTS, bytes = 1 + next_random(seed) % most;
    free(slots[slot]);
    slots[slot] = malloc(bytes);
    if (slots[slot])
        *(char *)slots[slot] = 1;
    if (next_random(seed) % 4 == 0) {
        void *larger = realloc(slots[slot], bytes + most / 3);
        slots[slot] = larger ? larger : slots[slot];
    }
}

__attribute__((noinline)) static void churn_retail(void **slots, unsigned *seed)
{
    churn(slots, seed, 40000);
    __asm__ volatile("");
}

__attribute__((noinline)) static void churn_clump(void **slots, unsigned *seed)
{
    churn(slots, seed, 100);
    __asm__ volatile("");
}

__attribute__((noinline)) static void churn_budget(void **slots, unsigned *seed)
{
    churn(slots, seed, 100000);
    __asm__ volatile("");
}

static void churn_runs(void **slots, unsigned *seed)
{
    churn(slots, seed, 300000);
}

#define TURN(name, next)                                                                                     \
    __attribute__((noinline)) static void name(unsigned way, void **slots, unsigned *seed)                   \
    {                                                                                                        \
        if (way > 1)                                                                                         \
            (way & 1 ? turn_left : turn_right)(way >> 1, slots, seed);                                       \
        else                                                                                                 \
            churn(slots, seed, 3000);                                                                        \
        __asm__ volatile("");                                                                                \
    }
static void turn_left(unsigned way, void **slots, unsigned *seed);
static void turn_right(unsigned way, void **slots, unsigned *seed);
TURN(turn_left, )
TURN(turn_right, )

static void churn_stacks(void **slots, unsigned *seed)
{
    turn_left(next_random(seed) % 4096, slots, seed);
}

static void load_and_unload(void **slots, unsigned *seed)
{
    loading = 1;
    void *library = dlopen(plugin, RTLD_NOW | RTLD_LOCAL);
    void (*run)(int, void *(*)(size_t)) =
        library ? (void (*)(int, void *(*)(size_t)))dlsym(library, "plugin_run") : NULL;
    expect(run != NULL, "plugin_run in %s, expected found, got %s", plugin, dlerror());
    run(20, malloc);
    dlclose(library);
    loading = 0;
    churn(slots, seed, 3000);
}

static void *work(void *number)
{
    static void (*const kinds[WORKERS])(void **, unsigned *) = {churn_runs,   churn_retail, churn_clump,
                                                                churn_stacks, churn_budget, load_and_unload};
    size_t kind = (size_t)(uintptr_t)number;
    void *slots[SLOTS] = {NULL};
    unsigned seed = (unsigned)kind + 1;
    while (!stop && !is_child)
        kinds[kind](slots, &seed);
    if (is_child)
        live_as_child();
    return NULL;
}

/* --- the one that is never interrupted ---------------------------------------------------------------- */

static void reap(int options)
{
    int status;
    while (waitpid(-1, &status, options) > 0) {
        ended++;
        expect(status == 0, "child %d, expected status 0, got 0x%x", (int)ended, status);
    }
}

static void find_plugin(void)
{
    expect(readlink("/proc/self/exe", plugin, PATH_MAX - 1) > 0, "own path, got errno %d", errno);
    strcpy(strrchr(plugin, '/'), "/plugin_a.so");
}

int main(int argc, char **argv)
{
    int wanted = argc > 1 ? atoi(argv[1]) : 300;
    struct sigaction action = {.sa_handler = at_signal, .sa_flags = SA_RESTART};
    sigaction(SIGUSR2, &action, NULL);
    find_plugin();
    for (uintptr_t i = 0; i < WORKERS; i++)
        expect_equal("pthread_create", 0, pthread_create(&worker[i], NULL, work, (void *)i));
    unsigned seed = 1;
    while (forks < wanted) {
        for (unsigned i = 1 + next_random(&seed) % 3; i > 0; i--)
            pthread_kill(worker[next_random(&seed) % WORKERS], SIGUSR2);
        usleep(300 + next_random(&seed) % 700);
        reap(WNOHANG);
    }
    stop = true;
    for (int i = 0; i < WORKERS; i++)
        pthread_join(worker[i], NULL);
    reap(0);
    expect_equal("failed forks", 0, failures);
    expect_equal("children", forks, ended);
    return passed();
}
