/* SPDX-License-Identifier: MIT */
/*
 * report_text.c - see report.h: the report a person reads at a glance, within 100 columns: one line on the
 * process, the tree of pools as a table, the sums, then each pool's call-sites with the most bytes.
 * Locking: none.
 */
#include "report.h"
#include "fmt.h"
#include "report_units.h"

#include <string.h>

#define TOP          20 /* call-sites a pool, unless asked otherwise */
#define COLUMNS      100
#define NAME_WIDTH   22
#define BAR_WIDTH    8
#define SITE_INDENT  29 /* where the frames of a call-site start */
#define SYMBOL_WIDTH 60 /* of a function's name */
#define SITE_LINES   3  /* and how many lines they may take */

/* A rate over less than a tenth of a second says nothing. */
static const char *rate_text(char out[16], const report *r, uint64_t n)
{
    uint64_t ms = r->uptime_ns / 1000000;
    return ms >= 100 ? count_text(out, n * 1000 / ms) : "-";
}

static void put_title(const report *r, sink *out)
{
    char rss[16];
    unsigned long ms = (unsigned long)(r->uptime_ns / 1000000);
    sink_text(out, "poolmem %s: %s (pid %u), report %u (%s), up %lu.%lu s, RSS %s\n", POOLMEM_VERSION,
              r->program, r->source.pid, r->source.sequence, report_reason_text(r->source.reason), ms / 1000,
              ms % 1000 / 100, r->source.rss_bytes ? bytes_text(rss, r->source.rss_bytes) : "unknown");
}

static void put_bar(sink *out, uint64_t part, uint64_t whole)
{
    size_t filled = whole ? (size_t)((part * BAR_WIDTH + whole / 2) / whole) : 0;
    filled = filled ? filled : part != 0;
    filled = filled > BAR_WIDTH ? BAR_WIDTH : filled;
    sink_char(out, '#', filled);
    sink_char(out, '.', BAR_WIDTH - filled);
}

/* At the end a program has usually given everything back: then the peaks are what there is to compare. */
static bool of_peak(const report *r)
{
    return r->source.reason == REASON_EXIT;
}

static void put_figures(const report *r, const pool_stats *s, const char *limit, const char *largest,
                        sink *out)
{
    char live[16], peak[16], blocks[16], allocs[16], rate[16];
    uint64_t part = of_peak(r) ? s->peak_bytes : s->live_bytes;
    uint64_t whole = of_peak(r) ? r->total.peak_bytes : r->total.live_bytes;
    unsigned share = whole ? (unsigned)((part * 200 / whole + 1) / 2) : 0;
    sink_text(out, " %9s %3u%% ", bytes_text(live, s->live_bytes), share > 100 ? 100 : share);
    put_bar(out, part, whole);
    sink_text(out, " %9s %6s %6s %6s %8s %8s\n", bytes_text(peak, s->peak_bytes),
              count_text(blocks, s->live_blocks), count_text(allocs, s->allocs),
              rate_text(rate, r, s->allocs), limit, largest);
}

/* Where no limit ends it, only the address space does, which is far: no figure to look at. */
static const char *largest_text(char out[16], const report_pool *p)
{
    bool far = p->stats.largest_free_bytes > GIB(1) && p->stats.largest_free_bytes > p->limit_bytes;
    return far ? "> 1 GiB" : bytes_text(out, p->stats.largest_free_bytes);
}

static void put_pool(const report *r, const report_pool *p, sink *out)
{
    char limit[16] = "-", largest[16], name[NAME_WIDTH + 1];
    int indent = (int)(p->depth < 6 ? p->depth : 6) * 2;
    fmt_text(name, sizeof name, "%*s%s", indent, "", p->name);
    sink_text(out, "%-*s", NAME_WIDTH, name);
    if (p->limit_bytes)
        bytes_text(limit, p->limit_bytes);
    put_figures(r, &p->stats, limit, largest_text(largest, p), out);
}

