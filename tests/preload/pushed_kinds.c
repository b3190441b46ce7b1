/* SPDX-License-Identifier: MIT */
/* Promise: whatever kind of pool is on top of the pool stack, the plain malloc family works in it: free takes
 * the block back without a word, realloc keeps the content, also when the pool is full and the block moves
 * out of it, and other memory is never handed out over it. Freed and interior pointers to realloc are noticed
 * in every kind. */
#include <poolmem.h>
#include "check.h"

enum { BLOCKS = 100, BYTES = 500 };

static poolmem_pool *make(const char *name, poolmem_kind kind, size_t size, size_t chunk)
{
    poolmem_options o = {.size = size, .chunk = chunk, .flags = chunk ? POOLMEM_GROW : 0};
    poolmem_pool *pool = poolmem_pool_create(name, NULL, kind, &o);
    expect(pool != NULL, "pool %s, expected one, got NULL", name);
    return pool;
}

static void *filled(size_t bytes, int with)
{
    void *p = opaque(malloc(bytes));
    expect(p != NULL, "malloc(%zu), expected a pointer, got NULL", bytes);
    return memset(p, with, bytes);
}

static void expect_filled(const char *name, const char *p, size_t bytes, int with)
{
    for (size_t i = 0; i < bytes; i++)
        expect(p[i] == (char)with, "pool %s, content at %zu, expected %d, got %d", name, i, with, p[i]);
}

static void use(const char *name, poolmem_kind kind, size_t size, size_t chunk)
{
    poolmem_pool *pool = make(name, kind, size, chunk);
    char *block[BLOCKS], *outside[BLOCKS];
    poolmem_pool_push(pool);
    char *first = filled(BYTES, 1);
    expect(poolmem_pool_of(first) == pool, "pool of a block, expected %s", name);
    free(first);
    for (int i = 0; i < BLOCKS; i++)
        block[i] = filled(BYTES, i);
    poolmem_pool_pop(pool);
    for (int i = 0; i < BLOCKS; i++)
        outside[i] = filled(4096, 255); /* of the size that a small pool's own memory has */
    for (int i = 0; i < BLOCKS; i++) {
        expect_filled(name, block[i], BYTES, i);
        block[i] = opaque(realloc(block[i], 3 * (size_t)BYTES));
        expect(block[i] != NULL, "realloc in pool %s, expected a pointer, got NULL", name);
        expect_filled(name, block[i], BYTES, i);
    }
    for (int i = 0; i < BLOCKS; i++) {
        free(block[i]);
        free(outside[i]);
    }
}

static void misuse(const char *name, poolmem_kind kind)
{
    poolmem_pool *pool = make(name, kind, 1 << 20, 0);
    poolmem_pool_push(pool);
    char *kept = filled(BYTES, 1), *freed = filled(BYTES, 2), *last = filled(BYTES, 3);
    poolmem_pool_pop(pool);
    free(freed);
    expect(!opaque(realloc(freed, 2000)), "realloc of a freed block in pool %s, expected NULL", name);
    expect(!opaque(realloc(kept + 16, 2000)), "realloc of an interior pointer in pool %s, expected NULL",
           name);
    expect_filled(name, kept, BYTES, 1);
    expect_filled(name, last, BYTES, 3);
    free(kept);
    free(last);
}

int main(int argc, char **argv)
{
    if (!poolmem_present())
        skip("without the library");
    if (argc > 1) {
        misuse("Old", POOLMEM_RETAIL);
        misuse("Records", POOLMEM_CLUMP);
        return passed();
    }
    use("Heap", POOLMEM_HEAP, 0, 0);
    use("Retail", POOLMEM_RETAIL, 1 << 20, 0);
    use("Clump", POOLMEM_CLUMP, 1 << 20, 0);
    use("Small clump", POOLMEM_CLUMP, 4096, 0);
    use("Arena", POOLMEM_ARENA, 1 << 20, 0);
    use("Small arena", POOLMEM_ARENA, 4096, 0);
    use("Growing arena", POOLMEM_ARENA, 4096, 4096);
    use("Hunk", POOLMEM_HUNK, 1 << 20, 0);
    return passed();
}
