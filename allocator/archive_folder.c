/* SPDX-License-Identifier: MIT */
/*
 * archive_folder.c - see archive.h: the regular files of a plain folder, not of the folders in it. Entries
 * stand in the order of their names, so that the same folder gives the same archive everywhere. A file is
 * found again by its name in upper case, else in whatever case it is on disk. Names that are too long are
 * left out. A file that changed its size since the folder was opened gives POOL_IO.
 */
#include "archive.h"
#include "fmt.h"
#include "os_file.h"
#include "sort.h"

#include <string.h>

static bool folder_knows(const uint8_t *head, size_t size)
{
    return false; /* a folder has no first bytes: archive_open tries it for what is no file */
}

static void join(const archive *a, const char *name, char *path)
{
    fmt_text(path, ARCHIVE_PATH + 1, "%s/%s", a->path, name);
}

/* -1 as well for what is no regular file. */
static int open_in(const archive *a, const char *name)
{
    char path[ARCHIVE_PATH + 1];
    join(a, name, path);
    return os_file_open(path);
}

static bool count_name(void *arg, const char *name)
{
    ++*(uint64_t *)arg;
    return true;
}

/* Looks for the file on disk that has this name, in any case. */
struct looking {
    const archive *a;
    const char *name;
    char *path;
    bool found;
};

static bool try_name(void *arg, const char *name)
{
    struct looking *l = arg;
    l->found = !archive_name_compare(name, l->name);
    if (l->found)
        join(l->a, name, l->path);
    return !l->found;
}

bool archive_folder_path(const archive *a, uint32_t index, char *path)
{
    if (index >= a->count || a->kind != &archive_folder)
        return false;
    struct looking l = {a, a->entries[index].name, path, false};
    os_folder_walk(a->path, try_name, &l);
    return l.found;
}

struct adding {
    archive *a;
    pool_status status;
};

static bool add_name(void *arg, const char *name)
{
    struct adding *ad = arg;
    archive_entry e = {0};
    int fd = strlen(name) <= ARCHIVE_NAME ? open_in(ad->a, name) : -1;
    bool usable = fd >= 0 && os_file_size(fd, &e.size);
    os_file_close(fd);
    if (usable && ad->a->count < ad->a->room) { /* a folder may grow meanwhile */
        e.packed = e.size;
        ad->status = archive_add(ad->a, &e, name, strlen(name));
    }
    return ad->status == POOL_OK;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const archive_entry *)a)->name, ((const archive_entry *)b)->name);
}

static pool_status folder_directory(archive *a)
{
    uint64_t names = 0;
    if (!os_folder_walk(a->path, count_name, &names))
        return POOL_IO;
    struct adding ad = {a, archive_make_room(a, names)};
    if (ad.status == POOL_OK && !os_folder_walk(a->path, add_name, &ad) && ad.status == POOL_OK)
        ad.status = POOL_IO;
    if (ad.status == POOL_OK)
        sort(a->entries, a->count, sizeof *a->entries, by_name);
    return ad.status;
}

static pool_status folder_read(archive *a, const archive_entry *e, void *to)
{
    uint64_t now;
    char path[ARCHIVE_PATH + 1];
    int fd = open_in(a, e->name); /* most often its name is upper case on disk as well */
    if (fd < 0 && archive_folder_path(a, (uint32_t)(e - a->entries), path))
        fd = os_file_open(path);
    bool ok = fd >= 0 && os_file_size(fd, &now) && now == e->size && os_file_read(fd, 0, to, (size_t)e->size);
    os_file_close(fd);
    return ok ? POOL_OK : POOL_IO;
}

const archive_kind archive_folder = {"folder", folder_knows, folder_directory, folder_read};
