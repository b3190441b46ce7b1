/* SPDX-License-Identifier: MIT */
/* Promise: calloc gives zeroes, whatever the memory held before: freed here, freed by another thread, small,
 * a run, huge, shrunk by realloc. */
#include <pthread.h>
#include "check.h"

enum { BATCH = 24 };

static void expect_zero(const unsigned char *p, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        expect(p[i] == 0, "byte %zu of calloc(%zu), expected 0, got %u", i, bytes, p[i]);
}

static void *free_all(void *list)
{
    void **taken = list;
    for (int i = 0; i < BATCH; i++)
        free(taken[i]);
    return NULL;
}

static void soil(size_t bytes, bool remotely)
{
    void *taken[BATCH];
    for (int i = 0; i < BATCH; i++) {
        taken[i] = opaque(malloc(bytes));
        expect(taken[i] != NULL, "malloc(%zu), expected a pointer, got NULL", bytes);
        memset(taken[i], 0xA5, malloc_usable_size(taken[i]));
    }
    if (!remotely) {
        free_all(taken);
        return;
    }
    pthread_t thread;
    expect_equal("pthread_create", 0, pthread_create(&thread, NULL, free_all, taken));
    pthread_join(thread, NULL);
}

static void check_size(size_t bytes, bool remotely)
{
    soil(bytes, remotely);
    unsigned char *clean[BATCH];
    for (int i = 0; i < BATCH; i++) {
        clean[i] = opaque(i & 1 ? calloc(bytes, 1) : calloc(1, bytes));
        expect(clean[i] != NULL, "calloc(%zu), expected a pointer, got NULL", bytes);
        expect_zero(clean[i], bytes);
        memset(clean[i], 0x5A, malloc_usable_size(clean[i]));
    }
    for (int i = 0; i < BATCH; i++)
        free(clean[i]);
}

static void check_shrunk(void)
{
    for (size_t bytes = 1 << 14; bytes <= 1 << 22; bytes <<= 1) {
        char *p = malloc(bytes);
        memset(p, 0xA5, bytes);
        p = opaque(realloc(p, bytes / 8));
        unsigned char *q = opaque(calloc(1, bytes / 2));
        expect_zero(q, bytes / 2);
        free(q);
        free(p);
    }
}

int main(void)
{
    for (int remotely = 0; remotely < 2; remotely++) {
        for (size_t bytes = 1; bytes <= 1024; bytes += 13)
            check_size(bytes, remotely);
        for (size_t bytes = 1500; bytes <= 3000000; bytes += bytes / 2)
            check_size(bytes, remotely);
    }
    check_shrunk();
    unsigned char *huge = opaque(calloc(1, 80u << 20));
    expect(huge != NULL, "calloc of 80 MiB, expected a pointer, got NULL");
    memset(huge, 1, 80u << 20);
    free(huge);
    huge = opaque(calloc(1, 79u << 20));
    expect_zero(huge, 79u << 20);
    free(huge);
    return passed();
}
