/* SPDX-License-Identifier: MIT */
/*
 * tracker.c - see tracker.h. A free starts loading the entry before it goes to the wrapped pool, so that miss
 * runs beside the wrapped pool's own; it touches no record.
 *
 * What decides the cost is how many cache lines an operation meets that nobody has met lately. An entry is
 * one (neighbours in memory share it), a record is none (they are written in order, see take_record), the
 * site and the texts are found in small caches whose answers are compared before they are believed. Every
 * growth may fail: then the record is lost, not the allocation. Locking: pool.c holds the tracker's lock
 * round each operation. Read next: memdump.c.
 */
#include "tracker.h"
#include "fatal.h"
#include "fmt.h"
#include "memdump.h"
#include "os.h"

#include <string.h>

static tracker *self(pool *p)
{
    return (tracker *)(void *)p;
}

static tracker_record *record_at(const tracker *t, uint32_t index)
{
    return (tracker_record *)t->records.at + index;
}

/* --- entries --------------------------------------------------------------------------------------- */

/* (index + 1) << 5 | chained << 4 | low bits of the address; 0: nothing. */
#define ENTRY_CHAINED   16u
#define ENTRY_INDEX_MAX ((1u << 27) - 2)

static uint32_t entry_make(uint32_t index, uintptr_t address)
{
    return (index + 1) << 5 | (address & 15);
}

static uint32_t entry_index(uint32_t entry)
{
    return (entry >> 5) - 1;
}

/* Where the entry of an address stands, NULL when it has none. */
static uint32_t *find_entry(const tracker *t, const void *block)
{
    uint32_t *at = page_map_find(&t->pages, (uintptr_t)block);
    while (at && *at && (*at & 15) != ((uintptr_t)block & 15))
        at = *at & ENTRY_CHAINED ? &record_at(t, entry_index(*at))->next : NULL;
    return at && *at ? at : NULL;
}

/* --- records --------------------------------------------------------------------------------------- */

/* 64 at a time, a word of marks. */
static COLD bool make_records(tracker *t)
{
    size_t records = t->made * sizeof(tracker_record), bits = t->made / 8;
    if (t->made + 64 > ENTRY_INDEX_MAX ||
        !growing_reserve(&t->records, records, records + 64 * sizeof(tracker_record)) ||
        !growing_reserve(&t->taken, bits, bits + 8))
        return false;
    t->made += 64;
    return true;
}

/* False: every record is in use and there is no memory for more. */
static bool take_record(tracker *t, uint32_t *index)
{
    if (t->live >= t->made / 4 * 3 && !make_records(t) && t->live == t->made)
        return false;
    uint64_t *words = t->taken.at;
    while (!~words[t->rover])
        t->rover = (t->rover + 1) * 64 == t->made ? 0 : t->rover + 1;
    unsigned bit = (unsigned)__builtin_ctzll(~words[t->rover]);
    words[t->rover] |= 1ull << bit;
    t->live++;
    *index = t->rover * 64 + bit;
    return true;
}

static void drop_record(tracker *t, uint32_t index)
{
    ((uint64_t *)t->taken.at)[index / 64] &= ~(1ull << (index % 64));
    t->live--;
}

static bool is_met(const tracker *t, const struct tracker_met *m, const pool_request *r)
{
    return m->id && m->site.line == r->line && m->file == r->file && m->tag == r->tag && m->name == r->name &&
           m->site.flag == r->flag && m->site.align == (uint32_t)r->align &&
           intern_is(&t->texts, m->site.tag, r->tag) && intern_is(&t->texts, m->site.file, r->file) &&
           intern_is(&t->texts, m->site.name, r->name);
}

static COLD void meet(tracker *t, struct tracker_met *m, const pool_request *r)
{
    *m = (struct tracker_met){r->tag, r->file, r->name, .site = {.line = r->line}};
    m->site.tag = intern_text(&t->texts, r->tag);
    m->site.file = intern_text(&t->texts, r->file);
    m->site.name = intern_text(&t->texts, r->name);
    m->site.flag = r->flag;
    m->site.align = (uint32_t)r->align;
    m->id = intern_bytes(&t->sites, &m->site, sizeof m->site);
}

static uint32_t site_of(tracker *t, const pool_request *r)
{
    uintptr_t mix = (uintptr_t)r->file / 8 + (uintptr_t)r->tag / 2 + (uintptr_t)r->line * 31;
    struct tracker_met *m = &t->met[mix % TRACKER_SITE_CACHE];
    if (unlikely(!is_met(t, m, r)))
        meet(t, m, r);
    return m->id;
}

