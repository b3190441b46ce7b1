/* SPDX-License-Identifier: MIT */
/*
 * lock.c - see lock.h: the slow half of taking a lock, and the rank check of debug builds.
 * Spins for a moment (the sections are short), then sleeps on the word.
 */
#include "lock.h"
#include "fatal.h"

#define SPINS 100

void lock_wait_cold(lock *l)
{
    for (int i = 0; i < SPINS; i++) {
        uint32_t free_word = 0;
        if (__atomic_load_n(&l->word, __ATOMIC_RELAXED) == 0 &&
            __atomic_compare_exchange_n(&l->word, &free_word, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            return;
        __builtin_ia32_pause();
    }
    while (__atomic_exchange_n(&l->word, 2, __ATOMIC_ACQUIRE) != 0)
        os_futex_wait(&l->word, 2);
}

#if POOL_DEBUG
static __thread uint32_t held_ranks; /* bit r: a lock of rank r is held */

void lock_rank_take(const lock *l)
{
    uint32_t bit = 1u << l->rank;
    if (l->rank && held_ranks >= bit)
        fatal("lock of rank %u taken while ranks %x are held", l->rank, held_ranks);
    held_ranks |= bit;
}

void lock_rank_drop(const lock *l)
{
    held_ranks &= ~(1u << l->rank);
}
#endif
