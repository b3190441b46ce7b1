/* SPDX-License-Identifier: MIT */
/*
 * os_linux.c - see os.h: the one file with system calls of the core. Raw mmap family through libc's thin
 * wrappers; errno is saved and restored, because a free that gives pages back must not change it.
 * Locking: none. Cost: a system call each; a fresh page costs a fault on first touch.
 */
#include "os.h"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#if defined __x86_64__ && __has_include(<sys/platform/x86.h>)
#include <sys/platform/x86.h>
#endif

#ifndef PR_SET_VMA
#define PR_SET_VMA           0x53564d41
#define PR_SET_VMA_ANON_NAME 0
#endif

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum { POPULATE_LEAST = 64 << 10 };

bool (*os_fault_hook)(void);

static bool faulted(void)
{
    return unlikely(os_fault_hook != NULL) && !os_fault_hook();
}

size_t os_page_size(void)
{
    static size_t page;
    if (!page)
        page = (size_t)sysconf(_SC_PAGESIZE);
    return page;
}

static void *map(void *at, size_t size, int prot, int flags)
{
    int saved = errno;
    void *p = mmap(at, size, prot, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
    errno = saved;
    return p == MAP_FAILED ? NULL : p;
}

void *os_reserve(size_t size, size_t align)
{
    size_t slack = align > OS_PAGE ? align : 0, whole;
    if (faulted() || add_wraps(size, slack, &whole))
        return NULL;
    char *raw = map(NULL, whole, PROT_NONE, MAP_NORESERVE);
    if (!raw || !slack)
        return raw;
    char *p = (char *)round_up((uintptr_t)raw, align);
    if (p > raw)
        os_unmap(raw, (size_t)(p - raw));
    if (raw + whole > p + size)
        os_unmap(p + size, (size_t)(raw + whole - (p + size)));
    return p;
}

void *os_reserve_zeros(size_t size)
{
    return faulted() ? NULL : map(NULL, size, PROT_READ, MAP_NORESERVE);
}

bool os_commit(void *p, size_t size)
{
    int saved = errno;
    bool ok = !faulted() && mprotect(p, size, PROT_READ | PROT_WRITE) == 0;
    errno = saved;
    return ok;
}

void os_purge(void *p, size_t size)
{
    int saved = errno;
    madvise(p, size, MADV_DONTNEED);
    errno = saved;
}

void os_decommit(void *p, size_t size)
{
    map(p, size, PROT_NONE, MAP_NORESERVE | MAP_FIXED);
}

void *os_map(size_t size)
{
    return faulted() ? NULL : map(NULL, round_up(size, OS_PAGE), PROT_READ | PROT_WRITE, MAP_NORESERVE);
}

void *os_map_table(size_t size)
{
    void *p = os_map(size);
    if (p && size >= POPULATE_LEAST)
        os_populate(p, size);
    return p;
}

void os_populate(void *p, size_t size)
{
    int saved = errno;
    madvise(p, round_up(size, OS_PAGE), MADV_POPULATE_WRITE); /* older kernels refuse: then faults do it */
    errno = saved;
}

void os_unmap(void *p, size_t size)
{
    int saved = errno;
    munmap(p, round_up(size, OS_PAGE));
    errno = saved;
}

bool os_move_pages(void *to, void *from, size_t size)
{
    int saved = errno;
    bool moved = mremap(from, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, to) != MAP_FAILED;
    if (moved) /* the source range is a hole now: fill it, so that nobody else's mapping lands there */
        map(from, size, PROT_READ | PROT_WRITE, MAP_NORESERVE | MAP_FIXED);
    errno = saved;
    return moved;
}

void os_huge(void *p, size_t size, bool on)
{
    int saved = errno;
    madvise(p, size, on ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    errno = saved;
}

void os_name_range(void *p, size_t size, const char *name)
{
    int saved = errno;
    prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, p, size, name);
    errno = saved;
}

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t os_time_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

uint64_t os_time_coarse_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC_COARSE);
}

uint64_t os_time_thread_ns(void)
{
    return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* libc has asked already: each question to the processor itself traps into the host of a virtual machine. */
bool os_counts_ones(void)
{
#ifdef CPU_FEATURE_ACTIVE
    return CPU_FEATURE_ACTIVE(POPCNT);
#elif defined __x86_64__
    __builtin_cpu_init();
    return __builtin_cpu_supports("popcnt");
#else
    return false;
#endif
}

int os_thread_id(void)
{
    return (int)syscall(SYS_gettid);
}

bool os_write(int fd, const char *data, size_t size)
{
    int saved = errno;
    while (size) {
        ssize_t n = write(fd, data, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        data += n;
        size -= (size_t)n;
    }
    errno = saved;
    return size == 0;
}

void os_futex_wait(uint32_t *word, uint32_t value)
{
    int saved = errno;
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
    errno = saved;
}

void os_futex_wake(uint32_t *word, int n)
{
    int saved = errno;
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, n, NULL, NULL, 0);
    errno = saved;
}

void os_yield(void)
{
    sched_yield();
}