/* An entry that is there already belongs to a neighbour within the same 16 bytes: it becomes the next. */
static void remember(tracker *t, const void *block, const pool_request *r)
{
    uint32_t index, *at = page_map_make(&t->pages, (uintptr_t)block);
    if (unlikely(!at || !take_record(t, &index))) {
        t->lost++;
        t->excused++;
        return;
    }
    *record_at(t, index) = (tracker_record){++t->serial, r->size, site_of(t, r), r->stack, *at};
    *at = entry_make(index, (uintptr_t)block) | (*at ? ENTRY_CHAINED : 0);
}

/* A chain's next entry moves up; only then is the record read. */
static void forget(tracker *t, uint32_t *at)
{
    uint32_t index = entry_index(*at);
    *at = *at & ENTRY_CHAINED ? record_at(t, index)->next : 0;
    drop_record(t, index);
}

/* A pointer without a record: excused while records have been lost, else told. POOL_OK: forward it. */
static COLD pool_status unknown_pointer(tracker *t, const void *block, const char *call)
{
    if (t->excused) {
        t->excused--;
        return POOL_OK;
    }
    t->unknown++;
    message(MESSAGE_MISUSE, "%s of %p: pool '%s' has no record of it", call, block, t->filter.base.name);
    return t->strict ? POOL_INVALID : POOL_OK;
}

/* --- the pool's operations ------------------------------------------------------------------------- */

static pool_status tracker_alloc(pool *p, const pool_request *r, void **out, size_t *size)
{
    pool_status s = pool_alloc_sized(self(p)->filter.inner, r, out, size);
    if (likely(s == POOL_OK))
        remember(self(p), *out, r);
    return s;
}

/* The wrapped pool goes first, so that its cache misses run beside the entry's; only a strict tracker must
   know beforehand. */
static pool_status tracker_free(pool *p, void *block, size_t *size)
{
    tracker *t = self(p);
    const uint32_t *word = page_map_find(&t->pages, (uintptr_t)block);
    if (likely(word != NULL))
        __builtin_prefetch(word, 1);
    pool_status known = t->strict && !find_entry(t, block) ? unknown_pointer(t, block, "free") : POOL_OK;
    pool_status s = known == POOL_OK ? pool_free_sized(t->filter.inner, block, size) : known;
    uint32_t *at = known == POOL_OK ? find_entry(t, block) : NULL;
    if (s == POOL_OK && at)
        forget(t, at);
    else if (!at && !t->strict)
        unknown_pointer(t, block, "free");
    return s;
}

/* Recorded anew, as the original does: what the block is for may have changed with its size. */
static pool_status tracker_resize(pool *p, void *block, const pool_request *r, void **out)
{
    tracker *t = self(p);
    uint32_t *at = find_entry(t, block);
    pool_status s = at ? POOL_OK : unknown_pointer(t, block, "resize");
    if (s == POOL_OK)
        s = pool_resize(t->filter.inner, block, r, out);
    if (at && (s == POOL_OK || s == POOL_ZERO))
        forget(t, at);
    if (s == POOL_OK)
        remember(t, *out, r);
    return s;
}

static pool_status tracker_set_option(pool *p, int which, uintptr_t value)
{
    if (which == POOL_OPTION_STRICT)
        self(p)->strict = value != 0;
    else if (which == TRACKER_OPTION_DUMP)
        self(p)->dump = value != 0;
    else
        return filter_set_option(p, which, value);
    return POOL_OK;
}

static bool tracker_check_empty(pool *p)
{
    return self(p)->live == 0;
}

static void say_leak(void *arg, uintptr_t address, const tracker_record *r)
{
    const tracker *t = arg;
    tracker_source from = tracker_source_of(t, r);
    message(MESSAGE_WARNING, "pool '%s': %zu bytes at 0x%lx are still in use: %s %s, %s:%d",
            t->filter.base.name, r->size, (unsigned long)address, from.tag, from.name, from.file, from.line);
}

static size_t tracker_report_leaks(pool *p)
{
    tracker *t = self(p);
    if (!t->dump)
        tracker_walk(t, say_leak, t);
    else if (t->dump_to.put)
        memdump_pool(p, &t->dump_to);
    return t->live;
}

static size_t tracker_describe(pool *p, const void *block, char *out, size_t cap)
{
    const tracker *t = self(p);
    const tracker_record *r = tracker_find(t, block);
    if (!r)
        return fmt_text(out, cap, "%p: pool '%s' has no record of it", block, p->name);
    tracker_source from = tracker_source_of(t, r);
    return fmt_text(out, cap, "%p: %zu bytes, align %u, %s %s, %s:%d, flag %u, stack %u, pool '%s'", block,
                    r->size, from.align, from.tag, from.name, from.file, from.line, from.flag, r->stack,
                    p->name);
}

