/* SPDX-License-Identifier: MIT */
/* Promise: pointers that are not the library's (from the C library's own heap, from mmap, static, on the
 * stack) may come to free, realloc and malloc_usable_size: counted, one line at POOLMEM_VERBOSE=1, never a
 * crash. The report then says foreign_frees = 5: three to free, one to delete's C name, one to realloc. */
#include <sys/mman.h>
#include "check.h"

extern void *__libc_malloc(size_t bytes);

int main(void)
{
    static char fixed[64];
    char local[64] __attribute__((aligned(16)));
    if (!library())
        skip("the C library's own heap aborts here");
    char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void *theirs = __libc_malloc(100);
    free(opaque(theirs));
    free(opaque(page + 4096));
    free(opaque(fixed + 16));
    free(opaque(local));
    void *from_libc = __libc_malloc(200);
    memset(from_libc, 7, 200);
    char *moved = opaque(realloc(from_libc, 1000));
    expect(!moved || moved[199] == 7, "realloc of the C library's block, expected its bytes, got %d",
           moved[199]);
    free(moved);
    malloc_usable_size(opaque(__libc_malloc(50)));
    malloc_usable_size(opaque(fixed));
    page[4096] = 1;
    free(opaque(malloc(100)));
    return passed();
}
