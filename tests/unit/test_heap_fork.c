/* SPDX-License-Identifier: MIT */
/*
 * test_heap_fork.c - what a signal handler finds that interrupted a section of the heap, and what a child of
 * fork makes of a zone or a pool that it could not lock.
 */
#include "clump.h"
#include "heap.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <string.h>

static heap root;

static void set_up(void)
{
    cr_assert(world_boot());
    cr_assert(heap_create(&root, 0, "Root", NULL, 0, OVER_WARN));
}

TestSuite(heap_fork, .init = set_up);

static char *get(size_t size)
{
    front *f = heap_front(heap_thread_self(), &root);
    char *p = f ? front_alloc_aligned(f, size, 16) : NULL;
    cr_assert_not_null(p);
    cr_assert(!p[0] || size < 1000, "taken apart, a run is fresh");
    memset(p, 1, size);
    return p;
}

static void put(void *p)
{
    cr_assert_eq(heap_free_cold(heap_thread_self(), p), POOL_OK);
}

Test(heap_fork, inside_the_zone_blocks_come_from_its_far_end)
{
    char *before = get(100000);
    uint32_t count = root.zone->count, high = root.zone->high;
    lock_take(&root.zone->lock);
    char *run = get(200000), *small = get(900);
    run = heap_resize(heap_thread_self(), run, 300000);
    cr_assert_not_null(run);
    put(run);
    put(before);
    lock_drop(&root.zone->lock);
    cr_assert_lt(root.zone->count, count);
    cr_assert_eq(root.zone->high, high);
    put(small);
    put(get(100000));
    cr_assert(heap_check(&root, NULL));
}

Test(heap_fork, an_abandoned_zone_gives_what_was_never_used)
{
    char *kept = get(100000), *freed = get(100000);
    uint32_t committed = root.zone->committed;
    put(freed);
    zone_abandon(root.zone);
    char *p = get(100000);
    cr_assert_geq(block_number(block_of(p)), root.zone->first + committed);
    put(kept);
    put(p);
    cr_assert(heap_check(&root, NULL));
}

static void *abandon(void *unused)
{
    lock_take(&root.zone->lock);
    heap_fork_child(NULL);
    lock_drop(&root.zone->lock);
    return unused;
}

Test(heap_fork, a_locked_zone_is_not_abandoned)
{
    put(get(100000));
    uint32_t high = root.zone->high;
    pthread_t t;
    cr_assert_eq(pthread_create(&t, NULL, abandon, NULL), 0);
    pthread_join(t, NULL);
    cr_assert_eq(root.zone->high, high);
}

Test(heap_fork, a_pool_interrupted_or_lost_refuses_and_keeps)
{
    static clump c;
    cr_assert_eq(clump_init_in_parent(&c, &root.pool, 100000, "clump"), POOL_OK);
    pool *p = &c.base;
    void *block = pool_get(p, 100, 16), *out;
    p->flags |= POOL_SHARED;
    for (int lost = 0; lost < 2; lost++) {
        if (lost)
            p->flags |= POOL_LOST;
        else
            lock_take(&p->lock);
        cr_assert_eq(pool_alloc(p, &(pool_request){.size = 10}, &out), POOL_BUSY);
        cr_assert_eq(pool_resize(p, block, &(pool_request){.size = 10}, &out), POOL_BUSY);
        cr_assert_eq(pool_free(p, block), POOL_OK);
        if (!lost)
            lock_drop(&p->lock);
    }
    cr_assert_eq(p->counts.failed, 2);
    cr_assert_eq(p->counts.frees, 0);
}
