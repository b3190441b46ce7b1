/* SPDX-License-Identifier: MIT */
/*
 * test_heap_stash.c - large fragments at hand: whose they are, what misuse of them is called, and that they
 * come back to whoever needs them.
 */
#include "heap.h"
#include "heap_private.h"
#include "heap_stats.h"
#include "seeded.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <string.h>

enum { SIZE = 3000, MANY = 200 };

static heap root, other;

static void set_up(void)
{
    cr_assert(world_boot());
    cr_assert(heap_create(&root, 0, "Root", NULL, 0, OVER_WARN));
    cr_assert(heap_create(&other, 1, "Other", &root, 0, OVER_WARN));
}

TestSuite(heap_stash, .init = set_up);

static heap_figures figures(heap *h)
{
    heap_figures f;
    cr_assert(heap_figures_read((uintptr_t)&world, (uintptr_t)h, NULL, NULL, &f));
    return f;
}

static void *get(heap *h, size_t size)
{
    front *f = heap_front(heap_thread_self(), h);
    return f ? front_alloc_aligned(f, size, GRANULE) : NULL;
}

static pool_status put(void *p)
{
    return heap_free(heap_thread_self(), p);
}

/* Two threads take turns: the other one does a step while the test waits. */
typedef struct turns {
    pthread_t thread;
    pthread_barrier_t begin, end;
    void *(*step)(void *arg);
    void *arg, *result;
} turns;

static void *turns_main(void *arg)
{
    turns *t = arg;
    for (;;) {
        pthread_barrier_wait(&t->begin);
        if (!t->step)
            return NULL;
        t->result = t->step(t->arg);
        pthread_barrier_wait(&t->end);
    }
}

static void turns_start(turns *t)
{
    pthread_barrier_init(&t->begin, NULL, 2);
    pthread_barrier_init(&t->end, NULL, 2);
    cr_assert_eq(pthread_create(&t->thread, NULL, turns_main, t), 0);
}

static void *there(turns *t, void *(*step)(void *), void *arg)
{
    t->step = step;
    t->arg = arg;
    pthread_barrier_wait(&t->begin);
    if (!step)
        return NULL;
    pthread_barrier_wait(&t->end);
    return t->result;
}

static void turns_end(turns *t)
{
    there(t, NULL, NULL);
    pthread_join(t->thread, NULL);
}

static void *free_step(void *p)
{
    return (void *)(uintptr_t)put(p);
}

static void *get_step(void *h)
{
    return get(h, SIZE);
}

static void *judge_step(void *p)
{
    return (void *)(uintptr_t)heap_judge(p);
}

Test(heap_stash, what_was_freed_last_is_served_first)
{
    void *p[3];
    for (int i = 0; i < 3; i++)
        p[i] = get(&root, SIZE);
    for (int i = 0; i < 3; i++)
        cr_assert_eq(put(p[i]), POOL_OK);
    for (int i = 3; i-- > 0;)
        cr_assert_eq(get(&root, SIZE), p[i]);
    cr_assert_eq(figures(&root).live_blocks, 3);
}

Test(heap_stash, misuse_of_what_is_at_hand_is_seen)
{
    char *p = get(&root, SIZE);
    cr_assert_eq(put(p), POOL_OK);
    cr_assert_eq(put(p), POOL_DOUBLE_FREE);
    cr_assert_eq(put(p + 16), POOL_INVALID);
    cr_assert_eq(heap_usable(p), 0);
    cr_assert_eq(figures(&root).live_blocks, 0);
    cr_assert(heap_check(&root, heap_thread_self()));
}

Test(heap_stash, a_block_with_something_at_hand_stays_until_it_is_given_up)
{
    static void *p[MANY];
    for (int i = 0; i < MANY; i++)
        p[i] = get(&root, SIZE);
    for (int i = 0; i < MANY; i++)
        cr_assert_eq(put(p[i]), POOL_OK);
    cr_assert(heap_check(&root, heap_thread_self()));
    for (int i = 0; i < MANY; i++)
        memset(p[i] = get(&root, SIZE), i, SIZE);
    for (int i = 0; i < MANY; i++) {
        cr_assert_eq(*(unsigned char *)p[i], (unsigned char)i, "two got the same fragment");
        cr_assert_eq(put(p[i]), POOL_OK);
    }
    heap_trim(heap_thread_self(), true);
    cr_assert_eq(figures(&root).committed_bytes, 0);
    cr_assert(heap_check(&root, heap_thread_self()));
}

Test(heap_stash, another_thread_serves_itself_with_what_it_freed_of_ours)
{
    turns t;
    turns_start(&t);
    void *p = get(&root, SIZE);
    cr_assert_eq(there(&t, free_step, p), (void *)POOL_OK);
    cr_assert_eq(there(&t, free_step, p), (void *)POOL_DOUBLE_FREE);
    cr_assert_eq(put(p), POOL_DOUBLE_FREE);
    cr_assert_eq(figures(&root).live_blocks, 0);
    cr_assert_eq(there(&t, get_step, &root), p);
    cr_assert_eq(figures(&root).live_blocks, 1);
    cr_assert_eq(block_of(p)->owner, heap_thread_self(), "the block stays whose it is");
    cr_assert_eq(put(p), POOL_OK, "its owner frees what the other got");
    cr_assert_eq(there(&t, judge_step, p), (void *)POOL_DOUBLE_FREE);
    turns_end(&t);
    heap_trim(heap_thread_self(), true);
    cr_assert_eq(figures(&root).committed_bytes, 0);
}