static void put_table(const report *r, sink *out)
{
    sink_text(out, "%-*s %9s %4s %-*s %9s %6s %6s %6s %8s %8s\n", NAME_WIDTH, "pool", "live", "%", BAR_WIDTH,
              of_peak(r) ? "of peaks" : "share", "peak", "blocks", "allocs", "per s", "limit", "free run");
    for (uint32_t i = 0; i < r->pool_count; i++)
        put_pool(r, &r->pools[r->order[i]], out);
    sink_text(out, "%-*s", NAME_WIDTH, "all pools");
    put_figures(r, &r->total, "", "", out);
}

static void put_rest(const report *r, sink *out)
{
    char a[16], b[16];
    uint64_t rss = r->source.rss_bytes, committed = r->committed_bytes;
    if (!rss)
        sink_string(out, "; RSS unknown\n");
    else if (rss >= committed)
        sink_text(out, "\n  + rest of the process %s = RSS %s\n", bytes_text(a, rss - committed),
                  bytes_text(b, rss));
    else
        sink_text(out,
                  "\n  RSS of the whole process is only %s: at least %s of the committed is not resident\n",
                  bytes_text(a, rss), bytes_text(b, committed - rss));
}

static void put_sums(const report *r, sink *out)
{
    char a[16], b[16], c[16], d[16];
    sink_text(out, "live %s + free %s + overhead %s = committed %s", bytes_text(a, r->total.live_bytes),
              bytes_text(b, r->total.free_bytes), bytes_text(c, r->overhead_bytes),
              bytes_text(d, r->committed_bytes));
    put_rest(r, out);
    uint64_t calls = r->total.allocs;
    sink_text(out, "unattributed %s call%s (%lu%%, in %s), foreign frees %lu, misuse %lu, unwound %s of %s\n",
              count_text(a, r->unattributed_allocs), plural(r->unattributed_allocs),
              calls ? (unsigned long)(r->unattributed_allocs * 100 / calls) : 0,
              r->pool_count ? r->pools[STATS_POOL_GLOBAL].name : "Global", (unsigned long)r->foreign_frees,
              (unsigned long)r->misuse, count_text(b, r->unwound), count_text(c, calls));
    if (r->total.failed | r->total.over_limit)
        sink_text(out, "refused %lu request%s, %lu over a limit\n", (unsigned long)r->total.failed,
                  plural(r->total.failed), (unsigned long)r->total.over_limit);
    if (r->sites_lost | r->tallies_lost | r->track_lost)
        sink_text(out, "not told apart: %lu call-site%s, %lu counter%s, %lu tracked block%s (tables full)\n",
                  (unsigned long)r->sites_lost, plural(r->sites_lost), (unsigned long)r->tallies_lost,
                  plural(r->tallies_lost), (unsigned long)r->track_lost, plural(r->track_lost));
    if (!r->exact)
        sink_string(out, "live figures are upper bounds: the process's memory may not be read\n");
}

/* A name too long for its column loses its template arguments instead of the function at its end; operators,
   whose own names may hold brackets, are left. */
static const char *symbol_text(char out[SYMBOL_WIDTH + 1], const char *symbol)
{
    unsigned n = 0, depth = 0;
    if (strlen(symbol) <= SYMBOL_WIDTH || strstr(symbol, "operator"))
        return symbol;
    for (const char *p = symbol; *p && n < SYMBOL_WIDTH; p++) {
        depth -= *p == '>' && depth;
        if (!depth)
            out[n++] = *p;
        depth += *p == '<';
    }
    out[n] = 0;
    return out;
}

