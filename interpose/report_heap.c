/* SPDX-License-Identifier: MIT */
/*
 * report_heap.c - see report.h: the text heap profile that google-pprof and jeprof read. The pools are the
 * outermost frames of each stack, at addresses of their own (POOL_CODE).
 *
 * With a name for the object of pools (source.pools_object; report_object.c writes it) the profile is the
 * plain kind, opened together with the program; the map at its end says that the pools' addresses are that
 * object's. Without, it carries the names itself (a symbolized profile) and is opened alone. What is in use
 * is known by call-site when tracked; else these columns repeat what was asked for. Locking: none.
 */
#include "report.h"
#include "fmt.h"
#include "raw.h"

#include <fcntl.h>

static void put_pools(const report *r, uint32_t id, sink *out)
{
    for (unsigned n = 0; n < 32; n++) {
        sink_text(out, " 0x%lx", (unsigned long)report_pool_code(id));
        if (r->pools[id].parent == id)
            break;
        id = r->pools[id].parent;
    }
}

/* The tools take 1 from every address but the innermost; a return address there may be the next line's. */
static void put_stack(const report *r, const report_site *s, sink *out)
{
    report_frame_text f;
    for (unsigned i = 0; report_frame_get(r, s->site, i, &f); i++)
        sink_text(out, " 0x%lx", (unsigned long)(f.address - (i == 0)));
    put_pools(r, s->pool, out);
}

static void put_counts(const report *r, const report_site *s, sink *out)
{
    bool tracked = r->view.lives != NULL;
    sink_text(out, "%6lu: %8lu [%6lu: %8lu] @", (unsigned long)(tracked ? s->live_blocks : s->allocs),
              (unsigned long)(tracked ? s->live_bytes : s->bytes), (unsigned long)s->allocs,
              (unsigned long)s->bytes);
}

static void put_header(const report *r, sink *out)
{
    report_site sum = {0};
    for (uint32_t i = 0; i < r->site_total; i++) {
        sum.allocs += r->sites[i].allocs;
        sum.bytes += r->sites[i].bytes;
        sum.live_blocks += r->sites[i].live_blocks;
        sum.live_bytes += r->sites[i].live_bytes;
    }
    sink_string(out, "heap profile: ");
    put_counts(r, &sum, out);
    sink_string(out, " heapprofile\n");
}

static void put_symbol(uint64_t address, const report_frame_text *f, sink *out)
{
    if (*f->symbol)
        sink_text(out, "0x%lx %s\n", (unsigned long)address, f->symbol);
    else
        sink_text(out, "0x%lx %s+0x%lx\n", (unsigned long)address,
                  *f->module ? report_base_name(f->module) : "unknown", (unsigned long)f->offset);
}

/* Names by address; one given twice does no harm. jeprof takes 1 from callers' addresses here too,
   google-pprof does not: so callers and pools are named at both. */
static void put_symbols(const report *r, sink *out)
{
    report_frame_text f;
    sink_text(out, "--- symbol\nbinary=%s\n", r->exe);
    for (uint32_t i = 0; i < r->pool_count; i++)
        for (uint64_t less = 0; less < 2; less++)
            sink_text(out, "0x%lx pool:%s\n", (unsigned long)(report_pool_code(i) - less), r->pools[i].name);
    for (uint32_t i = 0; i < r->site_total; i++)
        for (unsigned n = 0; report_frame_get(r, r->sites[i].site, n, &f); n++)
            for (uint64_t less = n == 0; less < 2; less++)
                put_symbol(f.address - less, &f, out);
    sink_string(out, "---\n");
}

static void put_map(const report *r, sink *out)
{
    char path[32], part[512];
    long n;
    sink_text(out, "\nMAPPED_LIBRARIES:\n%lx-%lx r-xp 00000000 00:00 0 %s\n", (unsigned long)REPORT_POOL_CODE,
              (unsigned long)(REPORT_POOL_CODE + REPORT_POOL_CODE_BYTES), r->source.pools_object);
    fmt_text(path, sizeof path, "/proc/%u/maps", r->source.pid);
    int fd = raw_open(path, O_RDONLY, 0);
    while (fd >= 0 && (n = raw_read(fd, part, sizeof part)) > 0)
        sink_bytes(out, part, (size_t)n);
    if (fd >= 0)
        raw_close(fd);
}

void report_heap(const report *r, sink *out)
{
    if (!r->source.pools_object)
        put_symbols(r, out);
    put_header(r, out);
    for (uint32_t i = 0; i < r->site_total; i++) {
        put_counts(r, &r->sites[i], out);
        put_stack(r, &r->sites[i], out);
        sink_char(out, '\n', 1);
    }
    if (r->source.pools_object)
        put_map(r, out);
}
