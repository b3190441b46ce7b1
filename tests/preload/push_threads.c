/* SPDX-License-Identifier: MIT */
/* Promise: threads that push a pool and end without popping leave nothing behind: the next one starts with an
 * empty stack, and thousands of them cost no memory. */
#include <poolmem.h>
#include <pthread.h>
#include "check.h"

enum { THREADS = 10000, KIB_MORE = 1024 };
static poolmem_pool *pool;

static void *push(void *unused)
{
    expect(poolmem_pool_current() != pool, "pool of a new thread, expected Global%s", "");
    expect_equal("push", POOLMEM_OK, poolmem_pool_push(pool));
    free(opaque(malloc(100)));
    return unused;
}

static void run(int threads)
{
    for (int i = 0; i < threads; i++) {
        pthread_t thread;
        expect_equal("pthread_create", 0, pthread_create(&thread, NULL, push, NULL));
        pthread_join(thread, NULL);
    }
}

int main(void)
{
    if (!poolmem_present())
        skip("without the library");
    pool = poolmem_pool_create("Work", NULL, POOLMEM_HEAP, NULL);
    run(100);
    long before = (long)rss_kib();
    run(THREADS);
    long more = (long)rss_kib() - before;
    expect(more < KIB_MORE, "KiB more after %d threads, expected below %d, got %ld", THREADS, KIB_MORE, more);
    return passed();
}
