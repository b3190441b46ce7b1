/* SPDX-License-Identifier: MIT */
/* Promise: a program that switches stacks behind the compiler's back, so that its unwind tables do not tell
 * where a stack ends, is not read beyond that end: one stack has zeros above it, the next one nothing at all.
 * And a stack that is not aligned as calls demand does no harm either. */
#include <sys/mman.h>
#include "check.h"

#define STACK ((size_t)256 << 10)

__attribute__((noinline)) static void leaf(void)
{
    for (int i = 0; i < 3; i++) {
        void *volatile p = malloc(24);
        expect(p != NULL, "malloc on a switched stack, expected memory");
        free(p);
    }
}

__attribute__((noinline, used)) static void body(void)
{
    leaf();
    __asm__ volatile("");
}

/* The frame is large, so the next one would lie far above the new stack's top. */
__attribute__((noinline)) static void run_on(char *top)
{
    char large[256];
    __asm__ volatile("" ::"r"(large) : "memory");
    __asm__ volatile("movq %%rsp, %%rbx\n\tmovq %0, %%rsp\n\tcall body\n\tmovq %%rbx, %%rsp" ::"r"(top)
                     : "rbx", "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc");
    __asm__ volatile("" ::"r"(large) : "memory");
}

int main(void)
{
    char *room = mmap(NULL, 4 * STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    expect(room != MAP_FAILED && mprotect(room + STACK, 4096, PROT_NONE) == 0, "mmap, expected room");
    for (int i = 0; i < 3; i++)
        run_on(room + 3 * STACK); /* zeros above */
    for (int i = 0; i < 3; i++)
        run_on(room + STACK); /* nothing above */
    for (int i = 0; i < 3; i++)
        run_on(room + 2 * STACK - 8); /* not aligned */
    return passed();
}
