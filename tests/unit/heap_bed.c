/* SPDX-License-Identifier: MIT */
/*
 * heap_bed.c - see heap_bed.h. Every step that succeeds is checked against all live blocks (no overlap,
 * aligned, content intact), every step that is refused against a copy of the heap taken before.
 */
#include "heap_bed.h"
#include "rheap_internal.h"

#include <criterion/criterion.h>
#include <string.h>

static uint32_t below(bed *b, uint32_t n)
{
    return seeded_below(&b->random, n);
}

void bed_make_sized(bed *b, uint64_t seed, size_t bytes)
{
    memset(b, 0, sizeof *b);
    b->seed = b->random = seed;
    b->bytes = bytes;
    b->block = os_map(bytes);
    cr_assert_not_null(b->block);
    memset(b->block, 0xa5, bytes); /* memory of a parent is not clean */
    cr_assert_eq(rheap_init(&b->heap, b->block, bytes), POOL_OK);
}

void bed_make(bed *b, uint64_t seed)
{
    uint64_t r = seed;
    static const size_t sizes[] = {4096, 20000, 65536, 300000, 1 << 20, 3000001};
    bed_make_sized(b, seed, sizes[seeded_below(&r, 6)] + seeded_below(&r, 3000));
    b->shape = seeded_below(&r, 4);
}

void bed_drop(bed *b)
{
    rheap_done(&b->heap);
    os_unmap(b->block, b->bytes);
}

static uint32_t size_rounded(uint32_t size, uint32_t align)
{
    size = (size + align - 1) / align * align;
    if (size > RHEAP_FRAGMENT_MAX)
        return (size + RHEAP_BLOCK - 1) / RHEAP_BLOCK * RHEAP_BLOCK;
    uint32_t class = 8;
    while (class < size)
        class *= 2;
    return class;
}

uint64_t bed_live_bytes(const bed *b)
{
    uint64_t sum = 0;
    for (int i = 0; i < BED_SLOTS; i++)
        sum += b->slots[i].at ? rheap_size(&b->heap, b->slots[i].at) : 0;
    return sum;
}

static void expect_no_overlap(const bed *b, const bed_slot *s, uint32_t rounded)
{
    uint32_t table = rheap_table_blocks(&b->heap) * RHEAP_BLOCK;
    cr_assert(s->at >= table && s->at + rounded <= b->heap.usable, "outside the heap");
    for (int i = 0; i < BED_SLOTS; i++) {
        const bed_slot *o = &b->slots[i];
        if (o == s || !o->at)
            continue;
        uint32_t held = rheap_size(&b->heap, o->at);
        cr_assert(held > 0 && (s->at + rounded <= o->at || o->at + held <= s->at), "seed %llu: overlap",
                  (unsigned long long)b->seed);
    }
}

static void expect_content(const bed *b, const bed_slot *s, uint32_t size)
{
    const uint8_t *p = rheap_pointer(&b->heap, s->at);
    for (uint32_t i = 0; i < size; i += i + 17 < size ? 17 : 1)
        cr_assert_eq(p[i], (uint8_t)(s->fill + i), "seed %llu: content lost", (unsigned long long)b->seed);
}

static void fill(bed *b, bed_slot *s)
{
    uint8_t *p = rheap_pointer(&b->heap, s->at);
    s->fill = (uint8_t)below(b, 256);
    for (uint32_t i = 0; i < s->size; i++)
        p[i] = (uint8_t)(s->fill + i);
}

static void remember(bed *b, uint32_t at)
{
    b->fingerprint = (b->fingerprint ^ at) * 0x100000001b3u;
}

/* The blocks that are free, in the ring or never handed out, as one number. */
static uint64_t free_blocks(const rheap *h)
{
    uint64_t print = 0;
    uint32_t whole = h->usable / RHEAP_BLOCK;
    for (uint32_t b = rheap_table_blocks(h) + 1, left = 0; b <= whole; b++, left -= left > 0) {
        if (h->records && b < h->limit && rheap_run_starts(h, b))
            left = rheap_record_of(h, b)->length;
        if (left || b >= h->limit)
            print = (print ^ b) * 0x100000001b3u;
    }
    return print;
}

/* The words of the table and the links of the first free fragments, as one number. */
static uint64_t lists(const rheap *h)
{
    uint64_t print = 0;
    const uint32_t *words = (const uint32_t *)(const void *)h->base;
    for (uint32_t i = 0; i < h->limit * 3; i++)
        print = (print ^ words[i]) * 0x100000001b3u;
    for (unsigned log = RHEAP_CLASS_MIN; log < RHEAP_CLASSES; log++)
        print = (print ^ (h->heads[log] ? rheap_links_of(h, h->heads[log])->next : 0)) * 0x100000001b3u;
    return print;
}

/* The heap before a call that may be refused. */
struct before {
    rheap heap;
    uint64_t lists; /* 0 for heaps whose table is long to read */
};

