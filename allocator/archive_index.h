/* SPDX-License-Identifier: MIT */
/*
 * archive_index.h - floor F2: from a name to the archive that has it: one flat, sorted array of 35-byte
 * records over all mounted archives, searched by halving.
 *
 * Which of two entries of one name is found: an archive's before a loose file's, whatever was mounted first;
 * among archives, and among loose files, the one mounted later; within one archive the later entry. A file of
 * a routed folder is only found where there is nothing else. Every such collision is recorded.
 *
 * Invariants: (1) records are sorted by name and no name stands twice; (2) every record names an entry of a
 * mounted archive; (3) names are upper case, and 8.3 unless INDEX_LONG_NAMES is set. Locking: none; a quiet
 * index may be searched by several threads. Cost: mounting sorts the new entries and merges them in; a search
 * is log2 n comparisons. Source: the hint index of a flight game of 1997; what differs is in docs/engine.md.
 * Read next: resource.h.
 */
#ifndef POOLMEM_ARCHIVE_INDEX_H
#define POOLMEM_ARCHIVE_INDEX_H

#include "archive.h"
#include "arena.h"

#define INDEX_ARCHIVES 64
#define INDEX_RECORD   35

enum index_options {
    INDEX_LONG_NAMES = 1 /* names beyond 8.3 are taken too, not refused */
};

/* Where an entry comes from; a lower one is found before a higher one. */
enum index_type { INDEX_ARCHIVE = 0, INDEX_ROUTED = 0xfe, INDEX_LOOSE = 0xff };

typedef struct __attribute__((packed)) index_record {
    char name[13];    /* 8.3 and its NUL; of a long name: a byte 1, then a pointer to its text */
    uint8_t type;     /* index_type */
    uint16_t archive; /* number of the archive */
    uint32_t entry;   /* number in the archive */
    uint64_t size;    /* bytes of the file */
    uint32_t order;   /* registrations before this one */
    uint8_t reserved[3];
} index_record;
_Static_assert(sizeof(index_record) == INDEX_RECORD, "as in the original");

/* A name that stood twice: what is found and what is hidden by it. */
typedef struct index_collision {
    struct index_collision *next; /* older */
    index_record kept, hidden;
} index_collision;

/* Zero it before use; needs no init. */
typedef struct archive_index {
    index_record *records;
    size_t count, mapped; /* records; bytes of their mapping */
    archive archives[INDEX_ARCHIVES];
    uint32_t archive_count;
    uint32_t options;
    uint32_t order;
    uint64_t refused;            /* names that are no 8.3 names */
    index_collision *collisions; /* newest first */
    uint64_t collision_count;
    arena text; /* long names and collisions */
} archive_index;

void index_init(archive_index *ix, uint32_t options);
/* Closes all archives and forgets everything. */
void index_close(archive_index *ix);

/* Mounts one archive file, or a folder as loose files. POOL_FULL: too many archives; else as archive_open;
   nothing has changed when it fails. */
pool_status index_mount(archive_index *ix, const char *path);
/* The same for bytes in memory, which must stay. */
pool_status index_mount_memory(archive_index *ix, const void *bytes, size_t size, const char *label);
/* The start of the original: of a folder's files, in the order of their names, those whose name contains
   ".LIB" are mounted, all others become loose files. A LIB that is broken is said and left out, and makes the
   result POOL_CORRUPT. */
pool_status index_mount_all(archive_index *ix, const char *folder);
/* Files of the folder with that extension ("SH"), found only where nothing else has the name. */
pool_status index_mount_route(archive_index *ix, const char *folder, const char *extension);

/* The record of a name, any case; NULL: none. Valid until the next mount. */
const index_record *index_find(const archive_index *ix, const char *name);
/* Reads the whole file; POOL_OVERFLOW: `room` is less than its size. */
pool_status index_read(archive_index *ix, const index_record *r, void *to, size_t room);
/* Its name. */
const char *index_name(const index_record *r);

/* Walks the invariants; false after a message. */
bool index_check(const archive_index *ix);

#endif
