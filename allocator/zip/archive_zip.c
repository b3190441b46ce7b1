/* SPDX-License-Identifier: MIT */
/*
 * archive_zip.c - see archive.h: zip files (pk3), stored or deflated, read through zlib. It is an object of
 * its own in libpool.a: only a program that names archive_zip needs zlib, and the preload has none of it.
 *
 *   files, each behind a local head; a central directory; an end record, at most 64 KB before the end of the
 * file.
 *
 * Refused with one line: several disks, encryption, zip64, other methods, offsets outside the file, a wrong
 * CRC, more or fewer bytes than the directory says. Folders in the zip (names that end in '/') are left out.
 * Memory: about 48 KB while an entry is inflated, from a mapping of its own.
 */
#include "arena.h"
#include "archive.h"
#include "os.h"

#include <string.h>
#include <zlib.h>

enum { ZIP_END = 22, ZIP_CENTRAL = 46, ZIP_LOCAL = 30, ZIP_COMMENT = 65535, ZIP_PIECE = 4096 };
#define ZIP_END_MARK     0x06054b50u
#define ZIP_CENTRAL_MARK 0x02014b50u
#define ZIP_LOCAL_MARK   0x04034b50u

static bool zip_knows(const uint8_t *head, size_t size)
{
    return size >= 4 && (archive_u32(head) == ZIP_LOCAL_MARK || archive_u32(head) == ZIP_END_MARK);
}

/* The end record, looked for from the end of the file backwards. */
static pool_status find_end(const archive *a, uint8_t *end)
{
    uint64_t most = ZIP_END + ZIP_COMMENT, room = a->size < most ? a->size : most;
    uint8_t *tail = room >= ZIP_END ? os_map((size_t)room) : NULL;
    if (!tail)
        return room < ZIP_END ? archive_broken(a, "too short for a zip file") : POOL_NOMEM;
    pool_status s = archive_source(a, a->size - room, tail, (size_t)room) ? POOL_NOT_FOUND : POOL_IO;
    for (uint64_t at = room - ZIP_END + 1; s == POOL_NOT_FOUND && at-- > 0;) {
        if (archive_u32(tail + at) == ZIP_END_MARK && at + ZIP_END + archive_u16(tail + at + 20) <= room) {
            memcpy(end, tail + at, ZIP_END);
            s = POOL_OK;
        }
    }
    os_unmap(tail, (size_t)room);
    return s == POOL_NOT_FOUND ? archive_broken(a, "no end of a zip directory found") : s;
}

static pool_status check_entry(const archive *a, const archive_entry *e, uint32_t flags)
{
    if (flags & 1)
        return archive_broken(a, "entry %u is encrypted", a->count);
    if (e->method != 0 && e->method != 8)
        return archive_broken(a, "entry %u is packed by method %u, not 0 or 8", a->count, e->method);
    if (e->method == 0 && e->size != e->packed)
        return archive_broken(a, "entry %u is stored, but its two sizes differ", a->count);
    if (e->offset > a->size || e->packed > a->size - e->offset || e->size > e->packed * 1032 + 1032)
        return archive_broken(a, "entry %u of %lu bytes at %lu is not inside %lu bytes", a->count, e->packed,
                              e->offset, a->size);
    return POOL_OK;
}

/* One central record at *at; moves *at behind it. */
static pool_status zip_entry(archive *a, const uint8_t *table, size_t bytes, size_t *at)
{
    const uint8_t *r = table + *at;
    if (bytes - *at < ZIP_CENTRAL || archive_u32(r) != ZIP_CENTRAL_MARK)
        return archive_broken(a, "entry %u of the directory is missing", a->count);
    size_t name = archive_u16(r + 28), whole = ZIP_CENTRAL + name + archive_u16(r + 30) + archive_u16(r + 32);
    if (whole > bytes - *at)
        return archive_broken(a, "entry %u reaches past the directory", a->count);
    archive_entry e = {
        .offset = archive_u32(r + 42), .size = archive_u32(r + 24), .packed = archive_u32(r + 20)};
    e.method = (uint16_t)archive_u16(r + 10);
    e.check = archive_u32(r + 16);
    const char *text = (const char *)r + ZIP_CENTRAL;
    *at += whole;
    if (name && text[name - 1] == '/') /* a folder */
        return POOL_OK;
    pool_status s = check_entry(a, &e, archive_u16(r + 8));
    return s == POOL_OK ? archive_add(a, &e, text, name) : s;
}

