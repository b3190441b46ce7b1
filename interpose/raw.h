/* SPDX-License-Identifier: MIT */
/*
 * raw.h - floor F4: system calls as a signal handler needs them: not through libc's functions, because those
 * are cancellation points (a thread cancelled in the middle of a report would keep its lock) and may be
 * wrapped by other preloaded libraries. All keep errno and return -errno on failure, as the kernel does.
 */
#ifndef POOLMEM_RAW_H
#define POOLMEM_RAW_H

#include "base.h"

/* Opens with O_CLOEXEC added. */
int raw_open(const char *path, int flags, unsigned mode);
void raw_close(int fd);
long raw_read(int fd, void *to, size_t n);
/* Writes everything; waits up to `patience_ms` each time a non-blocking descriptor is full. 0 or -errno. */
int raw_write_all(int fd, const char *data, size_t n, int patience_ms);
int raw_rename(const char *from, const char *to);
void raw_unlink(const char *path);
/* Reads a small file (of /proc) into a NUL-terminated buffer; its length or -errno. */
long raw_read_file(const char *path, char *to, size_t cap);

void raw_sleep_ms(unsigned ms);

/* The last component of the path that this program was executed by: a link's name, a script's. "" when the
   path is the kernel's (/proc/self/exe, /dev/fd/N) and tells no name. */
const char *raw_called_name(void);

/* Resident bytes of this process, 0 unknown. Opens a file of /proc. */
uint64_t raw_resident_bytes(void);

/* The signal mask as the kernel has it: bit n-1 is signal n, the two that libc hides included. */
typedef uint64_t raw_mask;
#define RAW_MASK(sig) ((raw_mask)1 << ((sig)-1))
raw_mask raw_mask_set(raw_mask mask); /* returns the mask before */

/*
 * Writing to a pipe without a reader or beyond the file size limit raises a signal that would end the host.
 * Between begin and end such signals of this thread are held back and those that our writes raised are
 * taken away; one that was pending before stays.
 */
typedef struct raw_guard {
    raw_mask before;
    raw_mask pending;
} raw_guard;
void raw_guard_begin(raw_guard *g, raw_mask block);
void raw_guard_end(const raw_guard *g);

/*
 * Whether descriptor 2 is the host's stderr: what it or 1 was at the start, or what looks like a redirection.
 * A program that was started without stderr, or that closed it, gets the number for a file or a connection of
 * its own, which a line of ours would damage. Before raw_stderr_boot 2 is taken to be stderr.
 */
void raw_stderr_boot(void);
bool raw_stderr_is_there(void);
/* Keeps a copy, for a report at the end: many programs close theirs before. */
void raw_stderr_keep(void);
/* The host's stderr, or the copy; -1: neither is there. */
int raw_stderr(void);

/* One write between the two: a line for the host's stderr, which may be full, closed or have no reader. */
void raw_say(int fd, const char *line, size_t n);

#endif
