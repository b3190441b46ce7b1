/* SPDX-License-Identifier: MIT */
/*
 * archive.c - see archive.h: sources, entries, names and opening by content.
 * A source is a file or bytes in memory; every read of it goes through archive_source, which knows its size.
 * Files are read by position and never mapped, so that one that is cut short while it is open gives an error,
 * not a signal.
 */
#include "archive.h"
#include "fatal.h"
#include "fmt.h"
#include "os.h"
#include "os_file.h"

#include <string.h>

static const archive_kind *kinds[ARCHIVE_KINDS] = {&archive_lib, &archive_wad};
static unsigned kind_count = 2;

pool_status archive_add_kind(const archive_kind *kind)
{
    for (unsigned i = 0; i < kind_count; i++)
        if (kinds[i] == kind)
            return POOL_OK;
    if (kind_count == ARCHIVE_KINDS)
        return POOL_FULL;
    kinds[kind_count++] = kind;
    return POOL_OK;
}

pool_status archive_broken(const archive *a, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    fmt_vtext(text, sizeof text, format, args);
    va_end(args);
    message(MESSAGE_WARNING, "%s: %s", a->label, text);
    return POOL_CORRUPT;
}

/* --- the source --------------------------------------------------------------------------------------- */

bool archive_source(const archive *a, uint64_t offset, void *to, size_t size)
{
    if (offset > a->size || size > a->size - offset)
        return false;
    if (a->fd >= 0)
        return os_file_read(a->fd, offset, to, size);
    if (size)
        memcpy(to, a->memory + offset, size);
    return true;
}

pool_status archive_read_plain(archive *a, const archive_entry *e, void *to)
{
    return archive_source(a, e->offset, to, (size_t)e->size) ? POOL_OK : POOL_IO;
}

/* --- entries ------------------------------------------------------------------------------------------ */

pool_status archive_make_room(archive *a, uint64_t entries)
{
    if (entries > UINT32_MAX / sizeof *a->entries)
        return POOL_OVERFLOW;
    a->room = (uint32_t)entries;
    a->entries = entries ? os_map(entries * sizeof *a->entries) : NULL;
    return a->entries || !entries ? POOL_OK : POOL_NOMEM;
}

/* Length of the name, or 0 when it is not a decent one. */
static size_t name_length(const char *name, size_t size)
{
    size_t n = strnlen(name, size);
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)name[i] < 32 || name[i] == 127)
            return 0;
    return n <= ARCHIVE_NAME ? n : 0;
}

pool_status archive_add(archive *a, const archive_entry *e, const char *name, size_t size)
{
    size_t n = name_length(name, size);
    if (!n)
        return archive_broken(a, "entry %u has no usable name", a->count);
    if (a->count == a->room)
        return archive_broken(a, "more than the %u entries that it says it has", a->room);
    archive_entry *to = &a->entries[a->count++];
    *to = *e;
    memset(to->name, 0, sizeof to->name);
    for (size_t i = 0; i < n; i++)
        to->name[i] = archive_upper(name[i]);
    return POOL_OK;
}

int archive_name_compare(const char *a, const char *b)
{
    while (*a && archive_upper(*a) == archive_upper(*b))
        a++, b++;
    return (unsigned char)archive_upper(*a) - (unsigned char)archive_upper(*b);
}

pool_status archive_find(const archive *a, const char *name, uint32_t *index)
{
    for (uint32_t i = a->count; i-- > 0;) {
        if (!archive_name_compare(a->entries[i].name, name)) {
            *index = i;
            return POOL_OK;
        }
    }
    return POOL_NOT_FOUND;
}

pool_status archive_read(archive *a, uint32_t index, void *to, size_t room)
{
    if (index >= a->count)
        return POOL_NOT_FOUND;
    const archive_entry *e = &a->entries[index];
    if (e->size > room)
        return POOL_OVERFLOW;
    pool_status s = a->kind->read_entry(a, e, to);
    if (s == POOL_IO)
        message(MESSAGE_WARNING, "%s: entry %u '%s' cannot be read", a->label, index, e->name);
    return s;
}

/* --- opening ------------------------------------------------------------------------------------------- */

static void set_label(archive *a, const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    const char *last = slash && slash[1] ? slash + 1 : path ? path : "archive";
    strncpy(a->label, last, ARCHIVE_LABEL);
}

static const archive_kind *kind_of_source(const archive *a)
{
    uint8_t head[16];
    size_t n = a->size < sizeof head ? (size_t)a->size : sizeof head;
    if (!archive_source(a, 0, head, n))
        return NULL;
    for (unsigned i = 0; i < kind_count; i++)
        if (kinds[i]->knows(head, n))
            return kinds[i];
    return NULL;
}

/* Whatever fails, the archive is closed and zeroed. */
static pool_status open_source(archive *a)
{
    a->kind = a->kind ? a->kind : kind_of_source(a);
    pool_status s = a->kind ? a->kind->read_directory(a) : POOL_UNSUPPORTED;
    if (!a->kind)
        message(MESSAGE_WARNING, "%s: not an archive of a known kind", a->label);
    if (s != POOL_OK)
        archive_close(a);
    return s;
}

static bool open_folder(archive *a, const char *path)
{
    if (strlen(path) > ARCHIVE_PATH - ARCHIVE_NAME - 1)
        return false;
    strncpy(a->path, path, ARCHIVE_PATH);
    a->kind = &archive_folder;
    return true;
}

pool_status archive_open(archive *a, const char *path)
{
    *a = (archive){.fd = os_file_open(path)};
    set_label(a, path);
    if (a->fd >= 0 ? os_file_size(a->fd, &a->size) : open_folder(a, path))
        return open_source(a);
    archive_close(a);
    return POOL_IO;
}

pool_status archive_open_memory(archive *a, const void *bytes, size_t size, const char *label)
{
    *a = (archive){.fd = -1, .memory = bytes, .size = size};
    set_label(a, label);
    return open_source(a);
}

void archive_close(archive *a)
{
    if (a->room)
        os_unmap(a->entries, a->room * sizeof *a->entries);
    if (a->kind || a->size || a->path[0] || a->label[0]) /* a zeroed one has no descriptor */
        os_file_close(a->fd);
    memset(a, 0, sizeof *a);
}

/* --- invariants ------------------------------------------------------------------------------------------
 */

bool archive_check(const archive *a)
{
    for (uint32_t i = 0; i < a->count; i++) {
        const archive_entry *e = &a->entries[i];
        bool inside =
            a->kind == &archive_folder || (e->offset <= a->size && e->packed <= a->size - e->offset);
        if (!inside || !name_length(e->name, sizeof e->name)) {
            archive_broken(a, "entry %u is not sound", i);
            return false;
        }
    }
    return a->count <= a->room;
}
