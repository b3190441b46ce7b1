/* SPDX-License-Identifier: MIT */
/* Promise: 4,000 short threads do not make the process grow: what a thread leaves behind is adopted. Each
 * allocates in several classes, frees half itself, and hands half to the main thread. */
#include <pthread.h>
#include "check.h"

enum { THREADS = 4000, BLOCKS = 40, ABREAST = 4 };

static void *live(void *given)
{
    void **blocks = given;
    for (int i = 0; i < BLOCKS; i++) {
        size_t bytes = 16u << (i % 12);
        blocks[i] = opaque(malloc(bytes));
        expect(blocks[i] != NULL, "malloc in a short thread, expected a pointer, got NULL");
        memset(blocks[i], i, bytes);
    }
    for (int i = 0; i < BLOCKS; i += 2)
        free(blocks[i]);
    return NULL;
}

static void run(int threads)
{
    void *blocks[ABREAST][BLOCKS];
    pthread_t thread[ABREAST];
    for (int done = 0; done < threads; done += ABREAST) {
        for (int i = 0; i < ABREAST; i++)
            expect_equal("pthread_create", 0, pthread_create(&thread[i], NULL, live, blocks[i]));
        for (int i = 0; i < ABREAST; i++)
            pthread_join(thread[i], NULL);
        for (int i = 0; i < ABREAST; i++)
            for (int k = 1; k < BLOCKS; k += 2)
                free(blocks[i][k]);
    }
}

int main(void)
{
    run(200);
    size_t before = rss_kib();
    run(THREADS);
    long grown = (long)(rss_kib() - before);
    expect(grown < 12 * 1024, "RSS growth over %d threads, expected below 12288 KiB, got %ld KiB", THREADS,
           grown);
    return passed();
}
