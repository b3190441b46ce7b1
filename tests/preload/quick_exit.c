/* SPDX-License-Identifier: MIT */
/* Promise: quick_exit reports like any other end, after the program's own handlers, which may allocate. */
#include "check.h"

static void last_words(void)
{
    free(opaque(malloc(100000)));
    passed();
}

int main(void)
{
    free(opaque(malloc(100)));
    expect_equal("at_quick_exit", 0, at_quick_exit(last_words));
    quick_exit(0);
}
