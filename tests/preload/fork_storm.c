/* SPDX-License-Identifier: MIT */
/* Promise: fork from a process whose other threads allocate: every child finds a working heap, may free what
 * it inherited, start threads, fork again. */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include "check.h"

enum { WORKERS = 4, FORKERS = 2, FORKS = 120, SLOTS = 256 };
static void *shared[WORKERS][SLOTS];
static atomic_bool stop;

static void *work(void *slots_of)
{
    void **slots = slots_of;
    unsigned seed = (unsigned)(uintptr_t)slots;
    while (!stop) {
        size_t slot = next_random(&seed) % SLOTS;
        free(slots[slot]);
        slots[slot] = NULL;
        size_t bytes = 1 + next_random(&seed) % (next_random(&seed) % 64 ? 500 : 200000);
        char *p = malloc(bytes);
        if (!p)
            _exit(3);
        p[0] = p[bytes - 1] = 1;
        slots[slot] = p;
    }
    return NULL;
}

static void *work_briefly(void *unused)
{
    for (int i = 0; i < 200; i++)
        free(opaque(malloc((size_t)i * 31)));
    return unused;
}

static void live_as_child(int number)
{
    for (size_t bytes = 1; bytes < 200000; bytes = bytes * 2 + 1) {
        char *p = opaque(calloc(1, bytes));
        if (!p || p[0] || p[bytes - 1])
            _exit(4);
        free(opaque(realloc(p, bytes * 2)));
    }
    if (number % 8 == 0) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, work_briefly, NULL) || pthread_join(thread, NULL))
            _exit(5);
    }
    if (number % 16 == 0) {
        int status = -1;
        pid_t pid = fork();
        if (pid == 0)
            _exit(work_briefly(NULL) != NULL);
        if (waitpid(pid, &status, 0) != pid || status)
            _exit(6);
    }
    _exit(0);
}

static void *fork_often(void *unused)
{
    for (int i = 0; i < FORKS; i++) {
        void *mine = opaque(malloc(3000));
        pid_t pid = fork();
        expect(pid >= 0, "fork, expected a child, got errno %d", errno);
        if (pid == 0) {
            free(mine);
            live_as_child(i);
        }
        int status;
        waitpid(pid, &status, 0);
        expect(status == 0, "child %d, expected status 0, got 0x%x", i, status);
        free(mine);
    }
    return unused;
}

int main(void)
{
    pthread_t worker[WORKERS], forker[FORKERS];
    for (int i = 0; i < WORKERS; i++)
        expect_equal("pthread_create", 0, pthread_create(&worker[i], NULL, work, shared[i]));
    for (int i = 0; i < FORKERS; i++)
        expect_equal("pthread_create", 0, pthread_create(&forker[i], NULL, fork_often, NULL));
    for (int i = 0; i < FORKERS; i++)
        pthread_join(forker[i], NULL);
    stop = true;
    for (int i = 0; i < WORKERS; i++)
        pthread_join(worker[i], NULL);
    return passed();
}