/* The module is told where it changes: `symbol+0x1 (module)`, or `module+0x1` when there is no symbol. */
static void frame_name(const report_frame_text *f, const char *before, char *to, size_t cap)
{
    char symbol[SYMBOL_WIDTH + 1];
    const char *module = *f->module ? report_base_name(f->module) : "unknown";
    bool same = strcmp(before, f->module) == 0;
    if (!*f->symbol)
        fmt_text(to, cap, "%.40s+0x%lx", same ? "" : module, (unsigned long)f->offset);
    else if (same)
        fmt_text(to, cap, "%.*s+0x%lx", SYMBOL_WIDTH, symbol_text(symbol, f->symbol),
                 (unsigned long)f->symbol_offset);
    else
        fmt_text(to, cap, "%.*s+0x%lx (%.24s)", SYMBOL_WIDTH, symbol_text(symbol, f->symbol),
                 (unsigned long)f->symbol_offset, module);
}

/* Columns to leave behind a frame: for what says that there is more. */
static size_t room_for_more(bool more, unsigned line)
{
    size_t sign = line < SITE_LINES ? sizeof " <" - 1 : sizeof " < ..." - 1;
    return more ? sign : 0;
}

/* Frames follow each other, innermost first, as far as they fit; three dots stand for the others. */
static void put_frames(const report *r, uint32_t site, sink *out)
{
    report_frame_text f;
    char name[128], before[sizeof f.module] = "none";
    unsigned line = 1;
    bool more = report_frame_get(r, site, 0, &f);
    for (unsigned i = 0; more; i++) {
        frame_name(&f, before, name, sizeof name);
        strcpy(before, f.module);
        more = report_frame_get(r, site, i + 1, &f);
        bool fits = out->column + 3 + strlen(name) + room_for_more(more, line) <= COLUMNS;
        if (i && !fits && line == SITE_LINES) {
            sink_string(out, " < ...");
            break;
        }
        if (i)
            sink_string(out, fits ? " < " : " <\n");
        if (i && !fits) {
            sink_char(out, ' ', SITE_INDENT);
            line++;
        }
        size_t room = COLUMNS - out->column - room_for_more(more, line);
        sink_bytes(out, name, strlen(name) < room ? strlen(name) : room);
    }
    sink_char(out, '\n', 1);
}

/* A pool's own site: calls whose stack was not looked at. */
static void put_base(const report_site *s, sink *out)
{
    char n[16];
    sink_string(out, "(no stack");
    if (s->reallocs)
        sink_text(out, "; %s reallocs", count_text(n, s->reallocs));
    sink_string(out, ")\n");
}

static void put_stack(const report *r, const report_site *s, sink *out)
{
    if (report_frame_count(r, s->site))
        put_frames(r, s->site, out);
    else
        put_base(s, out);
}

static void put_site(const report *r, const report_site *s, sink *out)
{
    char allocs[16], bytes[16], live[16];
    sink_text(out, "%8s %9s %9s ", count_text(allocs, s->allocs + s->reallocs), bytes_text(bytes, s->bytes),
              r->view.lives ? bytes_text(live, s->live_bytes) : "");
    put_stack(r, s, out);
}

static void put_sites(const report *r, const report_pool *p, sink *out)
{
    char calls[16], bytes[16];
    uint32_t top = r->source.top ? r->source.top : TOP;
    top = top < p->site_count ? top : p->site_count;
    if (!p->site_count)
        return;
    uint64_t n = p->stats.allocs + p->stats.reallocs;
    sink_text(out, "\n%s: %s call%s asked for %s; ", p->name, count_text(calls, n), plural(n),
              bytes_text(bytes, p->stats.alloc_bytes));
    if (top < p->site_count)
        sink_text(out, "the top %u of ", top);
    sink_text(out, "%u call-site%s\n", p->site_count, plural(p->site_count));
    sink_text(out, "%8s %9s %9s called by\n", "calls", "asked", r->view.lives ? "live" : "");
    for (uint32_t i = 0; i < top; i++)
        put_site(r, &r->sites[p->site_first + i], out);
}

static uint64_t live_of(const report *r, uint32_t i)
{
    return r->sites[i].live_bytes;
}

