/* SPDX-License-Identifier: MIT */
/*
 * test_heap.c - the native heap against a shadow: random operations with contents checked, invariants walked,
 * misuse judged, remote frees from other threads, park and adopt, limits with every policy.
 */
#include "heap.h"
#include "heap_private.h"
#include "heap_stats.h"
#include "os.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#define SLOTS 2000

static heap root, child;

static void set_up(void)
{
    cr_assert(world_boot());
    cr_assert(heap_create(&root, 0, "Root", NULL, 0, OVER_WARN));
    cr_assert(heap_create(&child, 1, "Child", &root, 0, OVER_WARN));
}

TestSuite(heap, .init = set_up);

static heap_figures figures(heap *h)
{
    heap_figures f;
    cr_assert(heap_figures_read((uintptr_t)&world, (uintptr_t)h, NULL, NULL, &f));
    return f;
}

static void *get(heap *h, size_t size)
{
    front *f = heap_front(heap_thread_self(), h);
    return f ? front_alloc_aligned(f, size, 16) : NULL;
}

static pool_status put(void *p)
{
    heap_thread *t = heap_thread_self();
    return heap_free(t, p);
}

static size_t random_size(unsigned *seed)
{
    unsigned r = (unsigned)rand_r(seed);
    switch (r % 16) {
    case 0:
        return r / 16 % 300000;
    case 1:
    case 2:
        return r / 16 % 40000;
    default:
        return r / 16 % 600;
    }
}

struct shadow {
    unsigned char *p;
    size_t size;
    unsigned char fill;
};

static void verify(const struct shadow *s)
{
    for (size_t i = 0; i < s->size; i++)
        cr_assert_eq(s->p[i], s->fill, "byte %zu of %zu at %p changed", i, s->size, (void *)s->p);
}

static void step(struct shadow *s, unsigned *seed)
{
    size_t size = random_size(seed);
    if (!s->p) {
        size_t align = (size_t)16 << (rand_r(seed) % 64 ? 0 : rand_r(seed) % 14);
        s->p = front_alloc_aligned(heap_front(heap_thread_self(), rand_r(seed) & 1 ? &root : &child), size,
                                   align);
        cr_assert_eq((uintptr_t)s->p % align, 0);
        s->size = size;
    } else if (rand_r(seed) % 4 == 0) {
        size_t keep = size < s->size ? size : s->size;
        s->p = heap_resize(heap_thread_self(), s->p, size ? size : 1);
        s->size = keep;
    } else {
        cr_assert_eq(put(s->p), POOL_OK);
        s->p = NULL;
        return;
    }
    cr_assert_not_null(s->p);
    cr_assert_geq(heap_usable(s->p), s->size);
    verify(&(struct shadow){s->p, 0, 0});
    s->fill = (unsigned char)rand_r(seed);
    s->size = size ? size : s->size;
    memset(s->p, s->fill, s->size);
}

Test(heap, random_operations_against_a_shadow)
{
    static struct shadow shadow[SLOTS];
    unsigned seed = (unsigned)time(NULL);
    printf("heap model test: seed %u\n", seed);
    for (int i = 0; i < 60000; i++) {
        struct shadow *s = &shadow[(unsigned)rand_r(&seed) % SLOTS];
        if (s->p)
            verify(s);
        step(s, &seed);
        if (i % 2000 == 0)
            cr_assert(heap_check(&root, heap_thread_self()) && heap_check(&child, heap_thread_self()));
    }
    uint64_t blocks = 0;
    for (int i = 0; i < SLOTS; i++)
        blocks += shadow[i].p != NULL;
    cr_assert_eq(figures(&root).live_blocks + figures(&child).live_blocks, blocks);
    for (int i = 0; i < SLOTS; i++)
        if (shadow[i].p)
            cr_assert_eq(put(shadow[i].p), POOL_OK);
    cr_assert_eq(figures(&root).live_bytes + figures(&child).live_bytes, 0);
    cr_assert_eq(root.live_estimate >= 0, true);
    heap_trim(heap_thread_self(), true);
    cr_assert(heap_check(&root, heap_thread_self()) && heap_check(&child, heap_thread_self()));
    cr_assert_eq(root.taken, 0, "everything freed, yet %lu bytes taken", root.taken);
    cr_assert_eq(figures(&root).committed_bytes, 0);
}