static struct before take_before(const bed *b)
{
    bool small = b->heap.records && b->heap.usable < 100000;
    return (struct before){b->heap, small ? lists(&b->heap) : 0};
}

/* A failed call changes nothing; making the table is no change. */
static void expect_unchanged(const bed *b, const struct before *before)
{
    const rheap *h = &b->heap;
    if (before->heap.records)
        cr_assert_eq(memcmp(&before->heap, h, sizeof *h), 0, "seed %llu: a refused call changed the heap",
                     (unsigned long long)b->seed);
    else
        cr_assert(h->used == 0 && h->limit == 0 && h->rover == 0);
    if (before->lists)
        cr_assert_eq(before->lists, lists(h), "seed %llu: a refused call changed a list",
                     (unsigned long long)b->seed);
}

static uint32_t pick_size(bed *b)
{
    switch (b->shape) {
    case 0:
        return 1 + below(b, 600);
    case 1:
        return 1 + below(b, 1 + b->heap.usable / 16);
    case 2:
        return 1u << below(b, 13);
    default:
        return below(b, 4) ? 1 + below(b, 100) : below(b, 20000);
    }
}

static uint32_t pick_align(bed *b)
{
    return below(b, 3) ? 16 : 1u << below(b, 11);
}

static void step_alloc(bed *b, bed_slot *s)
{
    uint32_t size = pick_size(b), align = pick_align(b), at;
    uint32_t room = rheap_largest_run(&b->heap);
    struct before before = take_before(b);
    pool_status status = rheap_alloc(&b->heap, size, align, &at);
    remember(b, at);
    if (status != POOL_OK) {
        cr_assert(at == 0 && (size == 0 || size_rounded(size, align) > room || room == 0));
        expect_unchanged(b, &before);
        return;
    }
    *s = (bed_slot){at, size, 0};
    cr_assert_eq(at % align, 0);
    cr_assert_eq(rheap_size(&b->heap, at), size_rounded(size, align));
    expect_no_overlap(b, s, size_rounded(size, align));
    fill(b, s);
}

static void step_free(bed *b, bed_slot *s)
{
    expect_content(b, s, s->size);
    uint32_t used = b->heap.used, size = rheap_size(&b->heap, s->at);
    cr_assert_eq(rheap_free(&b->heap, s->at), POOL_OK);
    cr_assert_eq(b->heap.used, used - size);
    cr_assert_eq(rheap_free(&b->heap, s->at), POOL_DOUBLE_FREE);
    s->at = 0;
}

static void step_realloc(bed *b, bed_slot *s)
{
    uint32_t size = pick_size(b), align = pick_align(b), at, kept = size < s->size ? size : s->size;
    struct before before = take_before(b);
    pool_status status = rheap_realloc(&b->heap, s->at, size, align, &at);
    remember(b, at);
    if (status == POOL_ZERO) {
        s->at = 0;
        return;
    }
    if (status != POOL_OK) {
        expect_unchanged(b, &before);
        expect_content(b, s, s->size);
        return;
    }
    s->at = at;
    expect_content(b, s, kept);
    s->size = size;
    cr_assert(rheap_size(&b->heap, at) >= size);
    expect_no_overlap(b, s, rheap_size(&b->heap, at));
    fill(b, s);
}

/* The probe answers with the largest run whenever there is one, keeps what is used and free, and is stable.
 */
static void step_probe(bed *b)
{
    uint32_t run = rheap_largest_run(&b->heap), used = b->heap.used;
    uint64_t blocks = free_blocks(&b->heap);
    uint32_t answer = rheap_largest_probe(&b->heap);
    if (run > 0)
        cr_assert_eq(answer, run, "seed %llu: probe %u, largest run %u", (unsigned long long)b->seed, answer,
                     run);
    else
        cr_assert(answer <= RHEAP_FRAGMENT_MAX && answer % 16 == 0);
    cr_assert_eq(b->heap.used, used);
    cr_assert_eq(free_blocks(&b->heap), blocks, "the probe changed which blocks are free");
    cr_assert_eq(rheap_largest_run(&b->heap), run);
    cr_assert_eq(rheap_largest_probe(&b->heap), answer);
    cr_assert_null(rheap_check(&b->heap));
    remember(b, answer);
}

void bed_step(bed *b)
{
    bed_slot *s = &b->slots[below(b, BED_SLOTS)];
    b->operations++;
    if (below(b, 512) == 0)
        step_probe(b);
    else if (!s->at)
        step_alloc(b, s);
    else if (below(b, 3) == 0)
        step_realloc(b, s);
    else
        step_free(b, s);
}

void bed_free_all(bed *b)
{
    for (int i = 0; i < BED_SLOTS; i++) {
        if (b->slots[i].at)
            step_free(b, &b->slots[i]);
    }
}
