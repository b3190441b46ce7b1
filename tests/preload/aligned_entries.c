/* SPDX-License-Identifier: MIT */
/* Promise: memalign, aligned_alloc, posix_memalign, valloc and pvalloc align as asked, refuse as the C
 * library does, and an error of posix_memalign leaves the caller's pointer alone. */
#include "check.h"

static void expect_refused(size_t align, size_t bytes, int expected)
{
    char mark;
    void *out = &mark;
    errno = 0;
    int got = posix_memalign(&out, align, bytes);
    expect(got == expected, "posix_memalign(%zu,%zu), expected error %d, got %d", align, bytes, expected,
           got);
    expect(out == &mark, "pointer after a refused posix_memalign, expected untouched, got %p", out);
}

static void expect_aligned(const char *entry, void *p, size_t align, size_t bytes)
{
    expect(p != NULL, "%s(%zu,%zu), expected a pointer, got NULL", entry, align, bytes);
    expect((uintptr_t)p % align == 0, "%s(%zu,%zu), expected that alignment, got %p", entry, align, bytes, p);
    expect(malloc_usable_size(p) >= bytes, "usable size of %s(%zu,%zu), expected enough, got %zu", entry,
           align, bytes, malloc_usable_size(p));
    memset(p, 0xC3, bytes);
}

static void check_grid(void)
{
    for (size_t align = 8; align <= 4u << 20; align <<= 1) {
        for (size_t bytes = 0; bytes <= 200000; bytes = bytes * 3 + 7) {
            void *p[3] = {NULL, memalign(align, bytes), aligned_alloc(align, bytes)};
            expect_equal("posix_memalign", 0, posix_memalign(&p[0], align, bytes));
            expect_aligned("posix_memalign", p[0], align, bytes);
            expect_aligned("memalign", p[1], align, bytes);
            expect_aligned("aligned_alloc", p[2], align, bytes);
            for (int i = 0; i < 3; i++)
                free(p[i]);
        }
    }
}

static void check_pages(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    for (size_t bytes = 0; bytes <= 100000; bytes = bytes * 2 + 1) {
        void *p = valloc(bytes);
        expect_aligned("valloc", p, page, bytes);
        void *q = pvalloc(bytes);
        expect_aligned("pvalloc", q, page, (bytes + page - 1) / page * page);
        free(p);
        free(q);
    }
}

static void check_odd_alignments(void)
{
    for (size_t align = 0; align <= 70; align++) {
        void *p = opaque(memalign(align, 40));
        expect(p != NULL, "memalign(%zu,40), expected a pointer, got NULL", align);
        expect((uintptr_t)p % 16 == 0, "memalign(%zu,40), expected at least 16-byte alignment, got %p", align,
               p);
        free(p);
    }
    errno = 0;
    void *p = opaque(memalign(opaque_size(SIZE_MAX / 2 + 2), 40));
    expect(p == NULL && errno == EINVAL,
           "memalign above half the range, expected NULL and EINVAL, got %p, errno %d", p, errno);
    errno = 0;
    p = opaque(memalign(opaque_size(SIZE_MAX / 2 + 1), 40));
    expect(p == NULL, "memalign at half the range, expected NULL, got %p", p);
}

int main(void)
{
    const size_t wrong[] = {0, 1, 2, 3, 4, 7, 12, 24, 40, 96, 4095, 4097, SIZE_MAX};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        expect_refused(wrong[i], 100, EINVAL);
    expect_refused(64, SIZE_MAX, ENOMEM);
    expect_refused(64, SIZE_MAX - 63, ENOMEM);
    expect_refused(4096, (size_t)PTRDIFF_MAX + 1, ENOMEM);
    expect_refused((size_t)1 << 62, 100, ENOMEM);
    check_grid();
    check_pages();
    check_odd_alignments();
    return passed();
}
