/* SPDX-License-Identifier: MIT */
/*
 * handle.c - see handle.h: records, memory, mapped files and compaction of the handle table.
 *
 *   free list:  t->free -> record -> record -> 0     (index + 1; freed last, used first)
 *   records:    [ live | free | live | husk | ... | touched ... never used ... capacity )
 *
 * A record's generation is raised when it is filled and again when it is dropped, so that it is odd exactly
 * while the record is live, and no two lives of a record share a handle. The table is mapped once and its
 * pages are touched as needed. Notifications run before anything changes; each caller looks afterwards
 * whether the record is still the same.
 */
#include "handle.h"
#include "fatal.h"
#include "os.h"
#include "os_file.h"

#include <string.h>

pool_status handle_init(handle_table *t, const handle_options *options)
{
    static const handle_options none;
    const handle_options *o = options ? options : &none;
    uint32_t capacity = o->capacity ? o->capacity : HANDLES;
    if (t->records)
        return POOL_EXISTS;
    if (capacity > UINT32_MAX / 2)
        return POOL_OVERFLOW;
    t->records = os_map(capacity * sizeof *t->records);
    if (!t->records)
        return POOL_NOMEM;
    t->capacity = capacity;
    t->pool = o->pool;
    t->compact = o->compact;
    t->lock.rank = RANK_RESOURCE;
    return POOL_OK;
}

void handle_set_notify(handle_table *t, handle_notify *notify, void *arg)
{
    t->notify = notify;
    t->notify_arg = arg;
}

/* --- records ----------------------------------------------------------------------------------------------
 */

static handle handle_of(const handle_table *t, const handle_record *r)
{
    return (uint64_t)r->generation << 32 | ((uint64_t)(r - t->records) + 1);
}

/* NULL: the handle is of another life of the record, of a free one, or of none at all. */
static handle_record *record_of(const handle_table *t, handle h)
{
    uint32_t index = (uint32_t)h - 1;
    if (index >= t->touched)
        return NULL;
    handle_record *r = &t->records[index];
    return r->generation == h >> 32 && r->generation & 1 ? r : NULL;
}

/* A record that is not live yet; drop_record undoes it. */
static handle_record *take_record(handle_table *t)
{
    handle_record *r = NULL;
    if (t->free) {
        r = &t->records[t->free - 1];
        t->free = r->next;
    } else if (t->touched < t->capacity) {
        r = &t->records[t->touched++];
    }
    return r;
}

static void drop_record(handle_table *t, handle_record *r)
{
    uint32_t generation = r->generation & 1 ? r->generation + 1 : r->generation;
    *r = (handle_record){.generation = generation, .next = t->free, .fd = -1};
    t->free = (uint32_t)(r - t->records) + 1;
}

/* Memory only: pages of mapped files are counted apart, since the system may take them back. */
static void count_bytes(handle_table *t, size_t gained, size_t lost)
{
    t->stats.live_bytes += gained - lost;
    if (t->stats.live_bytes > t->stats.peak_bytes)
        t->stats.peak_bytes = t->stats.live_bytes;
}

/* Fills a fresh record, which is live from here on. */
static handle fill_record(handle_table *t, handle_record *r, const handle_record *with)
{
    uint32_t generation = r->generation + 1;
    *r = *with;
    r->generation = generation;
    r->used_at = ++t->clock;
    t->stats.handles++;
    t->stats.files += r->state == HANDLE_FILE;
    if (r->state == HANDLE_FILE)
        t->stats.mapped_bytes += r->size;
    else
        count_bytes(t, r->size, 0);
    return handle_of(t, r);
}

/* --- memory
 * ------------------------------------------------------------------------------------------------- */

/* A handle of size 0 owns memory too: its pointer is good to compare with. */
static size_t at_least_one(size_t size)
{
    return size ? size : 1;
}

