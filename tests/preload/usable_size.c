/* SPDX-License-Identifier: MIT */
/* Promise: malloc_usable_size of NULL is 0, of a block at least what was asked; it does not change while the
 * block lives. */
#include "entries.h"

int main(void)
{
    expect_equal("malloc_usable_size(NULL)", 0, (long long)malloc_usable_size(opaque(NULL)));
    for (int e = 0; e < ENTRY_COUNT; e++) {
        for (size_t bytes = 0; bytes < 3u << 20; bytes = bytes < 600 ? bytes + 1 : bytes * 2 - 333) {
            unsigned char *p = entries[e].take(bytes);
            expect(p != NULL, "%s of %zu, expected a pointer, got NULL", entries[e].name, bytes);
            size_t usable = malloc_usable_size(p);
            expect(usable >= bytes, "usable size of %s of %zu, expected at least that, got %zu",
                   entries[e].name, bytes, usable);
            memset(p, 0xEE, usable);
            expect_equal("usable size asked twice", (long long)usable, (long long)malloc_usable_size(p));
            free(p);
        }
    }
    return passed();
}
