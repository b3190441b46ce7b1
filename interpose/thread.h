/* SPDX-License-Identifier: MIT */
/*
 * thread.h - floor F4: what one thread of the host has of us. Every entry point reads `self` first; before a
 * thread's first allocation it points at `cold_thread`, whose lookups all miss, so that no entry tests for
 * NULL. Threads are parked whole when they end and adopted by the next one that starts (thread.c).
 */
#ifndef POOLMEM_THREAD_H
#define POOLMEM_THREAD_H

#include "heap.h"
#include "publish.h"

#define POOLS_MAX  STATS_POOLS
#define MEMO_CELLS 2048

struct memo;
struct memo_entry;
struct tally_map;

/* What a known caller comes to, for one thread: where to take memory and where to count it. */
typedef struct tag {
    struct front *front;
    stats_tally *tally;
} tag;

typedef struct thread {
    heap_thread heap;             /* first: a block's owner is its thread */
    struct memo *memo;            /* caller.c: this thread's memo; cold_thread has one that always misses */
    uintptr_t stack_lo, stack_hi; /* caller.c: readable stack the last sp was found in */
    uint32_t busy;                /* > 0: inside our own cold code; a miss then gives base[System] */
    uint32_t id;                  /* slot, reused after the thread has ended */
    uint64_t call_key;            /* caller.c: memo_top_key(top), or MEMO_UNUSABLE; a thread that closes an
                                     object sets the latter too */
    uint32_t top;                 /* api.c: pool on top of this thread's pool stack, 0 Global */
    struct caller_side *caller;   /* caller.c: what it keeps for look-ups; NULL: no memory for it */
    uint64_t cell[MEMO_CELLS];    /* memo.h: entry that matched last, a fork, or 0 */
    tag base[POOLS_MAX];          /* per pool: calls without a stack; front NULL until thread_tag asks */
    struct tally_map *tallies;    /* site -> this thread's tally */
    uintptr_t tagging;            /* frame that is making a tag, 0 none: a handler that comes in makes none */
    tag untallied;                /* System, for a handler that comes in while a tag is being made */
    tally_stock stock;            /* publish.h */
    struct moved_site *moved;     /* site.c: call-sites seen from other pools */
    void *stack_pools;            /* pool stack of this thread (api.c) */
} thread;

extern HIDDEN __thread thread *self __attribute__((tls_model("initial-exec")));
extern HIDDEN thread cold_thread;

/* Whether an address lies in the stack that the thread was last found in. */
INLINE bool thread_on_stack(const thread *t, uintptr_t address)
{
    return address - t->stack_lo < t->stack_hi - t->stack_lo;
}

/* For whoever finds self == &cold_thread on a miss: boots the library if need be, makes or adopts the
   thread's struct, sets self. Returns self, or &cold_thread when that is impossible now (no memory, or inside
   boot): then thread_emergency_tag() serves. Cold. */
thread *thread_start(void);
/* A tag that works without a thread struct: System, under a lock. */
const tag *thread_emergency_tag(void);

/* The tag of a site for a thread: makes front and tally when needed. Cold. Never fails: falls back to the
   pool's base tag, then to System's. */
tag thread_tag(thread *t, uint32_t pool, uint32_t site);
/* The base tag of a pool (calls without a stack), made on first use. */
const tag *thread_base(thread *t, uint32_t pool);

/* All threads ever made, for walkers; the list only grows. */
thread *thread_first(void);
thread *thread_next(thread *t);

/* Key destructor and constructor hooks of boot.c. */
void thread_boot(void);

#endif
