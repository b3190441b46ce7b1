/* SPDX-License-Identifier: MIT */
/*
 * thread.h - floor F4: what one thread of the host has of us. Every entry point reads `self` first; before a
 * thread's first allocation it points at `cold_thread`, whose lookups all miss, so that no entry tests for
 * NULL. Threads are parked whole when they end and adopted by the next one that starts (thread.c).
 */
#ifndef POOLMEM_THREAD_H
#define POOLMEM_THREAD_H

#include "stats.h"

#define POOLS_MAX STATS_POOLS

struct front;
struct memo;

/* What a known caller comes to, for one thread: where to take memory and where to count it. */
typedef struct tag {
    struct front *front;
    stats_tally *tally;
} tag;

typedef struct thread {
    struct memo *memo;            /* caller.c: this thread's memo; cold_thread has one that always misses */
    uintptr_t stack_lo, stack_hi; /* caller.c: readable stack the last sp was found in */
    uint32_t busy;                /* > 0: inside our own cold code; allocations go to System untagged */
    uint32_t id;                  /* slot, reused after the thread has ended */
    struct thread *next;          /* all threads ever made, live or parked; set once */
    struct heap_thread *heap;     /* the heap's side: fronts, remote queue (heap.h) */
    struct tag base[POOLS_MAX];   /* per pool: front (NULL until used) and the tally of its base site */
    void *stack_pools;            /* pool stack of this thread (stack.c) */
    uint64_t unwound;             /* memo misses */
} thread;

extern __thread thread *self __attribute__((tls_model("initial-exec")));
extern thread cold_thread;

/* The tag of a site for a thread: makes front and tally when needed. Cold. Never fails: falls back to the
   pool's base tag, then to System's. */
tag thread_tag(thread *t, uint32_t pool, uint32_t site);

#endif