pool_status handle_alloc(handle_table *t, size_t size, uint32_t id, uint32_t flags, handle *out)
{
    *out = 0;
    handle_record *r = size > SIZE_LIMIT ? NULL : take_record(t);
    if (!r)
        return size > SIZE_LIMIT ? POOL_OVERFLOW : POOL_FULL;
    void *memory = t->pool ? pool_get(t->pool, at_least_one(size), 16) : os_map(at_least_one(size));
    if (!memory) {
        drop_record(t, r);
        return POOL_NOMEM;
    }
    handle_record with = {
        .memory = memory, .size = size, .id = id, .flags = flags, .fd = -1, .writable = true};
    with.state = t->pool ? HANDLE_MEMORY : HANDLE_PAGES;
    *out = fill_record(t, r, &with);
    return POOL_OK;
}

/* Gives the memory back; the record is left for the caller to drop or to make a husk. */
static void release_memory(handle_table *t, handle_record *r)
{
    if (r->state == HANDLE_MEMORY)
        pool_free(t->pool, r->memory);
    else if (r->state == HANDLE_PAGES || r->state == HANDLE_FILE)
        os_unmap(r->memory, at_least_one(r->size));
    os_file_close(r->fd);
    if (r->state == HANDLE_FILE)
        t->stats.mapped_bytes -= r->size;
    else if (r->state != HANDLE_HUSK)
        count_bytes(t, 0, r->size);
    t->stats.files -= r->state == HANDLE_FILE;
    r->memory = NULL;
    r->fd = -1;
}

/* The one way out for a live record: hook, memory, record. */
static void free_record(handle_table *t, handle_record *r)
{
    handle h = handle_of(t, r);
    if (t->notify)
        t->notify(t->notify_arg, h, HANDLE_IS_FREED);
    if (record_of(t, h) != r) /* the notification freed it */
        return;
    release_memory(t, r);
    t->stats.handles--;
    t->stats.husks -= r->state == HANDLE_HUSK;
    drop_record(t, r);
}

pool_status handle_free(handle_table *t, handle h)
{
    handle_record *r = record_of(t, h);
    if (!r)
        return POOL_STALE;
    free_record(t, r);
    return POOL_OK;
}

pool_status handle_free_id(handle_table *t, uint32_t id, size_t *freed)
{
    uint64_t before = t->stats.handles;
    if (freed)
        *freed = 0;
    if (id == HANDLE_PERMANENT)
        return POOL_INVALID;
    for (uint32_t i = 0; i < t->touched; i++)
        if (t->records[i].generation & 1 && t->records[i].id == id)
            free_record(t, &t->records[i]);
    if (freed)
        *freed = before - t->stats.handles;
    return POOL_OK;
}

void handle_destroy(handle_table *t)
{
    if (!t->records)
        return;
    for (uint32_t i = 0; i < t->touched; i++)
        if (t->records[i].generation & 1)
            release_memory(t, &t->records[i]);
    os_unmap(t->records, t->capacity * sizeof *t->records);
    memset(t, 0, sizeof *t);
}

/* --- mapped files
 * -------------------------------------------------------------------------------------------- */

/* How much to map; checks the file against what is asked. */
static pool_status file_extent(int fd, uint64_t offset, size_t *size)
{
    uint64_t whole;
    if (!os_file_size(fd, &whole) || offset > whole)
        return POOL_IO;
    uint64_t rest = whole - offset;
    if (*size > rest || rest > SIZE_LIMIT)
        return *size > rest ? POOL_IO : POOL_OVERFLOW;
    *size = *size ? *size : (size_t)rest;
    return POOL_OK;
}

static pool_status load_snapshot(int fd, handle_record *with)
{
    with->memory = os_map(at_least_one(with->size));
    if (!with->memory)
        return POOL_NOMEM;
    if (os_file_read(fd, with->offset, with->memory, with->size))
        return POOL_OK;
    os_unmap(with->memory, at_least_one(with->size));
    return POOL_IO;
}

