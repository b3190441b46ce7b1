/* SPDX-License-Identifier: MIT */
/*
 * fork.c - see fork.h. Locks are taken outermost first (lock.h) and dropped the other way round; a lock that
 * this very thread holds already (a handler that forks has interrupted it) is left as it is on both sides.
 * Threads other than the forking one do not exist in the child: their blocks may be in the middle of a step,
 * so nobody allocates from those; frees into them only set bits.
 */
#include "fork.h"
#include "caller.h"
#include "pools.h"
#include "publish.h"
#include "request.h"
#include "thread.h"
#include "track.h"

#include <pthread.h>

static void prepare(void)
{
    self->busy++;
    caller_fork_prepare();
    track_fork_prepare();
    pools_fork_prepare();
    publish_fork_prepare();
    heap_fork_prepare();
}

static void finish(bool child)
{
    heap_fork_done(child, &self->heap);
    if (child)
        publish_fork_child();
    else
        publish_fork_parent();
    pools_fork_done();
    track_fork_done();
    if (child)
        request_fork_child();
    if (child)
        caller_fork_child();
    else
        caller_fork_parent();
    self->busy--;
}

static void parent(void)
{
    finish(false);
}

static void child(void)
{
    finish(true);
}

void fork_boot(void)
{
    pthread_atfork(prepare, parent, child);
}