/* The site with the most live bytes after `before` in that order; site_total: none is left. */
static uint32_t next_leak(const report *r, uint32_t before)
{
    uint32_t best = r->site_total;
    for (uint32_t i = 0; i < r->site_total; i++) {
        bool after = before == r->site_total || live_of(r, i) < live_of(r, before) ||
                     (live_of(r, i) == live_of(r, before) && i > before);
        if (live_of(r, i) && after && (best == r->site_total || live_of(r, i) > live_of(r, best)))
            best = i;
    }
    return best;
}

static void put_leak(const report *r, const report_site *s, sink *out)
{
    char live[16], blocks[16];
    sink_text(out, "%8s %9s %9.9s ", count_text(blocks, s->live_blocks), bytes_text(live, s->live_bytes),
              r->pools[s->pool].name);
    put_stack(r, s, out);
}

/* At the end: what was never freed, wherever it is, most bytes first. */
static void put_leaks(const report *r, sink *out)
{
    char live[16];
    uint64_t bytes = 0, blocks = 0;
    uint32_t top = r->source.top ? r->source.top : TOP, at = r->site_total;
    for (uint32_t i = 0; i < r->site_total; i++) {
        bytes += r->sites[i].live_bytes;
        blocks += r->sites[i].live_blocks;
    }
    sink_text(out, "\nnever freed: %s in %lu block%s\n", bytes_text(live, bytes), (unsigned long)blocks,
              plural(blocks));
    if (blocks)
        sink_text(out, "%8s %9s %9s called by\n", "blocks", "live", "pool");
    while (top-- && (at = next_leak(r, at)) < r->site_total)
        put_leak(r, &r->sites[at], out);
}

/* What has changed since the program said poolmem_mark. */
static void put_mark(const report *r, sink *out)
{
    const stats_header *h = r->view.header;
    char label[sizeof h->mark];
    memcpy(label, h->mark, sizeof label);
    label[sizeof label - 1] = 0;
    sink_text(out, "\nsince mark '%s', %lu.%lu s ago\n%-24s%16s%12s%12s\n", label,
              (r->source.now_ns - h->mark_ns) / 1000000000u,
              (r->source.now_ns - h->mark_ns) / 100000000u % 10u, "pool", "live bytes", "blocks", "allocs");
    unsigned changed = 0;
    for (uint32_t i = 0; i < r->pool_count; i++) {
        const pool_stats *now = &r->pools[r->order[i]].stats;
        const stats_pool *then = &r->view.pools[r->order[i]];
        int64_t bytes = (int64_t)(now->live_bytes - then->mark_live_bytes);
        int64_t blocks = (int64_t)(now->live_blocks - then->mark_live_blocks);
        int64_t allocs = (int64_t)(now->allocs - then->mark_allocs);
        if (!bytes && !blocks && !allocs)
            continue;
        sink_text(out, "%-24s%16ld%12ld%12ld\n", r->pools[r->order[i]].name, (long)bytes, (long)blocks,
                  (long)allocs);
        changed++;
    }
    if (!changed)
        sink_string(out, "no change\n");
}

/* The three answers of the old block allocator to "how much is free?", which decide different things. */
static void put_retail(const report_pool *p, sink *out)
{
    char largest[16];
    if (p->kind == POOL_RETAIL)
        sink_text(out, "%s: free bytes %lu, true free %lu, largest free %s\n", p->name,
                  (unsigned long)p->stats.free_bytes,
                  (unsigned long)(p->stats.free_bytes - p->stats.unusable_bytes),
                  bytes_text(largest, p->stats.largest_free_bytes));
}

void report_text(const report *r, sink *out)
{
    put_title(r, out);
    put_table(r, out);
    put_sums(r, out);
    for (uint32_t i = 0; i < r->pool_count; i++)
        put_retail(&r->pools[r->order[i]], out);
    if (r->view.header->mark_ns)
        put_mark(r, out);
    if (r->view.lives && r->source.reason == REASON_EXIT)
        put_leaks(r, out);
    for (uint32_t i = 0; i < r->pool_count; i++)
        put_sites(r, &r->pools[r->order[i]], out);
    sink_char(out, '\n', 1);
}
