/* SPDX-License-Identifier: MIT */
/*
 * misuse.c - see misuse.h. One line a finding, at most LINES_MAX in a process's life (the count goes on); a
 * foreign pointer is said once. The line goes out whatever the verbosity: the program is about to go wrong.
 * Locking: none. Cost: an unwind and a few symbol look-ups.
 */
#include "misuse.h"
#include "arena.h"
#include "config.h"
#include "fatal.h"
#include "fmt.h"
#include "heap.h"
#include "hunk.h"
#include "pools.h"
#include "publish.h"
#include "request.h"

#include <errno.h>
#include <stdlib.h>

#define LINES_MAX 100u

static uint32_t lines; /* atomic */

static const char *word_for(pool_status what)
{
    switch (what) {
    case POOL_DOUBLE_FREE:
        return "double free";
    case POOL_FOREIGN:
        return "foreign pointer";
    default:
        return "invalid pointer";
    }
}

static bool to_be_said(pool_status what)
{
    if (what == POOL_FOREIGN)
        return __atomic_fetch_add(&published->foreign_frees, 1, __ATOMIC_RELAXED) == 0;
    __atomic_fetch_add(&published->misuse, 1, __ATOMIC_RELAXED);
    return __atomic_fetch_add(&lines, 1, __ATOMIC_RELAXED) < LINES_MAX;
}

void misuse_report(const char *call, const void *p, pool_status what, caller_frame f)
{
    int saved = errno;
    if (to_be_said(what) || config_now.abort_on_misuse) {
        char where[256];
        const pool *owner = what == POOL_FOREIGN ? NULL : pools_of(p);
        caller_describe(self, f, where, sizeof where);
        message(MESSAGE_MISUSE, "%s: %s(%p), pool %s, called from %s", word_for(what), call, p,
                owner ? owner->name : "none", where);
    }
    if (config_now.abort_on_misuse)
        abort();
    errno = saved;
}

/* Bounds of this library's code, from the linker. */
extern const char __ehdr_start[] HIDDEN, _end[] HIDDEN;

static bool is_ours(uintptr_t pc)
{
    return pc >= (uintptr_t)__ehdr_start && pc < (uintptr_t)_end;
}

/* Who called into the library, for what is found out deep inside it: the first frame that is not ours. */
static void describe_host(caller_frame inside, char *out, size_t cap)
{
    uintptr_t pcs[32];
    unsigned n = caller_walk(self, inside, pcs, 32), i = 0;
    while (i < n && is_ours(pcs[i]))
        i++;
    inside.ret = i < n ? pcs[i] : inside.ret;
    caller_describe(self, inside, out, cap);
}

static void on_overwritten(heap *h, void *fragment)
{
    __atomic_fetch_add(&published->misuse, 1, __ATOMIC_RELAXED);
    if (__atomic_fetch_add(&lines, 1, __ATOMIC_RELAXED) < LINES_MAX)
        message(MESSAGE_MISUSE, "use after free: memory at %p was written after it had been freed, pool %s",
                fragment, h->pool.name);
    if (config_now.abort_on_misuse)
        abort();
}

/* Who wants a report at the end gets one at this end too. */
static void report_end(void)
{
    if (config_now.exit_report)
        request_report(REASON_LIMIT);
}

static void on_over(heap *h, size_t size)
{
    char where[256];
    describe_host(CALLER_HERE(), where, sizeof where);
    if (h->pool.over == OVER_ABORT) {
        report_end();
        fatal("pool %s is over its limit of %lu bytes: %lu taken, %zu more asked for by %s", h->pool.name,
              h->pool.limit, h->taken - size, size, where);
    }
    message(MESSAGE_WARNING, "pool %s is over its limit of %lu bytes: %zu more asked for by %s", h->pool.name,
            h->pool.limit, size, where);
}

/* Bytes there are for such requests: of a hunk, its low end. */
static size_t room_of(const pool *p)
{
    if (p->kind == POOL_HUNK)
        return ((const hunk *)p)->end[HUNK_SIDE_LOW].reserve;
    return p->kind == POOL_ARENA ? arena_size((const arena *)p) : p->limit;
}

static void on_full(pool *p, size_t size)
{
    char where[256];
    size_t room = room_of(p);
    describe_host(CALLER_HERE(), where, sizeof where);
    if (p->over == OVER_ABORT) {
        report_end();
        fatal("pool %s of %zu bytes cannot hold %zu more, asked for by %s", p->name, room, size, where);
    }
    message(MESSAGE_WARNING, "pool %s of %zu bytes cannot hold %zu more, called from %s", p->name, room, size,
            where);
}

void misuse_boot(void)
{
    heap_full_hook = on_full;
    heap_overwritten_hook = on_overwritten;
    heap_over_hook = on_over;
}
