/* SPDX-License-Identifier: MIT */
/*
 * publish_rows.c - see publish.h: the rows of the published mapping. Strings, modules, frames and sites are
 * each kept once; indexes in private memory (row_index.h) find them again. An index that cannot be had
 * only costs its table: no frames then, and every site is its pool's base site.
 *
 * Invariant: a row is complete before its count is raised.
 * Locking: the resolve lock of the caller, but publish_tally (lock-free) and publish_pool (registry lock).
 * Cost: a known site costs one probe a frame and one for the site.
 */
#include "publish.h"
#include "meta.h"
#include "os.h"
#include "row_index.h"

#include <string.h>

/* What an address was found to be; forgotten when objects come or go. */
typedef struct known_address {
    uint64_t address;
    uint32_t frame; /* row + 1, 0 empty */
    uint32_t generation;
} known_address;

enum { KNOWN_FIRST = 512, KNOWN_MAX = 16384 }; /* cells of the cache of addresses, powers of two */

static uint32_t generation;

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

static uint64_t string_hash(uint32_t offset)
{
    const char *text = stats_string(published, offset);
    return hash_bytes(text, strlen(text) + 1);
}

static uint64_t file_hash(uint32_t path, uint64_t print)
{
    return mix(path ^ print);
}

static uint64_t module_hash(uint32_t row)
{
    const stats_module *m = &stats_modules(published)[row];
    return file_hash(m->path, m->print);
}

static uint64_t place_hash(uint32_t module, uint64_t offset)
{
    return mix(offset * 31 + module);
}

static uint64_t frame_hash(uint32_t row)
{
    const stats_frame *f = &stats_frames(published)[row];
    return place_hash(f->module, f->offset);
}

static uint64_t site_key(const stats_site *s)
{
    uint64_t h = s->pool * 0x9e3779b97f4a7c15u;
    for (uint32_t i = 0; i < s->frame_count; i++)
        h = (h ^ s->frames[i]) * 0xc2b2ae3d27d4eb4fu;
    return mix(h);
}

static uint64_t site_hash(uint32_t row)
{
    return site_key(&stats_sites(published)[row]);
}

static row_index strings = {.hash = string_hash}, modules = {.hash = module_hash},
                 frames = {.hash = frame_hash}, sites = {.hash = site_hash};

const char *publish_string(const char *text, uint32_t *offset)
{
    stats_header *h = published;
    size_t size = text ? strlen(text) + 1 : 1;
    *offset = 0;
    if (size == 1 || !h->string_max || !index_ready(&strings))
        return "";
    uint32_t at = (uint32_t)hash_bytes(text, size) & strings.mask;
    for (; strings.cells[at]; at = index_next(&strings, at)) {
        const char *have = stats_string(h, strings.cells[at] - 1);
        if (strcmp(have, text) == 0) {
            *offset = strings.cells[at] - 1;
            return have;
        }
    }
    uint32_t end = h->string_bytes;
    if (size > h->string_max - end)
        return "";
    memcpy((char *)stats_string(h, end), text, size);
    count_to(&h->string_bytes, end + (uint32_t)size);
    index_add(&strings, at, end);
    *offset = end;
    return stats_string(h, end);
}

/* Row of the module; row 0, the unknown one, when there is no room. */
static uint32_t module_row(const symbol_info *s)
{
    stats_header *h = published;
    uint32_t path, n = h->module_count;
    publish_string(s->module, &path);
    if (!path || !h->module_max || !index_ready(&modules))
        return 0;
    uint32_t at = (uint32_t)file_hash(path, s->print) & modules.mask;
    for (; modules.cells[at]; at = index_next(&modules, at)) {
        stats_module *m = &stats_modules(h)[modules.cells[at] - 1];
        if (m->path == path && m->print == s->print) {
            m->base = s->base;
            return modules.cells[at] - 1;
        }
    }
    if (n == h->module_max)
        return 0;
    stats_modules(h)[n] = (stats_module){.path = path, .print = s->print, .base = s->base};
    count_to(&h->module_count, n + 1);
    index_add(&modules, at, n);
    return n;
}

