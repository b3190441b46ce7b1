/* SPDX-License-Identifier: MIT */
/* Promise: a plug-in that is unloaded, replaced by another file of the same path and loaded again is told
 * apart in the report: plugin_a's function before, plugin_b's after. */
#include <dlfcn.h>
#include <limits.h>
#include "check.h"

static char from[PATH_MAX], folder[] = "/tmp/hot_reload.XXXXXX", path[sizeof folder + 16];

static void copy(const char *name)
{
    static char buffer[1 << 20];
    char source[PATH_MAX + 32];
    snprintf(source, sizeof source, "%s/%s.so", from, name);
    int in = open(source, O_RDONLY), out = open(path, O_WRONLY | O_CREAT | O_EXCL, 0700);
    ssize_t bytes = read(in, buffer, sizeof buffer);
    expect(bytes > 0 && write(out, buffer, (size_t)bytes) == bytes,
           "copy of %s, expected whole, got errno %d", name, errno);
    close(in);
    close(out);
}

static void run(const char *name)
{
    copy(name);
    void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    expect(plugin != NULL, "dlopen of %s, expected a handle, got %s", name, dlerror());
    void (*call)(int, void *(*)(size_t)) = (void (*)(int, void *(*)(size_t)))dlsym(plugin, "plugin_run");
    call(100, NULL);
    expect_equal("dlclose", 0, dlclose(plugin));
    unlink(path);
}

int main(void)
{
    expect(readlink("/proc/self/exe", from, sizeof from - 1) > 0, "own path, expected found, got errno %d",
           errno);
    *strrchr(from, '/') = 0;
    expect(mkdtemp(folder) != NULL, "a folder, expected made, got errno %d", errno);
    snprintf(path, sizeof path, "%s/plugin.so", folder);
    run("plugin_a");
    run("plugin_b");
    rmdir(folder);
    return passed();
}
