/* SPDX-License-Identifier: MIT */
/*
 * lock.c - see lock.h: the slow half of taking a lock, and the rank check of debug builds.
 * Spins for a moment (the sections are short), then sleeps on the word.
 */
#include "lock.h"
#include "fatal.h"

#define SPINS 100

__thread uint32_t lock_number __attribute__((tls_model("initial-exec")));

uint32_t lock_number_cold(void)
{
    static uint32_t last; /* atomic */
    return lock_number = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED) & 0x7fffffff;
}

static bool take_free(lock *l, uint32_t word)
{
    uint32_t free_word = 0;
    return __atomic_load_n(&l->word, __ATOMIC_RELAXED) == 0 &&
           __atomic_compare_exchange_n(&l->word, &free_word, word, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

void lock_wait_cold(lock *l)
{
    uint32_t mine = lock_word_mine();
    for (int i = 0; i < SPINS; i++) {
        if (take_free(l, mine))
            return;
        __builtin_ia32_pause();
    }
    for (;;) { /* whoever has slept takes it with the sleepers' bit: others may sleep still */
        if (take_free(l, mine | 1))
            return;
        uint32_t seen = __atomic_load_n(&l->word, __ATOMIC_RELAXED);
        if (!seen)
            continue;
        if (seen & 1 ||
            __atomic_compare_exchange_n(&l->word, &seen, seen | 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            os_futex_wait(&l->word, seen | 1);
    }
}

#if POOL_DEBUG
static __thread uint32_t held_ranks; /* bit r: a lock of rank r is held */

void lock_rank_take(const lock *l)
{
    uint32_t bit = 1u << l->rank;
    unsigned several =
        l->rank == RANK_ZONE || l->rank == RANK_POOL; /* fork takes all; a pool inside a pool */
    if (l->rank && held_ranks >= bit << several)
        fatal("lock of rank %u taken while ranks %x are held", l->rank, held_ranks);
    held_ranks |= bit;
}

void lock_rank_drop(const lock *l)
{
    held_ranks &= ~(1u << l->rank);
}
#endif
