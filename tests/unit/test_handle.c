/* SPDX-License-Identifier: MIT */
/* test_handle.c - handles: generations, ids, access, mapped files that shrink, purging, misuse, a property
 * test. */
#include "arena.h"
#include "fault.h"
#include "handle.h"
#include "said.h"
#include "scratch.h"
#include "seeded.h"

TestSuite(handle, .init = scratch_make, .fini = scratch_remove);

static void make(handle_table *t, const handle_options *o)
{
    memset(t, 0, sizeof *t);
    cr_assert_eq(handle_init(t, o), POOL_OK);
}

static void sound(handle_table *t)
{
    said_start();
    cr_assert(handle_check(t), "%s", said_last);
}

static handle get(handle_table *t, size_t size, uint32_t id, uint32_t flags)
{
    handle h;
    cr_assert_eq(handle_alloc(t, size, id, flags, &h), POOL_OK);
    cr_assert_neq(h, 0);
    sound(t);
    return h;
}

static char *edit(handle_table *t, handle h)
{
    void *p;
    cr_assert_eq(handle_edit(t, h, &p), POOL_OK);
    return p;
}

Test(handle, owns_memory_until_freed)
{
    handle_table t;
    make(&t, NULL);
    handle h = get(&t, 100, 7, 0x23);
    memset(edit(&t, h), 5, 100);
    const void *r;
    void *w;
    size_t size;
    uint32_t flags;
    cr_assert_eq(handle_read(&t, h, &r), POOL_OK);
    cr_assert_eq(handle_write(&t, h, &w), POOL_OK);
    cr_assert_eq(r, w);
    cr_assert_eq(handle_size(&t, h, &size), POOL_OK);
    cr_assert_eq(size, 100);
    cr_assert_eq(handle_flags(&t, h, &flags), POOL_OK);
    cr_assert_eq(flags, 0x23);
    cr_assert_eq(handle_free(&t, h), POOL_OK);
    sound(&t);
    cr_assert_eq(t.stats.live_bytes, 0);
    cr_assert_eq(t.stats.peak_bytes, 100);
    handle_destroy(&t);
    handle_destroy(&t);
}

static void expect_stale(handle_table *t, handle h)
{
    const void *r = t;
    void *w = t;
    size_t size = 1;
    uint32_t flags = 1;
    cr_assert_eq(handle_read(t, h, &r), POOL_STALE);
    cr_assert_null(r);
    cr_assert_eq(handle_write(t, h, &w), POOL_STALE);
    cr_assert_null(w);
    cr_assert_eq(handle_edit(t, h, &w), POOL_STALE);
    cr_assert_eq(handle_free(t, h), POOL_STALE);
    cr_assert_eq(handle_use(t, h, 0), POOL_STALE);
    cr_assert_eq(handle_flags(t, h, &flags), POOL_STALE);
    cr_assert_eq(handle_size(t, h, &size), POOL_STALE);
    cr_assert_eq(size, 0);
    cr_assert_eq(handle_lock(t, h), POOL_STALE);
    cr_assert_eq(handle_unlock(t, h), POOL_STALE);
    cr_assert_not(handle_is_purged(t, h));
}

Test(handle, stale_and_forged_handles_never_give_memory)
{
    handle_table t;
    make(&t, NULL);
    expect_stale(&t, 0);
    handle old = get(&t, 10, 1, 0);
    handle_free(&t, old);
    expect_stale(&t, old);
    handle again = get(&t, 10, 1, 0);
    cr_assert_eq((uint32_t)again, (uint32_t)old, "the record is used again");
    cr_assert_neq(again, old);
    expect_stale(&t, old);
    expect_stale(&t, again + 1);
    expect_stale(&t, again ^ 1ull << 40);
    expect_stale(&t, UINT64_MAX);
    handle_free(&t, again);
    expect_stale(&t, (again >> 32 << 32) + (1ull << 32) + (uint32_t)again);
    handle_destroy(&t);
    expect_stale(&t, again);
}

