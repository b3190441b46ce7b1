/* SPDX-License-Identifier: MIT */
/*
 * lock.h - floor F0: one small futex lock for everything that is off the fast path, with a rank. A thread
 * may take a lock only when its rank is higher than that of every lock it holds; debug builds check it
 * (the ranks held are kept in a thread-local), so a deadlock shows in a test rather than in a game.
 *
 * The word is 0 when free, else the holder's number * 2, plus 1 when somebody sleeps: a signal handler that
 * forks can so tell a lock that its own thread holds from one that it must wait for.
 * Cost: one compare-and-swap each way when free.
 */
#ifndef POOLMEM_LOCK_H
#define POOLMEM_LOCK_H

#include "base.h"
#include "os.h"

/* Outermost first. */
typedef enum lock_rank {
    RANK_NONE,
    RANK_CONFIG,   /* rules and configuration */
    RANK_MANAGER,  /* manager and pool stacks */
    RANK_RESOURCE, /* resource manager and handles */
    RANK_REPORT,   /* one report at a time */
    RANK_UNWIND,   /* the unwinder's own leaf lock */
    RANK_TRACK,    /* records of a track wrapper */
    RANK_POOL,     /* a pool of a locked kind: retail, clump, arena, hunk */
    RANK_THREADS,  /* the list of threads and parked fronts */
    RANK_REGISTRY, /* the pool tree */
    RANK_ZONE,     /* block table and bitmaps of a zone */
    RANK_META,     /* metadata memory: the innermost */
} lock_rank;

typedef struct lock {
    uint32_t word;
    uint32_t rank;
} lock;

#define LOCK_INIT(r)                                                                                         \
    {                                                                                                        \
        0, (r)                                                                                               \
    }

#if POOL_DEBUG
void lock_rank_take(const lock *l);
void lock_rank_drop(const lock *l);
#else
#define lock_rank_take(l) ((void)0)
#define lock_rank_drop(l) ((void)0)
#endif

/* The calling thread's number, never 0; survives fork. */
extern __thread uint32_t lock_number __attribute__((tls_model("initial-exec")));
COLD uint32_t lock_number_cold(void);
COLD void lock_wait_cold(lock *l);

INLINE uint32_t lock_word_mine(void)
{
    return (likely(lock_number) ? lock_number : lock_number_cold()) * 2;
}

INLINE bool lock_try(lock *l)
{
    uint32_t free_word = 0;
    if (!__atomic_compare_exchange_n(&l->word, &free_word, lock_word_mine(), false, __ATOMIC_ACQUIRE,
                                     __ATOMIC_RELAXED))
        return false;
    lock_rank_take(l);
    return true;
}

INLINE void lock_take(lock *l)
{
    uint32_t free_word = 0;
    lock_rank_take(l);
    if (unlikely(!__atomic_compare_exchange_n(&l->word, &free_word, lock_word_mine(), false, __ATOMIC_ACQUIRE,
                                              __ATOMIC_RELAXED)))
        lock_wait_cold(l);
}

INLINE void lock_drop(lock *l)
{
    lock_rank_drop(l);
    if (unlikely(__atomic_exchange_n(&l->word, 0, __ATOMIC_RELEASE) & 1))
        os_futex_wake(&l->word, 1);
}

INLINE bool lock_is_mine(const lock *l)
{
    return __atomic_load_n(&l->word, __ATOMIC_RELAXED) >> 1 == lock_word_mine() >> 1;
}

/* Takes the lock unless this thread holds it already: a signal handler has interrupted the section and comes
   back into it. Tells whether. */
INLINE bool lock_take_unless_mine(lock *l)
{
    if (likely(lock_try(l)))
        return true;
    if (lock_is_mine(l))
        return false;
    lock_take(l);
    return true;
}

/* What a fork does with each lock of a module, in the order in which they are taken. */
typedef void lock_visit(lock *l);

/* After fork, in the child: whoever held it is gone. */
INLINE void lock_reset(lock *l)
{
    __atomic_store_n(&l->word, 0, __ATOMIC_RELEASE);
}

#endif
