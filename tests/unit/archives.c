/* SPDX-License-Identifier: MIT */
/* archives.c - see archives.h. */
#include "archives.h"

#include <criterion/criterion.h>
#include <string.h>
#include <zlib.h>

static void put(packed *to, const void *data, size_t size)
{
    cr_assert(to->size + size <= sizeof to->bytes);
    if (size)
        memcpy(to->bytes + to->size, data, size);
    to->size += size;
}

static void put16(packed *to, uint32_t v)
{
    put(to, (uint8_t[]){(uint8_t)v, (uint8_t)(v >> 8)}, 2);
}

static void put32(packed *to, uint32_t v)
{
    put16(to, v & 0xffff);
    put16(to, v >> 16);
}

static void put_name(packed *to, const char *name, size_t room)
{
    char field[16] = "";
    memcpy(field, name, strnlen(name, room));
    put(to, field, room);
}

void patch32(packed *to, size_t at, uint32_t value)
{
    packed word = {.size = 0};
    put32(&word, value);
    memcpy(to->bytes + at, word.bytes, 4);
}

void patch16(packed *to, size_t at, uint32_t value)
{
    to->bytes[at] = (uint8_t)value;
    to->bytes[at + 1] = (uint8_t)(value >> 8);
}

void pack_lib(packed *to, const packed_file *files, int count)
{
    size_t at = 7 + 18 * ((size_t)count + 1);
    to->size = 0;
    put(to, "EALIB", 5);
    put16(to, (uint32_t)count);
    for (int i = 0; i <= count; i++) {
        put_name(to, i < count ? files[i].name : "", 13);
        put(to, i < count ? "\4" : "", 1);
        put32(to, (uint32_t)at);
        at += i < count ? files[i].size : 0;
    }
    for (int i = 0; i < count; i++)
        put(to, files[i].data, files[i].size);
}

void pack_wad(packed *to, const packed_file *files, int count)
{
    size_t at = 12, data = 0;
    for (int i = 0; i < count; i++)
        data += files[i].size;
    to->size = 0;
    put(to, "PWAD", 4);
    put32(to, (uint32_t)count);
    put32(to, (uint32_t)(12 + data));
    for (int i = 0; i < count; i++)
        put(to, files[i].data, files[i].size);
    for (int i = 0; i < count; i++) {
        put32(to, (uint32_t)at);
        put32(to, (uint32_t)files[i].size);
        put_name(to, files[i].name, 8);
        at += files[i].size;
    }
}

static size_t deflated(const packed_file *f, uint8_t *out, size_t room)
{
    z_stream z = {.next_in = (Bytef *)(uintptr_t)f->data, .avail_in = (uInt)f->size, .next_out = out};
    z.avail_out = (uInt)room;
    cr_assert_eq(deflateInit2(&z, 9, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY), Z_OK);
    cr_assert_eq(deflate(&z, Z_FINISH), Z_STREAM_END);
    deflateEnd(&z);
    return z.total_out;
}

/* The fields that local and central heads share. */
static void put_zip_fields(packed *to, const packed_file *f, int method, size_t size)
{
    put16(to, 20);
    put16(to, 0);
    put16(to, (uint32_t)method);
    put32(to, 0);
    put32(to, (uint32_t)crc32(0, f->data, (uInt)f->size));
    put32(to, (uint32_t)size);
    put32(to, (uint32_t)f->size);
    put16(to, (uint32_t)strlen(f->name));
    put16(to, 0);
}

void pack_zip(packed *to, const packed_file *files, int count, int deflate)
{
    static uint8_t out[1 << 16];
    size_t at[32], size[32];
    to->size = 0;
    for (int i = 0; i < count; i++) {
        const packed_file *f = &files[i];
        at[i] = to->size;
        size[i] = deflate ? deflated(f, out, sizeof out) : f->size;
        put32(to, 0x04034b50);
        put_zip_fields(to, f, deflate ? 8 : 0, size[i]);
        put(to, f->name, strlen(f->name));
        put(to, deflate ? out : f->data, size[i]);
    }
    size_t directory = to->size;
    for (int i = 0; i < count; i++) {
        put32(to, 0x02014b50);
        put16(to, 20);
        put_zip_fields(to, &files[i], deflate ? 8 : 0, size[i]);
        put(to, "\0\0\0\0\0\0\0\0\0\0", 10);
        put32(to, (uint32_t)at[i]);
        put(to, files[i].name, strlen(files[i].name));
    }
    size_t bytes = to->size - directory;
    put32(to, 0x06054b50);
    put32(to, 0);
    put16(to, (uint32_t)count);
    put16(to, (uint32_t)count);
    put32(to, (uint32_t)bytes);
    put32(to, (uint32_t)directory);
    put16(to, 0);
}