Test(handle, ids_are_freed_together)
{
    handle_table t;
    make(&t, NULL);
    handle mission[3], kept = get(&t, 8, 0, 0), other = get(&t, 8, 9, 0);
    for (int i = 0; i < 3; i++)
        mission[i] = get(&t, 8, 5, 0);
    handle file;
    cr_assert_eq(handle_map(&t, scratch_file("f", "data", 4), 0, 0, HANDLE_FILE_READ, 5, &file), POOL_OK);
    size_t freed;
    cr_assert_eq(handle_free_id(&t, 5, &freed), POOL_OK);
    cr_assert_eq(freed, 4);
    expect_stale(&t, mission[1]);
    expect_stale(&t, file);
    cr_assert_eq(t.stats.mapped_bytes, 0);
    cr_assert_eq(handle_free_id(&t, HANDLE_PERMANENT, &freed), POOL_INVALID);
    cr_assert_eq(freed, 0);
    cr_assert_eq(handle_free_id(&t, 5, NULL), POOL_OK);
    edit(&t, kept);
    edit(&t, other);
    sound(&t);
    handle_destroy(&t);
}

Test(handle, table_may_be_full)
{
    handle_table t;
    handle h[3], more;
    make(&t, &(handle_options){.capacity = 3});
    cr_assert_eq(handle_init(&t, NULL), POOL_EXISTS);
    for (int i = 0; i < 3; i++)
        h[i] = get(&t, 0, 1, 0);
    cr_assert_eq(handle_alloc(&t, 1, 1, 0, &more), POOL_FULL);
    cr_assert_eq(more, 0);
    cr_assert_eq(handle_map(&t, scratch_file("f", "data", 4), 0, 0, HANDLE_FILE_READ, 5, &more), POOL_FULL);
    handle_free(&t, h[1]);
    get(&t, 1, 1, 0);
    cr_assert_eq(handle_alloc(&t, SIZE_MAX, 1, 0, &more), POOL_OVERFLOW);
    handle_destroy(&t);
    handle_table big = {0};
    cr_assert_eq(handle_init(&big, &(handle_options){.capacity = UINT32_MAX}), POOL_OVERFLOW);
}

Test(handle, flags_are_stored_as_given_and_do_not_decide_how_memory_is_freed)
{
    handle_table t;
    void *p;
    make(&t, NULL);
    handle h = get(&t, 100, 1, 0);
    cr_assert_eq(handle_use(&t, h, 0xffffffff), POOL_OK); /* claims to be mapped and purged */
    cr_assert(handle_is_purged(&t, h));
    cr_assert_eq(handle_edit(&t, h, &p), POOL_EMPTY);
    sound(&t);
    cr_assert_eq(handle_use(&t, h, 0), POOL_OK);
    edit(&t, h);
    handle_free(&t, h);
    sound(&t);
    handle_destroy(&t);
}

Test(handle, files_read_only_copied_and_snapshot)
{
    handle_table t;
    char data[10000];
    make(&t, NULL);
    memset(data, 'x', sizeof data);
    const char *path = scratch_file("big", data, sizeof data);
    handle h[3];
    const void *r;
    void *w;
    uint32_t flags;
    for (handle_file how = HANDLE_FILE_READ; how <= HANDLE_FILE_SNAPSHOT; how++) {
        cr_assert_eq(handle_map(&t, path, 0, 0, how, 1, &h[how]), POOL_OK);
        cr_assert_eq(handle_read(&t, h[how], &r), POOL_OK);
        cr_assert_eq(memcmp(r, data, sizeof data), 0);
        cr_assert_eq((uintptr_t)r % 4096, 0);
        cr_assert_eq(handle_write(&t, h[how], &w), how == HANDLE_FILE_READ ? POOL_UNSUPPORTED : POOL_OK);
        if (w)
            memset(w, 'y', 100);
        handle_flags(&t, h[how], &flags);
        cr_assert_eq(flags, how == HANDLE_FILE_SNAPSHOT ? 0 : HANDLE_MAPPED);
        sound(&t);
    }
    handle_read(&t, h[0], &r);
    cr_assert_eq(*(const char *)r, 'x', "writes stay private");
    cr_assert_eq(t.stats.files, 2);
    handle part;
    cr_assert_eq(handle_map(&t, path, 4096, 100, HANDLE_FILE_READ, 1, &part), POOL_OK);
    cr_assert_eq(handle_map(&t, path, 100, 0, HANDLE_FILE_READ, 1, &part), POOL_ALIGN);
    cr_assert_eq(handle_map(&t, path, 4096, 10000, HANDLE_FILE_READ, 1, &part), POOL_IO);
    cr_assert_eq(handle_map(&t, path, 12288, 0, HANDLE_FILE_READ, 1, &part), POOL_IO);
    cr_assert_eq(handle_map(&t, scratch_path("none"), 0, 0, HANDLE_FILE_READ, 1, &part), POOL_IO);
    cr_assert_eq(handle_map(&t, scratch_folder, 0, 0, HANDLE_FILE_READ, 1, &part), POOL_IO);
    cr_assert_eq(part, 0);
    cr_assert_eq(handle_map(&t, scratch_file("empty", "", 0), 0, 0, HANDLE_FILE_READ, 1, &part), POOL_OK);
    sound(&t);
    handle_destroy(&t);
}

