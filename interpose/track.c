/* SPDX-License-Identifier: MIT */
/*
 * track.c - see track.h: a hash table address -> (site, size), in shards, each with a lock and open
 * addressing in mapped memory that doubles; and the sums by call-site, kept in the published mapping
 * (stats_live), so that a report reads them without any lock.
 *
 * Invariants: (1) a cell's address is 0 when empty; there are no tombstones, removal shifts what follows
 * back; (2) a shard is at most 3/4 full; when it cannot grow, new blocks are lost (counted) and old ones stay
 * right; (3) the sums change under no lock, by atomic adds, together with the cell. Locking: one shard at a
 * time; rank none, they are innermost. A thread that comes back in from a signal handler while it holds a
 * shard is turned away (the record is lost, not the process). Cost: about 100 ns a call, 24 bytes a live
 * block.
 */
#include "track.h"
#include "lock.h"
#include "os.h"
#include "publish.h"

#define SHARDS      64
#define FIRST_CELLS 1024

typedef struct track_cell {
    uintptr_t address; /* 0 empty */
    size_t size;       /* usable bytes */
    uint32_t site, reserved;
} track_cell;

typedef struct track_shard {
    lock lock;
    bool lost; /* left half changed by a thread that a fork has not brought along */
    track_cell *cells;
    size_t mask; /* cells - 1 */
    size_t used;
} __attribute__((aligned(64))) track_shard;

ROOMY static track_shard shards[SHARDS];
static __thread bool inside __attribute__((tls_model("initial-exec")));

static uint64_t mix(uintptr_t address)
{
    uint64_t h = (uint64_t)address * 0x9e3779b97f4a7c15u;
    return h ^ h >> 32;
}

static track_shard *shard_of(uint64_t hash)
{
    return &shards[hash % SHARDS];
}

static size_t home_of(const track_shard *s, uintptr_t address)
{
    return (size_t)(mix(address) / SHARDS) & s->mask;
}

bool track_boot(void)
{
    for (int i = 0; i < SHARDS; i++) {
        shards[i].cells = os_map(FIRST_CELLS * sizeof(track_cell));
        shards[i].mask = FIRST_CELLS - 1;
        if (!shards[i].cells)
            return false;
    }
    published->track = 1;
    return true;
}

static void account(uint32_t site, int64_t bytes, int64_t blocks)
{
    stats_live *live = &stats_lives(published)[site];
    __atomic_fetch_add(&live->bytes, bytes, __ATOMIC_RELAXED);
    __atomic_fetch_add(&live->blocks, blocks, __ATOMIC_RELAXED);
}

static size_t find(const track_shard *s, uintptr_t address)
{
    size_t at = home_of(s, address);
    while (s->cells[at].address && s->cells[at].address != address)
        at = (at + 1) & s->mask;
    return at;
}

static bool grow(track_shard *s)
{
    track_shard old = *s;
    size_t count = (old.mask + 1) * 2;
    track_cell *cells = os_map(count * sizeof *cells);
    if (!cells)
        return false;
    s->cells = cells;
    s->mask = count - 1;
    for (size_t i = 0; i <= old.mask; i++)
        if (old.cells[i].address)
            s->cells[find(s, old.cells[i].address)] = old.cells[i];
    os_unmap(old.cells, (old.mask + 1) * sizeof *old.cells);
    return true;
}

static bool has_room(track_shard *s)
{
    return s->used < (s->mask + 1) / 4 * 3 || grow(s);
}

/* False when another record of this thread is half done or there is no room. */
static bool insert(track_shard *s, const track_cell *c)
{
    bool done = false;
    if (inside || s->lost)
        return false;
    inside = true;
    lock_take(&s->lock);
    size_t at = find(s, c->address);
    if (s->cells[at].address) { /* its free went unseen: the address has been used again */
        account(s->cells[at].site, -(int64_t)s->cells[at].size, -1);
        s->cells[at] = *c;
        done = true;
    } else if (has_room(s)) {
        s->cells[find(s, c->address)] = *c;
        s->used++;
        done = true;
    }
    lock_drop(&s->lock);
    inside = false;
    return done;
}

void track_alloc(const void *p, size_t size, uint32_t site)
{
    track_cell c = {(uintptr_t)p, size, site, 0};
    if (!p || site >= published->site_max)
        return;
    if (insert(shard_of(mix(c.address)), &c))
        account(site, (int64_t)size, 1);
    else
        __atomic_fetch_add(&published->track_lost, 1, __ATOMIC_RELAXED);
}

/* Closes the hole at `at`: a later cell moves into it when its home is not between the two. */
static void close_hole(track_shard *s, size_t at)
{
    for (size_t next = (at + 1) & s->mask; s->cells[next].address; next = (next + 1) & s->mask) {
        size_t home = home_of(s, s->cells[next].address);
        if (((next - home) & s->mask) < ((next - at) & s->mask))
            continue;
        s->cells[at] = s->cells[next];
        at = next;
    }
    s->cells[at] = (track_cell){0};
}

bool track_take(const void *p, size_t *size, uint32_t *site)
{
    track_shard *s = shard_of(mix((uintptr_t)p));
    if (!p || inside || s->lost)
        return false;
    inside = true;
    lock_take(&s->lock);
    size_t at = find(s, (uintptr_t)p);
    track_cell c = s->cells[at];
    if (c.address) {
        close_hole(s, at);
        s->used--;
        account(c.site, -(int64_t)c.size, -1);
    }
    lock_drop(&s->lock);
    inside = false;
    *size = c.size;
    *site = c.site;
    return c.address != 0;
}

void track_free(const void *p)
{
    size_t size;
    uint32_t site;
    track_take(p, &size, &site);
}

void track_fork_locks(lock_visit *visit)
{
    for (int i = 0; i < SHARDS && published->track; i++)
        visit(&shards[i].lock);
}

void track_fork_child(void)
{
    for (int i = 0; i < SHARDS && published->track; i++)
        if (!lock_is_mine(&shards[i].lock))
            shards[i].lost = true;
}
