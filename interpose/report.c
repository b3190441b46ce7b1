/* SPDX-License-Identifier: MIT */
/*
 * report.c - see report.h: takes the picture. Tallies are added up by site, sites sorted by pool and bytes,
 * live figures read from the heaps; the rest is arithmetic:
 *   frees = allocs - live blocks;  live + free + overhead = committed;  committed + the rest = RSS.
 * Overhead is the heaps' records and whatever of the committed bytes is neither live nor free.
 * Cost: one pass over the tallies, a heap sort of the sites with calls, a pass over every block record.
 */
#include "report.h"

#include <string.h>

#define TREE_DEPTH 16 /* deeper pools are shown at this depth */

size_t report_bytes(void)
{
    return round_up(sizeof(report), 64) + STATS_SITES * sizeof(report_site);
}

static uint32_t load32(const uint32_t *p)
{
    return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

static uint64_t load64(const uint64_t *p)
{
    return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

static uint32_t lesser(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Start of a table of the mapping; *count is cut to what fits the bytes there are. */
static const void *table(const report_source *s, uint32_t at, size_t row_bytes, uint32_t most,
                         uint32_t *count)
{
    size_t room = at < s->bytes && at % 8 == 0 ? (s->bytes - at) / row_bytes : 0;
    *count = lesser(lesser(*count, most), room < most ? (uint32_t)room : most);
    return (const char *)s->header + at;
}

static bool view_open(const report_source *s, report_view *v)
{
    const stats_header *h = s->header;
    if (s->bytes < sizeof *h || memcmp(h->magic, STATS_MAGIC, sizeof h->magic) != 0 ||
        h->version != STATS_VERSION || h->header_bytes != sizeof *h)
        return false;
    v->header = h;
    v->tally_count = load32(&h->tally_count); /* first: then the sites they name are there */
    v->site_count = load32(&h->site_count);
    v->frame_count = load32(&h->frame_count);
    v->module_count = load32(&h->module_count);
    v->string_bytes = load32(&h->string_bytes);
    v->pool_count = load32(&h->pool_count);
    v->pools = table(s, h->pools_at, sizeof *v->pools, STATS_POOLS, &v->pool_count);
    v->sites = table(s, h->sites_at, sizeof *v->sites, STATS_SITES, &v->site_count);
    v->frames = table(s, h->frames_at, sizeof *v->frames, STATS_FRAMES, &v->frame_count);
    v->modules = table(s, h->modules_at, sizeof *v->modules, STATS_MODULES, &v->module_count);
    v->strings = table(s, h->strings_at, 1, STATS_STRINGS, &v->string_bytes);
    v->tallies = table(s, h->tallies_at, sizeof *v->tallies, STATS_TALLIES, &v->tally_count);
    uint32_t lives = v->site_count;
    v->lives = table(s, h->lives_at, sizeof *v->lives, STATS_SITES, &lives);
    if (!h->track || lives < v->site_count)
        v->lives = NULL;
    return true;
}

static void copy_string(const report_view *v, uint32_t at, char *to, size_t cap)
{
    size_t room = at < v->string_bytes ? v->string_bytes - at : 0;
    size_t n = strnlen(v->strings + at * (room != 0), room < cap - 1 ? room : cap - 1);
    memcpy(to, v->strings + at * (room != 0), n);
    to[n] = 0;
}

static void sum_tallies(report *r)
{
    for (uint32_t i = 0; i < r->view.tally_count; i++) {
        const stats_tally *t = &r->view.tallies[i];
        uint64_t allocs = load64(&t->allocs), bytes = load64(&t->bytes), reallocs = load64(&t->reallocs);
        uint32_t site = load32(&t->site);
        if (site >= r->view.site_count)
            continue;
        r->sites[site].allocs += allocs;
        r->sites[site].bytes += bytes;
        r->sites[site].reallocs += reallocs;
    }
}

static uint64_t not_negative(int64_t n)
{
    return n > 0 ? (uint64_t)n : 0;
}

static void add_lives(report *r)
{
    for (uint32_t i = 0; r->view.lives && i < r->view.site_count; i++) {
        r->sites[i].live_bytes = not_negative(r->view.lives[i].bytes);
        r->sites[i].live_blocks = not_negative(r->view.lives[i].blocks);
    }
}

static bool site_idle(const report_site *s)
{
    return !(s->allocs | s->bytes | s->reallocs | s->live_blocks);
}

/* Leaves out sites without calls or with a pool that is not there. */
static void pack_sites(report *r)
{
    for (uint32_t i = 0; i < r->view.site_count; i++) {
        report_site s = r->sites[i];
        s.site = i;
        s.pool = r->view.sites[i].pool;
        if (!site_idle(&s) && s.pool < r->pool_count)
            r->sites[r->site_total++] = s;
    }
}

static bool site_before(const report_site *a, const report_site *b)
{
    if (a->pool != b->pool)
        return a->pool < b->pool;
    return a->bytes != b->bytes ? a->bytes > b->bytes : a->site < b->site;
}

static void sift_down(report_site *s, uint32_t at, uint32_t n)
{
    for (uint32_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && site_before(&s[child], &s[child + 1]))
            child++;
        if (!site_before(&s[at], &s[child]))
            return;
        report_site t = s[at];
        s[at] = s[child];
        s[child] = t;
    }
}

static void sort_sites(report_site *s, uint32_t n)
{
    for (uint32_t i = n / 2; i-- > 0;)
        sift_down(s, i, n);
    while (n-- > 1) {
        report_site t = s[0];
        s[0] = s[n];
        s[n] = t;
        sift_down(s, 0, n);
    }
}

static void give_sites_to_pools(report *r)
{
    for (uint32_t i = 0; i < r->site_total; i++) {
        const report_site *s = &r->sites[i];
        report_pool *p = &r->pools[s->pool];
        if (!p->site_count++)
            p->site_first = i;
        p->stats.allocs += s->allocs;
        p->stats.alloc_bytes += s->bytes;
        p->stats.reallocs += s->reallocs;
    }
}

static void read_row(report *r, uint32_t id)
{
    const stats_pool *row = &r->view.pools[id];
    report_pool *p = &r->pools[id];
    memcpy(p->name, row->name, POOL_NAME_MAX);
    p->parent = row->parent < r->pool_count ? row->parent : id;
    p->kind = row->kind;
    p->limit_bytes = load64(&row->limit);
}

/* A kind behind a lock keeps all its figures itself; its tallies only tell the call-sites. */
static void read_locked(report_pool *p, const stats_pool *row)
{
    p->stats = row->locked;
    p->exact = true;
}

static void read_heap(report *r, report_pool *p, const stats_pool *row)
{
    heap_figures f = {0};
    const report_source *s = &r->source;
    uint64_t heap = load64(&row->heap);
    p->exact = !heap || s->figures(load64(&r->view.header->world), heap, s->reader, s->reader_arg, &f);
    if (!p->exact)
        f = (heap_figures){.live_bytes = row->committed_bytes, .committed_bytes = row->committed_bytes};
    p->stats.live_bytes = f.live_bytes;
    p->stats.live_blocks = f.live_blocks;
    p->stats.committed_bytes = f.committed_bytes;
    p->stats.free_bytes = f.free_bytes;
    p->stats.largest_free_bytes = f.largest_free_bytes;
    p->overhead_bytes = f.overhead_bytes;
    p->stats.peak_bytes = load64(&row->peak_bytes);
    p->stats.failed = load64(&row->failed);
    p->stats.over_limit = load64(&row->over_limit);
    p->stats.frees = p->exact ? not_negative((int64_t)(p->stats.allocs - f.live_blocks)) : 0;
}

static void read_figures(report *r, uint32_t id)
{
    const stats_pool *row = &r->view.pools[id];
    report_pool *p = &r->pools[id];
    if (!row->heap && p->kind != POOL_HEAP)
        read_locked(p, row);
    else
        read_heap(r, p, row);
    if (p->stats.peak_bytes < p->stats.live_bytes)
        p->stats.peak_bytes = p->stats.live_bytes;
    r->exact &= p->exact;
}

static void add_up(report *r, const report_pool *p)
{
    pool_stats *t = &r->total;
    const pool_stats *s = &p->stats;
    t->live_bytes += s->live_bytes;
    t->live_blocks += s->live_blocks;
    t->peak_bytes += s->peak_bytes;
    t->allocs += s->allocs;
    t->frees += s->frees;
    t->reallocs += s->reallocs;
    t->alloc_bytes += s->alloc_bytes;
    t->failed += s->failed;
    t->over_limit += s->over_limit;
    t->free_bytes += s->free_bytes;
    t->committed_bytes += s->committed_bytes;
    r->overhead_bytes += p->overhead_bytes;
}

/* Makes live + free + overhead = committed hold, whatever was caught between two stores. */
static void reconcile(report *r)
{
    uint64_t held = r->total.live_bytes + r->total.free_bytes;
    if (r->total.committed_bytes < held)
        r->total.committed_bytes = held;
    r->overhead_bytes += r->total.committed_bytes - held;
    r->committed_bytes = held + r->overhead_bytes;
}

static uint32_t depth_of(const report *r, uint32_t id)
{
    uint32_t depth = 0;
    while (r->pools[id].parent != id && depth < TREE_DEPTH) {
        id = r->pools[id].parent;
        depth++;
    }
    return depth;
}

static bool is_below(const report *r, uint32_t id, uint32_t ancestor)
{
    for (uint32_t d = 0; d <= TREE_DEPTH; d++) {
        if (id == ancestor)
            return true;
        id = r->pools[id].parent;
    }
    return false;
}

/* Each pool goes behind the last one placed that is below its parent. */
static void order_tree(report *r)
{
    uint32_t placed = 0;
    for (uint32_t depth = 0; depth <= TREE_DEPTH; depth++)
        for (uint32_t id = 0; id < r->pool_count; id++) {
            if (r->pools[id].depth != depth)
                continue;
            uint32_t at = placed;
            while (depth && at && !is_below(r, r->order[at - 1], r->pools[id].parent))
                at--;
            memmove(r->order + at + 1, r->order + at, (placed - at) * sizeof *r->order);
            r->order[at] = id;
            placed++;
        }
}

static void read_header(report *r)
{
    const stats_header *h = r->view.header;
    memcpy(r->exe, h->exe, sizeof r->exe - 1);
    memcpy(r->program, h->program, sizeof r->program - 1);
    r->uptime_ns = not_negative((int64_t)(r->source.now_ns - h->start_ns));
    r->foreign_frees = load64(&h->foreign_frees);
    r->misuse = load64(&h->misuse);
    r->unwound = load64(&h->unwound);
    r->sites_lost = load64(&h->sites_lost);
    r->tallies_lost = load64(&h->tallies_lost);
    r->track_lost = load64(&h->track_lost);
}

static void derive(report *r)
{
    r->memo_hits = not_negative((int64_t)(r->total.allocs + r->total.reallocs - r->unwound));
    r->unattributed_allocs = r->pool_count ? r->pools[STATS_POOL_GLOBAL].stats.allocs : 0;
    r->unattributed_bytes = r->pool_count ? r->pools[STATS_POOL_GLOBAL].stats.alloc_bytes : 0;
}

report *report_take(const report_source *from, void *memory)
{
    report *r = memory;
    memset(r, 0, sizeof *r);
    r->source = *from;
    r->exact = true;
    if (!view_open(from, &r->view))
        return NULL;
    r->pool_count = r->view.pool_count;
    r->sites = (report_site *)((char *)memory + round_up(sizeof *r, 64));
    memset(r->sites, 0, r->view.site_count * sizeof *r->sites);
    read_header(r);
    sum_tallies(r);
    add_lives(r);
    pack_sites(r);
    sort_sites(r->sites, r->site_total);
    for (uint32_t id = 0; id < r->pool_count; id++)
        read_row(r, id);
    give_sites_to_pools(r);
    for (uint32_t id = 0; id < r->pool_count; id++)
        r->pools[id].depth = depth_of(r, id);
    for (uint32_t id = 0; id < r->pool_count; id++) {
        read_figures(r, id);
        add_up(r, &r->pools[id]);
    }
    reconcile(r);
    derive(r);
    order_tree(r);
    return r;
}

unsigned report_frame_count(const report *r, uint32_t site)
{
    return lesser(r->view.sites[site].frame_count, STATS_SITE_FRAMES);
}

bool report_frame_get(const report *r, uint32_t site, unsigned n, report_frame_text *out)
{
    const stats_site *s = &r->view.sites[site];
    if (n >= report_frame_count(r, site) || s->frames[n] >= r->view.frame_count)
        return false;
    const stats_frame *f = &r->view.frames[s->frames[n]];
    copy_string(&r->view, f->symbol, out->symbol, sizeof out->symbol);
    out->module[0] = 0;
    if (f->module < r->view.module_count)
        copy_string(&r->view, r->view.modules[f->module].path, out->module, sizeof out->module);
    out->symbol_offset = f->symbol_offset;
    out->offset = f->offset;
    out->address = f->address;
    return true;
}

const char *report_reason_text(report_reason why)
{
    static const char *const text[REASON_COUNT] = {"signal", "exit", "request", "limit"};
    return (unsigned)why < REASON_COUNT ? text[why] : "unknown";
}

const char *report_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

report_format report_format_of(const char *path)
{
    static const struct {
        const char *ending;
        report_format format;
    } known[] = {{".json", FORMAT_JSON}, {".folded", FORMAT_FOLDED}, {".heap", FORMAT_HEAP}};
    const char *dot = strrchr(report_base_name(path), '.');
    for (size_t i = 0; dot && i < sizeof known / sizeof *known; i++)
        if (strcmp(dot, known[i].ending) == 0)
            return known[i].format;
    return FORMAT_TEXT;
}

void report_write(const report *r, report_format f, sink *out)
{
    static void (*const writers[])(const report *, sink *) = {
        [FORMAT_TEXT] = report_text,
        [FORMAT_JSON] = report_json,
        [FORMAT_FOLDED] = report_folded,
        [FORMAT_HEAP] = report_heap,
    };
    writers[f](r, out);
}
