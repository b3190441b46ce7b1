/* SPDX-License-Identifier: MIT */
/*
 * os_file.h - floor F0: what the core asks of the file system (os_file_linux.c): regular files by position,
 * private mappings of them, names of a folder. No stdio, no malloc; errno is kept; every descriptor is
 * close-on-exec.
 */
#ifndef POOLMEM_OS_FILE_H
#define POOLMEM_OS_FILE_H

#include "base.h"

/* Opens a regular file for reading; -1: there is none, or it is something else. */
int os_file_open(const char *path);
void os_file_close(int fd);
/* Bytes it has now; false: not to be had. */
bool os_file_size(int fd, uint64_t *size);
/* Reads exactly `size` bytes from `offset`; false: an error, or the file is shorter. */
bool os_file_read(int fd, uint64_t offset, void *to, size_t size);
/* A private mapping from a page-aligned offset, read-only or copy-on-write. NULL: none to be had. */
void *os_file_map(int fd, uint64_t offset, size_t size, bool writable);
/* Puts zeroed memory in the place of whole pages of a mapping. */
bool os_map_over(void *at, size_t size, bool writable);

/* Calls `visit` for each name of the folder but . and .., in no order; stops when it gives false. False: the
   folder cannot be read, or visit stopped. */
bool os_folder_walk(const char *path, bool (*visit)(void *arg, const char *name), void *arg);

#endif
