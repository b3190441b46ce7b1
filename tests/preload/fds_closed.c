/* SPDX-License-Identifier: MIT */
/* Promise: a program that closes every descriptor it did not open, and gets the library's numbers for its own
 * files, still allocates, and reports by signal and at exit go to the place asked for, never into the
 * program's files. */
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include "check.h"

enum { FILES = 30 };

int main(void)
{
    free(opaque(malloc(1000)));
    if (close_range(3, ~0u, 0))
        skip("no close_range");
    int fd[FILES];
    for (int i = 0; i < FILES; i++)
        fd[i] = memfd_create("own", 0);
    for (size_t bytes = 1; bytes < 64u << 20; bytes *= 3)
        free(opaque(malloc(bytes)));
    if (library())
        raise(SIGUSR1);
    for (int i = 0; i < FILES; i++) {
        struct stat info;
        expect_equal("fstat of an own file", 0, fstat(fd[i], &info));
        expect_equal("bytes in the program's own file", 0, (long long)info.st_size);
    }
    return passed();
}
