/* SPDX-License-Identifier: MIT */
/*
 * report_folded.c - see report.h: folded stacks for flame graphs. A line is the pools from the root down, the
 * frames from the outermost in, a space and the bytes asked for there. ';' and line breaks inside a name
 * become ':' and ' ', because the format has no escape of its own.
 * Locking: none.
 */
#include "report.h"

static void put_name(sink *out, const char *text)
{
    for (; *text; text++)
        sink_char(out, *text == ';' ? ':' : (unsigned char)*text < 0x20 ? ' ' : *text, 1);
}

static void put_pools(const report *r, uint32_t id, sink *out)
{
    uint32_t path[32], n = 0;
    for (; n < 32; id = r->pools[id].parent) {
        path[n++] = id;
        if (r->pools[id].parent == id)
            break;
    }
    while (n--) {
        put_name(out, r->pools[path[n]].name);
        sink_string(out, n ? ";" : "");
    }
}

static void put_frame(sink *out, const report_frame_text *f)
{
    sink_char(out, ';', 1);
    if (*f->symbol)
        put_name(out, f->symbol);
    else {
        put_name(out, *f->module ? report_base_name(f->module) : "unknown");
        sink_text(out, "+0x%lx", (unsigned long)f->offset);
    }
}

void report_folded(const report *r, sink *out)
{
    report_frame_text f;
    for (uint32_t i = 0; i < r->site_total; i++) {
        const report_site *s = &r->sites[i];
        if (!s->bytes)
            continue;
        put_pools(r, s->pool, out);
        for (unsigned n = report_frame_count(r, s->site); n-- > 0;)
            if (report_frame_get(r, s->site, n, &f))
                put_frame(out, &f);
        sink_text(out, " %lu\n", (unsigned long)s->bytes);
    }
}
