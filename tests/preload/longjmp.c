/* SPDX-License-Identifier: MIT */
/* Promise: longjmp past the library's frames (out of handlers, comparison functions, the report signal's
 * neighbour) leaves nothing locked or half done. */
#include <setjmp.h>
#include <signal.h>
#include "check.h"

static jmp_buf out;
static sigjmp_buf out_of_handler;

static int compare(const void *a, const void *b)
{
    static int calls;
    free(opaque(malloc(50)));
    if (++calls % 100 == 0)
        longjmp(out, 1);
    return *(const int *)a - *(const int *)b;
}

static void leave_sort(void)
{
    static int numbers[4000]; /* above qsort's own stack buffer: it allocates, and the jump leaks that */
    for (volatile int round = 0; round < 200; round++) {
        for (int i = 0; i < 4000; i++)
            numbers[i] = (i * 7919) % 4001;
        if (setjmp(out) == 0)
            qsort(numbers, 4000, sizeof numbers[0], compare);
        free(opaque(malloc(3000)));
    }
}

static void at_fault(int number)
{
    siglongjmp(out_of_handler, 1);
}

static void leave_fault(void)
{
    signal(SIGSEGV, at_fault);
    for (volatile int round = 0; round < 200; round++) {
        char *volatile p = malloc(100);
        if (sigsetjmp(out_of_handler, 1) == 0)
            *(volatile char *)(uintptr_t)(round % 3 + 1) = 1;
        free(p);
    }
    signal(SIGSEGV, SIG_DFL);
}

int main(void)
{
    leave_sort();
    leave_fault();
    for (size_t bytes = 1; bytes < 1 << 20; bytes *= 2)
        free(opaque(malloc(bytes)));
    return passed();
}
