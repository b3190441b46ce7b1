/* SPDX-License-Identifier: MIT */
/* Promise: a request for 0 bytes gives a pointer of its own that may be freed, from every entry. */
#include "entries.h"

enum { ROUNDS = 500 };

int main(void)
{
    static void *taken[ENTRY_COUNT * ROUNDS];
    size_t count = 0;
    for (int round = 0; round < ROUNDS; round++) {
        for (int e = 0; e < ENTRY_COUNT; e++) {
            void *p = entries[e].take(0);
            expect(p != NULL, "%s of 0 bytes, expected a pointer, got NULL", entries[e].name);
            expect((uintptr_t)p % 16 == 0, "%s of 0 bytes, expected 16-byte alignment, got %p",
                   entries[e].name, p);
            taken[count++] = p;
        }
    }
    for (size_t i = 1; i < count; i++) {
        size_t near = i > 64 ? i - 64 : 0;
        for (size_t k = near; k < i; k++)
            expect(taken[i] != taken[k], "two live 0-byte blocks, expected two addresses, got %p twice",
                   taken[i]);
    }
    for (size_t i = 0; i < count; i++)
        free(taken[i]);
    free(opaque(NULL));
    return passed();
}
