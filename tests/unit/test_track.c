/* SPDX-License-Identifier: MIT */
/*
 * test_track.c - records of live blocks: the sums by call-site are those of a shadow list after any order of
 * calls, with and without memory for the records.
 */
#include "../../interpose/publish.h"
#include "../../interpose/track.h"
#include "os.h"
#include "seeded.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SLOTS = 60000, SITES = 5 };

static void setup(void)
{
    publish_create();
    cr_assert(track_boot());
}

TestSuite(track, .init = setup);

static void *address(unsigned slot)
{
    return (void *)((uintptr_t)0x7f1200000000 + slot * 16u);
}

static stats_live live(uint32_t site)
{
    return stats_lives(published)[site];
}

#define assert_live(site, b, n)                                                                              \
    do {                                                                                                     \
        cr_assert_eq(live(site).bytes, (b), "site %u: %ld bytes", (site), (long)live(site).bytes);           \
        cr_assert_eq(live(site).blocks, (n), "site %u: %ld blocks", (site), (long)live(site).blocks);        \
    } while (0)

Test(track, counts_by_site)
{
    track_alloc(address(1), 100, 3);
    track_alloc(address(2), 50, 3);
    track_alloc(address(3), 7, 4);
    assert_live(3, 150, 2);
    assert_live(4, 7, 1);
    track_free(address(1));
    assert_live(3, 50, 1);
    track_free(address(1));
    track_free(NULL);
    track_free(address(99));
    assert_live(3, 50, 1);
}

Test(track, taken_record_can_be_put_back)
{
    size_t size;
    uint32_t site;
    track_alloc(address(1), 100, 3);
    cr_assert(track_take(address(1), &size, &site));
    assert_live(3, 0, 0);
    cr_assert(size == 100 && site == 3);
    cr_assert_not(track_take(address(1), &size, &site));
    track_alloc(address(1), 100, 3);
    assert_live(3, 100, 1);
}

Test(track, address_used_again_without_a_free_counts_once)
{
    track_alloc(address(1), 100, 3);
    track_alloc(address(1), 40, 4);
    assert_live(3, 0, 0);
    assert_live(4, 40, 1);
}

Test(track, sites_beyond_the_table_are_ignored)
{
    track_alloc(address(1), 100, STATS_SITES + 5);
    track_free(address(1));
}

static size_t shadow_size[SLOTS];
static uint32_t shadow_site[SLOTS];

static void check_shadow(void)
{
    for (uint32_t site = 0; site < SITES; site++) {
        int64_t bytes = 0, blocks = 0;
        for (unsigned i = 0; i < SLOTS; i++)
            if (shadow_size[i] && shadow_site[i] == site) {
                bytes += (int64_t)shadow_size[i];
                blocks++;
            }
        assert_live(site, bytes, blocks);
    }
}

static void step(uint64_t *state)
{
    unsigned slot = seeded_below(state, SLOTS);
    if (shadow_size[slot]) {
        track_free(address(slot));
        shadow_size[slot] = 0;
        return;
    }
    shadow_size[slot] = 1 + seeded_below(state, 5000);
    shadow_site[slot] = seeded_below(state, SITES);
    track_alloc(address(slot), shadow_size[slot], shadow_site[slot]);
}

Test(track, any_order_of_calls_as_the_shadow)
{
    uint64_t state = seeded_first("track shadow");
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < 40000; i++)
            step(&state);
        check_shadow();
    }
    cr_assert_eq(published->track_lost, 0);
}

static bool no_memory(void)
{
    return false;
}

Test(track, out_of_memory_loses_records_but_no_sums)
{
    os_fault_hook = no_memory;
    for (unsigned i = 0; i < SLOTS * 2; i++)
        track_alloc(address(i), 10, 1);
    os_fault_hook = NULL;
    cr_assert_gt(published->track_lost, 0);
    assert_live(1, 10 * (int64_t)(SLOTS * 2 - published->track_lost),
                (int64_t)(SLOTS * 2 - published->track_lost));
    for (unsigned i = 0; i < SLOTS * 2; i++)
        track_free(address(i));
    assert_live(1, 0, 0);
}

static void *churn(void *arg)
{
    unsigned base = (unsigned)(uintptr_t)arg * 1000;
    for (int round = 0; round < 50; round++) {
        for (unsigned i = 0; i < 1000; i++)
            track_alloc(address(base + i), 8, 2);
        for (unsigned i = 0; i < 1000; i++)
            track_free(address(base + i));
    }
    track_alloc(address(base), 8, 2);
    return NULL;
}

Test(track, threads)
{
    pthread_t t[4];
    for (uintptr_t i = 0; i < 4; i++)
        pthread_create(&t[i], NULL, churn, (void *)(i + 1));
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    assert_live(2, 32, 4);
}

static void take(lock *l)
{
    lock_take(l);
}

Test(track, fork_leaves_no_shard_locked)
{
    int status;
    track_fork_locks(take);
    pid_t pid = fork();
    if (pid == 0)
        track_fork_child();
    track_fork_locks(lock_drop);
    track_alloc(address(1), 8, 1);
    if (pid == 0)
        _exit(0);
    waitpid(pid, &status, 0);
    cr_assert_eq(status, 0);
}
