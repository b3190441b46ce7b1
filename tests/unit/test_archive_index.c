/* SPDX-License-Identifier: MIT */
/* test_archive_index.c - the index over archives: who hides whom, collisions, 8.3 names, routes, a property
 * test. */
#include "archive_index.h"
#include "archives.h"
#include "fault.h"
#include "said.h"
#include "scratch.h"
#include "seeded.h"

TestSuite(archive_index, .init = scratch_make, .fini = scratch_remove);

static packed p[4];

static void mount(archive_index *ix, packed *lib, const packed_file *files, int n)
{
    pack_lib(lib, files, n);
    cr_assert_eq(index_mount_memory(ix, lib->bytes, lib->size, "lib"), POOL_OK);
    cr_assert(index_check(ix));
}

static void expect(archive_index *ix, const char *name, const char *text)
{
    char got[64] = "";
    const index_record *r = index_find(ix, name);
    cr_assert_not_null(r, "%s", name);
    cr_assert_eq(index_read(ix, r, got, sizeof got), POOL_OK);
    cr_assert_str_eq(got, text);
}

Test(archive_index, records_have_35_bytes_and_are_sorted)
{
    archive_index ix;
    index_init(&ix, 0);
    cr_assert_null(index_find(&ix, "A"));
    const packed_file files[] = {{"ZEBRA.SH", "z", 1}, {"A10.SH", "a", 1}, {"M.PT", "m", 1}};
    mount(&ix, &p[0], files, 3);
    cr_assert_eq(sizeof *ix.records, 35);
    cr_assert_eq(ix.count, 3);
    cr_assert_str_eq(index_name(&ix.records[0]), "A10.SH");
    expect(&ix, "zebra.sh", "z");
    expect(&ix, "m.pt", "m");
    cr_assert_null(index_find(&ix, "A10"));
    cr_assert_null(index_find(&ix, ""));
    index_close(&ix);
}

Test(archive_index, later_mounts_hide_earlier_ones_and_collisions_are_kept)
{
    archive_index ix;
    index_init(&ix, 0);
    const packed_file first[] = {{"A", "1", 1}, {"B", "1", 1}},
                      second[] = {{"B", "2", 1}, {"C", "2", 1}, {"C", "3", 1}};
    mount(&ix, &p[0], first, 2);
    mount(&ix, &p[1], second, 3);
    expect(&ix, "A", "1");
    expect(&ix, "B", "2");
    expect(&ix, "C", "3");
    cr_assert_eq(ix.collision_count, 2);
    const index_collision *c = ix.collisions;
    cr_assert_str_eq(index_name(&c->kept), "C");
    cr_assert_eq(c->hidden.entry, 1);
    cr_assert_eq(c->next->hidden.archive, 0);
    cr_assert_eq(c->next->kept.archive, 1);
    cr_assert_null(c->next->next);
    index_close(&ix);
}

Test(archive_index, archives_come_before_loose_files_whatever_the_order)
{
    const packed_file file[] = {{"A.TXT", "lib", 3}};
    scratch_file("a.txt", "loose", 5);
    scratch_file("b.txt", "only", 4);
    mkdir(scratch_path("sub"), 0700);
    scratch_file("sub/a.txt", "later", 5);
    for (int lib_first = 0; lib_first < 2; lib_first++) {
        archive_index ix;
        index_init(&ix, 0);
        if (lib_first)
            mount(&ix, &p[0], file, 1);
        cr_assert_eq(index_mount(&ix, scratch_folder), POOL_OK);
        if (!lib_first) {
            expect(&ix, "A.TXT", "loose");
            cr_assert_eq(index_mount(&ix, scratch_path("sub")), POOL_OK);
            expect(&ix, "A.TXT", "later");
            mount(&ix, &p[0], file, 1);
        }
        expect(&ix, "A.TXT", "lib");
        expect(&ix, "B.TXT", "only");
        cr_assert_eq(ix.collision_count, lib_first ? 1 : 2);
        cr_assert_eq(index_find(&ix, "B.TXT")->type, INDEX_LOOSE);
        index_close(&ix);
    }
}

Test(archive_index, start_indexes_libs_and_keeps_the_rest_loose)
{
    archive_index ix;
    const packed_file one[] = {{"A.TXT", "one", 3}}, two[] = {{"A.TXT", "two", 3}, {"X.SH", "x", 1}};
    pack_lib(&p[0], one, 1);
    scratch_file("fa_1.lib", p[0].bytes, p[0].size);
    pack_lib(&p[0], two, 2);
    scratch_file("FA_2.LIB", p[0].bytes, p[0].size);
    scratch_file("a.txt", "loose", 5);
    scratch_file("readme", "r", 1);
    mkdir(scratch_path("shapes"), 0700);
    scratch_file("shapes/x.sh", "routed", 6);
    scratch_file("shapes/y.sh", "routed", 6);
    scratch_file("shapes/y.txt", "other", 5);
    index_init(&ix, 0);
    cr_assert_eq(index_mount_all(&ix, scratch_folder), POOL_OK);
    cr_assert_eq(index_mount_route(&ix, scratch_path("shapes"), "sh"), POOL_OK);
    cr_assert(index_check(&ix));
    expect(&ix, "A.TXT", "two");
    expect(&ix, "README", "r");
    expect(&ix, "X.SH", "x");
    expect(&ix, "Y.SH", "routed");
    cr_assert_null(index_find(&ix, "Y.TXT"));
    scratch_file("bad.lib", "EALIB\xff\xff", 7);
    index_close(&ix);
    said_start();
    cr_assert_eq(index_mount_all(&ix, scratch_folder), POOL_CORRUPT);
    said_expect("bad.lib: 65535 entries do not fit into 7 bytes");
    expect(&ix, "A.TXT", "two");
    index_close(&ix);
}

