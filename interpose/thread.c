/* SPDX-License-Identifier: MIT */
/*
 * thread.c - see thread.h: a thread's struct from its first miss to its end, and its tallies.
 *
 * The end is seen by a pthread key's destructor. Other keys' destructors may still allocate after it, so it
 * sets its key again until the last round allowed; what comes later (the C library's own thread exit) frees
 * as a stranger does, through pending bits, and allocates from a struct adopted for the moment.
 *
 * Locking: none of its own. Cost: a thread's first call maps about 10 KiB; site -> tally is one probe.
 */
#include "thread.h"
#include "boot.h"
#include "caller.h"
#include "meta.h"
#include "os.h"
#include "pool_stack.h"
#include "pools.h"
#include "publish.h"

#include <limits.h>
#include <pthread.h>
#include <string.h>

struct tally_map {
    uint32_t mask, used;
    stats_tally *slots[];
};

static pthread_key_t end_key;
static bool have_key;
static uint32_t ids; /* atomic */

/* What serves when there is no memory for anything: a pool that refuses. */
static pool_status refuse(pool *p, const pool_request *r, void **out, size_t *size)
{
    return POOL_NOMEM;
}
static const pool_ops nothing_ops = {.alloc = refuse};
static pool nothing = {.ops = &nothing_ops, .name = "nothing", .kind = POOL_CLUMP};
static stats_tally lost_tally;
static front nothing_front = {.small = {[0 ... SMALL_MAX / GRANULE] = &no_block},
                              .bin = {[0 ... CLASS_COUNT - 1] = &no_block},
                              .owner = &cold_thread.heap,
                              .locked = &nothing};

static const tag emergency = {&nothing_front, &lost_tally};
thread cold_thread = {.memo = memo_dead,
                      .call_key = MEMO_UNUSABLE,
                      .base = {[0 ... POOLS_MAX - 1] = {&nothing_front, &lost_tally}}};
__thread thread *self __attribute__((tls_model("initial-exec"))) = &cold_thread;

const tag *thread_emergency_tag(void)
{
    return &emergency;
}

/* --- tallies -------------------------------------------------------------------------------------- */

#define TALLIES_FIRST 64u

static struct tally_map *make_map(uint32_t slots)
{
    struct tally_map *m = slots == TALLIES_FIRST ? meta_alloc(sizeof *m + slots * sizeof *m->slots)
                                                 : os_map(sizeof *m + slots * sizeof *m->slots);
    if (m)
        m->mask = slots - 1;
    return m;
}

static stats_tally **map_slot(struct tally_map *m, uint32_t site)
{
    uint32_t at = site * 0x9e3779b1u >> 7 & m->mask;
    while (m->slots[at] && m->slots[at]->site != site)
        at = (at + 1) & m->mask;
    return &m->slots[at];
}

static bool grow_map(thread *t)
{
    struct tally_map *old = t->tallies, *m = make_map(old ? (old->mask + 1) * 2 : TALLIES_FIRST);
    if (!m)
        return false;
    for (uint32_t i = 0; old && i <= old->mask; i++)
        if (old->slots[i])
            *map_slot(m, old->slots[i]->site) = old->slots[i];
    m->used = old ? old->used : 0;
    t->tallies = m;
    if (old && old->mask + 1 > TALLIES_FIRST)
        os_unmap(old, sizeof *old + (old->mask + 1) * sizeof *old->slots);
    return true;
}

static stats_tally *tally_for(thread *t, uint32_t site)
{
    struct tally_map *m = t->tallies;
    if ((!m || m->used * 4 > m->mask * 3) && !grow_map(t))
        return NULL;
    m = t->tallies;
    stats_tally **slot = map_slot(m, site);
    if (!*slot && (*slot = publish_tally(&t->stock, site)))
        m->used++;
    return *slot;
}

/* --- tags ----------------------------------------------------------------------------------------- */

/* False: this is a signal handler that came in while its thread was making a tag. One that was left by a
   longjmp lies further in on the same stack. */