Test(heap, every_small_size_has_room_and_alignment)
{
    for (size_t n = 0; n <= FRAGMENT_MAX + 100; n++) {
        char *p = get(&root, n);
        cr_assert_eq((uintptr_t)p % 16, 0);
        cr_assert_geq(heap_usable(p), n);
        cr_assert_leq(heap_usable(p), n < 128 ? n + 16 : n <= FRAGMENT_MAX ? n + n / 8 + 16 : n + 4096);
        cr_assert_eq(put(p), POOL_OK);
    }
}

Test(heap, misuse_is_judged_in_every_state)
{
    char *a = get(&root, 100), *b = get(&root, 100), *run = get(&root, 300000);
    cr_assert_eq(put(a + 16), POOL_INVALID);
    cr_assert_eq(put(a + 1), POOL_INVALID);
    cr_assert_eq(put(a), POOL_OK);
    cr_assert_eq(put(a), POOL_DOUBLE_FREE);
    memset(a, 0x55, 100);
    cr_assert_eq(put(a), POOL_DOUBLE_FREE);
    cr_assert_eq(put(run + 16), POOL_INVALID);
    cr_assert_eq(put(run + 65536), POOL_INVALID);
    cr_assert_eq(put(run), POOL_OK);
    cr_assert_eq(put(run), POOL_DOUBLE_FREE);
    cr_assert_eq(put(b), POOL_OK);
    heap_trim(heap_thread_self(), true);
    cr_assert_eq(put(b), POOL_DOUBLE_FREE);
    cr_assert_eq(put((char *)root.pool.last - 4095), POOL_INVALID);
}

static void *lost_fragment;
static void note_overwritten(heap *h, void *fragment)
{
    lost_fragment = fragment;
}

Test(heap, memory_overwritten_after_free_is_noticed)
{
    heap_overwritten_hook = note_overwritten;
    char *a = get(&root, 64);
    put(a);
    memset(a, 0xee, 64);
    for (int i = 0; i < 100; i++)
        cr_assert_not_null(get(&root, 64));
    cr_assert_eq(lost_fragment, a);
}

/* --- threads ------------------------------------------------------------------------------------ */

#define HANDOVER 20000
static void *handed[HANDOVER];

static void *free_all(void *arg)
{
    for (size_t i = 0; i < HANDOVER; i++)
        if (put(handed[i]) != POOL_OK)
            return (void *)1;
    if (put(handed[7]) != POOL_DOUBLE_FREE || put((char *)handed[8] + 16) != POOL_INVALID)
        return (void *)2;
    heap_thread_park(heap_thread_self());
    return NULL;
}

static void *in_thread(void *(*body)(void *))
{
    pthread_t t;
    void *result;
    pthread_create(&t, NULL, body, NULL);
    pthread_join(t, &result);
    return result;
}

Test(heap, another_thread_frees_and_the_owner_takes_back)
{
    for (int round = 0; round < 20; round++) {
        for (size_t i = 0; i < HANDOVER; i++)
            handed[i] = get(&root, 40);
        cr_assert_eq(in_thread(free_all), NULL);
        cr_assert_eq(figures(&root).live_blocks, 0);
    }
    cr_assert_leq(figures(&root).committed_bytes, 4u << 20, "memory freed remotely was not used again");
    cr_assert(heap_check(&root, heap_thread_self()));
}

static size_t handed_count;

static void *free_each_third(void *arg)
{
    for (size_t i = 0; i < handed_count; i += 3)
        if (put(handed[i]) != POOL_OK || put(handed[i]) != POOL_DOUBLE_FREE)
            return handed[i];
    return NULL;
}

