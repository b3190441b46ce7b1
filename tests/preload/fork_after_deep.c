/* SPDX-License-Identifier: MIT */
/* Promise: another library's fork handlers may allocate while poolmem holds its locks for a fork, also when
 * the stacks looked up last were too deep for one look; and afterwards calls land where they did before. */
#include <poolmem.h>
#include <sys/wait.h>
#include "check.h"

enum { DEPTH = 40, STACKS = 200 };

/* A stack of its own for every way. */
__attribute__((noinline)) static void dig(int depth, unsigned way)
{
    if (depth == 0) {
        free(opaque(malloc(60)));
    } else if (way & 1) {
        dig(depth - 1, way >> 1);
        opaque(NULL);
    } else {
        dig(depth - 1, way >> 1);
        opaque(&way);
    }
}

static void expect_in(poolmem_pool *pool, const char *when)
{
    void *p = opaque(malloc(50));
    expect(poolmem_pool_of(p) == pool, "pool of a block %s, expected the one on top", when);
    free(p);
}

int main(void)
{
    if (!poolmem_present())
        skip("without the library");
    poolmem_pool *pool = poolmem_pool_create("Work", NULL, POOLMEM_HEAP, NULL);
    poolmem_pool_push(pool);
    for (unsigned round = 0; round < 3; round++)
        for (unsigned i = 0; i < STACKS; i++)
            dig(DEPTH, i * 2654435761u >> 8);
    for (int i = 0; i < 20; i++) {
        dig(DEPTH, 1234567);
        pid_t child = fork();
        if (!child) {
            expect_in(pool, "in the child");
            _exit(0);
        }
        int status;
        expect_equal("waitpid", child, waitpid(child, &status, 0));
        expect_equal("the child's status", 0, status);
        expect_in(pool, "after fork");
    }
    return passed();
}
