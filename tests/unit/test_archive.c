/* SPDX-License-Identifier: MIT */
/* test_archive.c - LIB, WAD, folder and zip: sound ones read whole, broken ones give one clear error. */
#include "archive.h"
#include "archives.h"
#include "fault.h"
#include "said.h"
#include "scratch.h"
#include "seeded.h"

static void set_up(void)
{
    scratch_make();
    archive_add_kind(&archive_zip);
}

TestSuite(archive, .init = set_up, .fini = scratch_remove);

static packed p;
static const packed_file two[] = {{"A.TXT", "hello", 5}, {"shape.sh", "0123456789", 10}};

static void open_packed(archive *a, const char *label)
{
    said_start();
    cr_assert_eq(archive_open_memory(a, p.bytes, p.size, label), POOL_OK, "%s", said_last);
    cr_assert(archive_check(a));
}

static void expect_broken(pool_status want, const char *line)
{
    archive a;
    said_start();
    cr_assert_eq(archive_open_memory(&a, p.bytes, p.size, "t"), want);
    said_expect(line);
    cr_assert_eq(said_lines, 1);
    cr_assert_null(a.entries);
    archive_close(&a);
}

static void expect_entry(archive *a, const char *name, const void *data, size_t size)
{
    uint32_t i;
    char got[256] = "";
    cr_assert_eq(archive_find(a, name, &i), POOL_OK);
    cr_assert_eq(a->entries[i].size, size);
    cr_assert_eq(archive_read(a, i, got, sizeof got), POOL_OK);
    cr_assert_eq(memcmp(got, data, size), 0);
    if (size)
        cr_assert_eq(archive_read(a, i, got, size - 1), POOL_OVERFLOW);
}

Test(archive, lib_reads)
{
    archive a;
    uint32_t i;
    pack_lib(&p, two, 2);
    open_packed(&a, "t.lib");
    cr_assert_eq(a.kind, &archive_lib);
    cr_assert_eq(a.count, 2);
    expect_entry(&a, "a.txt", "hello", 5);
    expect_entry(&a, "SHAPE.SH", "0123456789", 10);
    cr_assert_str_eq(a.entries[1].name, "SHAPE.SH");
    cr_assert_eq(a.entries[0].method, 4);
    cr_assert_eq(archive_find(&a, "NONE", &i), POOL_NOT_FOUND);
    cr_assert_eq(archive_read(&a, 2, p.bytes, 1), POOL_NOT_FOUND);
    archive_close(&a);
    archive_close(&a);
    pack_lib(&p, two, 0);
    open_packed(&a, "empty");
    archive_close(&a);
}

Test(archive, lib_broken)
{
    pack_lib(&p, two, 2);
    patch16(&p, 5, 1000);
    expect_broken(POOL_CORRUPT, "t: 1000 entries do not fit into 76 bytes");
    pack_lib(&p, two, 2);
    patch32(&p, 7 + 14, 60);
    expect_broken(POOL_CORRUPT, "t: entry 0 lies at 60 to 66 of 76 bytes");
    pack_lib(&p, two, 2);
    patch32(&p, 7 + 18 + 14, 1 << 30);
    expect_broken(POOL_CORRUPT, "t: entry 0 lies at 61 to 1073741824 of 76 bytes");
    pack_lib(&p, two, 2);
    patch32(&p, 7 + 36 + 14, 65);
    expect_broken(POOL_CORRUPT, "t: entry 1 lies at 66 to 65 of 76 bytes");
    pack_lib(&p, two, 2);
    p.bytes[7] = 0;
    expect_broken(POOL_CORRUPT, "t: entry 0 has no usable name");
    pack_lib(&p, two, 2);
    p.bytes[8] = '\n';
    expect_broken(POOL_CORRUPT, "t: entry 0 has no usable name");
    p.bytes[0] = 'X';
    expect_broken(POOL_UNSUPPORTED, "t: not an archive of a known kind");
    p.size = 3;
    expect_broken(POOL_UNSUPPORTED, "t: not an archive of a known kind");
    p.size = 0;
    expect_broken(POOL_UNSUPPORTED, "t: not an archive of a known kind");
}

Test(archive, wad_reads_and_names_level_parts)
{
    archive a;
    const packed_file lumps[] = {{"PLAYPAL", "pal", 3}, {"E1M1", "", 0},     {"THINGS", "t1", 2},
                                 {"SSECTORS", "ss", 2}, {"DEMO1", "d", 1},   {"THINGS", "t", 1},
                                 {"MAP01", "", 0},      {"SECTORS", "s", 1}, {"LONGNAME", "L", 1}};
    pack_wad(&p, lumps, 9);
    open_packed(&a, "t.wad");
    cr_assert_eq(a.kind, &archive_wad);
    expect_entry(&a, "PLAYPAL", "pal", 3);
    expect_entry(&a, "E1M1.THI", "t1", 2);
    expect_entry(&a, "E1M1.SSE", "ss", 2);
    expect_entry(&a, "THINGS", "t", 1);
    expect_entry(&a, "MAP01.SEC", "s", 1);
    expect_entry(&a, "LONGNAME", "L", 1);
    expect_entry(&a, "E1M1", "", 0);
    archive_close(&a);
}

