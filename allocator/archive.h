/* SPDX-License-Identifier: MIT */
/*
 * archive.h - floor F2: files that hold files, read through one small interface: the flight games' LIB,
 * Doom's WAD, plain folders, and zip (pk3) where zip/archive_zip.c is linked in. An archive is opened from a
 * path or from memory; its whole directory is read and checked then, so that later reads only trust what was
 * checked.
 *
 * Invariants: (1) every entry lies inside the source, or opening has failed; (2) names are upper case, not
 * empty, with no control characters, and NUL-terminated; (3) entries stand in the order of the directory.
 * Broken files: one message that names file, entry and number, and POOL_CORRUPT; files that cannot be read:
 * POOL_IO. Locking: none; a quiet archive may be read by several threads (reads are positioned and keep no
 * state). Cost: opening reads the directory once; an entry is one read. Read next: archive_index.h.
 */
#ifndef POOLMEM_ARCHIVE_H
#define POOLMEM_ARCHIVE_H

#include "base.h"

#define ARCHIVE_NAME  63 /* characters of an entry's name */
#define ARCHIVE_LABEL 63 /* characters of an archive's name in messages */
#define ARCHIVE_PATH  511
#define ARCHIVE_KINDS 8

typedef struct archive_entry {
    uint64_t offset;             /* where its bytes (zip: its local head) lie in the source */
    uint64_t size;               /* bytes it has when read */
    uint64_t packed;             /* bytes it has in the source */
    uint32_t check;              /* zip: CRC-32 */
    uint16_t method;             /* LIB: the byte before the offset; zip: 0 stored, 8 deflated */
    char name[ARCHIVE_NAME + 1]; /* upper case */
} archive_entry;

typedef struct archive archive;

typedef struct archive_kind {
    const char *name; /* "lib", "wad", "folder", "zip" */
    /* Whether the first bytes are those of this kind. */
    bool (*knows)(const uint8_t *head, size_t size);
    /* Fills entries and count of an archive whose source is open. */
    pool_status (*read_directory)(archive *a);
    /* Reads a whole entry. */
    pool_status (*read_entry)(archive *a, const archive_entry *e, void *to);
} archive_kind;

struct archive {
    const archive_kind *kind;
    archive_entry *entries;
    uint32_t count;
    uint32_t room; /* entries there is memory for */
    /* the source: a file, or bytes that the caller keeps */
    const uint8_t *memory;
    uint64_t size;
    int fd;
    char label[ARCHIVE_LABEL + 1]; /* last part of the path, for messages */
    char path[ARCHIVE_PATH + 1];   /* of a folder */
};

extern const archive_kind archive_lib, archive_wad, archive_folder;
extern const archive_kind archive_zip; /* in zip/: whoever names it links zlib */

/* Makes archive_open know one more kind. POOL_FULL. Not thread-safe: call before opening. */
pool_status archive_add_kind(const archive_kind *kind);

/* Opens by content: a folder, or a file of a known kind. POOL_IO, POOL_UNSUPPORTED (none of the kinds),
   POOL_CORRUPT, POOL_NOMEM. On failure there is nothing to close. */
pool_status archive_open(archive *a, const char *path);
/* The same for bytes in memory, which must stay as long as the archive. `label` is for messages. */
pool_status archive_open_memory(archive *a, const void *bytes, size_t size, const char *label);
/* Harmless on one that is closed. */
void archive_close(archive *a);

/* The index of an entry by name, any case; the last of that name. POOL_NOT_FOUND. */
pool_status archive_find(const archive *a, const char *name, uint32_t *index);
/* Reads entry `index` whole. `room` is the bytes at `to`: POOL_OVERFLOW when it has more. */
pool_status archive_read(archive *a, uint32_t index, void *to, size_t room);

/* The path of a folder's file as it is on disk, into ARCHIVE_PATH + 1 bytes; false: it is gone. */
bool archive_folder_path(const archive *a, uint32_t index, char *path);

/* Walks the invariants; false after a message. */
bool archive_check(const archive *a);

/* --- for the kinds ------------------------------------------------------------------------------------- */

/* Reads from the source, checked against its size. False: outside, or not readable. */
bool archive_source(const archive *a, uint64_t offset, void *to, size_t size);
/* Memory for that many entries; at most `most` of them can really be there. */
pool_status archive_make_room(archive *a, uint64_t entries);
/* Appends an entry; the name has `size` bytes at most and ends at a NUL; it is checked and put in upper case.
 */
pool_status archive_add(archive *a, const archive_entry *e, const char *name, size_t size);
/* Says "LABEL: what", returns POOL_CORRUPT. */
pool_status archive_broken(const archive *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* An entry that lies in the source as it is. */
pool_status archive_read_plain(archive *a, const archive_entry *e, void *to);

/* Compares names without regard to case (ASCII), as strcmp. */
int archive_name_compare(const char *a, const char *b);
INLINE char archive_upper(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - 32) : c;
}
INLINE uint32_t archive_u16(const uint8_t *p)
{
    return p[0] | (uint32_t)p[1] << 8;
}
INLINE uint32_t archive_u32(const uint8_t *p)
{
    return archive_u16(p) | archive_u16(p + 2) << 16;
}

#endif
