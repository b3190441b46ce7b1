/* SPDX-License-Identifier: MIT */
/*
 * publish_rows.c - see publish.h: the rows of the published mapping. Strings, modules, frames and sites are
 * each kept once; open-addressing indexes in private memory find them again. An index that cannot be had
 * only costs its table: no frames then, and every site is its pool's base site.
 *
 * Invariants: (1) a row is complete before its count is raised; (2) an index cell is 0 or row + 1; (3) an
 * index has at least twice the cells its table has rows, so a search ends.
 * Locking: the resolve lock of the caller, but publish_tally (lock-free) and publish_pool (registry lock).
 * Cost: a known site costs one probe a frame and one for the site.
 */
#include "publish.h"
#include "os.h"

#include <string.h>

typedef struct row_index {
    uint32_t *cells;
    uint32_t mask; /* cells - 1 */
} row_index;

/* What an address was found to be; forgotten when objects come or go. */
typedef struct known_address {
    uint64_t address;
    uint32_t frame; /* row + 1, 0 empty */
    uint32_t generation;
} known_address;

#define KNOWN 16384 /* cells of the cache of addresses, a power of two */

static row_index strings, modules, frames, sites;
static known_address *known;
static uint32_t generation;

static bool index_make(row_index *x, uint32_t rows)
{
    if (x->cells)
        return true;
    if (!rows)
        return false;
    uint32_t cells = 1u << (log2_floor(rows) + 2);
    x->cells = os_map(cells * sizeof *x->cells);
    x->mask = cells - 1;
    return x->cells != NULL;
}

static uint64_t mix(uint64_t h)
{
    h ^= h >> 32;
    h *= 0xd6e8feb86659fd93u;
    return h ^ h >> 29;
}

static uint64_t hash_bytes(const void *data, size_t n)
{
    const unsigned char *p = data;
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < n; i++)
        h = (h ^ p[i]) * 0x100000001b3u;
    return mix(h);
}

static void count_to(uint32_t *count, uint32_t value)
{
    __atomic_store_n(count, value, __ATOMIC_RELEASE);
}

const char *publish_string(const char *text, uint32_t *offset)
{
    stats_header *h = published;
    size_t size = text ? strlen(text) + 1 : 1;
    *offset = 0;
    if (size == 1 || !index_make(&strings, h->string_max / 64))
        return "";
    uint32_t at = (uint32_t)hash_bytes(text, size) & strings.mask, probes = 0;
    for (; strings.cells[at]; at = (at + 1) & strings.mask) {
        const char *have = stats_string(h, strings.cells[at] - 1);
        if (strcmp(have, text) == 0) {
            *offset = strings.cells[at] - 1;
            return have;
        }
        if (++probes > strings.mask / 2)
            return "";
    }
    uint32_t end = h->string_bytes;
    if (size > h->string_max - end)
        return "";
    memcpy((char *)stats_string(h, end), text, size);
    count_to(&h->string_bytes, end + (uint32_t)size);
    strings.cells[at] = end + 1;
    *offset = end;
    return stats_string(h, end);
}

/* Row of the module; row 0, the unknown one, when there is no room. */
static uint32_t module_row(const symbol_info *s)
{
    stats_header *h = published;
    uint32_t path, n = h->module_count;
    publish_string(s->module, &path);
    if (!path || !index_make(&modules, h->module_max))
        return 0;
    uint32_t at = (uint32_t)mix(path) & modules.mask;
    for (; modules.cells[at]; at = (at + 1) & modules.mask) {
        stats_module *m = &stats_modules(h)[modules.cells[at] - 1];
        if (m->path == path) {
            m->base = s->base;
            return modules.cells[at] - 1;
        }
    }
    if (n == h->module_max)
        return 0;
    stats_modules(h)[n] = (stats_module){.path = path, .base = s->base};
    count_to(&h->module_count, n + 1);
    modules.cells[at] = n + 1;
    return n;
}

static bool frame_is(const stats_frame *f, uint32_t module, uint64_t offset)
{
    return f->module == module && f->offset == offset;
}

/* Row of the frame + 1, 0 when there is no room. */
static uint32_t frame_lookup(uintptr_t address)
{
    stats_header *h = published;
    symbol_info s = {.module = ""};
    symbol_find(address, &s);
    uint32_t module = module_row(&s), n = h->frame_count;
    if (!module)
        s.offset = address;
    uint32_t at = (uint32_t)mix(s.offset * 31 + module) & frames.mask;
    for (; frames.cells[at]; at = (at + 1) & frames.mask)
        if (frame_is(&stats_frames(h)[frames.cells[at] - 1], module, s.offset))
            return frames.cells[at];
    if (n == h->frame_max)
        return 0;
    stats_frame *f = &stats_frames(h)[n];
    *f = (stats_frame){.module = module, .offset = s.offset, .address = address};
    publish_string(s.name ? s.name : s.raw, &f->symbol);
    f->symbol_offset = (uint32_t)s.symbol_offset;
    count_to(&h->frame_count, n + 1);
    return frames.cells[at] = n + 1;
}

