/* SPDX-License-Identifier: MIT */
/*
 * fork.c - see fork.h. A fork takes every lock, outermost first, and drops what it took on both sides;
 * signals are held back between, so that a thread is in one fork at a time.
 *
 * A handler that forks may have interrupted a section of ours, so that its thread comes with a lock from the
 * middle of the order, which it cannot drop. So no fork waits while it has locks that it took itself: one
 * that misses a lock drops them, waits for that lock alone and begins again. Two handlers in different
 * sections may still miss each other's: who comes with a lock waits only so long, and then the fork goes
 * without. A child that came without a lock cannot trust what is behind it and leaves that out of use: blocks
 * of a zone, a pool of fixed size, look-ups of addresses, shards of the tracker.
 *
 * Threads other than the forking one do not exist in the child: their blocks may be in the middle of a step,
 * so nobody allocates from those; frees into them only set bits.
 */
#include "fork.h"
#include "caller.h"
#include "exit.h"
#include "message.h"
#include "os.h"
#include "pools.h"
#include "publish.h"
#include "raw.h"
#include "request.h"
#include "thread.h"
#include "track.h"

#include <pthread.h>

enum {
    HELD_MAX = 8,        /* a section of ours holds one or two */
    ROUNDS = 50,         /* beginnings; then a fork that came without a lock waits for each in their order */
    SPINS = 200,         /* tries before a lock counts as missed */
    PATIENCE = 20000000, /* ns a fork that came with a lock waits for all that it misses */
};

typedef struct forking {
    raw_mask mask;
    const lock *held[HELD_MAX]; /* before the fork */
    unsigned held_count;
    lock *missed;      /* of this round, NULL none */
    uint64_t deadline; /* 0: not asked for the time yet */
    uint32_t without;
} forking;

static __thread forking now __attribute__((tls_model("initial-exec")));

static void visit_all(lock_visit *visit)
{
    caller_fork_locks(visit);
    track_fork_locks(visit);
    pools_fork_locks(visit);
    heap_fork_locks(visit);
}

static void note_held(lock *l)
{
    if (lock_is_mine(l) && now.held_count < HELD_MAX)
        now.held[now.held_count++] = l;
}

static bool was_held(const lock *l)
{
    for (unsigned i = 0; i < now.held_count; i++)
        if (now.held[i] == l)
            return true;
    return false;
}

static void drop(lock *l)
{
    if (lock_is_mine(l) && !was_held(l))
        lock_drop(l);
}

static bool try_a_while(lock *l)
{
    for (int i = 0; i < SPINS; i++) {
        if (lock_try(l))
            return true;
        __builtin_ia32_pause();
    }
    return false;
}

static void take_or_miss(lock *l)
{
    if (!now.missed && !lock_is_mine(l) && !try_a_while(l))
        now.missed = l;
}

static void take_waiting(lock *l)
{
    if (!lock_is_mine(l))
        lock_take(l);
}

static void take_if_free(lock *l)
{
    if (!lock_is_mine(l))
        lock_try(l);
}

static bool take_all(void)
{
    now.missed = NULL;
    visit_all(take_or_miss);
    if (now.missed)
        visit_all(drop);
    return !now.missed;
}

static bool patient(void)
{
    uint64_t time = os_time_ns();
    if (!now.deadline)
        now.deadline = time + PATIENCE;
    os_yield();
    return time < now.deadline;
}

/* Whoever has the lock may be waiting for those that we came with. */
static bool wait_patiently(lock *l)
{
    bool taken;
    while (!(taken = lock_try(l)) && patient())
        continue;
    if (taken)
        lock_drop(l);
    return taken;
}

static void take_as_holder(void)
{
    while (!take_all())
        if (!wait_patiently(now.missed)) {
            visit_all(take_if_free);
            return;
        }
}

static void take_as_any(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        if (take_all())
            return;
        lock_take(now.missed);
        lock_drop(now.missed);
    }
    visit_all(take_waiting);
}

static void drop_as_child(lock *l)
{
    if (!lock_is_mine(l)) {
        now.without++;
        lock_reset(l);
    } else if (!was_held(l)) {
        lock_drop(l);
    }
}

static void prepare(void)
{
    raw_mask mask = raw_mask_set(~(raw_mask)0);
    now = (forking){.mask = mask};
    self->busy++;
    visit_all(note_held);
    if (now.held_count)
        take_as_holder();
    else
        take_as_any();
    publish_fork_prepare();
}

static void parent(void)
{
    publish_fork_parent();
    visit_all(drop);
    self->busy--;
    raw_mask_set(now.mask);
}

static void child(void)
{
    caller_fork_child();
    track_fork_child();
    pools_fork_child();
    heap_fork_child(&self->heap);
    publish_fork_child();
    visit_all(drop_as_child);
    request_fork_child();
    exit_fork_child();
    if (now.without)
        message(MESSAGE_WARNING, "fork in a signal handler: the child goes without what %u locks guard",
                now.without);
    self->busy--;
    raw_mask_set(now.mask);
}

/* What pthread_atfork calls; that one is linked in behind all else, and would have its pages brought in. */
int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void *handle);
extern void *__dso_handle HIDDEN;

void fork_boot(void)
{
    __register_atfork(prepare, parent, child, &__dso_handle);
}
