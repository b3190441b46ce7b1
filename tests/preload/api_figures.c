/* SPDX-License-Identifier: MIT */
/* Promise: memory asked for by poolmem_alloc has a call-site in the pool that was named, and a report tells
 * the largest run that a fixed pool has when it is written, not at some call before. */
#include <poolmem.h>
#include "check.h"

enum { BLOCKS = 10, BYTES = 8000 };

__attribute__((noinline)) void *take_from_pool(poolmem_pool *pool)
{
    return opaque(poolmem_alloc(pool, BYTES));
}

int main(void)
{
    if (!poolmem_present())
        skip("without the library");
    poolmem_options size = {.size = 1 << 20};
    poolmem_pool *work = poolmem_pool_create("Work", NULL, POOLMEM_HEAP, NULL);
    poolmem_pool *old = poolmem_pool_create("Old", NULL, POOLMEM_RETAIL, &size);
    expect(work && old, "two pools, expected made%s", "");
    for (int i = 0; i < BLOCKS; i++)
        expect(take_from_pool(work) && take_from_pool(old), "block %d, expected a pointer, got NULL", i);
    return passed();
}
