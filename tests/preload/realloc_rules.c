/* SPDX-License-Identifier: MIT */
/* Promise: realloc(p,0) frees and gives NULL, realloc(NULL,n) allocates, contents survive growing and
 * shrinking over every size class, and a refused realloc keeps the block. */
#include "check.h"

static void fill(unsigned char *p, size_t bytes, unsigned seed)
{
    for (size_t i = 0; i < bytes; i++)
        p[i] = (unsigned char)next_random(&seed);
}

static void expect_filled(const unsigned char *p, size_t bytes, unsigned seed, const char *when)
{
    for (size_t i = 0; i < bytes; i++) {
        unsigned char want = (unsigned char)next_random(&seed);
        expect(p[i] == want, "byte %zu of %zu %s, expected %u, got %u", i, bytes, when, want, p[i]);
    }
}

static void check_zero(void)
{
    size_t before = rss_kib();
    for (int i = 0; i < 4000; i++) {
        size_t bytes = 1 + (size_t)i * 37 % 100000;
        void *p = opaque(malloc(bytes));
        memset(p, 1, bytes);
        expect(opaque(realloc(p, 0)) == NULL, "realloc(p,0) of %zu bytes, expected NULL, got a pointer",
               bytes);
    }
    size_t grown = rss_kib() - before;
    expect((long)grown < 32 * 1024, "RSS growth over 4000 realloc(p,0), expected below 32 MiB, got %zu KiB",
           grown);
}

static void check_refused(size_t bytes)
{
    unsigned char *p = opaque(malloc(bytes));
    fill(p, bytes, 5);
    const size_t wishes[] = {SIZE_MAX, (size_t)PTRDIFF_MAX + 1, SIZE_MAX - 4096, PTRDIFF_MAX};
    for (int i = 0; i < 4; i++) {
        errno = 0;
        void *q = opaque(realloc(p, opaque_size(wishes[i])));
        expect(!q && errno == ENOMEM, "realloc to %zu, expected NULL and ENOMEM, got %p, errno %d", wishes[i],
               q, errno);
    }
    errno = 0;
    void *q = opaque(reallocarray(p, opaque_size(SIZE_MAX / 2), 3));
    expect(!q && errno == ENOMEM, "overflowing reallocarray, expected NULL and ENOMEM, got %p, errno %d", q,
           errno);
    expect_filled(p, bytes, 5, "after refused reallocs");
    free(p);
}

static void check_growth(size_t from, size_t to)
{
    unsigned char *p = opaque(malloc(from));
    fill(p, from, 9);
    unsigned char *q = opaque(realloc(p, to));
    expect(q != NULL, "realloc %zu to %zu, expected a pointer, got NULL", from, to);
    expect((uintptr_t)q % 16 == 0, "realloc %zu to %zu, expected 16-byte alignment, got %p", from, to,
           (void *)q);
    expect(malloc_usable_size(q) >= to, "usable size after realloc to %zu, expected enough, got %zu", to,
           malloc_usable_size(q));
    expect_filled(q, from < to ? from : to, 9, "after realloc");
    memset(q, 7, to);
    free(q);
}

static void check_ladder(void)
{
    unsigned char *p = opaque(realloc(opaque(NULL), 1));
    size_t bytes = 1;
    fill(p, bytes, 3);
    while (bytes < 24u << 20) {
        size_t next = bytes + bytes / 3 + 1;
        p = opaque(realloc(p, next));
        expect(p != NULL, "realloc to %zu, expected a pointer, got NULL", next);
        expect_filled(p, bytes < 4096 ? bytes : 4096, 3, "on the way up");
        bytes = next;
        fill(p, bytes < 4096 ? bytes : 4096, 3);
    }
    while (bytes > 1) {
        bytes = bytes * 2 / 3;
        p = opaque(realloc(p, bytes));
        expect_filled(p, bytes < 4096 ? bytes : 4096, 3, "on the way down");
    }
    free(p);
}

int main(void)
{
    check_zero();
    const size_t sizes[] = {1, 24, 100, 1000, 5000, 40000, 70000, 300000, 2000000};
    for (size_t i = 0; i < 9; i++) {
        check_refused(sizes[i]);
        for (size_t k = 0; k < 9; k++)
            check_growth(sizes[i], sizes[k]);
    }
    check_ladder();
    return passed();
}
