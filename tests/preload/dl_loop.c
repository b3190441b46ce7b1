/* SPDX-License-Identifier: MIT */
/* Promise: libraries come and go while other threads allocate and are unwound: no deadlock, no crash, and a
 * library mapped where another was gets tags of its own. The report is compared with the counts printed here:
 * under conf/plugins.conf pool PlugA holds exactly the calls made below plugin_a, PlugB those below plugin_b.
 */
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include "check.h"

enum { ROUNDS = 150, CALLS = 200, WORKERS = 3 };
static atomic_bool stop;
static char folder[PATH_MAX];

__attribute__((noinline)) static void *host_take(size_t bytes)
{
    void *p = malloc(bytes);
    expect(p != NULL, "malloc for a plug-in, expected a pointer, got NULL");
    return opaque(p);
}

__attribute__((noinline)) static void dig(int depth)
{
    if (depth > 0)
        dig(depth - 1);
    free(host_take(64 + (size_t)depth));
}

static void *work(void *unused)
{
    for (int i = 0; !stop; i++)
        dig(i % 20);
    return unused;
}

static void *run_plugin(const char *name)
{
    char path[PATH_MAX + 32];
    snprintf(path, sizeof path, "%s/%s.so", folder, name);
    void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    expect(plugin != NULL, "dlopen of %s, expected a handle, got %s", path, dlerror());
    void (*run)(int, void *(*)(size_t)) = (void (*)(int, void *(*)(size_t)))dlsym(plugin, "plugin_run");
    expect(run != NULL, "plugin_run in %s, expected found, got NULL", name);
    run(CALLS, host_take);
    expect_equal("dlclose", 0, dlclose(plugin));
    return (void *)run;
}

int main(void)
{
    expect(readlink("/proc/self/exe", folder, sizeof folder - 1) > 0,
           "own path, expected found, got errno %d", errno);
    *strrchr(folder, '/') = 0;
    pthread_t worker[WORKERS];
    for (int i = 0; i < WORKERS; i++)
        expect_equal("pthread_create", 0, pthread_create(&worker[i], NULL, work, NULL));
    int same_address = 0;
    for (int i = 0; i < ROUNDS; i++)
        same_address += run_plugin("plugin_a") == run_plugin("plugin_b");
    stop = true;
    for (int i = 0; i < WORKERS; i++)
        pthread_join(worker[i], NULL);
    expect(same_address > 0, "plug-ins mapped at one address, expected at least once in %d rounds, got never",
           ROUNDS);
    return passed();
}
