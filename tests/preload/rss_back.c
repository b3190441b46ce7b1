/* SPDX-License-Identifier: MIT */
/* Promise: memory freed comes back: after freeing all, RSS is within 10 % of what was taken + 2 MB of where
 * it began. Empty memory may rest about a second and is looked at on slow paths, so the program waits and
 * works a little: now and then, or once after a pause. It may also be another thread that frees it all. */
#include <pthread.h>
#include "check.h"

enum { BLOCKS = 60000 };
static void *taken[BLOCKS];

static size_t fill(size_t typical)
{
    unsigned seed = 3;
    size_t total = 0;
    for (int i = 0; i < BLOCKS; i++) {
        size_t bytes = 16 + next_random(&seed) % (2 * typical);
        taken[i] = opaque(malloc(bytes));
        expect(taken[i] != NULL, "malloc, expected a pointer, got NULL");
        memset(taken[i], 1, bytes);
        total += bytes;
    }
    return total;
}

static void drop_all(void)
{
    unsigned seed = 11;
    for (int i = BLOCKS - 1; i > 0; i--) {
        int k = (int)(next_random(&seed) % (unsigned)(i + 1));
        void *swap = taken[i];
        taken[i] = taken[k];
        taken[k] = swap;
    }
    for (int i = 0; i < BLOCKS; i++)
        free(taken[i]);
}

static void work_a_little(void)
{
    for (int i = 0; i < 20; i++) {
        usleep(100000);
        for (size_t bytes = 1000; bytes < 1 << 20; bytes *= 4)
            free(opaque(malloc(bytes)));
    }
}

static void pause_and_work(void)
{
    void *some[300];
    usleep(1500000);
    for (size_t i = 0; i < 300; i++)
        some[i] = opaque(malloc(7 * i));
    for (size_t i = 0; i < 300; i++)
        free(some[i]);
}

static void *drop_elsewhere(void *unused)
{
    drop_all();
    return unused;
}

static void drop(bool remote)
{
    pthread_t thread;
    if (!remote) {
        drop_all();
        return;
    }
    expect_equal("pthread_create", 0, pthread_create(&thread, NULL, drop_elsewhere, NULL));
    pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
    bool once = argc > 1, remote = argc > 1 && !strcmp(argv[1], "remote");
    memset(taken, 1, sizeof taken); /* its own pages are not what is measured */
    const size_t typical[] = {100, 2000};
    for (int i = 0; i < 2; i++) {
        size_t before = rss_kib();
        size_t total = fill(typical[i]) / 1024;
        size_t full = rss_kib();
        drop(remote);
        once ? pause_and_work() : work_a_little();
        long left = (long)(rss_kib() - before);
        expect(left < (long)(full - before) / 10 + 2048,
               "KiB left of %zu after freeing all, expected below %ld, got %ld", total,
               (long)(full - before) / 10 + 2048, left);
    }
    return passed();
}