/* Pending bits stand for fragments by number, so every size of fragment has its own numbers. */
Test(heap, each_class_tells_which_fragments_others_freed)
{
    for (unsigned c = 0; c < CLASS_COUNT; c++) {
        size_t size = class_size(c), in_two_blocks = 2 * (BLOCK_SIZE / size);
        handed_count = in_two_blocks < HANDOVER ? in_two_blocks : HANDOVER;
        for (size_t i = 0; i < handed_count; i++)
            handed[i] = get(&child, size);
        cr_assert_eq(in_thread(free_each_third), NULL, "class of %zu bytes", size);
        cr_assert_eq(figures(&child).live_blocks, handed_count - (handed_count + 2) / 3);
        for (size_t i = 0; i < handed_count; i++)
            cr_assert_eq(put(handed[i]), i % 3 ? POOL_OK : POOL_DOUBLE_FREE, "%zu bytes, number %zu", size,
                         i);
        heap_trim(heap_thread_self(), true);
        cr_assert_eq(figures(&child).committed_bytes, 0, "class of %zu bytes", size);
        cr_assert(heap_check(&child, heap_thread_self()));
    }
}

/* Two threads that free one fragment at the same time: the owner is through when the other sets its bit. */
Test(heap, a_fragment_freed_twice_at_once_is_taken_back_once)
{
    void *p = get(&root, 64), *beside = get(&root, 64);
    block *b = block_of(p);
    cr_assert_eq(put(p), POOL_OK);
    *pending_word(b, p) |= pending_bit(b, p);
    cr_assert_eq(heap_take_pending(b), false);
    cr_assert(heap_check(&root, heap_thread_self()), "the fragment stands twice in the block's list");
    cr_assert_eq(put(beside), POOL_OK);
}

static bool populates(void)
{
    void *page = os_map(OS_PAGE);
    bool can = page && madvise(page, OS_PAGE, MADV_POPULATE_WRITE) == 0;
    os_unmap(page, OS_PAGE);
    return can;
}

static uintptr_t hashed_page(const void *p)
{
    return (uintptr_t)p % MIB(256) / OS_PAGE;
}

/* What a pool uses first would otherwise take turns in a processor's cache (world.h). */
Test(heap, first_blocks_and_their_records_keep_out_of_each_others_way)
{
    void *one = get(&root, 48), *other = get(&child, 48);
    cr_assert_neq(hashed_page(one), hashed_page(other));
    cr_assert_neq(hashed_page(one), hashed_page(block_of(one)));
    cr_assert_neq(hashed_page(other), hashed_page(block_of(other)));
    cr_assert_neq(hashed_page(one), hashed_page(pending_word(block_of(one), one)));
    cr_assert_neq(hashed_page(block_of(one)), hashed_page(pending_word(block_of(one), one)));
}

/* Pages of the block of p that are there. */
static unsigned pages_there(const void *p)
{
    unsigned char there[BLOCK_SIZE / OS_PAGE];
    unsigned n = 0;
    cr_assert_eq(mincore(block_start(block_of(p)), BLOCK_SIZE, there), 0);
    for (size_t i = 0; i < sizeof there; i++)
        n += there[i] & 1;
    return n;
}

/* What is made ahead and not used is a small part of what the class holds, and a class of few blocks has
   nothing made ahead. */
Test(heap, pages_are_made_ahead_as_a_class_grows)
{
    enum { SMALL = 64, IN_BLOCK = BLOCK_SIZE / SMALL, MANY = 30 };
    if (!populates())
        cr_skip_test("this system makes no pages on demand");
    cr_assert_eq(pages_there(get(&root, SMALL)), 1, "the first block");
    void *p = NULL;
    for (unsigned blocks = 1; blocks < MANY; blocks++) {
        for (unsigned i = 0; i < IN_BLOCK; i++)
            p = get(&root, SMALL);
        unsigned most = blocks + 1 < BLOCK_SIZE / OS_PAGE ? blocks + 1 : BLOCK_SIZE / OS_PAGE;
        cr_assert_eq(pages_there(p), most, "block %u has %u pages", blocks + 1, pages_there(p));
    }
    cr_assert_eq(pages_there(get(&root, 2 * SMALL)), 1, "another class");
    cr_assert_eq(pages_there(get(&child, SMALL)), 1, "another pool");
}