/* The other's entry is out of date then, even where the same fragment is free once more or another's. */
Test(heap_stash, the_owner_takes_back_what_another_has_at_hand)
{
    turns t;
    turns_start(&t);
    void *p = get(&root, SIZE);
    cr_assert_eq(there(&t, free_step, p), (void *)POOL_OK);
    heap_trim(heap_thread_self(), true);
    cr_assert_eq(figures(&root).committed_bytes, 0);
    void *again = get(&root, SIZE), *theirs = there(&t, get_step, &root);
    cr_assert_not_null(theirs);
    cr_assert_neq(theirs, again);
    cr_assert_eq(figures(&root).live_blocks, 2);
    there(&t, free_step, again);
    heap_trim(heap_thread_self(), true);
    void *large = get(&root, 20000), *elsewhere = get(&other, SIZE);
    theirs = there(&t, get_step, &root);
    cr_assert(theirs != large && theirs != elsewhere);
    cr_assert_eq(heap_of(theirs), &root);
    cr_assert_eq(put(large), POOL_OK);
    cr_assert_eq(put(elsewhere), POOL_OK);
    turns_end(&t);
}

/* What an entry leads to has become a block of another class, with a fragment pending that has the entry's
   number: the look after the bit was taken notices, and the owner hears of the bit. */
Test(heap_stash, an_entry_out_of_date_takes_nothing_from_another_class)
{
    turns t;
    turns_start(&t);
    void *p = get(&root, SIZE);
    cr_assert_eq(there(&t, free_step, p), (void *)POOL_OK);
    heap_trim(heap_thread_self(), true);
    void *large = get(&root, 20000);
    cr_assert_eq(block_of(large), block_of(p), "the test needs the same block");
    cr_assert_eq(there(&t, free_step, large), (void *)POOL_OK);
    void *theirs = there(&t, get_step, &root);
    cr_assert_neq(theirs, p);
    cr_assert_eq(figures(&root).live_blocks, 1);
    heap_trim(heap_thread_self(), true);
    cr_assert_eq(there(&t, free_step, theirs), (void *)POOL_OK);
    cr_assert_eq(figures(&root).live_blocks, 0);
    turns_end(&t);
}

static void *take_and_keep(void *arg)
{
    void **p = arg;
    for (int i = 0; i < MANY; i++)
        if (put(p[i]) != POOL_OK)
            return p[i];
    return NULL;
}

Test(heap_stash, a_thread_that_ends_leaves_nothing_at_hand)
{
    static void *p[MANY];
    for (int i = 0; i < MANY; i++)
        p[i] = get(&root, SIZE);
    turns t;
    turns_start(&t);
    cr_assert_eq(there(&t, take_and_keep, p), NULL);
    cr_assert_eq(figures(&root).live_blocks, 0);
    turns_end(&t);
    for (int i = 0; i < MANY; i++)
        cr_assert_eq(put(p[i]), POOL_DOUBLE_FREE);
    heap_trim(heap_thread_self(), true);
    cr_assert_eq(figures(&root).committed_bytes, 0);
    cr_assert(heap_check(&root, heap_thread_self()));
}

/* As if a handler had come in while an entry was on its way: it took the fragment and left the entry. */
Test(heap_stash, what_a_signal_handler_took_meanwhile_is_passed_over)
{
    void *p = get(&root, SIZE), *q = get(&root, SIZE);
    cr_assert_eq(put(q), POOL_OK);
    cr_assert_eq(put(p), POOL_OK);
    mark_live(block_of(p), p);
    cr_assert_eq(get(&root, SIZE), q, "the entry before it");
    cr_assert_neq(get(&root, SIZE), p);
    cr_assert_eq(figures(&root).live_blocks, 3);
}

/* The clock is looked at when a block is, also when that is looked at because something goes home to it: all
   that is empty goes then, but for the blocks of what is still on its way. Sizes of one to many a block, all
   that lives keeps its content. */
Test(heap_stash, a_trim_in_the_midst_of_a_spill_leaves_what_is_on_its_way)
{
    enum { SLOTS = 100, ROUNDS = 20000 };
    static unsigned char *held[SLOTS];
    uint64_t random = seeded_first("trim in a spill");
    world.decay_ns = 0; /* every look at the clock trims */
    for (unsigned round = 0; round < ROUNDS; round++) {
        size_t size = SMALL_MAX + 1 + seeded_below(&random, FRAGMENT_MAX - SMALL_MAX);
        unsigned first = seeded_below(&random, SLOTS), end = first + seeded_below(&random, SLOTS - first + 1);
        for (unsigned i = first; i < end; i++) {
            if (held[i]) {
                cr_assert(held[i][0] == i && held[i][SMALL_MAX] == i);
                cr_assert_eq(put(held[i]), POOL_OK);
            }
            held[i] = round % 2 ? NULL : get(&root, size);
            if (held[i])
                held[i][0] = held[i][SMALL_MAX] = (unsigned char)i;
        }
    }
    cr_assert(heap_check(&root, heap_thread_self()));
}
