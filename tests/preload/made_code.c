/* SPDX-License-Identifier: MIT */
/* Promise: calls from code made at run time, which has no unwind tables, with and without a frame pointer,
 * with rubbish in it, and from other code made later at the same address, are served; the walk ends there or
 * goes past, it never leaves the stack. */
#include <sys/mman.h>
#include "check.h"

#ifdef __x86_64__
static const unsigned char with_frame[] = {0x55, 0x48, 0x89, 0xe5, 0xff,
                                           0xd6, 0x5d, 0xc3}; /* push rbp; mov rbp,rsp; call rsi; pop; ret */
static const unsigned char bare[] = {0x48, 0x83, 0xec, 0x08, 0xff, 0xd6,
                                     0x48, 0x83, 0xc4, 0x08, 0xc3}; /* sub rsp,8; call; add */
/* push rbp; rbp = -1 (no frame pointer at all); sub rsp,0x40; call rsi; add rsp,0x40; pop rbp; ret */
static const unsigned char wild_frame[] = {0x55, 0x48, 0xc7, 0xc5, 0xff, 0xff, 0xff, 0xff, 0x48, 0x83,
                                           0xec, 0x40, 0xff, 0xd6, 0x48, 0x83, 0xc4, 0x40, 0x5d, 0xc3};

typedef void *made(size_t bytes, void *(*take)(size_t));

static void *taken_deeper(size_t bytes)
{
    return opaque(malloc(bytes));
}

static void check(const unsigned char *code, size_t length, int rounds)
{
    unsigned char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(page + 64, code, length);
    mprotect(page, 4096, PROT_READ | PROT_EXEC);
    made *call = (made *)(uintptr_t)(page + 64);
    for (int i = 0; i < rounds; i++) {
        void *p = call(100, malloc), *q = call(100000, taken_deeper);
        expect(p && q, "malloc from made code, expected pointers, got %p and %p", p, q);
        free(p);
        free(q);
    }
    munmap(page, 4096);
}

int main(void)
{
    for (int round = 0; round < 30; round++) {
        check(with_frame, sizeof with_frame, 50);
        check(bare, sizeof bare, 50);
        check(wild_frame, sizeof wild_frame, 50);
    }
    return passed();
}
#else
int main(void)
{
    skip("made for x86-64");
}
#endif
