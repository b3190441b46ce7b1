/* SPDX-License-Identifier: MIT */
/*
 * fork.c - see fork.h. A fork takes every lock, outermost first, and drops what it took on both sides;
 * signals are held back between, so that a thread is in one fork at a time.
 *
 * A handler that forks may have interrupted a section of ours, so that its thread comes with a lock from the
 * middle of the order. Whoever holds a later one waits for none of ours, so that is waited for. Whoever holds
 * an earlier one may be waiting for ours: it is waited for only so long, and then the fork goes without. A
 * child that came without a lock cannot trust what is behind it and leaves that out of use: blocks of a zone,
 * a pool of fixed size, look-ups of addresses, shards of the tracker.
 *
 * Threads other than the forking one do not exist in the child: their blocks may be in the middle of a step,
 * so nobody allocates from those; frees into them only set bits.
 */
#include "fork.h"
#include "caller.h"
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
    HELD_MAX = 8,       /* a section of ours holds one or two */
    PATIENCE = 20000000 /* ns a fork may wait for locks whose holders may be waiting for it */
};

typedef struct forking {
    raw_mask mask;
    const lock *held[HELD_MAX]; /* before the fork, in the order of taking */
    unsigned held_count, passed;
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

static bool patient(void)
{
    uint64_t time = os_time_ns();
    if (!now.deadline)
        now.deadline = time + PATIENCE;
    os_yield();
    return time < now.deadline;
}

static void take(lock *l)
{
    if (lock_is_mine(l))
        now.passed++;
    else if (now.passed == now.held_count)
        lock_take(l);
    else
        while (!lock_try(l) && patient())
            continue;
}

static void drop(lock *l)
{
    if (lock_is_mine(l) && !was_held(l))
        lock_drop(l);
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
    visit_all(take);
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
    if (now.without)
        message(MESSAGE_WARNING, "fork in a signal handler: the child goes without what %u locks guard",
                now.without);
    self->busy--;
    raw_mask_set(now.mask);
}

void fork_boot(void)
{
    pthread_atfork(prepare, parent, child);
}
