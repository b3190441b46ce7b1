/* SPDX-License-Identifier: MIT */
/* Promise: a pool of fixed size that is on top of the pool stack and full does what its `over` says, whatever
 * its kind: warn and spill are served by the parent, fail gives NULL and ENOMEM, abort ends the process.
 * Usage: pushed_full KIND OVER. */
#include <poolmem.h>
#include "check.h"

enum { BLOCKS = 400, BYTES = 1000, ROOM = 128 << 10 };

static int word_of(const char *word, const char *const *words)
{
    int i = 0;
    while (words[i] && strcmp(word, words[i]))
        i++;
    expect(words[i] != NULL, "word, expected a known one, got %s", word);
    return i;
}

/* How many blocks were got; fills up the pool twice over. */
__attribute__((noinline)) int spend(void **taken)
{
    int count = 0;
    errno = 0;
    while (count < BLOCKS && (taken[count] = opaque(malloc(BYTES))))
        memset(taken[count++], 1, BYTES);
    return count;
}

static void check_blocks(poolmem_pool *pool, void **taken, int count)
{
    int inside = 0;
    for (int i = 0; i < count; i++)
        inside += poolmem_pool_of(taken[i]) == pool;
    expect(inside > 50 && inside * BYTES < ROOM, "blocks within %d bytes, expected 50 to 131, got %d", ROOM,
           inside);
    expect(inside == count || poolmem_pool_of(taken[count - 1]) == poolmem_pool_parent(pool),
           "the last block, expected in the parent%s", "");
}

int main(int argc, char **argv)
{
    static const char *const kinds[] = {"heap", "retail", "clump", "arena", "hunk", NULL};
    static const char *const overs[] = {"warn", "fail", "spill", "abort", NULL};
    static void *taken[BLOCKS];
    if (!poolmem_present() || argc < 3)
        skip("without the library");
    poolmem_options o = {.size = ROOM, .over = (poolmem_over)word_of(argv[2], overs)};
    poolmem_pool *pool = poolmem_pool_create("Full", NULL, (poolmem_kind)word_of(argv[1], kinds), &o);
    expect(pool != NULL, "pool of kind %s, expected one, got NULL", argv[1]);
    poolmem_pool_push(pool);
    int count = spend(taken);
    int error = errno;
    void *aligned = opaque(aligned_alloc(4096, 4096));
    poolmem_pool_pop(pool);
    bool fails = o.over == POOLMEM_OVER_FAIL;
    expect((count < BLOCKS) == fails, "blocks, expected %s, got %d", fails ? "not all" : "all", count);
    expect(!fails || error == ENOMEM, "errno of a full pool, expected ENOMEM, got %d", error);
    expect(fails || aligned, "an aligned block, expected a pointer, got %s", "NULL");
    check_blocks(pool, taken, count);
    while (count)
        free(taken[--count]);
    free(aligned);
    return passed();
}