Test(archive_index, long_names_are_refused_unless_asked_for)
{
    archive_index ix;
    scratch_file("a.verylong", "1", 1);
    scratch_file("ninechars.x", "2", 1);
    scratch_file("a.b.c", "3", 1);
    scratch_file(".x", "4", 1);
    scratch_file("eightchr.sho", "5", 1);
    index_init(&ix, 0);
    cr_assert_eq(index_mount(&ix, scratch_folder), POOL_OK);
    cr_assert_eq(ix.count, 1);
    cr_assert_eq(ix.refused, 4);
    expect(&ix, "EIGHTCHR.SHO", "5");
    index_close(&ix);
    index_init(&ix, INDEX_LONG_NAMES);
    cr_assert_eq(index_mount(&ix, scratch_folder), POOL_OK);
    cr_assert(index_check(&ix));
    cr_assert_eq(ix.count, 5);
    expect(&ix, "NineChars.x", "2");
    expect(&ix, "a.b.c", "3");
    index_close(&ix);
}

Test(archive_index, too_many_archives)
{
    archive_index ix;
    index_init(&ix, 0);
    pack_lib(&p[0], NULL, 0);
    for (int i = 0; i < INDEX_ARCHIVES; i++)
        cr_assert_eq(index_mount_memory(&ix, p[0].bytes, p[0].size, "x"), POOL_OK);
    cr_assert_eq(index_mount_memory(&ix, p[0].bytes, p[0].size, "x"), POOL_FULL);
    cr_assert_eq(index_mount(&ix, scratch_folder), POOL_FULL);
    index_close(&ix);
}

Test(archive_index, a_real_wad)
{
    archive_index ix;
    index_init(&ix, 0);
    if (index_mount(&ix, "/usr/share/games/doom/freedoom1.wad") != POOL_OK) {
        cr_log_warn("freedoom1.wad is not installed: not tested");
        return;
    }
    cr_assert(index_check(&ix));
    cr_assert_eq(ix.refused, 0);
    cr_assert_not_null(index_find(&ix, "e1m1.lin"));
    cr_assert_eq(ix.count + ix.collision_count, ix.archives[0].count);
    index_close(&ix);
}

Test(archive_index, check_finds_damage)
{
    archive_index ix;
    index_init(&ix, 0);
    const packed_file files[] = {{"A", "1", 1}, {"B", "1", 1}};
    mount(&ix, &p[0], files, 2);
    ix.records[0].entry = 1;
    said_start();
    cr_assert_not(index_check(&ix));
    said_expect("archive index: record 0 has another name than its entry");
    ix.records[0].entry = 7;
    cr_assert_not(index_check(&ix));
    ix.records[0] = ix.records[1];
    cr_assert_not(index_check(&ix));
    said_expect("archive index: record 1 is out of order");
    index_close(&ix);
}

/* Random mounts against a table of who registered each name last. */
Test(archive_index, random_mounts_find_the_last_registration)
{
    uint64_t seed = seeded_first("archive_index");
    for (int run = 0; run < 20; run++) {
        archive_index ix;
        int owner[26], entries = 0;
        memset(owner, -1, sizeof owner);
        index_init(&ix, 0);
        static packed libs[8];
        for (int m = 0; m < 8; m++) {
            packed_file files[20];
            char names[20][2];
            for (int i = 0; i < 20; i++) {
                int letter = (int)seeded_below(&seed, 26);
                names[i][0] = (char)('A' + letter);
                names[i][1] = 0;
                files[i] = (packed_file){names[i], "x", 1};
                owner[letter] = m * 100 + i;
            }
            mount(&ix, &libs[m], files, 20);
            entries += 20;
        }
        cr_assert_eq(ix.count + ix.collision_count, (uint64_t)entries);
        for (int letter = 0; letter < 26; letter++) {
            const index_record *r = index_find(&ix, (char[]){(char)('a' + letter), 0});
            cr_assert_eq(r ? r->archive * 100 + (int)r->entry : -1, owner[letter]);
        }
        index_close(&ix);
    }
}

Test(archive_index, every_failed_request_leaves_the_index_as_it_was)
{
    const packed_file first[] = {{"A", "1", 1}, {"B", "1", 1}}, second[] = {{"B", "2", 1}, {"C", "2", 1}};
    pack_lib(&p[0], first, 2);
    pack_lib(&p[1], second, 2);
    bool met = true;
    for (long n = 1; met; n++) {
        archive_index ix;
        index_init(&ix, INDEX_LONG_NAMES);
        fault_arm(n);
        pool_status s0 = index_mount_memory(&ix, p[0].bytes, p[0].size, "0");
        size_t count = ix.count;
        pool_status s1 = index_mount_memory(&ix, p[1].bytes, p[1].size, "1");
        met = fault_disarm();
        cr_assert_eq(count, s0 == POOL_OK ? 2 : 0);
        if (s1 != POOL_OK)
            cr_assert_eq(ix.count, count);
        cr_assert_eq(ix.collision_count, s0 == POOL_OK && s1 == POOL_OK);
        cr_assert(index_check(&ix));
        index_close(&ix);
    }
}
