/* SPDX-License-Identifier: MIT */
/*
 * boot.c - see boot.h: from the first call to the last.
 *
 * The loader allocates through us before any constructor has run, when there is no environment yet: such
 * calls only get boot_first, which uses system calls alone. The constructor then reads the configuration and
 * opens for business. Nothing here may need malloc to succeed.
 * Locking: boot_first may be reached by several threads at once; one does the work, the others wait.
 */
#include "boot.h"
#include "alloc_entry.h"
#include "aside.h"
#include "caller.h"
#include "children.h"
#include "config.h"
#include "exit.h"
#include "fatal.h"
#include "fork.h"
#include "message.h"
#include "misuse.h"
#include "os.h"
#include "pools.h"
#include "publish.h"
#include "raw.h"
#include "request.h"
#include "signal.h"
#include "thread.h"
#include "track.h"
#include "verify.h"

#include <stdlib.h>
#include <string.h>

boot_phase boot_now = BOOT_COLD;
static lock boot_lock = LOCK_INIT(RANK_NONE);

static bool first_locked(void)
{
    if (boot_now != BOOT_COLD)
        return true;
    publish_create();
    if (!world_boot() || !pools_boot())
        return false;
    published->world = (uint64_t)(uintptr_t)&world;
    caller_boot();
    __atomic_store_n(&boot_now, BOOT_BOOT, __ATOMIC_RELEASE);
    return true;
}

bool boot_first(void)
{
    if (lock_is_mine(&boot_lock))
        return false;
    lock_take(&boot_lock);
    bool up = first_locked();
    lock_drop(&boot_lock);
    return up;
}

static void start_tracking(void)
{
    if (!config_now.track || !track_boot()) {
        config_now.track = false;
        return;
    }
    malloc_fast_end = 0; /* every call goes the slow way, where it is recorded */
    world.fast_granules = 0;
}

static void configure(void)
{
    const char *other = aside_other(); /* first: it allocates, which what config_load asks for may forbid */
    raw_stderr_boot();
    config_load();
    message_boot(config_now.verbose);
    if (!config_now.children)
        children_apply();
    misuse_boot();
    fork_boot();
    if (other) {
        message(MESSAGE_WARNING, "%s brings a malloc of its own: standing down", other);
        aside_stand();
        config_now.exit_report = false;
        return;
    }
    verify_boot();
    start_tracking();
    if (config_now.exit_report && strcmp(config_now.stats, "stderr") == 0)
        raw_stderr_keep();
    request_boot(config_now.stats, config_now.signal);
    signal_boot(config_now.signal);
    if (config_now.exit_report)
        at_quick_exit(exit_report); /* registered first: runs after the program's own */
}

__attribute__((constructor(101))) static void go_live(void)
{
    if (!boot_first())
        return;
    thread *t = self == &cold_thread ? thread_start() : self;
    t->busy++;
    configure();
    t->busy--;
    __atomic_store_n(&boot_now, BOOT_LIVE, __ATOMIC_RELEASE);
    thread_boot();
}

__attribute__((destructor(101))) static void go_exit(void)
{
    if (boot_now != BOOT_LIVE)
        return;
    boot_now = BOOT_EXIT;
    config_say_unmatched();
    if (config_now.exit_report)
        request_report(REASON_EXIT);
}
