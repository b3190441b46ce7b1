// SPDX-License-Identifier: MIT
// Promise: what any entry gave may go to free, realloc (up, down, to 0) and malloc_usable_size, at every
// size.
#include "entries.h"

static unsigned char *take(const entry &e, size_t bytes)
{
    unsigned char *p = static_cast<unsigned char *>(opaque(e.take(bytes)));
    expect(p != NULL, "%s of %zu, expected a pointer, got NULL", e.name, bytes);
    expect((uintptr_t)p % e.align == 0, "%s of %zu, expected alignment %zu, got %p", e.name, bytes, e.align,
           (void *)p);
    expect(malloc_usable_size(p) >= bytes, "usable size of %s of %zu, expected enough, got %zu", e.name,
           bytes, malloc_usable_size(p));
    memset(p, 0x3C, bytes);
    return p;
}

static void check_resize(const entry &e, size_t bytes, size_t to)
{
    unsigned char *p = take(e, bytes);
    p = static_cast<unsigned char *>(opaque(realloc(p, to)));
    expect(p != NULL, "realloc of %s from %zu to %zu, expected a pointer, got NULL", e.name, bytes, to);
    for (size_t i = 0; i < bytes && i < to; i++)
        expect(p[i] == 0x3C, "byte %zu of %s resized %zu to %zu, expected 60, got %u", i, e.name, bytes, to,
               p[i]);
    memset(p, 1, to);
    free(p);
}

static void check_size(const entry &e, size_t bytes)
{
    free(take(e, bytes));
    check_resize(e, bytes, bytes * 2 + 1);
    check_resize(e, bytes, bytes / 2 + 1);
    check_resize(e, bytes, bytes + 100000);
    unsigned char *p = take(e, bytes);
    expect(opaque(realloc(p, 0)) == NULL, "realloc to 0 of %s of %zu, expected NULL, got a pointer", e.name,
           bytes);
    p = take(e, bytes);
    p = static_cast<unsigned char *>(opaque(reallocarray(p, 3, bytes + 1)));
    expect(p != NULL, "reallocarray of %s of %zu, expected a pointer, got NULL", e.name, bytes);
    memset(p, 2, 3 * (bytes + 1));
    free(p);
}

int main()
{
    const size_t sizes[] = {0,    1,    8,    16,   17,    64,    100,   128,    129,    500,
                            1024, 4000, 4096, 9000, 33000, 65536, 65537, 200000, 1500000};
    for (const entry &e : entries)
        for (size_t bytes : sizes)
            check_size(e, bytes);
    return passed();
}