Test(archive, wad_broken)
{
    pack_wad(&p, two, 2);
    patch32(&p, 4, 3);
    expect_broken(POOL_CORRUPT, "t: a directory of 3 lumps at 27 is not inside 59 bytes");
    patch32(&p, 4, UINT32_MAX);
    expect_broken(POOL_CORRUPT, "t: a directory of 4294967295 lumps at 27 is not inside 59 bytes");
    pack_wad(&p, two, 2);
    patch32(&p, 27, 58);
    expect_broken(POOL_CORRUPT, "t: lump 0 of 5 bytes at 58 is not inside 59 bytes");
    patch32(&p, 27, 4);
    expect_broken(POOL_CORRUPT, "t: lump 0 of 5 bytes at 4 is not inside 59 bytes");
}

Test(archive, zip_reads)
{
    static char text[30000];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)("abcdefgh"[i % 8] + (char)(i / 5000));
    const packed_file files[] = {
        {"maps/", "", 0}, {"readme.txt", "hello", 5}, {"maps/e1.bsp", text, sizeof text}};
    static char got[sizeof text];
    for (int deflate = 0; deflate < 2; deflate++) {
        archive a;
        uint32_t i;
        pack_zip(&p, files, 3, deflate);
        open_packed(&a, "t.pk3");
        cr_assert_eq(a.kind, &archive_zip);
        cr_assert_eq(a.count, 2);
        expect_entry(&a, "README.TXT", "hello", 5);
        cr_assert_eq(archive_find(&a, "maps/e1.bsp", &i), POOL_OK);
        cr_assert_eq(archive_read(&a, i, got, sizeof got), POOL_OK);
        cr_assert_eq(memcmp(got, text, sizeof text), 0);
        archive_close(&a);
    }
}

static size_t zip_directory_at(void)
{
    const uint8_t *end = p.bytes + p.size - 22;
    return end[16] | (size_t)end[17] << 8;
}

Test(archive, zip_broken)
{
    archive a;
    char got[16];
    pack_zip(&p, two, 2, 1);
    p.size -= 10;
    expect_broken(POOL_CORRUPT, "t: no end of a zip directory found");
    p.size = 10;
    expect_broken(POOL_CORRUPT, "t: too short for a zip file");
    pack_zip(&p, two, 2, 1);
    size_t central = zip_directory_at();
    patch16(&p, central + 8, 1);
    expect_broken(POOL_CORRUPT, "t: entry 0 is encrypted");
    patch16(&p, central + 8, 0);
    patch16(&p, central + 10, 12);
    expect_broken(POOL_CORRUPT, "t: entry 0 is packed by method 12, not 0 or 8");
    patch16(&p, central + 10, 0);
    expect_broken(POOL_CORRUPT, "t: entry 0 is stored, but its two sizes differ");
    pack_zip(&p, two, 2, 1);
    patch32(&p, central + 24, UINT32_MAX);
    expect_broken(POOL_CORRUPT, "t: entry 0 of 7 bytes at 0 is not inside 219 bytes");
    pack_zip(&p, two, 2, 1);
    patch16(&p, central + 28, 9999);
    expect_broken(POOL_CORRUPT, "t: entry 0 reaches past the directory");
    pack_zip(&p, two, 2, 1);
    patch32(&p, central, 7);
    expect_broken(POOL_CORRUPT, "t: entry 0 of the directory is missing");
    pack_zip(&p, two, 2, 1);
    patch32(&p, central + 16, 7); /* the checksum is only seen when the entry is read */
    open_packed(&a, "t");
    cr_assert_eq(archive_read(&a, 0, got, sizeof got), POOL_CORRUPT);
    said_expect("t: 'A.TXT' has a wrong checksum");
    archive_close(&a);
    pack_zip(&p, two, 2, 1);
    patch32(&p, central + 24, 6);
    open_packed(&a, "t");
    cr_assert_eq(archive_read(&a, 0, got, sizeof got), POOL_CORRUPT);
    said_expect("t: 'A.TXT' does not inflate to its 6 bytes");
    archive_close(&a);
    pack_zip(&p, two, 2, 1);
    patch32(&p, central + 42, 1); /* no local head there */
    open_packed(&a, "t");
    cr_assert_eq(archive_read(&a, 0, got, sizeof got), POOL_CORRUPT);
    said_expect("t: 'A.TXT' has no local head at 1");
    archive_close(&a);
}

