/* SPDX-License-Identifier: MIT */
/* Promise: free keeps errno, and a call that succeeds does not set it. */
#include <pthread.h>
#include "entries.h"

static void expect_errno(const char *after, size_t bytes)
{
    expect(errno == 4711, "errno after %s of %zu bytes, expected 4711, got %d", after, bytes, errno);
}

static void *free_elsewhere(void *p)
{
    errno = 4711;
    free(p);
    expect_errno("free in another thread", 0);
    return NULL;
}

static void check_entry(const struct entry *entry, size_t bytes)
{
    errno = 4711;
    void *p = entry->take(bytes);
    expect_errno(entry->name, bytes);
    memset(p, 1, bytes);
    errno = 4711;
    p = opaque(realloc(p, bytes + 1));
    expect_errno("realloc", bytes);
    free(p);
    expect_errno("free", bytes);
}

int main(void)
{
    for (int e = 0; e < ENTRY_COUNT; e++)
        for (size_t bytes = 1; bytes < 64u << 20; bytes = bytes * 5 + 11)
            check_entry(&entries[e], bytes);
    errno = 4711;
    free(opaque(NULL));
    expect_errno("free(NULL)", 0);
    for (size_t bytes = 16; bytes < 64u << 20; bytes *= 8) {
        pthread_t thread;
        expect_equal("pthread_create", 0,
                     pthread_create(&thread, NULL, free_elsewhere, opaque(malloc(bytes))));
        pthread_join(thread, NULL);
    }
    return passed();
}