static bool frame_is(const stats_frame *f, uint32_t module, uint64_t offset)
{
    return f->module == module && f->offset == offset;
}

/* Row of the frame + 1, 0 when there is no room. Its index is ready. */
static uint32_t frame_lookup(uintptr_t address)
{
    stats_header *h = published;
    symbol_info s = {.module = ""};
    symbol_find(address, &s);
    uint32_t module = module_row(&s), n = h->frame_count;
    if (!module)
        s.offset = address;
    uint32_t at = (uint32_t)place_hash(module, s.offset) & frames.mask;
    for (; frames.cells[at]; at = index_next(&frames, at))
        if (frame_is(&stats_frames(h)[frames.cells[at] - 1], module, s.offset))
            return frames.cells[at];
    if (n == h->frame_max)
        return 0;
    stats_frame *f = &stats_frames(h)[n];
    *f = (stats_frame){.module = module, .offset = s.offset, .address = address};
    publish_string(s.name ? s.name : s.raw, &f->symbol);
    f->symbol_offset = (uint32_t)s.symbol_offset;
    count_to(&h->frame_count, n + 1);
    index_add(&frames, at, n);
    return n + 1;
}

/* --- the cache of addresses ------------------------------------------------------------------------------
 */

static known_address *known;
static uint32_t known_mask, known_used;

static bool known_make(uint32_t cells)
{
    known_address *old = known;
    uint32_t old_mask = known_mask;
    known_address *fresh = old ? os_map_table(cells * sizeof *fresh) : meta_alloc(cells * sizeof *fresh);
    if (!fresh)
        return false;
    known = fresh;
    known_mask = cells - 1;
    known_used = 0;
    for (uint32_t i = 0; old && i <= old_mask; i++) {
        if (!old[i].frame)
            continue;
        known_address *k = &known[mix(old[i].address) & known_mask];
        known_used += !k->frame;
        *k = old[i];
    }
    if (old && old_mask >= KNOWN_FIRST)
        os_unmap(old, (old_mask + (size_t)1) * sizeof *old);
    return true;
}

static uint32_t frame_row(uintptr_t address)
{
    uint32_t now = __atomic_load_n(&generation, __ATOMIC_ACQUIRE);
    known_address *k = &known[mix(address) & known_mask];
    if (k->address == address && k->frame && k->generation == now)
        return k->frame;
    if (known_used > known_mask / 2 && known_mask + 1 < KNOWN_MAX && known_make((known_mask + 1) * 2))
        k = &known[mix(address) & known_mask];
    known_used += !k->frame;
    *k = (known_address){address, index_ready(&frames) ? frame_lookup(address) : 0, now};
    return k->frame;
}

/* --- sites
 * -------------------------------------------------------------------------------------------------- */

void publish_forget(void)
{
    __atomic_fetch_add(&generation, 1, __ATOMIC_RELEASE);
}

static bool indexes_ready(void)
{
    const stats_header *h = published;
    return h->frame_max && h->site_max && (known || known_make(KNOWN_FIRST)) && index_ready(&sites);
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
    uint32_t at = (uint32_t)site_key(s) & sites.mask, count = h->site_count;
    for (; sites.cells[at]; at = index_next(&sites, at))
        if (memcmp(&stats_sites(h)[sites.cells[at] - 1], s, sizeof *s) == 0)
            return sites.cells[at] - 1;
    if (count == h->site_max) {
        h->sites_lost++;
        return s->pool;
    }
    stats_sites(h)[count] = *s;
    count_to(&h->site_count, count + 1);
    index_add(&sites, at, count);
    return count;
}

uint32_t publish_site(uint32_t pool, const uintptr_t *pcs, unsigned n)
{
    stats_site s;
    if (!n || !indexes_ready())
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
    return indexes_ready() ? site_row(&s) : pool;
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
    stats_sites(h)[id].pool = id;
    strncpy(p->name, name, POOL_NAME_MAX);
    p->parent = parent;
    p->kind = (uint8_t)kind;
    p->over = (uint8_t)over;
    p->limit = limit;
    if (id >= h->pool_count)
        count_to(&h->pool_count, id + 1);
}
