/* SPDX-License-Identifier: MIT */
/*
 * archive_index.c - see archive_index.h: mounting, merging, collisions and the search.
 *
 * A mount makes records of the new archive's entries, sorts them by name and order, and merges them with the
 * records there are into a fresh mapping; where two have one name, one is kept and a collision is noted. Only
 * when all of that has worked does the index change: a mount that fails puts counts, texts and collisions
 * back and closes the archive. Long names and collisions live in an arena, so putting back is going to a
 * mark.
 */
#include "archive_index.h"
#include "fatal.h"
#include "os.h"
#include "sort.h"

#include <string.h>

#define TEXT_CHUNK KIB(16)
#define LONG_NAME  1 /* first byte of the name field of a long name */

void index_init(archive_index *ix, uint32_t options)
{
    memset(ix, 0, sizeof *ix);
    ix->options = options;
}

void index_close(archive_index *ix)
{
    for (uint32_t i = 0; i < ix->archive_count; i++)
        archive_close(&ix->archives[i]);
    if (ix->records)
        os_unmap(ix->records, ix->mapped);
    arena_free(&ix->text);
    memset(ix, 0, sizeof *ix);
}

/* --- names ------------------------------------------------------------------------------------------------
 */

const char *index_name(const index_record *r)
{
    const char *text;
    if (r->name[0] != LONG_NAME)
        return r->name;
    memcpy(&text, r->name + 1, sizeof text);
    return text;
}

/* At most eight characters, at most one point with at most three behind it. */
static bool is_short_name(const char *name)
{
    size_t stem = strcspn(name, ".");
    const char *extension = name[stem] ? name + stem + 1 : name + stem;
    return stem && stem <= 8 && strlen(extension) <= 3 && !strchr(extension, '.');
}

/* The arena of texts, made when it is first needed. */
static bool has_text(archive_index *ix)
{
    return ix->text.first.base || arena_init(&ix->text, TEXT_CHUNK, &(arena_options){.chunk = TEXT_CHUNK});
}

/* Writes the name field; long names get a text of their own. */
static pool_status set_name(archive_index *ix, index_record *r, const char *name)
{
    size_t n = strlen(name) + 1;
    if (is_short_name(name)) {
        memcpy(r->name, name, n);
        return POOL_OK;
    }
    char *text = arena_alloc(&ix->text, (int64_t)n);
    if (!text)
        return POOL_NOMEM;
    memcpy(text, name, n);
    r->name[0] = LONG_NAME;
    memcpy(r->name + 1, &text, sizeof text);
    return POOL_OK;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(index_name(a), index_name(b));
}

static int by_name_and_order(const void *a, const void *b)
{
    const index_record *x = a, *y = b;
    int names = by_name(a, b);
    return names ? names : (x->order > y->order) - (x->order < y->order);
}

/* --- mounting
 * ----------------------------------------------------------------------------------------------- */

/* Archives before loose files before routed ones; of the same sort the later registration. */
static bool hides(const index_record *a, const index_record *b)
{
    static const uint8_t rank_of[2] = {1, 2}; /* routed, loose */
    uint8_t ra = a->type ? rank_of[a->type - INDEX_ROUTED] : 3,
            rb = b->type ? rank_of[b->type - INDEX_ROUTED] : 3;
    return ra != rb ? ra > rb : a->order > b->order;
}

static bool note_collision(archive_index *ix, const index_record *kept, const index_record *hidden)
{
    index_collision *c = arena_alloc(&ix->text, sizeof *c);
    if (!c)
        return false;
    *c = (index_collision){ix->collisions, *kept, *hidden};
    ix->collisions = c;
    ix->collision_count++;
    return true;
}

/* Appends a record that sorts behind or beside the last one. */
static bool append(archive_index *ix, index_record *to, size_t *count, const index_record *r)
{
    index_record *last = *count ? &to[*count - 1] : NULL;
    if (!last || by_name(last, r)) {
        to[(*count)++] = *r;
        return true;
    }
    index_record old = *last;
    bool wins = hides(r, last);
    if (wins)
        *last = *r;
    return note_collision(ix, wins ? r : &old, wins ? &old : r);
}

/* Merges sorted `fresh` records into the index. */
static pool_status merge(archive_index *ix, const index_record *fresh, size_t n)
{
    size_t bytes = (ix->count + n) * sizeof *fresh, at = 0, i = 0, k = 0;
    index_record *to = os_map(bytes);
    bool ok = to != NULL;
    while (ok && (i < ix->count || k < n)) {
        bool old = k == n || (i < ix->count && by_name(&ix->records[i], &fresh[k]) <= 0);
        ok = append(ix, to, &at, old ? &ix->records[i] : &fresh[k]);
        i += old;
        k += !old;
    }
    if (!ok) {
        if (to)
            os_unmap(to, bytes);
        return POOL_NOMEM;
    }
    if (ix->records)
        os_unmap(ix->records, ix->mapped);
    ix->records = to;
    ix->mapped = bytes;
    ix->count = at;
    return POOL_OK;
}

static bool has_extension(const char *name, const char *extension)
{
    const char *dot = strrchr(name, '.');
    return !extension || (dot && !archive_name_compare(dot + 1, extension));
}

/* Whether an entry is to be indexed at all. */
static bool takes(archive_index *ix, const char *name, const char *extension)
{
    if (!has_extension(name, extension))
        return false;
    if (is_short_name(name) || ix->options & INDEX_LONG_NAMES)
        return true;
    ix->refused++;
    return false;
}

