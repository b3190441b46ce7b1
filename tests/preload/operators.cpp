// SPDX-License-Identifier: MIT
// Promise: every operator new pairs with every matching operator delete (plain, sized, aligned, nothrow,
// arrays), for objects, arrays, over-aligned types, and deleting a null pointer is nothing.
#include <memory>
#include <new>
#include <string>
#include <vector>
#include "check.h"

using std::align_val_t;
using std::nothrow;

static void *filled(void *p, size_t bytes, size_t align)
{
    expect(p != NULL, "operator new of %zu, expected a pointer, got NULL", bytes);
    expect((uintptr_t)p % align == 0, "operator new of %zu, expected alignment %zu, got %p", bytes, align, p);
    memset(p, 0x77, bytes);
    return opaque(p);
}

static void check_plain(size_t n)
{
    ::operator delete(filled(::operator new(n), n, 16));
    ::operator delete(filled(::operator new(n), n, 16), n);
    ::operator delete(filled(::operator new(n), n, 16), nothrow);
    ::operator delete(filled(::operator new(n, nothrow), n, 16), nothrow);
    ::operator delete(filled(::operator new(n, nothrow), n, 16));
    ::operator delete[](filled(::operator new[](n), n, 16));
    ::operator delete[](filled(::operator new[](n), n, 16), n);
    ::operator delete[](filled(::operator new[](n), n, 16), nothrow);
    ::operator delete[](filled(::operator new[](n, nothrow), n, 16), nothrow);
    ::operator delete[](filled(::operator new[](n, nothrow), n, 16));
}

static void check_aligned(size_t n, size_t align)
{
    align_val_t a = align_val_t(align);
    ::operator delete(filled(::operator new(n, a), n, align), a);
    ::operator delete(filled(::operator new(n, a), n, align), n, a);
    ::operator delete(filled(::operator new(n, a), n, align), a, nothrow);
    ::operator delete(filled(::operator new(n, a, nothrow), n, align), a, nothrow);
    ::operator delete[](filled(::operator new[](n, a), n, align), a);
    ::operator delete[](filled(::operator new[](n, a), n, align), n, a);
    ::operator delete[](filled(::operator new[](n, a), n, align), a, nothrow);
    ::operator delete[](filled(::operator new[](n, a, nothrow), n, align), a, nothrow);
}

static void check_null()
{
    void *none = opaque(NULL);
    ::operator delete(none);
    ::operator delete(none, size_t(8));
    ::operator delete(none, nothrow);
    ::operator delete(none, align_val_t(64));
    ::operator delete(none, size_t(64), align_val_t(64));
    ::operator delete(none, align_val_t(64), nothrow);
    ::operator delete[](none);
    ::operator delete[](none, size_t(8));
    ::operator delete[](none, nothrow);
    ::operator delete[](none, align_val_t(64));
    ::operator delete[](none, size_t(64), align_val_t(64));
    ::operator delete[](none, align_val_t(64), nothrow);
}

struct alignas(256) Wide {
    char bytes[512];
    virtual ~Wide()
    {
    }
};

static void check_objects()
{
    std::vector<std::unique_ptr<Wide>> wides;
    for (int i = 0; i < 200; i++) {
        wides.emplace_back(new Wide);
        expect((uintptr_t)wides.back().get() % 256 == 0, "alignas(256) object, expected aligned, got %p",
               (void *)wides.back().get());
    }
    std::unique_ptr<Wide[]> array(new Wide[7]);
    expect((uintptr_t)&array[0] % 256 == 0, "alignas(256) array, expected aligned, got %p",
           (void *)&array[0]);
    std::vector<std::string> words;
    for (int i = 0; i < 5000; i++)
        words.push_back(std::string(i % 300, 'x'));
    auto shared = std::make_shared<std::string>(1000, 'y');
    expect_equal("length of a shared string", 1000, (long long)shared->size());
}

int main()
{
    for (size_t n = 1; n < 400000; n = n * 2 + 1) {
        check_plain(n);
        for (size_t align = 1; align <= 65536; align *= 4)
            check_aligned(n, align);
    }
    check_plain(0);
    check_aligned(0, 64);
    check_null();
    check_objects();
    return passed();
}
