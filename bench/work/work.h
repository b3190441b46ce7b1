/* SPDX-License-Identifier: MIT */
/*
 * work.h - what every workload shares: the table that names its variants, a random generator whose
 * sequence is fixed, a clock, threads, and blocks that carry a stamp.
 *
 * A workload is a fixed amount of work, never a fixed time, so that wall time, faults and the result can be
 * compared. Its result must not depend on the allocator nor on how threads interleave: it is built from the
 * stamps read back when blocks are freed. work.c has main(): PROGRAM VARIANT [SCALE [THREADS]].
 */
#ifndef BENCH_WORK_H
#define BENCH_WORK_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct work_args {
    double scale;     /* 1 = the full workload */
    unsigned threads; /* 0 = the workload's own choice */
    char **rest;      /* arguments after THREADS, NULL-terminated */
} work_args;

typedef struct work_result {
    uint64_t ops; /* what "ns per operation" is divided by */
    uint64_t sum; /* must be the same under every allocator */
    uint64_t ns;  /* time of the measured part; 0 = all of it */
} work_result;

typedef struct work {
    const char *name; /* the variant; NULL ends the table */
    work_result (*run)(const work_args *);
} work;

extern const work work_table[]; /* each program defines one */

uint64_t now_ns(void);
/* Resident memory of this process in KiB, now. */
uint64_t rss_now_kb(void);
/* Scaled count, at least 1. */
uint64_t work_count(const work_args *a, double full);
/* Runs `body` in n threads with their number as argument; returns the sum of what they return. */
uint64_t threads_run(unsigned n, uint64_t (*body)(unsigned number, void *shared), void *shared);
pthread_t thread_start(void *(*body)(void *), void *arg);
/* malloc that may not fail. */
void *must_malloc(size_t size);
void *must_realloc(void *p, size_t size);

/* A fixed sequence for a fixed seed (xorshift with a multiplicative finish). */
static inline uint64_t rng_next(uint64_t *state)
{
    uint64_t x = *state;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    *state = x;
    return x * 0x2545F4914F6CDD1Dull;
}
static inline uint64_t rng_seed(uint64_t n)
{
    return (n + 1) * 0x9E3779B97F4A7C15ull | 1;
}
/* A number in [low, high]. */
static inline size_t rng_range(uint64_t *state, size_t low, size_t high)
{
    return low + (size_t)((rng_next(state) >> 32) % (high - low + 1));
}

/* Makes the compiler believe that `p` is used, so that it cannot remove a malloc and free pair. */
static inline void keep(void *p)
{
    __asm__ volatile("" : : "r"(p) : "memory");
}

/* A block that carries a stamp in its first 8 bytes; size >= 8. The last byte is touched too. */
static inline void *stamped_alloc(size_t size, uint64_t stamp)
{
    char *p = (char *)must_malloc(size);
    p[size - 1] = (char)stamp;
    *(uint64_t *)(void *)p = stamp;
    return p;
}
static inline uint64_t stamped_free(void *p)
{
    uint64_t stamp = *(uint64_t *)p;
    free(p);
    return stamp;
}

#ifdef __cplusplus
}
#endif
#endif