static bool tag_begin(thread *t, uintptr_t frame)
{
    uintptr_t other = t->tagging;
    if (unlikely(other != 0) && !(other < frame && thread_on_stack(t, other) && thread_on_stack(t, frame)))
        return false;
    t->tagging = frame;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return true;
}

static void tag_end(thread *t)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    t->tagging = 0;
}

static const tag *base_made(const thread *t, uint32_t pool)
{
    return t->base[pool].front ? &t->base[pool] : NULL;
}

static const tag *make_base(thread *t, uint32_t pool)
{
    tag fresh = {pools_front(t, pool), tally_for(t, pool)};
    if (!fresh.front && pool == STATS_POOL_SYSTEM)
        return &emergency;
    if (!fresh.front)
        return base_made(t, STATS_POOL_SYSTEM) ? &t->base[STATS_POOL_SYSTEM]
                                               : make_base(t, STATS_POOL_SYSTEM);
    if (!fresh.tally)
        fresh.tally = &lost_tally;
    t->base[pool] = fresh;
    return &t->base[pool];
}

const tag *thread_base(thread *t, uint32_t pool)
{
    const tag *g = base_made(t, pool);
    if (likely(g != NULL))
        return g;
    if (!tag_begin(t, (uintptr_t)__builtin_frame_address(0))) {
        g = base_made(t, STATS_POOL_SYSTEM);
        t->untallied = (tag){pools_front(t, STATS_POOL_SYSTEM), &lost_tally};
        return g ? g : t->untallied.front ? &t->untallied : &emergency;
    }
    g = make_base(t, pool);
    tag_end(t);
    return g;
}

tag thread_tag(thread *t, uint32_t pool, uint32_t site)
{
    tag g = *thread_base(t, pool);
    if (site < STATS_POOLS || !tag_begin(t, (uintptr_t)__builtin_frame_address(0)))
        return g;
    stats_tally *tally = tally_for(t, site);
    tag_end(t);
    if (tally)
        g.tally = tally;
    return g;
}

/* --- start and end -------------------------------------------------------------------------------- */

thread *thread_first(void)
{
    return (thread *)heap_thread_first();
}

thread *thread_next(thread *t)
{
    return (thread *)t->heap.next;
}

static thread *adopt(void)
{
    thread *t = (thread *)heap_thread_adopt(sizeof(thread));
    if (!t)
        return NULL;
    if (!t->id) {
        t->id = __atomic_add_fetch(&ids, 1, __ATOMIC_RELAXED);
        caller_thread_start(t);
    }
    t->stack_lo = t->stack_hi = 0;
    caller_set_top(t, STATS_POOL_GLOBAL);
    t->busy = boot_now == BOOT_LIVE || boot_now == BOOT_EXIT ? 0 : 1;
    return t;
}

/* Rounds of key destructors left, counted in the key's value. */
static void arm(uintptr_t rounds)
{
    self->busy++; /* libc may allocate the table of keys */
    pthread_setspecific(end_key, (void *)rounds);
    self->busy--;
}

thread *thread_start(void)
{
    if (boot_now == BOOT_COLD && !boot_first())
        return &cold_thread;
    thread *t = adopt();
    if (!t)
        return &cold_thread;
    self = t;
    heap_thread_set_self(&t->heap);
    if (have_key)
        arm(1);
    return t;
}

static void park(void)
{
    thread *t = self;
    if (t == &cold_thread)
        return;
    self = &cold_thread;
    heap_thread_set_self(NULL);
    if (t->stack_pools)
        ((pool_stack *)t->stack_pools)->depth = 0;
    heap_thread_park(&t->heap);
}

static void end_round(void *value)
{
    uintptr_t rounds = (uintptr_t)value;
    if (rounds < PTHREAD_DESTRUCTOR_ITERATIONS)
        arm(rounds + 1);
    else
        park();
}

void thread_boot(void)
{
    have_key = pthread_key_create(&end_key, end_round) == 0;
    for (thread *t = thread_first(); t; t = thread_next(t))
        t->busy = 0;
    if (have_key && self != &cold_thread)
        arm(1);
}
