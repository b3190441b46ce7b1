/* SPDX-License-Identifier: MIT */
/* test_engine_threads.c - what poolmem.h promises to threads: arenas, hunks and handle tables shared by four
 * of them. */
#define POOLMEM_LINKED 1
#include "arena.h"
#include "hunk.h"
#include "poolmem.h"

#include <criterion/criterion.h>
#include <pthread.h>

enum { THREADS = 4, ROUNDS = 200 };

static void in_threads(void *(*run)(void *), void *arg)
{
    pthread_t t[THREADS];
    for (int i = 0; i < THREADS; i++)
        cr_assert(pthread_create(&t[i], NULL, run, arg) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
}

static void *fill_arena(void *pool_of_all)
{
    for (int i = 0; i < ROUNDS; i++) {
        *(int *)pool_get(pool_of_all, 16, 16) = i;
        *(int *)poolmem_arena_alloc(pool_of_all, 16) = i;
        poolmem_arena_used(pool_of_all);
    }
    return NULL;
}

Test(engine_threads, an_arena_is_shared)
{
    arena a = {0};
    cr_assert(arena_init(&a, THREADS * ROUNDS * 32, NULL));
    a.pool.flags |= POOL_SHARED;
    in_threads(fill_arena, &a.pool);
    cr_assert(a.blocks == THREADS * ROUNDS * 2);
    cr_assert(pool_check(&a.pool));
    arena_free(&a);
}

static void *fill_hunk(void *pool_of_all)
{
    for (int i = 0; i < ROUNDS; i++) {
        int *block = poolmem_hunk_alloc(pool_of_all, i & 1 ? POOLMEM_LOW : POOLMEM_HIGH, 100, "thread");
        *block = i;
        poolmem_hunk_mark(pool_of_all, POOLMEM_LOW);
    }
    return NULL;
}

Test(engine_threads, a_hunk_is_shared)
{
    hunk h = {0};
    cr_assert(hunk_init(&h, NULL) == POOL_OK);
    h.pool.flags |= POOL_SHARED;
    in_threads(fill_hunk, &h.pool);
    cr_assert(h.end[0].blocks + h.end[1].blocks == THREADS * ROUNDS);
    cr_assert(pool_check(&h.pool));
    hunk_free(&h);
}

static void *use_handles(void *table)
{
    poolmem_handle h;
    void *p;
    for (int i = 0; i < ROUNDS; i++) {
        cr_assert(poolmem_handle_alloc(table, 32, 1, 0, &h) == POOLMEM_OK);
        cr_assert(poolmem_handle_lock(table, h) == POOLMEM_OK); /* before anybody may purge it */
        cr_assert(poolmem_handle_use(table, h, POOLMEM_HANDLE_PURGEABLE) == POOLMEM_OK);
        cr_assert(poolmem_handle_edit(table, h, &p) == POOLMEM_OK);
        *(int *)p = i;
        poolmem_handles_compact(table, 100); /* of the others' unlocked ones */
        cr_assert(*(int *)p == i);
        cr_assert(poolmem_handle_unlock(table, h) == POOLMEM_OK);
        if (i % 3)
            cr_assert(poolmem_handle_free(table, h) == POOLMEM_OK);
    }
    return NULL;
}

static void count_event(void *arg, poolmem_handle h, int purged)
{
    uint32_t flags;
    poolmem_handle_flags(((poolmem_handles **)arg)[0], h, &flags); /* calls back under the lock it holds */
}

Test(engine_threads, a_handle_table_is_shared)
{
    size_t n;
    poolmem_handles *table = poolmem_handles_create(NULL, 0, 1);
    poolmem_handles_set_hook(table, count_event, &table);
    in_threads(use_handles, table);
    cr_assert(poolmem_handles_check(table) == POOLMEM_OK);
    cr_assert(poolmem_handle_free_id(table, 1, &n) == POOLMEM_OK);
    cr_assert(n == THREADS * ((ROUNDS + 2) / 3));
    poolmem_handles_destroy(table);
}
