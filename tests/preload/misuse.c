/* SPDX-License-Identifier: MIT */
/* Promise: double, interior, invalid and foreign frees are noticed in whatever state the block is, said in
 * one line with pool and caller, and change nothing: the argument names the state, the verdict comes after
 * the heap has been used on. POOLMEM_ABORT=1 ends the program at the line instead. Without the library:
 * skipped (undefined there). */
#include <pthread.h>
#include <semaphore.h>
#include "check.h"

enum { NEIGHBOURS = 300, MANY = 3000 };

/* the caller that the line must name */
__attribute__((noinline)) void misuse_here(void *p)
{
    free(opaque(p));
    __asm__ volatile("");
}

static void *take(size_t bytes)
{
    void *p = opaque(malloc(bytes));
    expect(p != NULL, "malloc(%zu), expected a pointer, got NULL", bytes);
    memset(p, 0x11, bytes);
    return p;
}

static void *free_it(void *p)
{
    free(p);
    return NULL;
}

static void free_elsewhere(void *p)
{
    pthread_t thread;
    expect_equal("pthread_create", 0, pthread_create(&thread, NULL, free_it, p));
    pthread_join(thread, NULL);
}

static void local(void)
{
    void *p = take(40), *kept = take(40);
    free(p);
    misuse_here(p);
    free(kept);
}

static void remote(void)
{
    void *p = take(40), *kept = take(40);
    free_elsewhere(p);
    misuse_here(p);
    free(kept);
}

static sem_t freed, seen;

static void *free_and_linger(void *p)
{
    free(p);
    sem_post(&freed);
    sem_wait(&seen);
    return NULL;
}

/* the freeing thread lives on, with the block still in its hands */
static void pending(void)
{
    void *p = take(40), *kept = take(40);
    pthread_t thread;
    sem_init(&freed, 0, 0);
    sem_init(&seen, 0, 0);
    expect_equal("pthread_create", 0, pthread_create(&thread, NULL, free_and_linger, p));
    sem_wait(&freed);
    misuse_here(p);
    sem_post(&seen);
    pthread_join(thread, NULL);
    free(kept);
}

static void *misuse_in_thread(void *p)
{
    misuse_here(p);
    return NULL;
}

/* freed by its owner, then again by a thread that never owned it */
static void remote_again(void)
{
    void *p = take(40);
    pthread_t thread;
    free(p);
    expect_equal("pthread_create", 0, pthread_create(&thread, NULL, misuse_in_thread, p));
    pthread_join(thread, NULL);
}

static void *take_many(size_t bytes)
{
    static void *taken[MANY];
    for (int i = 0; i < MANY; i++)
        taken[i] = take(bytes);
    void *middle = taken[MANY / 2];
    for (int i = 0; i < MANY; i++)
        free(taken[i]);
    return middle;
}

static void emptied(void)
{
    misuse_here(take_many(200));
}

static void given_back(void)
{
    void *p = take_many(2000);
    for (int i = 0; i < 13; i++) {
        usleep(100000);
        free(take(300000));
    }
    misuse_here(p);
}

static void large(void)
{
    void *p = take(300000), *kept = take(300000);
    free(p);
    misuse_here(p);
    free(kept);
}

static void huge(void)
{
    void *p = take(90u << 20);
    free(p);
    misuse_here(p);
}

static void moved_away(void)
{
    void *p = take(100), *kept = take(100);
    void *moved = opaque(realloc(opaque(p), 50000));
    expect(moved && moved != p, "realloc from 100 to 50000, expected another place, got %p", moved);
    misuse_here(p);
    free(moved);
    free(kept);
}

static void overwritten(void)
{
    void *p = take(64), *kept = take(64);
    free(p);
    memset(opaque(p), 0x41, 64);
    misuse_here(p);
    memset(opaque(p), 0,
           64); /* a chain through the block ends here; what was written over is the program's fault */
    free(kept);
}

static void aligned(void)
{
    void *p = opaque(memalign(4096, 100)), *kept = take(100);
    free(p);
    misuse_here(p);
    free(kept);
}

static void aligned_large(void)
{
    void *p = opaque(memalign(1 << 18, 500000));
    free(p);
    misuse_here(p);
}

static void interior(void)
{
    char *p = take(100);
    misuse_here(p + 16);
    free(p);
}

static void unaligned(void)
{
    char *p = take(100);
    misuse_here(p + 1);
    free(p);
}

static void interior_large(void)
{
    char *p = take(1 << 20);
    misuse_here(p + 4096);
    free(p);
}

static void interior_block(void)
{
    char *p = take(1 << 20);
    misuse_here(p + 2 * 65536);
    free(p);
}

static void never_given(void)
{
    char *p = take(5000);
    misuse_here(p + (1u << 30));
    free(p);
}

static void foreign(void)
{
    static char fixed[64];
    misuse_here(fixed + 16);
}

static void wild(void)
{
    misuse_here((void *)(uintptr_t)0x40);
}

static void non_canonical(void)
{
    misuse_here((void *)(uintptr_t)0x8123456789abcde0);
}

static void resized(void)
{
    void *p = take(40), *kept = take(40);
    free(p);
    void *q = opaque(realloc(opaque(p), 80));
    expect(q == NULL || q != kept, "realloc of a freed block, expected NULL or another, got a live one");
    free(kept);
}

static const struct {
    const char *name;
    void (*run)(void);
} states[] = {
    {"local", local},
    {"remote", remote},
    {"pending", pending},
    {"remote-again", remote_again},
    {"emptied", emptied},
    {"given-back", given_back},
    {"large", large},
    {"huge", huge},
    {"moved-away", moved_away},
    {"overwritten", overwritten},
    {"aligned", aligned},
    {"aligned-large", aligned_large},
    {"interior", interior},
    {"unaligned", unaligned},
    {"interior-large", interior_large},
    {"interior-block", interior_block},
    {"never-given", never_given},
    {"foreign", foreign},
    {"wild", wild},
    {"non-canonical", non_canonical},
    {"resized", resized},
};

static int compare(const void *a, const void *b)
{
    const char *x = *(char *const *)a, *y = *(char *const *)b;
    return (x > y) - (x < y);
}

/* the heap is as good as before: blocks of the sizes in play do not overlap */
static void use_on(size_t bytes)
{
    char *taken[NEIGHBOURS];
    for (int i = 0; i < NEIGHBOURS; i++)
        taken[i] = take(bytes);
    qsort(taken, NEIGHBOURS, sizeof taken[0], compare);
    for (int i = 1; i < NEIGHBOURS; i++)
        expect(taken[i] - taken[i - 1] >= (long)bytes,
               "blocks of %zu after misuse, expected apart, got %p and %p", bytes, (void *)taken[i - 1],
               (void *)taken[i]);
    for (int i = 0; i < NEIGHBOURS; i++)
        free(taken[i]);
}

int main(int argc, char **argv)
{
    if (!library())
        skip("undefined without the library");
    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++) {
        if (argc > 1 && !strcmp(argv[1], states[i].name)) {
            states[i].run();
            const size_t sizes[] = {40, 64, 100, 200, 2000, 70000, 300000};
            for (int k = 0; k < 7; k++)
                use_on(sizes[k]);
            return passed();
        }
    }
    fail("state, expected a known name, got %s", argc > 1 ? argv[1] : "none");
}