static pool_status zip_entries(archive *a, const uint8_t *table, size_t bytes, uint32_t count)
{
    size_t at = 0;
    pool_status s = archive_make_room(a, count);
    for (uint32_t i = 0; s == POOL_OK && i < count; i++)
        s = zip_entry(a, table, bytes, &at);
    return s;
}

static pool_status zip_directory(archive *a)
{
    uint8_t end[ZIP_END] = {0};
    pool_status s = find_end(a, end);
    if (s != POOL_OK)
        return s;
    uint32_t count = archive_u16(end + 10), bytes = archive_u32(end + 12), offset = archive_u32(end + 16);
    if (archive_u16(end + 4) || archive_u16(end + 6) || archive_u16(end + 8) != count)
        return archive_broken(a, "a zip file over several disks");
    if (count == 0xffff || bytes == UINT32_MAX || offset == UINT32_MAX)
        return archive_broken(a, "a zip64 file");
    if (offset > a->size || bytes > a->size - offset || (uint64_t)count * ZIP_CENTRAL > bytes)
        return archive_broken(a, "a directory of %u entries at %u is not inside %lu bytes", count, offset,
                              a->size);
    uint8_t *table = os_map(bytes ? bytes : 1);
    if (!table)
        return POOL_NOMEM;
    s = archive_source(a, offset, table, bytes) ? zip_entries(a, table, bytes, count) : POOL_IO;
    os_unmap(table, bytes ? bytes : 1);
    return s;
}

/* --- reading -----------------------------------------------------------------------------------------------
 */

static voidpf zip_alloc(voidpf opaque, uInt items, uInt size)
{
    return arena_alloc(opaque, (int64_t)items * size);
}

static void zip_free(voidpf opaque, voidpf address)
{
}

/* Where the bytes of an entry begin: behind its local head, whose lengths differ from the directory's. */
static pool_status data_offset(const archive *a, const archive_entry *e, uint64_t *offset)
{
    uint8_t head[ZIP_LOCAL];
    if (!archive_source(a, e->offset, head, sizeof head) || archive_u32(head) != ZIP_LOCAL_MARK)
        return archive_broken(a, "'%s' has no local head at %lu", e->name, e->offset);
    *offset = e->offset + ZIP_LOCAL + archive_u16(head + 26) + archive_u16(head + 28);
    if (*offset > a->size || e->packed > a->size - *offset)
        return archive_broken(a, "'%s' reaches past the end of the file", e->name);
    return POOL_OK;
}

static int inflate_pieces(const archive *a, const archive_entry *e, uint64_t offset, z_stream *z)
{
    uint8_t piece[ZIP_PIECE];
    int result = Z_OK;
    for (uint64_t left = e->packed; left && result == Z_OK;) {
        size_t n = left < sizeof piece ? (size_t)left : sizeof piece;
        if (!archive_source(a, offset, piece, n))
            return Z_ERRNO;
        z->next_in = piece;
        z->avail_in = (uInt)n;
        result = inflate(z, Z_NO_FLUSH);
        offset += n;
        left -= n;
    }
    return result;
}

static pool_status inflate_entry(const archive *a, const archive_entry *e, uint64_t offset, void *to)
{
    arena scratch = {0};
    if (!arena_init(&scratch, KIB(64), NULL))
        return POOL_NOMEM;
    z_stream z = {.zalloc = zip_alloc,
                  .zfree = zip_free,
                  .opaque = &scratch,
                  .next_out = to,
                  .avail_out = (uInt)e->size};
    int result = inflateInit2(&z, -MAX_WBITS);
    if (result == Z_OK)
        result = inflate_pieces(a, e, offset, &z);
    bool whole = result == Z_STREAM_END && z.total_out == e->size;
    inflateEnd(&z);
    arena_free(&scratch);
    return whole ? POOL_OK : archive_broken(a, "'%s' does not inflate to its %lu bytes", e->name, e->size);
}

static pool_status zip_read(archive *a, const archive_entry *e, void *to)
{
    uint64_t offset = 0;
    pool_status s = data_offset(a, e, &offset);
    if (s == POOL_OK && e->method == 8)
        s = inflate_entry(a, e, offset, to);
    else if (s == POOL_OK)
        s = archive_source(a, offset, to, (size_t)e->size) ? POOL_OK : POOL_IO;
    if (s == POOL_OK && crc32(0, to, (uInt)e->size) != e->check)
        s = archive_broken(a, "'%s' has a wrong checksum", e->name);
    return s;
}

const archive_kind archive_zip = {"zip", zip_knows, zip_directory, zip_read};