/* Fills memory and state of `with` from the file; keeps fd in it where the mapping must be watched. */
static pool_status load_file(int fd, handle_file how, handle_record *with)
{
    pool_status s = file_extent(fd, with->offset, &with->size);
    if (s != POOL_OK)
        return s;
    with->writable = how != HANDLE_FILE_READ;
    if (how == HANDLE_FILE_SNAPSHOT || !with->size) { /* nothing to map in an empty file */
        with->state = HANDLE_PAGES;
        return load_snapshot(fd, with);
    }
    with->state = HANDLE_FILE;
    with->flags = HANDLE_MAPPED;
    with->memory = os_file_map(fd, with->offset, with->size, with->writable);
    with->fd = fd;
    return with->memory ? POOL_OK : POOL_NOMEM;
}

pool_status handle_map(handle_table *t, const char *path, uint64_t offset, size_t size, handle_file how,
                       uint32_t id, handle *out)
{
    *out = 0;
    if (offset % os_page_size())
        return POOL_ALIGN;
    int fd = os_file_open(path);
    if (fd < 0)
        return POOL_IO;
    handle_record with = {.size = size, .offset = offset, .id = id, .fd = -1};
    handle_record *r = take_record(t);
    pool_status s = r ? load_file(fd, how, &with) : POOL_FULL;
    if (s == POOL_OK)
        *out = fill_record(t, r, &with);
    else if (r)
        drop_record(t, r);
    if (s != POOL_OK || with.fd < 0)
        os_file_close(fd);
    return s;
}

/* Looks whether the file still reaches over the mapping; if not, puts zeros over the pages that would fault.
 */
static bool file_is_whole(handle_record *r)
{
    uint64_t whole;
    if (r->cut || !os_file_size(r->fd, &whole))
        return false;
    if (whole >= r->offset && whole - r->offset >= r->size)
        return true;
    size_t left = whole > r->offset ? round_up((size_t)(whole - r->offset), os_page_size()) : 0;
    size_t all = round_up(r->size, os_page_size());
    r->cut = left >= all || os_map_over(r->memory + left, all - left, r->writable);
    return false;
}

/* --- access -----------------------------------------------------------------------------------------------
 */

/* Every access comes through here: is it live, is it whole, may it be written to? Then it is the most
 * recently used. */
static pool_status access_record(handle_table *t, handle h, bool write, void **out)
{
    *out = NULL;
    handle_record *r = record_of(t, h);
    if (!r)
        return POOL_STALE;
    if (r->state == HANDLE_HUSK || r->flags & HANDLE_PURGED)
        return POOL_EMPTY;
    if (write && !r->writable)
        return POOL_UNSUPPORTED;
    if (r->state == HANDLE_FILE && !file_is_whole(r))
        return POOL_IO;
    r->used_at = ++t->clock;
    *out = r->memory;
    return POOL_OK;
}

pool_status handle_read(handle_table *t, handle h, const void **out)
{
    void *p;
    pool_status s = access_record(t, h, false, &p);
    *out = p;
    return s;
}

pool_status handle_write(handle_table *t, handle h, void **out)
{
    return access_record(t, h, true, out);
}

pool_status handle_edit(handle_table *t, handle h, void **out)
{
    return access_record(t, h, true, out);
}

pool_status handle_use(handle_table *t, handle h, uint32_t flags)
{
    handle_record *r = record_of(t, h);
    if (r)
        r->flags = flags;
    return r ? POOL_OK : POOL_STALE;
}

pool_status handle_flags(const handle_table *t, handle h, uint32_t *flags)
{
    const handle_record *r = record_of(t, h);
    *flags = r ? r->flags : 0;
    return r ? POOL_OK : POOL_STALE;
}

pool_status handle_size(const handle_table *t, handle h, size_t *size)
{
    const handle_record *r = record_of(t, h);
    *size = r ? r->size : 0;
    return r ? POOL_OK : POOL_STALE;
}

pool_status handle_lock(handle_table *t, handle h)
{
    handle_record *r = record_of(t, h);
    if (!r)
        return POOL_STALE;
    if (r->locks == UINT32_MAX)
        return POOL_FULL;
    r->locks++;
    return POOL_OK;
}

