// SPDX-License-Identifier: MIT
// Promise: a request above PTRDIFF_MAX is refused by every entry with NULL (or bad_alloc) and ENOMEM,
// products that overflow in calloc and reallocarray are refused too, and the heap works on afterwards.
#include "entries.h"

static void refuse(const entry &e, size_t bytes)
{
    // libstdc++'s own aligned operator new rounds such a size round to 0: ours must not, it may
    if (!library() && strstr(e.name, "aligned") && bytes > SIZE_MAX - 8192)
        return;
    errno = 0;
    void *p = e.take(opaque_size(bytes));
    expect(p == NULL, "%s of %zu bytes, expected NULL, got %p", e.name, bytes, p);
    bool throws = strstr(e.name, "new") != NULL;
    expect(throws || errno == ENOMEM, "%s of %zu bytes, expected ENOMEM, got errno %d", e.name, bytes, errno);
}

static void refuse_product(size_t a, size_t b)
{
    errno = 0;
    void *p = opaque(calloc(opaque_size(a), opaque_size(b)));
    expect(!p && errno == ENOMEM, "calloc(%zu,%zu), expected NULL and ENOMEM, got %p, errno %d", a, b, p,
           errno);
    errno = 0;
    p = opaque(reallocarray(opaque(NULL), opaque_size(a), opaque_size(b)));
    expect(!p && errno == ENOMEM, "reallocarray(%zu,%zu), expected NULL and ENOMEM, got %p, errno %d", a, b,
           p, errno);
}

int main()
{
    const size_t sizes[] = {SIZE_MAX,        SIZE_MAX - 1,     SIZE_MAX - 15,           SIZE_MAX - 16,
                            SIZE_MAX - 4095, SIZE_MAX / 2 + 1, (size_t)PTRDIFF_MAX + 1, SIZE_MAX - 65536,
                            PTRDIFF_MAX};
    for (const entry &e : entries)
        for (size_t bytes : sizes)
            refuse(e, bytes);
    const size_t half = (size_t)1 << 32;
    refuse_product(half, half);
    refuse_product(SIZE_MAX, 2);
    refuse_product(2, SIZE_MAX);
    refuse_product(SIZE_MAX / 3 + 1, 3);
    refuse_product(half, half / 2);
    for (const entry &e : entries) {
        void *p = e.take(100);
        expect(p != NULL, "%s of 100 bytes after refusals, expected a pointer, got NULL", e.name);
        memset(p, 1, 100);
        free(p);
    }
    return passed();
}
