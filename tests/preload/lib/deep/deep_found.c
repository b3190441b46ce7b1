/* SPDX-License-Identifier: MIT */
/* What only deep_caller's RUNPATH finds. */
#include <stdlib.h>

int deep_answer(void)
{
    int *p = malloc(sizeof *p);
    *p = 42;
    int value = *p;
    free(p);
    return value;
}
