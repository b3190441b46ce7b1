/* SPDX-License-Identifier: MIT */
/* fuzz.h - what the fuzzing harnesses share: the input as a file, the input as text. */
#ifndef POOLMEM_FUZZ_H
#define POOLMEM_FUZZ_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A path under which the bytes can be read as a regular file, until the next call. */
static inline const char *fuzz_file(const uint8_t *data, size_t size)
{
    static int fd = -1;
    static char path[32];
    if (fd < 0) {
        fd = memfd_create("fuzz", 0);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    }
    if (ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
        abort();
    return path;
}

/* A copy of its own, NUL at the end; to be freed. */
static inline char *fuzz_text(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    memcpy(text, data, size);
    text[size] = 0;
    return text;
}

/* Complaints go where nobody reads them. */
#define FUZZ_QUIET()                                                                                         \
    do {                                                                                                     \
        if (complain_fd == 2)                                                                                \
            complain_fd = open("/dev/null", O_WRONLY);                                                       \
    } while (0)

#endif