static uint32_t frame_row(uintptr_t address)
{
    uint32_t now = __atomic_load_n(&generation, __ATOMIC_ACQUIRE);
    known_address *k = &known[mix(address) & (KNOWN - 1)];
    if (k->address != address || !k->frame || k->generation != now)
        *k = (known_address){address, frame_lookup(address), now};
    return k->frame;
}

void publish_forget(void)
{
    __atomic_fetch_add(&generation, 1, __ATOMIC_RELEASE);
}

static bool indexes_make(void)
{
    const stats_header *h = published;
    if (!known)
        known = os_map(KNOWN * sizeof *known);
    return known && index_make(&frames, h->frame_max) && index_make(&sites, h->site_max);
}

static bool describe_site(stats_site *s, uint32_t pool, const uintptr_t *pcs, unsigned n)
{
    unsigned kept = n < STATS_SITE_FRAMES ? n : STATS_SITE_FRAMES;
    *s = (stats_site){.pool = pool, .frame_count = kept};
    for (unsigned i = 0; i < kept; i++) {
        uint32_t row = frame_row(i + 1 == kept ? pcs[n - 1] : pcs[i]);
        if (!row)
            return false;
        s->frames[i] = row - 1;
    }
    return true;
}

/* The row that holds this, made when new; the pool's base site when the table is full. */
static uint32_t site_row(const stats_site *s)
{
    stats_header *h = published;
    uint32_t at = (uint32_t)hash_bytes(s, sizeof *s) & sites.mask, count = h->site_count;
    for (; sites.cells[at]; at = (at + 1) & sites.mask)
        if (memcmp(&stats_sites(h)[sites.cells[at] - 1], s, sizeof *s) == 0)
            return sites.cells[at] - 1;
    if (count == h->site_max) {
        h->sites_lost++;
        return s->pool;
    }
    stats_sites(h)[count] = *s;
    count_to(&h->site_count, count + 1);
    sites.cells[at] = count + 1;
    return count;
}

uint32_t publish_site(uint32_t pool, const uintptr_t *pcs, unsigned n)
{
    stats_site s;
    if (!n || !indexes_make())
        return pool;
    if (describe_site(&s, pool, pcs, n))
        return site_row(&s);
    published->sites_lost++;
    return pool;
}

uint32_t publish_site_within(uint32_t site, uint32_t pool)
{
    stats_site s = stats_sites(published)[site];
    s.pool = pool;
    return indexes_make() ? site_row(&s) : pool;
}

/* Rows a thread takes at a time: two cache lines, as processors fetch them, so that no two threads count in
   the same one. */
#define TALLIES_AT_ONCE (128 / (uint32_t)sizeof(stats_tally))

static bool stock_up(tally_stock *stock)
{
    stats_header *h = published;
    uint32_t n = __atomic_load_n(&h->tally_count, __ATOMIC_RELAXED), end;
    do {
        if (n >= h->tally_max) {
            __atomic_fetch_add(&h->tallies_lost, 1, __ATOMIC_RELAXED);
            return false;
        }
        end = n + TALLIES_AT_ONCE < h->tally_max ? n + TALLIES_AT_ONCE : h->tally_max;
    } while (
        !__atomic_compare_exchange_n(&h->tally_count, &n, end, true, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
    *stock = (tally_stock){&stats_tallies(h)[n], end - n};
    return true;
}

stats_tally *publish_tally(tally_stock *stock, uint32_t site)
{
    if (!stock->left && !stock_up(stock))
        return NULL;
    stats_tally *t = stock->next++;
    stock->left--;
    __atomic_store_n(&t->site, site, __ATOMIC_RELEASE);
    return t;
}

void publish_pool(uint32_t id, const char *name, uint32_t parent, pool_kind kind, pool_over over,
                  uint64_t limit)
{
    stats_header *h = published;
    if (id >= h->pool_max)
        return;
    stats_pool *p = &stats_pools(h)[id];
    strncpy(p->name, name, POOL_NAME_MAX);
    p->parent = parent;
    p->kind = (uint8_t)kind;
    p->over = (uint8_t)over;
    p->limit = limit;
    if (id >= h->pool_count)
        count_to(&h->pool_count, id + 1);
}
