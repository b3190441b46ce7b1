/* SPDX-License-Identifier: MIT */
/* Promise: when one thread only allocates and another only frees, the memory in use stays bounded by what is
 * in flight. */
#include <pthread.h>
#include <semaphore.h>
#include "check.h"

enum { RING = 1024, BLOCKS = 640000, PAIRS = 2 };

struct ring {
    void *slot[RING];
    sem_t filled, empty; /* counts of slots */
};
static struct ring rings[PAIRS];

static void *produce(void *of)
{
    struct ring *ring = of;
    unsigned seed = 7;
    for (int i = 0; i < BLOCKS / PAIRS; i++) {
        size_t bytes = 16 + next_random(&seed) % (i % 256 ? 400 : 40000);
        char *p = malloc(bytes);
        expect(p != NULL, "malloc of the producer, expected a pointer, got NULL");
        p[0] = p[bytes - 1] = 1;
        if (i % 32 == 0)
            for (int k = 0; k < 32; k++)
                sem_wait(&ring->empty);
        ring->slot[i % RING] = p;
        if (i % 32 == 31)
            for (int k = 0; k < 32; k++)
                sem_post(&ring->filled);
    }
    return NULL;
}

static void *consume(void *of)
{
    struct ring *ring = of;
    for (int i = 0; i < BLOCKS / PAIRS / 32 * 32; i++) {
        sem_wait(&ring->filled);
        free(ring->slot[i % RING]);
        sem_post(&ring->empty);
    }
    return NULL;
}

int main(void)
{
    pthread_t producer[PAIRS], consumer[PAIRS];
    size_t before = rss_kib();
    for (int i = 0; i < PAIRS; i++) {
        sem_init(&rings[i].filled, 0, 0);
        sem_init(&rings[i].empty, 0, RING);
        expect_equal("pthread_create", 0, pthread_create(&producer[i], NULL, produce, &rings[i]));
        expect_equal("pthread_create", 0, pthread_create(&consumer[i], NULL, consume, &rings[i]));
    }
    for (int i = 0; i < PAIRS; i++) {
        pthread_join(producer[i], NULL);
        pthread_join(consumer[i], NULL);
    }
    long grown = (long)(rss_kib() - before);
    expect(grown < 24 * 1024, "RSS growth, expected below 24576 KiB, got %ld KiB", grown);
    return passed();
}