static pool_status make_records(archive_index *ix, const archive *a, uint8_t type, const char *extension,
                                index_record *fresh, size_t *n)
{
    for (uint32_t i = 0; i < a->count; i++) {
        const archive_entry *e = &a->entries[i];
        if (!takes(ix, e->name, extension))
            continue;
        index_record *r = &fresh[(*n)++];
        r->type = type;
        r->archive = (uint16_t)ix->archive_count;
        r->entry = i;
        r->size = e->size;
        r->order = ix->order++;
        pool_status s = set_name(ix, r, e->name);
        if (s != POOL_OK)
            return s;
    }
    return POOL_OK;
}

static pool_status add_entries(archive_index *ix, const archive *a, uint8_t type, const char *extension)
{
    size_t bytes = a->count * sizeof(index_record), n = 0;
    index_record *fresh = a->count ? os_map(bytes) : NULL;
    if (!fresh)
        return a->count ? POOL_NOMEM : POOL_OK;
    pool_status s = make_records(ix, a, type, extension, fresh, &n);
    sort(fresh, n, sizeof *fresh, by_name_and_order);
    if (s == POOL_OK && n)
        s = merge(ix, fresh, n);
    os_unmap(fresh, bytes);
    return s;
}

/* What a mount that fails puts back. */
struct before {
    arena_mark text;
    index_collision *collisions;
    uint64_t collision_count, refused;
    uint32_t order;
};

static void put_back(archive_index *ix, const struct before *b)
{
    arena_restore(&ix->text, b->text);
    ix->collisions = b->collisions;
    ix->collision_count = b->collision_count;
    ix->refused = b->refused;
    ix->order = b->order;
}

/* Takes over an archive that was opened, or closes it and leaves the index as it was. */
static pool_status adopt(archive_index *ix, archive *a, uint8_t type, const char *extension)
{
    pool_status s = POOL_NOMEM;
    if (has_text(ix)) {
        struct before b = {arena_get_mark(&ix->text), ix->collisions, ix->collision_count, ix->refused,
                           ix->order};
        s = add_entries(ix, a, type, extension);
        if (s != POOL_OK)
            put_back(ix, &b);
    }
    if (s == POOL_OK)
        ix->archives[ix->archive_count++] = *a;
    else
        archive_close(a);
    return s;
}

static pool_status mount_as(archive_index *ix, const char *path, const char *extension, uint8_t folder_type)
{
    archive a;
    if (ix->archive_count == INDEX_ARCHIVES)
        return POOL_FULL;
    pool_status s = archive_open(&a, path);
    if (s != POOL_OK)
        return s;
    uint8_t type = a.kind == &archive_folder ? folder_type : INDEX_ARCHIVE;
    return adopt(ix, &a, type, extension);
}

pool_status index_mount(archive_index *ix, const char *path)
{
    return mount_as(ix, path, NULL, INDEX_LOOSE);
}

pool_status index_mount_route(archive_index *ix, const char *folder, const char *extension)
{
    return mount_as(ix, folder, extension, INDEX_ROUTED);
}

pool_status index_mount_memory(archive_index *ix, const void *bytes, size_t size, const char *label)
{
    archive a;
    if (ix->archive_count == INDEX_ARCHIVES)
        return POOL_FULL;
    pool_status s = archive_open_memory(&a, bytes, size, label);
    return s == POOL_OK ? adopt(ix, &a, INDEX_ARCHIVE, NULL) : s;
}

/* Mounts the LIB files among the entries of a folder that is mounted already. */
static pool_status mount_libs(archive_index *ix, uint32_t folder)
{
    pool_status result = POOL_OK;
    for (uint32_t i = 0; i < ix->archives[folder].count; i++) {
        char whole[ARCHIVE_PATH + 1];
        const archive *a = &ix->archives[folder];
        if (!strstr(a->entries[i].name, ".LIB") || !archive_folder_path(a, i, whole))
            continue;
        pool_status s = index_mount(ix, whole);
        if (s != POOL_OK)
            result = s;
    }
    return result;
}

pool_status index_mount_all(archive_index *ix, const char *folder)
{
    uint32_t at = ix->archive_count;
    pool_status s = index_mount(ix, folder);
    return s == POOL_OK ? mount_libs(ix, at) : s;
}

/* --- finding
 * --------------------------------------------------------------------------------------------------- */

const index_record *index_find(const archive_index *ix, const char *name)
{
    size_t low = 0, high = ix->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = archive_name_compare(name, index_name(&ix->records[middle]));
        if (!order)
            return &ix->records[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

pool_status index_read(archive_index *ix, const index_record *r, void *to, size_t room)
{
    return r->archive < ix->archive_count ? archive_read(&ix->archives[r->archive], r->entry, to, room)
                                          : POOL_NOT_FOUND;
}

/* --- invariants
 * -------------------------------------------------------------------------------------------------- */

bool index_check(const archive_index *ix)
{
    for (size_t i = 0; i < ix->count; i++) {
        const index_record *r = &ix->records[i];
        const char *what = NULL;
        if (r->archive >= ix->archive_count || r->entry >= ix->archives[r->archive].count)
            what = "names no entry";
        else if (strcmp(index_name(r), ix->archives[r->archive].entries[r->entry].name))
            what = "has another name than its entry";
        else if (i && by_name(r - 1, r) >= 0)
            what = "is out of order";
        if (what) {
            message(MESSAGE_MISUSE, "archive index: record %zu %s", i, what);
            return false;
        }
    }
    return true;
}