/* What a walk meets. */
struct tally {
    const tracker *of;
    uint64_t met;
    bool found; /* each by its address */
};

static void count_record(void *arg, uintptr_t address, const tracker_record *r)
{
    struct tally *t = arg;
    t->met++;
    t->found &= tracker_find(t->of, (const void *)address) == r;
}

static const char *broken(const tracker *t)
{
    struct tally all = {t, 0, true};
    tracker_walk(t, count_record, &all);
    if (!all.found)
        return "an entry leads to another's record";
    return all.met == t->live ? NULL : "a record is neither free nor in use";
}

static bool tracker_check(pool *p)
{
    const char *wrong = broken(self(p));
    if (wrong)
        message(MESSAGE_MISUSE, "tracker of pool '%s' is damaged: %s", p->name, wrong);
    return filter_check(p) && !wrong;
}

static pool_status tracker_destroy(pool *p)
{
    pool_status s = filter_destroy(p);
    if (s == POOL_OK)
        tracker_done(self(p));
    return s;
}

static const pool_ops tracker_ops = {
    .alloc = tracker_alloc,
    .free = tracker_free,
    .resize = tracker_resize,
    .set_option = tracker_set_option,
    .check_empty = tracker_check_empty,
    .largest_free = filter_largest_free,
    .free_bytes = filter_free_bytes,
    .size = filter_size,
    .destroy = tracker_destroy,
    .report_leaks = tracker_report_leaks,
    .describe = tracker_describe,
    .check = tracker_check,
    .stats = filter_stats,
};

void tracker_init(tracker *t, pool *inner, const char *name)
{
    memset(t, 0, sizeof *t);
    filter_init_kind(&t->filter, inner, name, &tracker_ops, POOL_TRACK);
}

void tracker_done(tracker *t)
{
    page_map_done(&t->pages);
    growing_done(&t->records);
    growing_done(&t->taken);
    intern_done(&t->texts);
    intern_done(&t->sites);
    intern_done(&t->stacks);
    memset(t->met, 0, sizeof t->met);
    t->made = t->live = t->rover = 0;
}

tracker *tracker_from_pool(pool *p)
{
    return p && p->ops == &tracker_ops ? self(p) : NULL;
}

/* --- what is recorded ------------------------------------------------------------------------------ */

uint32_t tracker_stack(tracker *t, const uintptr_t *words, size_t count)
{
    bool shared = t->filter.base.flags & POOL_SHARED;
    if (shared)
        lock_take(&t->filter.base.lock);
    uint32_t id = intern_bytes(&t->stacks, words, count * sizeof *words);
    if (shared)
        lock_drop(&t->filter.base.lock);
    return id;
}

const uintptr_t *tracker_stack_words(const tracker *t, uint32_t id, size_t *count)
{
    size_t size;
    const void *words = intern_get(&t->stacks, id, &size);
    *count = size / sizeof(uintptr_t);
    return words;
}

const tracker_record *tracker_find(const tracker *t, const void *block)
{
    const uint32_t *at = find_entry(t, block);
    return at ? record_at(t, entry_index(*at)) : NULL;
}

static const char *text_of(const tracker *t, uint32_t id)
{
    size_t size;
    const char *text = intern_get(&t->texts, id, &size);
    return text && size ? text : "-";
}

tracker_source tracker_source_of(const tracker *t, const tracker_record *r)
{
    static const tracker_site none;
    size_t size;
    const tracker_site *site = intern_get(&t->sites, r->site, &size);
    site = site ? site : &none;
    const char *path = text_of(t, site->file), *slash = strrchr(path, '/');
    return (tracker_source){text_of(t, site->tag),
                            slash ? slash + 1 : path,
                            text_of(t, site->name),
                            site->line,
                            site->flag,
                            site->align};
}

struct walk {
    const tracker *of;
    tracker_visit *visit;
    void *arg;
};

/* One word of the pages: the allocations within its 16 bytes. */
static void walk_entries(void *arg, uintptr_t grain, uint32_t entry)
{
    const struct walk *w = arg;
    while (entry) {
        const tracker_record *r = record_at(w->of, entry_index(entry));
        w->visit(w->arg, grain | (entry & 15), r);
        entry = entry & ENTRY_CHAINED ? r->next : 0;
    }
}

void tracker_walk(const tracker *t, tracker_visit *visit, void *arg)
{
    page_map_walk(&t->pages, walk_entries, &(struct walk){t, visit, arg});
}
