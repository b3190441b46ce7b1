/* SPDX-License-Identifier: MIT */
/*
 * arena_bump.c - what an arena's allocation costs beside a bare pointer bump that does the same work (8-byte
 * aligned, bounds tested). Both run in turn, rounds of ROUNDS passes over one buffer; the quietest round of
 * each counts, since the machine's speed changes by the minute. Prints ns an allocation and the ratio; exit
 * status 1 when an arena costs more than 1.3 times the bump in any row. `make bench-arena`.
 */
#include "arena.h"

#include <stdio.h>
#include <time.h>

enum { BYTES = 1 << 16, PASSES = 40, ROUNDS = 300 };

struct bump {
    char *cursor, *end;
};

static inline __attribute__((always_inline)) void *bump_alloc(struct bump *b, size_t n, bool zero)
{
    char *p = (char *)(((uintptr_t)b->cursor + 7) & ~(uintptr_t)7);
    if ((size_t)(b->end - p) < n)
        return NULL;
    b->cursor = p + n;
    return zero ? memset(p, 0, n) : p;
}

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static arena subject;
static struct bump bare;

/* The size is a variable, as it mostly is in a program. */
static __attribute__((noinline)) double pass_arena(size_t n, int count, bool zero)
{
    double start = now_ns();
    for (int pass = 0; pass < PASSES; pass++) {
        arena_reset(&subject);
        for (int i = 0; i < count; i++) {
            char *p = zero ? arena_alloc(&subject, (int64_t)n) : arena_alloc_raw(&subject, (int64_t)n);
            __asm__ volatile("" : : "r"(p) : "memory");
        }
    }
    return (now_ns() - start) / PASSES / count;
}

static __attribute__((noinline)) double pass_bump(size_t n, int count, bool zero)
{
    double start = now_ns();
    for (int pass = 0; pass < PASSES; pass++) {
        bare.cursor = subject.first.base;
        for (int i = 0; i < count; i++) {
            char *p = zero ? bump_alloc(&bare, n, true) : bump_alloc(&bare, n, false);
            __asm__ volatile("" : : "r"(p) : "memory");
        }
    }
    return (now_ns() - start) / PASSES / count;
}

static bool row(size_t n, bool zero)
{
    double best[2] = {1e9, 1e9};
    int count = (int)(BYTES / ((n + 7) & ~(size_t)7));
    for (int round = 0; round < ROUNDS; round++) {
        for (int turn = 0; turn < 2; turn++) {
            int which = (round + turn) & 1;
            double ns = which ? pass_arena(n, count, zero) : pass_bump(n, count, zero);
            best[which] = ns < best[which] ? ns : best[which];
        }
    }
    double ratio = best[1] / best[0];
    printf("%-8s %5zu bytes   bump %6.2f ns   arena %6.2f ns   %.2f\n", zero ? "zeroed" : "raw", n, best[0],
           best[1], ratio);
    return ratio <= 1.3;
}

int main(void)
{
    static const size_t sizes[] = {8, 24, 64, 250, 1000};
    bool good = true;
    if (!arena_init(&subject, BYTES, NULL))
        return 2;
    bare.end = subject.first.base + BYTES;
    for (int zero = 1; zero >= 0; zero--)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            good = row(sizes[i], zero) && good;
    puts(good ? "within 1.3 times a bare bump" : "more than 1.3 times a bare bump");
    return good ? 0 : 1;
}
