/* SPDX-License-Identifier: MIT */
/*
 * memdump.c - see memdump.h. A tracker knows all of a block; a heap or clump knows its place and size, which
 * is better than nothing and costs nothing to keep. A kind that knows neither has its pool line only.
 *
 * Stacks are numbers in the block lines; each is written out once, behind the blocks of the tracker that
 * keeps it. A number above those the tracker has given is the caller's own and stands without words. Locking:
 * see memdump.h. Cost: a formatted line a block.
 */
#include "memdump.h"
#include "clump.h"
#include "fmt.h"
#include "retail.h"
#include "tracker.h"

enum { FIELD = 128 };

/* One pool while it is written. */
struct dump {
    const lines *to;
    const tracker *of;
    uint32_t highest_stack; /* the largest number met */
};

static void plain_block(const lines *to, const void *at, size_t size)
{
    lines_say(to, "block\t0x%lx\t%zu\t-\t-\t-\t0\t0\t-\t0\t0", (unsigned long)(uintptr_t)at, size);
}

static void dump_heap(const retail_pool *p, const lines *to)
{
    for (uint32_t at = rheap_next_live(&p->heap, 0); at; at = rheap_next_live(&p->heap, at + 8))
        plain_block(to, rheap_pointer(&p->heap, at), rheap_size(&p->heap, at));
}

static void dump_clump(const clump *c, const lines *to)
{
    const clump_extent *e = c->extents.at;
    for (uint32_t i = 0; i < c->extent_count; i++) {
        if (!e[i].freed)
            plain_block(to, c->block + e[i].offset, e[i].size);
    }
}

/* A text that can stand between tabs in a line; `room` for one that could not. */
static const char *field(const char *text, char room[FIELD])
{
    size_t n = 0;
    bool clean = true;
    for (; text[n]; n++)
        clean = clean && (unsigned char)text[n] >= ' ';
    if (clean)
        return text;
    for (n = 0; text[n] && n < FIELD - 1; n++)
        room[n] = (unsigned char)text[n] < ' ' ? ' ' : text[n];
    room[n] = 0;
    return room;
}

static void dump_record(void *arg, uintptr_t address, const tracker_record *r)
{
    struct dump *d = arg;
    tracker_source from = tracker_source_of(d->of, r);
    char tag[FIELD], file[FIELD], name[FIELD];
    lines_say(d->to, "block\t0x%lx\t%zu\t%u\t%s\t%s\t%d\t%u\t%s\t%u\t%lu", (unsigned long)address, r->size,
              from.align, field(from.tag, tag), field(from.file, file), from.line, from.flag,
              field(from.name, name), r->stack, (unsigned long)r->serial);
    if (r->stack > d->highest_stack)
        d->highest_stack = r->stack;
}

/* Words of a stack, as many as a line takes. */
static void dump_stack(const tracker *t, uint32_t id, const lines *to)
{
    char text[480] = "";
    size_t count, used = 0;
    const uintptr_t *words = tracker_stack_words(t, id, &count);
    for (size_t i = 0; words && i < count && used + 20 < sizeof text; i++)
        used += fmt_text(text + used, sizeof text - used, "\t0x%lx", (unsigned long)words[i]);
    if (words)
        lines_say(to, "stack\t%u%s", id, text);
}

static void dump_tracker(const tracker *t, const lines *to)
{
    struct dump d = {to, t, 0};
    tracker_walk(t, dump_record, &d);
    for (uint32_t id = 1; id <= d.highest_stack && id <= t->stacks.count; id++)
        dump_stack(t, id, to);
}

void memdump_pool(pool *p, const lines *to)
{
    lines_say(to, "pool\t%s\t%s\t0x%lx\t0x%lx\t%lu\t%lu", p->name, pool_kind_name((pool_kind)p->kind),
              (unsigned long)p->first, (unsigned long)p->last, (unsigned long)p->counts.live_blocks,
              (unsigned long)p->counts.live_bytes);
    if (retail_from_pool(p))
        dump_heap(retail_from_pool(p), to);
    else if (clump_from_pool(p))
        dump_clump(clump_from_pool(p), to);
    else if (tracker_from_pool(p))
        dump_tracker(tracker_from_pool(p), to);
}

void memdump_write(registry *r, const lines *to)
{
    lines_say(to, "# poolmem memdump 1: block address size align tag file line flag name stack serial");
    for (const registry_record *at = registry_next(r, NULL, NULL); at; at = registry_next(r, at, NULL))
        memdump_pool(at->pool, to);
    lines_say(to, "end");
}
