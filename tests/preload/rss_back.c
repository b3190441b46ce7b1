/* SPDX-License-Identifier: MIT */
/* Promise: memory freed comes back: after freeing all, RSS is within 10 % of what was taken + 2 MB of where
 * it began. Empty memory may rest about a second and is looked at on slow paths, so the program waits and
 * works a little. */
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

int main(void)
{
    memset(taken, 1, sizeof taken); /* its own pages are not what is measured */
    const size_t typical[] = {100, 2000};
    for (int i = 0; i < 2; i++) {
        size_t before = rss_kib();
        size_t total = fill(typical[i]) / 1024;
        size_t full = rss_kib();
        drop_all();
        work_a_little();
        long left = (long)(rss_kib() - before);
        expect(left < (long)(full - before) / 10 + 2048,
               "KiB left of %zu after freeing all, expected below %ld, got %ld", total,
               (long)(full - before) / 10 + 2048, left);
    }
    return passed();
}