Test(handle, a_file_that_shrinks_gives_an_error_and_no_sigbus)
{
    handle_table t;
    static char data[20000];
    make(&t, NULL);
    memset(data, 'x', sizeof data);
    for (handle_file how = HANDLE_FILE_READ; how <= HANDLE_FILE_SNAPSHOT; how++) {
        for (int left = 0; left <= 5000; left += 5000) {
            const char *path = scratch_file("shrinks", data, sizeof data);
            handle h;
            const void *before, *after;
            cr_assert_eq(handle_map(&t, path, 0, 0, how, 1, &h), POOL_OK);
            cr_assert_eq(handle_read(&t, h, &before), POOL_OK);
            cr_assert_eq(truncate(path, left), 0);
            pool_status want = how == HANDLE_FILE_SNAPSHOT ? POOL_OK : POOL_IO;
            cr_assert_eq(handle_read(&t, h, &after), want);
            cr_assert_eq(((const char *)before)[19999], want == POOL_OK ? 'x' : 0, "the old pointer is safe");
            cr_assert_eq(truncate(path, 20000), 0);
            cr_assert_eq(handle_read(&t, h, &after), want, "it stays damaged");
            sound(&t);
            handle_free(&t, h);
        }
    }
    handle_destroy(&t);
}

Test(handle, compaction_purges_the_oldest_unlocked)
{
    handle_table t;
    const void *p;
    make(&t, &(handle_options){.compact = true});
    handle h[5];
    for (int i = 0; i < 5; i++)
        h[i] = get(&t, 100, 1, i == 1 ? 0 : HANDLE_PURGEABLE);
    handle_lock(&t, h[2]);
    handle_read(&t, h[0], &p); /* h[3] is the oldest that may go now */
    cr_assert_eq(handle_compact(&t, 1), 100);
    cr_assert_eq(handle_read(&t, h[3], &p), POOL_EMPTY);
    cr_assert(handle_is_purged(&t, h[3]));
    sound(&t);
    cr_assert_eq(handle_compact(&t, 0), 200);
    cr_assert_eq(handle_read(&t, h[2], &p), POOL_OK);
    cr_assert_eq(handle_read(&t, h[1], &p), POOL_OK);
    cr_assert_eq(t.stats.husks, 3);
    cr_assert_eq(handle_unlock(&t, h[2]), POOL_OK);
    cr_assert_eq(handle_unlock(&t, h[2]), POOL_EMPTY);
    cr_assert_eq(handle_compact(&t, 0), 100);
    cr_assert_eq(handle_compact(&t, 0), 0);
    cr_assert_eq(handle_free(&t, h[3]), POOL_OK, "the husk");
    sound(&t);
    cr_assert_eq(t.stats.live_bytes, 100);
    handle_destroy(&t);
}

Test(handle, compaction_is_off_unless_asked_for)
{
    handle_table t;
    make(&t, NULL);
    handle h = get(&t, 100, 1, HANDLE_PURGEABLE);
    cr_assert_eq(handle_compact(&t, 0), 0);
    edit(&t, h);
    handle_destroy(&t);
}

struct heard {
    handle_table *t;
    handle last, partner;
    int freed, purged;
};

static void hear(void *arg, handle h, handle_event what)
{
    struct heard *e = arg;
    *(what == HANDLE_IS_FREED ? &e->freed : &e->purged) += 1;
    e->last = h;
    if (e->partner) {
        handle partner = e->partner;
        e->partner = 0;
        handle_free(e->t, partner);
    }
}

Test(handle, notification_comes_before_the_memory_goes)
{
    handle_table t;
    make(&t, &(handle_options){.compact = true});
    struct heard e = {.t = &t};
    handle_set_notify(&t, hear, &e);
    handle a = get(&t, 10, 3, HANDLE_PURGEABLE), b = get(&t, 10, 3, 0), c = get(&t, 10, 3, 0);
    handle_compact(&t, 0);
    cr_assert_eq(e.purged, 1);
    cr_assert_eq(e.last, a);
    e.partner = c; /* the hook frees another handle of the same group */
    handle_free_id(&t, 3, NULL);
    cr_assert_eq(e.freed, 3);
    expect_stale(&t, b);
    e.partner = a = get(&t, 10, 3, HANDLE_PURGEABLE); /* and the very one that is being freed */
    cr_assert_eq(handle_free(&t, a), POOL_OK);
    e.partner = a = get(&t, 10, 3, HANDLE_PURGEABLE);
    cr_assert_eq(handle_compact(&t, 0), 0);
    expect_stale(&t, a);
    sound(&t);
    cr_assert_eq(t.stats.handles, 0);
    handle_destroy(&t);
}

