/* SPDX-License-Identifier: MIT */
/* Promise: a pool's peak is what was live at most, but for a sixteenth and a few pages of each thread, and it
 * never falls from one report to the next. Arguments: threads, blocks of each, bytes of each block; `signal`:
 * a report is asked for at the top too. */
#include <pthread.h>
#include <signal.h>
#include "check.h"

enum { THREADS_MOST = 64 };
static size_t blocks, bytes;
static pthread_barrier_t all_hold, may_free;

static void *hold(void *unused)
{
    void **block = malloc(blocks * sizeof *block);
    for (size_t i = 0; i < blocks; i++)
        block[i] = opaque(malloc(bytes));
    pthread_barrier_wait(&all_hold);
    pthread_barrier_wait(&may_free);
    for (size_t i = 0; i < blocks; i++)
        free(block[i]);
    free(block);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread[THREADS_MOST];
    int threads = atoi(argv[1]);
    blocks = strtoul(argv[2], NULL, 0);
    bytes = strtoul(argv[3], NULL, 0);
    expect(threads <= THREADS_MOST, "threads, expected at most %d, got %d", THREADS_MOST, threads);
    pthread_barrier_init(&all_hold, NULL, (unsigned)threads + 1);
    pthread_barrier_init(&may_free, NULL, (unsigned)threads + 1);
    for (int i = 0; i < threads; i++)
        expect_equal("pthread_create", 0, pthread_create(&thread[i], NULL, hold, NULL));
    pthread_barrier_wait(&all_hold);
    if (argc > 4)
        raise(SIGUSR1);
    pthread_barrier_wait(&may_free);
    for (int i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    return passed();
}
