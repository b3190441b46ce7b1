/* SPDX-License-Identifier: MIT */
/* Promise: a thousand threads alive at once each allocate; none is refused, and what they cost in memory is
 * bounded. */
#include <pthread.h>
#include "check.h"

enum { THREADS = 1000, KIB_EACH = 96 };
static pthread_barrier_t met, leave;

static void *live(void *unused)
{
    void *taken[12];
    for (int i = 0; i < 12; i++) {
        taken[i] = malloc(16u << (i % 8));
        expect(taken[i] != NULL, "malloc in one of %d threads, expected a pointer, got NULL", THREADS);
        memset(taken[i], 1, 16u << (i % 8));
    }
    pthread_barrier_wait(&met);
    pthread_barrier_wait(&leave);
    for (int i = 0; i < 12; i++)
        free(taken[i]);
    return unused;
}

int main(void)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 64 << 10);
    pthread_barrier_init(&met, NULL, THREADS + 1);
    pthread_barrier_init(&leave, NULL, THREADS + 1);
    static pthread_t thread[THREADS];
    long before = (long)rss_kib();
    for (int i = 0; i < THREADS; i++)
        expect_equal("pthread_create", 0, pthread_create(&thread[i], &attributes, live, NULL));
    pthread_barrier_wait(&met);
    long each = ((long)rss_kib() - before) / THREADS;
    expect(each < KIB_EACH, "KiB resident for each thread, expected below %d, got %ld", KIB_EACH, each);
    pthread_barrier_wait(&leave);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    return passed();
}
