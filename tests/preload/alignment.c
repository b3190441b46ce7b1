/* SPDX-License-Identifier: MIT */
/* Promise: every result is 16-byte aligned at every size, all of its usable bytes belong to it alone. */
#include "check.h"

enum { KEEP = 64 };
static unsigned char *kept[KEEP];
static size_t kept_bytes[KEEP];

static void drop(int slot)
{
    unsigned char mark = (unsigned char)(slot + 1);
    for (size_t i = 0; i < kept_bytes[slot]; i++)
        expect(kept[slot][i] == mark, "byte %zu of a block of %zu, expected %u, got %u", i, kept_bytes[slot],
               mark, kept[slot][i]);
    free(kept[slot]);
    kept[slot] = NULL;
    kept_bytes[slot] = 0;
}

static void keep(void *p, size_t bytes, const char *entry)
{
    static int slot;
    expect(p != NULL, "%s of %zu bytes, expected a pointer, got NULL", entry, bytes);
    expect((uintptr_t)p % 16 == 0, "%s of %zu bytes, expected 16-byte alignment, got %p", entry, bytes, p);
    size_t usable = malloc_usable_size(p);
    expect(usable >= bytes, "usable size of %s(%zu), expected at least that, got %zu", entry, bytes, usable);
    slot = (slot + 1) % KEEP;
    drop(slot);
    kept[slot] = p;
    kept_bytes[slot] = usable;
    memset(p, slot + 1, usable);
}

static void check_size(size_t bytes)
{
    keep(opaque(malloc(bytes)), bytes, "malloc");
    keep(opaque(calloc(bytes, 1)), bytes, "calloc");
    keep(opaque(realloc(opaque(malloc(1)), bytes + !bytes)), bytes, "realloc");
}

int main(void)
{
    for (size_t bytes = 0; bytes <= 5000; bytes++)
        check_size(bytes);
    for (size_t bytes = 5000; bytes <= 300000; bytes += 997)
        check_size(bytes);
    for (size_t power = 8; power <= 8u << 20; power <<= 1) {
        check_size(power - 1);
        check_size(power);
        check_size(power + 1);
    }
    for (int slot = 0; slot < KEEP; slot++)
        drop(slot);
    return passed();
}