enum { KIB_IN_BLOCK = 64 }; /* fragments of 1 KiB */

static void *free_one_block(void *arg)
{
    for (size_t i = 0; i < KIB_IN_BLOCK; i++)
        if (put(handed[i]) != POOL_OK)
            return (void *)1;
    return NULL;
}

/* Taking back what others freed may come just when empty blocks go. */
Test(heap, a_block_emptied_by_others_is_not_served_from_when_it_goes)
{
    world.decay_ns = 0; /* always time for it */
    for (uint32_t phase = 0; phase < 8; phase++) {
        for (size_t i = 0; i < KIB_IN_BLOCK; i++)
            handed[i] = get(&root, 1024);
        cr_assert_eq(in_thread(free_one_block), NULL);
        heap_thread_self()->slow = phase;
        void *p = get(&root, 1024);
        cr_assert_eq(figures(&root).live_blocks, 1, "phase %u", phase);
        cr_assert_eq(block_of(p)->owner, heap_thread_self(), "phase %u", phase);
        cr_assert_eq(put(p), POOL_OK);
        heap_trim(heap_thread_self(), true);
    }
    cr_assert(heap_check(&root, heap_thread_self()));
}

static void *alloc_and_end(void *arg)
{
    for (size_t i = 0; i < HANDOVER; i++)
        handed[i] = get(&child, 40);
    heap_thread_park(heap_thread_self());
    return NULL;
}

Test(heap, blocks_of_an_ended_thread_are_reclaimed)
{
    for (int round = 0; round < 5; round++) {
        in_thread(alloc_and_end);
        for (size_t i = 0; i < HANDOVER; i++)
            cr_assert_eq(put(handed[i]), POOL_OK);
        heap_trim(heap_thread_self(), true);
        cr_assert_eq(figures(&child).committed_bytes, 0);
    }
    cr_assert(heap_check(&child, heap_thread_self()));
}

static void *churn(void *arg)
{
    unsigned seed = (unsigned)(uintptr_t)&seed;
    static void *shared[64];
    for (int i = 0; i < 30000; i++) {
        void **slot = &shared[(unsigned)rand_r(&seed) % 64];
        void *fresh = get(&root, (size_t)rand_r(&seed) % 3000);
        void *old = __atomic_exchange_n(slot, fresh, __ATOMIC_ACQ_REL);
        if (old && put(old) != POOL_OK)
            return (void *)1;
    }
    heap_thread_park(heap_thread_self());
    return NULL;
}

Test(heap, threads_exchange_blocks)
{
    pthread_t t[6];
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 6; i++)
            pthread_create(&t[i], NULL, churn, NULL);
        for (int i = 0; i < 6; i++) {
            void *result;
            pthread_join(t[i], &result);
            cr_assert_null(result);
        }
    }
    cr_assert_leq(figures(&root).live_blocks, 64);
}

/* --- limits --------------------------------------------------------------------------------------- */

static int over_calls;
static void note_over(heap *h, size_t size)
{
    over_calls++;
}

Test(heap, limit_fails_and_room_comes_back)
{
    void *p[64] = {0};
    int n = 0;
    heap_set_limit(&child, 1 << 20, OVER_FAIL);
    for (; n < 64 && (p[n] = get(&child, 30000)); n++)
        ;
    cr_assert_geq(n, 30);
    cr_assert_leq(n, 35);
    cr_assert_eq(heap_thread_self()->status, POOL_LIMIT);
    cr_assert_null(get(&child, 900000));
    for (int i = 0; i < n; i++)
        put(p[i]);
    void *run = get(&child, 900000);
    cr_assert_not_null(run);
    cr_assert_gt(child.row->failed, 0);
}

static void *one_freed;
static void *free_it(void *arg)
{
    return put(one_freed) == POOL_OK ? NULL : (void *)1;
}

/* Filled to the limit: what one free makes room for is served, whichever block it was in and whoever freed.
 */
