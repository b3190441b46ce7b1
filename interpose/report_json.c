/* SPDX-License-Identifier: MIT */
/*
 * report_json.c - see report.h: the report as JSON, schema 1: always the same keys, but for two that tell of
 * something special: live_bytes and live_blocks of a call-site (tracked) and live_exact of the process
 * (false: the live figures are upper bounds). A pool's sites are those with the most bytes, 100 unless asked
 * otherwise. Texts are UTF-8; bytes that are none become U+FFFD, so that every report parses. Locking: none.
 * Cost: a few hundred bytes a call-site.
 */
#include "report.h"

#define TOP 100 /* call-sites a pool, unless asked otherwise */

static size_t utf8_length(const unsigned char *p)
{
    static const struct {
        unsigned char mask, lead;
        unsigned least;
    } forms[] = {{0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
    for (size_t f = 0; f < 3; f++) {
        if ((p[0] & forms[f].mask) != forms[f].lead)
            continue;
        unsigned code = p[0] & (unsigned char)~forms[f].mask;
        for (size_t i = 1; i <= f + 1; i++) {
            if ((p[i] & 0xc0) != 0x80)
                return 0;
            code = code << 6 | (p[i] & 0x3f);
        }
        bool surrogate = code >= 0xd800 && code < 0xe000;
        return code >= forms[f].least && code < 0x110000 && !surrogate ? f + 2 : 0;
    }
    return 0;
}

static size_t put_escaped(sink *out, const unsigned char *p)
{
    size_t n = *p < 0x80 ? 1 : utf8_length(p);
    if (!n)
        sink_string(out, "\\ufffd");
    else if (*p == '"' || *p == '\\')
        sink_text(out, "\\%c", *p);
    else if (*p < 0x20 || *p == 0x7f)
        sink_text(out, "\\u%04x", *p);
    else
        sink_bytes(out, (const char *)p, n);
    return n ? n : 1;
}

static void put_chars(sink *out, const char *text)
{
    for (const unsigned char *p = (const unsigned char *)text; *p;)
        p += put_escaped(out, p);
}

static void put_string(sink *out, const char *key, const char *text)
{
    sink_text(out, "\"%s\": \"", key);
    put_chars(out, text);
    sink_string(out, "\"");
}

static void put_number(sink *out, const char *key, uint64_t n)
{
    sink_text(out, ", \"%s\": %lu", key, (unsigned long)n);
}

/* An address nobody has a name for is told by its module: the basename and the offset in the file. */
static void put_frame(sink *out, const report_frame_text *f)
{
    sink_char(out, '"', 1);
    put_chars(out, *f->symbol ? f->symbol : *f->module ? report_base_name(f->module) : "unknown");
    sink_text(out, "+0x%lx (", (unsigned long)(*f->symbol ? f->symbol_offset : f->offset));
    put_chars(out, *f->module ? f->module : "unknown");
    sink_string(out, ")\"");
}

static void put_site(const report *r, const report_site *s, sink *out)
{
    report_frame_text f;
    sink_text(out, "{ \"allocs\": %lu", (unsigned long)s->allocs);
    put_number(out, "bytes", s->bytes);
    if (r->view.lives) {
        put_number(out, "live_bytes", s->live_bytes);
        put_number(out, "live_blocks", s->live_blocks);
    }
    sink_string(out, ", \"frames\": [");
    for (unsigned i = 0; report_frame_get(r, s->site, i, &f); i++) {
        sink_string(out, i ? ", " : "");
        put_frame(out, &f);
    }
    sink_string(out, "] }");
}

static void put_sites(const report *r, const report_pool *p, sink *out)
{
    uint32_t top = r->source.top ? r->source.top : TOP;
    sink_string(out, ",\n      \"sites\": [");
    for (uint32_t i = 0; i < p->site_count && i < top; i++) {
        sink_string(out, i ? ",\n        " : "\n        ");
        put_site(r, &r->sites[p->site_first + i], out);
    }
    sink_string(out, "] }");
}

static void put_pool(const report *r, const report_pool *p, sink *out)
{
    const pool_stats *s = &p->stats;
    bool root = &r->pools[p->parent] == p;
    sink_string(out, "    { ");
    put_string(out, "name", p->name);
    if (root)
        sink_string(out, ", \"parent\": null");
    else {
        sink_string(out, ", ");
        put_string(out, "parent", r->pools[p->parent].name);
    }
    sink_text(out, ", \"kind\": \"%s\"", pool_kind_name(p->kind));
    put_number(out, "limit_bytes", p->limit_bytes);
    put_number(out, "live_bytes", s->live_bytes);
    put_number(out, "live_blocks", s->live_blocks);
    put_number(out, "peak_bytes", s->peak_bytes);
    sink_string(out, ",\n      ");
    sink_text(out, "\"allocs\": %lu", (unsigned long)s->allocs);
    put_number(out, "frees", s->frees);
    put_number(out, "reallocs", s->reallocs);
    put_number(out, "alloc_bytes", s->alloc_bytes);
    put_number(out, "failed", s->failed);
    put_number(out, "over_limit", s->over_limit);
    put_number(out, "committed_bytes", s->committed_bytes);
    put_number(out, "free_bytes", s->free_bytes);
    put_number(out, "largest_free_bytes", s->largest_free_bytes);
    if (p->kind == POOL_RETAIL)
        put_number(out, "true_free_bytes", s->free_bytes - s->unusable_bytes);
    put_sites(r, p, out);
}

static void put_process(const report *r, sink *out)
{
    sink_text(out, "  \"process\": { \"rss_bytes\": %lu", (unsigned long)r->source.rss_bytes);
    put_number(out, "live_bytes", r->total.live_bytes);
    put_number(out, "committed_bytes", r->committed_bytes);
    put_number(out, "overhead_bytes", r->overhead_bytes);
    put_number(out, "foreign_frees", r->foreign_frees);
    put_number(out, "unwound", r->unwound);
    put_number(out, "memo_hits", r->memo_hits);
    sink_string(out, r->exact ? " },\n" : ", \"live_exact\": false },\n");
}

void report_json(const report *r, sink *out)
{
    sink_text(out, "{ \"poolmem\": \"%s\", \"schema\": 1, \"pid\": %u, ", POOLMEM_VERSION, r->source.pid);
    put_string(out, "exe", r->exe);
    sink_text(out, ", \"reason\": \"%s\"", report_reason_text(r->source.reason));
    put_number(out, "sequence", r->source.sequence);
    put_number(out, "uptime_ns", r->uptime_ns);
    sink_string(out, ",\n");
    put_process(r, out);
    sink_string(out, "  \"pools\": [\n");
    for (uint32_t i = 0; i < r->pool_count; i++) {
        put_pool(r, &r->pools[r->order[i]], out);
        sink_string(out, i + 1 < r->pool_count ? ",\n" : "\n");
    }
    sink_string(out, "  ] }\n");
}
