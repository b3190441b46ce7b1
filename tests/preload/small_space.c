/* SPDX-License-Identifier: MIT */
/* Promise: in an address space of 256 MiB (ulimit -v 262144) the heap fills until NULL and ENOMEM, and after
 * freeing all of it 100 MiB can be had in one piece again, whatever the sizes were; and threads can be made.
 * The program sets the limit and starts itself again under it. */
#include <pthread.h>
#include <sys/resource.h>
#include "check.h"

struct link {
    struct link *next;
};

static size_t fill(struct link **chain, size_t smallest, size_t spread)
{
    size_t total = 0;
    unsigned seed = 5;
    for (;;) {
        size_t bytes = smallest + next_random(&seed) % spread;
        errno = 0;
        struct link *link = malloc(bytes);
        if (!link)
            break;
        link->next = *chain;
        ((char *)link)[bytes - 1] = 1;
        *chain = link;
        total += bytes;
    }
    expect(errno == ENOMEM, "errno when full, expected ENOMEM, got %d", errno);
    return total;
}

static void drop(struct link *chain)
{
    while (chain) {
        struct link *next = chain->next;
        free(chain);
        chain = next;
    }
}

static void check(size_t smallest, size_t spread)
{
    struct link *chain = NULL;
    size_t total = fill(&chain, smallest, spread);
    expect(total > 100u << 20, "bytes got in blocks of %zu and more, expected over 100 MiB, got %zu",
           smallest, total);
    drop(chain);
    char *large = malloc(100u << 20);
    expect(large != NULL, "100 MiB after blocks of %zu were freed, expected a pointer, got NULL", smallest);
    memset(large, 1, 100u << 20);
    free(large);
}

static void *check_in_thread(void *unused)
{
    free(opaque(malloc(100)));
    check(64, 4000);
    return unused;
}

static void *idle(void *unused)
{
    free(opaque(malloc(100)));
    return unused;
}

/* What the host maps itself must find room beside the heap: three threads with stacks of the usual size. */
static void expect_threads(void)
{
    pthread_t thread[3];
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 8 << 20);
    for (int i = 0; i < 3; i++)
        expect_equal("pthread_create with 8 MiB", 0, pthread_create(&thread[i], &attributes, idle, NULL));
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
}

int main(int argc, char **argv)
{
    struct rlimit limit = {262144ul << 10, 262144ul << 10}, now;
    getrlimit(RLIMIT_AS, &now);
    if (now.rlim_cur == RLIM_INFINITY) {
        setrlimit(RLIMIT_AS, &limit);
        execv("/proc/self/exe", argv);
        fail("exec under the limit, expected to start, got errno %d", errno);
    }
    expect_threads();
    check(1 << 20, 1);
    check(16, 400);
    check(5000, 60000);
    check(70000, 3000000);
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 64 << 10);
    expect_equal("pthread_create", 0, pthread_create(&thread, &attributes, check_in_thread, NULL));
    pthread_join(thread, NULL);
    check(16, 100000);
    return passed();
}
