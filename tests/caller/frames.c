/* SPDX-License-Identifier: MIT */
/*
 * frames.c - see frames.h. Compiled twice: as `lean` (no frame pointers) and as `framed` (with). A function
 * whose name ends in _poolN is claimed for pool N by the rules of stubs.c.
 */
#include "frames.h"

#include <alloca.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define JOIN2(a, b) a##_##b
#define JOIN(a, b)  JOIN2(a, b)
#define NAME(n)     JOIN(FLAVOUR, n)
#define FRAME       __attribute__((noinline, visibility("default")))

static void keep(volatile char *p)
{
    __asm__ volatile("" : : "r"(p) : "memory");
}

#define FIXED(name, bytes)                                                                                   \
    FRAME void NAME(name)(program * p)                                                                       \
    {                                                                                                        \
        volatile char room[bytes];                                                                           \
        keep(room);                                                                                          \
        program_next(p);                                                                                     \
        keep(room);                                                                                          \
    }

FIXED(tiny, 1)
FIXED(small, 40)
FIXED(middle, 200)
FIXED(large, 3000)
FIXED(claimed_pool3, 64)
FIXED(claimed_pool5, 16)

/* Two call sites in one function: the return address alone tells them apart. */
FRAME void NAME(forked)(program *p)
{
    volatile char room[24];
    keep(room);
    if (p->seed & 1)
        program_next(p);
    else
        program_next(p);
    keep(room);
}

/* Many registers saved. */
FRAME void NAME(busy)(program *p)
{
    long a = p->seed, b = a * 3, c = b ^ 5, d = c * 7, e = d + 9, f = e ^ a;
    __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f));
    program_next(p);
    __asm__ volatile("" : : "r"(a), "r"(b), "r"(c), "r"(d), "r"(e), "r"(f));
}

/* The size of the frame is known at run time only: the CFA comes from rbp. */
FRAME void NAME(variable)(program *p)
{
    char *room = alloca(16 + p->seed % 8 * 48);
    keep(room);
    program_next(p);
    keep(room);
}

/* Realigned: the CFA is found through rbp. */
FRAME void NAME(aligned)(program *p)
{
    _Alignas(64) volatile char room[64];
    keep(room);
    program_next(p);
    keep(room);
}

/* Realigned and variable: the CFA is a word in memory. */
FRAME void NAME(realigned)(program *p)
{
    _Alignas(64) volatile char room[64];
    char *more = alloca(16 + p->seed % 4 * 32);
    keep(room);
    keep(more);
    program_next(p);
    keep(room);
    keep(more);
}

/* Through a function of the C library. */
static __thread program *sorting;
static int compare(const void *a, const void *b)
{
    program *p = sorting;
    sorting = NULL;
    if (p)
        program_next(p);
    return *(const int *)a - *(const int *)b;
}
FRAME void NAME(callback)(program *p)
{
    int pair[2] = {2, 1};
    sorting = p;
    qsort(pair, 2, sizeof *pair, compare);
    keep((char *)pair);
}

/* Through a signal handler. */
static __thread program *struck;
static void handler(int number)
{
    program *p = struck;
    struck = NULL;
    if (p)
        program_next(p);
}
FRAME void NAME(signalled)(program *p)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_NODEFER};
    sigaction(SIGUSR2, &action, NULL);
    struck = p;
    raise(SIGUSR2);
    keep((char *)&action);
}

frame_fn *const JOIN(FLAVOUR, frames)[] = {
    NAME(tiny),     NAME(small),         NAME(middle),        NAME(large),    NAME(forked),    NAME(busy),
    NAME(variable), NAME(aligned),       NAME(realigned),     NAME(callback), NAME(tiny),      NAME(small),
    NAME(busy),     NAME(claimed_pool3), NAME(claimed_pool5), NAME(forked),   NAME(signalled),
};
const unsigned JOIN(FLAVOUR, frame_count) = sizeof JOIN(FLAVOUR, frames) / sizeof(frame_fn *);