static void one_goes_one_comes(size_t size, bool remote)
{
    static void *p[8192];
    size_t n = 0;
    while ((p[n] = get(&child, size)))
        n++;
    for (size_t round = 0; round < 40; round++) {
        size_t i = round * 7919 % n;
        one_freed = p[i];
        cr_assert_eq(remote ? in_thread(free_it) : free_it(NULL), NULL);
        cr_assert_not_null(p[i] = get(&child, size), "size %zu, round %zu", size, round);
    }
    while (n)
        put(p[--n]);
}

Test(heap, at_the_limit_what_was_freed_is_served_again)
{
    static const size_t sizes[] = {48, 100, 1000, 2000, 3000, 5000, 16000, 30000};
    heap_set_limit(&child, 300000, OVER_FAIL);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        one_goes_one_comes(sizes[i], false);
        one_goes_one_comes(sizes[i], true);
    }
    cr_assert(heap_check(&child, heap_thread_self()));
}

Test(heap, parents_limit_binds_the_child_and_spill_goes_up)
{
    heap_set_limit(&root, 2 << 20, OVER_FAIL);
    heap_set_limit(&child, 1 << 20, OVER_SPILL);
    int in_child = 0, in_root = 0;
    void *p;
    while ((p = get(&child, 60000)) && in_child + in_root < 100)
        *(heap_of(p) == &child ? &in_child : &in_root) += 1;
    cr_assert_geq(in_child, 14);
    cr_assert_leq(in_child, 17);
    cr_assert_geq(in_root, 14);
    cr_assert_leq(in_root, 18);
}

Test(heap, warn_says_it_once_and_serves)
{
    heap_over_hook = note_over;
    heap_set_limit(&child, 100000, OVER_WARN);
    for (int i = 0; i < 20; i++)
        cr_assert_not_null(get(&child, 30000));
    cr_assert_eq(over_calls, 1);
    cr_assert_gt(child.row->over_limit, 1);
}

/* As much in use each time as fits, in fragments of another size: what lies empty must make room for it. */
static void fill_in_turns(void)
{
    static void *p[2048];
    for (size_t size = 32; size <= 4096; size *= 2) {
        size_t n = 60 * 1024 / size;
        for (size_t i = 0; i < n; i++)
            cr_assert_not_null(p[i] = get(&child, size));
        while (n)
            put(p[--n]);
    }
}

Test(heap, what_lies_empty_is_not_over_the_limit)
{
    heap_over_hook = note_over;
    static const pool_over all[] = {OVER_WARN, OVER_FAIL, OVER_SPILL, OVER_ABORT};
    for (int i = 0; i < 4; i++) {
        heap_set_limit(&child, 80 * 1024, all[i]);
        fill_in_turns();
    }
    cr_assert_eq(over_calls, 0);
    cr_assert_eq(child.row->over_limit, 0);
}

Test(heap, what_a_parent_serves_is_counted_once)
{
    heap_set_limit(&child, 64 * 1024, OVER_SPILL);
    for (int i = 0; i < 1000; i++)
        cr_assert_not_null(get(&child, 120));
    cr_assert_eq(child.row->over_limit, 1000 - 64 * 1024 / 128);
}

/* --- failures of the system ----------------------------------------------------------------------- */

static int grants;
static bool grant(void)
{
    return grants-- > 0;
}

Test(heap, survives_failure_at_any_request_to_the_system)
{
    cr_assert_not_null(heap_thread_self());
    for (int n = 0; n < 40; n++) {
        grants = n;
        os_fault_hook = grant;
        void *p[100];
        int got = 0;
        for (int i = 0; i < 100; i++)
            got += (p[i] = get(&child, (size_t)i * 5000)) != NULL;
        os_fault_hook = NULL;
        for (int i = 0; i < 100; i++)
            if (p[i])
                cr_assert_eq(put(p[i]), POOL_OK);
        void *later = get(&child, 5 << 20);
        cr_assert_not_null(later, "a later call must work after failure %d (%d had worked)", n, got);
        put(later);
        cr_assert(heap_check(&child, heap_thread_self()));
    }
}
