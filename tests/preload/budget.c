/* SPDX-License-Identifier: MIT */
/* Promise: a pool with a limit of 4 MiB (conf/budget_*.conf) does what `over` says when the program spends 16
 * MiB in it: fail gives NULL and ENOMEM and serves again after frees; warn and spill go on; abort ends the
 * process. Everything that the pool's rule does not claim is served all the while. The argument is the word
 * of `over`, or keep: spend and keep. */
#include "check.h"

enum { BLOCKS = 4096, BYTES = 4000 };

/* claimed by the rule; spends in blocks and says how many it got */
__attribute__((noinline)) size_t spend_blocks(void **taken)
{
    size_t count = 0;
    for (; count < BLOCKS; count++) {
        errno = 0;
        taken[count] = opaque(malloc(BYTES));
        if (!taken[count])
            break;
        memset(taken[count], 1, BYTES);
    }
    return count;
}

__attribute__((noinline)) void *spend_large(size_t bytes)
{
    return opaque(malloc(bytes));
}

static void drop(void **taken, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(taken[i]);
}

static void check_fail(void **taken)
{
    for (int round = 0; round < 3; round++) {
        size_t count = spend_blocks(taken);
        expect(count > 600 && count <= 1048, "blocks of %d bytes within 4 MiB, expected 600 to 1048, got %zu",
               BYTES, count);
        expect(errno == ENOMEM, "errno over the limit, expected ENOMEM, got %d", errno);
        expect(!spend_large(2 << 20), "a large block over the limit, expected NULL, got a pointer");
        void *other = opaque(malloc(8 << 20));
        expect(other != NULL, "a block that the rule does not claim, expected a pointer, got NULL");
        free(other);
        drop(taken, count);
    }
}

int main(int argc, char **argv)
{
    static void *taken[BLOCKS];
    const char *over = argc > 1 ? argv[1] : "none";
    if (!strcmp(over, "fail")) {
        check_fail(taken);
        return passed();
    }
    size_t count = spend_blocks(taken);
    expect_equal("blocks got", BLOCKS, (long long)count);
    free(spend_large(8 << 20));
    if (strcmp(over, "keep"))
        drop(taken, count);
    return passed();
}