Test(handle, memory_from_a_pool)
{
    arena a = {0};
    arena_init(&a, 1000, NULL);
    handle_table t;
    handle h;
    make(&t, &(handle_options){.pool = &a.pool});
    cr_assert(pool_contains(&a.pool, edit(&t, get(&t, 500, 1, 0))));
    said_start();
    cr_assert_eq(handle_alloc(&t, 501, 1, 0, &h), POOL_NOMEM);
    sound(&t);
    handle_destroy(&t);
    arena_free(&a);
}

Test(handle, check_finds_damage)
{
    handle_table t;
    make(&t, NULL);
    get(&t, 100, 1, 0);
    t.records[0].size = 5;
    said_start();
    cr_assert_not(handle_check(&t));
    said_expect("handle record 1: the figures are not the sums over the records");
    t.records[0].size = 100;
    t.records[0].state = HANDLE_HUSK;
    cr_assert_not(handle_check(&t));
    said_expect("handle record 0: state and memory disagree");
    t.records[0].state = HANDLE_PAGES;
    t.free = 1;
    cr_assert_not(handle_check(&t));
    t.free = 0;
    sound(&t);
    handle_destroy(&t);
}

enum { LIVE = 60 };

Test(handle, random_runs_keep_every_block)
{
    uint64_t seed = seeded_first("handle");
    handle_table t;
    make(&t, &(handle_options){.compact = true, .capacity = LIVE});
    struct {
        handle h;
        unsigned char fill;
        uint32_t id;
        size_t n;
    } live[LIVE] = {0};
    for (int step = 0; step < 4000; step++) {
        int i = (int)seeded_below(&seed, LIVE);
        void *p;
        pool_status s = handle_edit(&t, live[i].h, &p);
        uint32_t what = seeded_below(&seed, 40);
        if (s == POOL_STALE) {
            live[i].n = seeded_below(&seed, 300);
            live[i].id = seeded_below(&seed, 6);
            live[i].h = get(&t, live[i].n, live[i].id, seeded_below(&seed, 2) ? HANDLE_PURGEABLE : 0);
            live[i].fill = (unsigned char)step;
            memset(edit(&t, live[i].h), live[i].fill, live[i].n);
        } else if (s == POOL_EMPTY || what < 15) {
            cr_assert_eq(handle_free(&t, live[i].h), POOL_OK);
        } else if (what == 15) {
            cr_assert_eq(handle_free_id(&t, live[i].id, NULL), live[i].id ? POOL_OK : POOL_INVALID);
        } else if (what == 16) {
            handle_compact(&t, 500);
        } else {
            cr_assert_eq(s, POOL_OK);
            for (size_t k = 0; k < live[i].n; k++)
                cr_assert_eq(((unsigned char *)p)[k], live[i].fill);
        }
        sound(&t);
    }
    handle_destroy(&t);
}

Test(handle, every_failed_request_leaves_all_as_it_was)
{
    const char *path = scratch_file("f", "data", 4);
    bool met = true;
    for (long n = 1; met; n++) {
        handle_table t = {0};
        handle h;
        fault_arm(n);
        if (handle_init(&t, NULL) == POOL_OK) {
            for (int i = 0; i < 3; i++) {
                handle_alloc(&t, 100, 1, 0, &h);
                sound(&t);
                handle_map(&t, path, 0, 0, (handle_file)i, 1, &h);
                sound(&t);
            }
        }
        handle_destroy(&t);
        met = fault_disarm();
    }
}

Test(handle, descriptors_are_not_lost)
{
    const char *path = scratch_file("f", "data", 4);
    int before = dup(0);
    close(before);
    handle_table t;
    handle h;
    make(&t, NULL);
    for (int i = 0; i < 50; i++) {
        handle_map(&t, path, 0, 0, (handle_file)(i % 3), 1, &h);
        if (i & 1)
            handle_free(&t, h);
        handle_map(&t, path, 0, 9, HANDLE_FILE_READ, 1, &h);
    }
    handle_destroy(&t);
    int after = dup(0);
    close(after);
    cr_assert_eq(before, after);
}