Test(archive, files_are_opened_by_content)
{
    archive a;
    pack_lib(&p, two, 2);
    scratch_file("x.bin", p.bytes, p.size);
    cr_assert_eq(archive_open(&a, scratch_path("x.bin")), POOL_OK);
    cr_assert_str_eq(a.label, "x.bin");
    expect_entry(&a, "A.TXT", "hello", 5);
    cr_assert_eq(truncate(scratch_path("x.bin"), 70), 0);
    said_start();
    char got[16];
    cr_assert_eq(archive_read(&a, 1, got, sizeof got), POOL_IO);
    said_expect("x.bin: entry 1 'SHAPE.SH' cannot be read");
    archive_close(&a);
    cr_assert_eq(archive_open(&a, scratch_path("none")), POOL_IO);
    scratch_file("empty", "", 0);
    cr_assert_eq(archive_open(&a, scratch_path("empty")), POOL_UNSUPPORTED);
}

Test(archive, folders_are_sorted_and_keep_to_plain_files)
{
    archive a;
    scratch_file("b.txt", "bee", 3);
    scratch_file("A.DAT", "ay", 2);
    mkdir(scratch_path("sub"), 0700);
    cr_assert_eq(archive_open(&a, scratch_folder), POOL_OK);
    cr_assert_eq(a.count, 2);
    cr_assert_str_eq(a.entries[0].name, "A.DAT");
    cr_assert_str_eq(a.entries[1].name, "B.TXT");
    expect_entry(&a, "b.txt", "bee", 3);
    expect_entry(&a, "a.dat", "ay", 2);
    cr_assert(archive_check(&a));
    scratch_file("b.txt", "longer", 6);
    said_start();
    char got[16];
    cr_assert_eq(archive_read(&a, 1, got, sizeof got), POOL_IO);
    cr_assert_not_null(strstr(said_last, "entry 1 'B.TXT' cannot be read"));
    unlink(scratch_path("A.DAT"));
    cr_assert_eq(archive_read(&a, 0, got, sizeof got), POOL_IO);
    archive_close(&a);
}

Test(archive, a_real_wad)
{
    archive a;
    uint32_t i;
    if (archive_open(&a, "/usr/share/games/doom/freedoom1.wad") != POOL_OK) {
        cr_log_warn("freedoom1.wad is not installed: not tested");
        return;
    }
    static uint8_t palette[20000];
    cr_assert_gt(a.count, 2000);
    cr_assert(archive_check(&a));
    cr_assert_eq(archive_find(&a, "PLAYPAL", &i), POOL_OK);
    cr_assert_eq(a.entries[i].size, 14 * 768);
    cr_assert_eq(archive_read(&a, i, palette, sizeof palette), POOL_OK);
    cr_assert_eq(archive_find(&a, "E1M1.THI", &i), POOL_OK);
    cr_assert_eq(a.entries[i].size % 10, 0);
    cr_assert_eq(archive_find(&a, "E4M9.BLO", &i), POOL_OK);
    archive_close(&a);
}

Test(archive, damaged_bytes_are_never_believed)
{
    uint64_t seed = seeded_first("archive");
    static uint8_t got[1 << 16];
    for (int run = 0; run < 6000; run++) {
        archive a;
        const packed_file files[] = {{"E1M1", "", 0}, {"THINGS", "0123456789", 10}, {"A.TXT", "hello", 5}};
        if (run % 3 == 2)
            pack_zip(&p, files, 3, run & 1);
        else
            (run % 3 ? pack_wad : pack_lib)(&p, files, 3);
        for (uint32_t n = 1 + seeded_below(&seed, 4); n; n--)
            p.bytes[seeded_below(&seed, (uint32_t)p.size)] =
                (uint8_t)(seeded_below(&seed, 3) ? seeded_next(&seed) : 0xff);
        p.size -= seeded_below(&seed, 4) ? 0 : seeded_below(&seed, (uint32_t)p.size);
        said_start();
        if (archive_open_memory(&a, p.bytes, p.size, "t") != POOL_OK)
            continue;
        cr_assert(archive_check(&a));
        for (uint32_t i = 0; i < a.count; i++)
            archive_read(&a, i, got, sizeof got);
        archive_close(&a);
    }
}

Test(archive, every_failed_request_leaves_nothing_open)
{
    pack_zip(&p, two, 2, 1);
    scratch_file("x.zip", p.bytes, p.size);
    bool met = true;
    for (long n = 1; met; n++) {
        archive a;
        char got[16];
        fault_arm(n);
        if (archive_open(&a, scratch_path("x.zip")) == POOL_OK) {
            archive_read(&a, 0, got, sizeof got);
            archive_close(&a);
        }
        met = fault_disarm();
    }
}
