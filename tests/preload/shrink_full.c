/* SPDX-License-Identifier: MIT */
/* Promise: realloc to less never fails, also when the pool is at its limit (conf/budget_fail.conf gives 4
 * MiB) and nothing smaller is to be had: fragments and runs, to fragments and to runs; what is kept of the
 * content is the same. Programs do not check for it. */
#include "check.h"

enum { BLOCKS = 4096 };

/* claimed by the rule */
__attribute__((noinline)) char *spend_one(size_t bytes)
{
    return opaque(malloc(bytes));
}

static void shrink_all(size_t from, size_t to)
{
    static char *taken[BLOCKS];
    size_t count = 0;
    while (count < BLOCKS && (taken[count] = spend_one(from)))
        memset(taken[count], (int)count, from), count++;
    expect(count < BLOCKS, "blocks of %zu bytes within 4 MiB, expected less than %d, got as many", from,
           BLOCKS);
    while (spend_one(to)) /* leaked: nothing of that size is left */
        ;
    for (size_t i = 0; i < count; i++) {
        char *less = opaque(realloc(taken[i], to));
        expect(less != NULL, "realloc from %zu to %zu, expected a block, got NULL", from, to);
        expect(less[0] == (char)i && less[to - 1] == (char)i, "content after realloc from %zu to %zu", from,
               to);
        taken[i] = less;
    }
    for (size_t i = 0; i < count; i++)
        free(taken[i]);
}

int main(void)
{
    shrink_all(200000, 90000);
    shrink_all(200000, 40);
    shrink_all(10000, 24);
    return passed();
}
