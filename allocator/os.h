/* SPDX-License-Identifier: MIT */
/*
 * os.h - floor F0: everything the core asks of the operating system, in one place (os_linux.c). Sizes are
 * bytes and are rounded up to pages by the callee. All calls keep errno and are async-signal-safe.
 */
#ifndef POOLMEM_OS_H
#define POOLMEM_OS_H

#include "base.h"

#define OS_PAGE ((size_t)4096) /* the page size the layout is built on; os_page_size() tells the real one */

size_t os_page_size(void);

/* Reserves address space without access; `align` is a power of two >= a page. NULL: none to be had. */
void *os_reserve(size_t size, size_t align);
/* Reserves address space that reads as zeros and cannot be written before os_commit. */
void *os_reserve_zeros(size_t size);
/* Makes part of a reservation readable and writable. False: the system refuses. */
bool os_commit(void *p, size_t size);
/* Gives the pages back at once; they read as zero when touched again and stay committed. */
void os_purge(void *p, size_t size);
/* Takes away access and memory again (after os_commit). */
void os_decommit(void *p, size_t size);
/* Readable and writable zeroed memory of its own mapping; NULL: none to be had. */
void *os_map(size_t size);
/* The same for a table whose cells are used in no order: where that takes many pages they are there at once,
   since the system makes them by the dozen for what one by one costs a fault each. */
void *os_map_table(size_t size);
void os_populate(void *p, size_t size); /* makes the pages of a range be there */
void os_unmap(void *p, size_t size);
/* Moves the pages of [from, from+size) to `to` (both page-aligned, `to` committed); false: nothing moved.
   The source range stays committed and reads as zero afterwards. */
bool os_move_pages(void *to, void *from, size_t size);
/* Advises huge pages for a range (true) or against them (false). */
void os_huge(void *p, size_t size, bool on);
/* Names a range for the kernel: /proc/PID/smaps shows [anon:NAME]. The name must stay alive. */
void os_name_range(void *p, size_t size, const char *name);

/* Monotonic time in ns; coarse: a few ms steps, a few ns cost. */
uint64_t os_time_ns(void);
uint64_t os_time_coarse_ns(void);
/* Time the calling thread has run, in ns; a system call. */
uint64_t os_time_thread_ns(void);
/* Whether the processor counts the ones of a word by an instruction. */
bool os_counts_ones(void);
/* Thread id of the kernel. */
int os_thread_id(void);
/* Writes all of it; false on an error. */
bool os_write(int fd, const char *data, size_t size);
/* Blocks while *word == value; wakes up to n waiters. */
void os_futex_wait(uint32_t *word, uint32_t value);
void os_futex_wake(uint32_t *word, int n);
void os_yield(void);

/* Test hook: when not NULL it is asked before each call that gets memory (reserve, commit, map) and
   false makes that call fail. */
extern bool (*os_fault_hook)(void);

#endif