pool_status handle_unlock(handle_table *t, handle h)
{
    handle_record *r = record_of(t, h);
    if (!r)
        return POOL_STALE;
    if (!r->locks)
        return POOL_EMPTY;
    r->locks--;
    return POOL_OK;
}

bool handle_is_purged(const handle_table *t, handle h)
{
    const handle_record *r = record_of(t, h);
    return r && r->flags & HANDLE_PURGED;
}

/* --- compaction
 * --------------------------------------------------------------------------------------------- */

/* Mapped files are left alone: the system drops their clean pages by itself. */
static bool can_purge(const handle_record *r)
{
    return r->generation & 1 && r->flags & HANDLE_PURGEABLE && !r->locks &&
           (r->state == HANDLE_MEMORY || r->state == HANDLE_PAGES);
}

static handle_record *oldest_purgeable(handle_table *t)
{
    handle_record *oldest = NULL;
    for (uint32_t i = 0; i < t->touched; i++) {
        handle_record *r = &t->records[i];
        if (can_purge(r) && (!oldest || r->used_at < oldest->used_at))
            oldest = r;
    }
    return oldest;
}

/* Makes a husk of it: the handle stays good, to tell that the memory is gone. Returns the bytes. */
static size_t purge(handle_table *t, handle_record *r)
{
    handle h = handle_of(t, r);
    if (t->notify)
        t->notify(t->notify_arg, h, HANDLE_IS_PURGED);
    if (record_of(t, h) != r) /* the notification freed it */
        return 0;
    release_memory(t, r);
    r->state = HANDLE_HUSK;
    r->flags |= HANDLE_PURGED;
    t->stats.husks++;
    t->stats.purges++;
    return r->size;
}

size_t handle_compact(handle_table *t, size_t want)
{
    size_t freed = 0;
    handle_record *r;
    while (t->compact && (!want || freed < want) && (r = oldest_purgeable(t)))
        freed += purge(t, r);
    return freed;
}

/* --- invariants
 * ---------------------------------------------------------------------------------------------- */

static bool broken(uint32_t index, const char *what)
{
    message(MESSAGE_MISUSE, "handle record %u: %s", index, what);
    return false;
}

static bool check_free_list(const handle_table *t, uint32_t *count)
{
    *count = 0;
    for (uint32_t at = t->free; at; at = t->records[at - 1].next) {
        if (at > t->touched || ++*count > t->touched)
            return broken(at - 1, "the free list leads astray");
        if (t->records[at - 1].generation & 1)
            return broken(at - 1, "live, but on the free list");
    }
    return true;
}

static bool check_record(const handle_record *r, uint32_t index, handle_stats *sum)
{
    bool husk = r->state == HANDLE_HUSK;
    if (r->state == HANDLE_FREE || husk != !r->memory)
        return broken(index, "state and memory disagree");
    if ((r->fd >= 0) != (r->state == HANDLE_FILE))
        return broken(index, "a file descriptor where none belongs");
    sum->handles++;
    sum->husks += husk;
    sum->files += r->state == HANDLE_FILE;
    *(r->state == HANDLE_FILE ? &sum->mapped_bytes : &sum->live_bytes) += husk ? 0 : r->size;
    return true;
}

bool handle_check(handle_table *t)
{
    handle_stats sum = {0};
    uint32_t on_list;
    if (!check_free_list(t, &on_list))
        return false;
    for (uint32_t i = 0; i < t->touched; i++)
        if (t->records[i].generation & 1 && !check_record(&t->records[i], i, &sum))
            return false;
    if (sum.handles + on_list != t->touched)
        return broken(t->touched, "records are neither live nor free");
    if (sum.handles != t->stats.handles || sum.husks != t->stats.husks || sum.files != t->stats.files ||
        sum.live_bytes != t->stats.live_bytes || sum.mapped_bytes != t->stats.mapped_bytes)
        return broken(t->touched, "the figures are not the sums over the records");
    return true;
}
