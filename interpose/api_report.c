/* SPDX-License-Identifier: MIT */
/*
 * api_report.c - see api_report.h. Locking: none; two threads that mark at once leave one of the two marks.
 * Cost: a picture of the whole mapping, a few hundred us.
 */
#define POOLMEM_BUILD 1
#include "api_report.h"
#include "fmt.h"
#include "os.h"
#include "output.h"
#include "publish.h"
#include "request.h"

#include <string.h>
#include <unistd.h>

#define OUTPUT_BYTES KIB(256)

struct work {
    report *picture;
    char *memory;
    size_t bytes;
};

static bool begin(struct work *w)
{
    report_source s;
    w->bytes = round_up(report_bytes(), OS_PAGE) + OUTPUT_BYTES;
    w->memory = os_map(w->bytes);
    if (!w->memory)
        return false;
    request_source(&s, REASON_REQUEST);
    w->picture = report_take(&s, w->memory);
    if (w->picture)
        request_keep_peaks(w->picture);
    return w->picture != NULL;
}

/* The same for a report that will be written, which has a number. */
static bool begin_report(struct work *w)
{
    if (!begin(w))
        return false;
    w->picture->source.sequence = request_number();
    return true;
}

static pool_status written(const struct work *w, bool good)
{
    if (!good)
        request_number_back(w->picture->source.sequence);
    return good ? POOL_OK : POOL_IO;
}

static void end(struct work *w)
{
    if (w->memory)
        os_unmap(w->memory, w->bytes);
}

static char *output_of(const struct work *w)
{
    return w->memory + w->bytes - OUTPUT_BYTES;
}

static report_format format_for(int asked, const char *path)
{
    switch (asked) {
    case POOLMEM_FORMAT_TEXT:
        return FORMAT_TEXT;
    case POOLMEM_FORMAT_JSON:
        return FORMAT_JSON;
    case POOLMEM_FORMAT_FOLDED:
        return FORMAT_FOLDED;
    case POOLMEM_FORMAT_HEAP:
        return FORMAT_HEAP;
    default:
        return path ? report_format_of(path) : FORMAT_TEXT;
    }
}

pool_status report_to_path(const char *path, int format)
{
    struct work w = {0};
    if (!path) {
        request_report(REASON_REQUEST);
        return POOL_OK;
    }
    pool_status s = POOL_NOMEM;
    if (begin_report(&w))
        s = written(&w,
                    output_report_as(w.picture, path, format_for(format, path), output_of(&w), OUTPUT_BYTES));
    end(&w);
    return s;
}

pool_status report_to_fd(int fd, int format)
{
    struct work w = {0};
    sink out;
    pool_status s = fd < 0 ? POOL_IO : POOL_NOMEM;
    if (fd >= 0 && begin_report(&w)) {
        sink_open(&out, output_of(&w), OUTPUT_BYTES, fd);
        report_write(w.picture, format_for(format, NULL), &out);
        s = written(&w, sink_flush(&out) == 0);
    }
    end(&w);
    return s;
}

static void copy_figures(const report_pool *p, poolmem_stats *out)
{
    const pool_stats *s = &p->stats;
    *out = (poolmem_stats){.live_bytes = s->live_bytes,
                           .live_blocks = s->live_blocks,
                           .peak_bytes = s->peak_bytes,
                           .allocs = s->allocs,
                           .frees = s->frees,
                           .reallocs = s->reallocs,
                           .alloc_bytes = s->alloc_bytes,
                           .failed = s->failed,
                           .over_limit = s->over_limit,
                           .committed_bytes = s->committed_bytes,
                           .free_bytes = s->free_bytes,
                           .largest_free_bytes = s->largest_free_bytes,
                           .limit_bytes = p->limit_bytes};
}

pool_status report_pool_now(uint32_t id, poolmem_stats *out)
{
    struct work w = {0};
    pool_status s = POOL_NOMEM;
    if (begin(&w)) {
        s = id < w.picture->pool_count ? POOL_OK : POOL_NOT_FOUND;
        if (s == POOL_OK)
            copy_figures(&w.picture->pools[id], out);
    }
    end(&w);
    return s;
}

static void mark_pool(const report_pool *p, stats_pool *row)
{
    row->mark_live_bytes = p->stats.live_bytes;
    row->mark_live_blocks = p->stats.live_blocks;
    row->mark_allocs = p->stats.allocs;
}

pool_status report_mark(const char *label)
{
    struct work w = {0};
    published->mark_ns = 0;
    if (!label)
        return POOL_OK;
    pool_status s = begin(&w) ? POOL_OK : POOL_NOMEM;
    for (uint32_t i = 0; s == POOL_OK && i < w.picture->pool_count; i++)
        mark_pool(&w.picture->pools[i], &stats_pools(published)[i]);
    end(&w);
    if (s == POOL_OK) {
        fmt_text(published->mark, sizeof published->mark, "%s", label);
        published->mark_ns = os_time_ns();
    }
    return s;
}
