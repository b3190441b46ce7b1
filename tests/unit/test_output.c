/* SPDX-License-Identifier: MIT */
/*
 * test_output.c - where reports go: patterns, files written whole or not at all, and what is refused.
 */
#include "../../interpose/output.h"
#include "fatal.h"
#include "report_bed.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static report *r;
static char dir[] = "/tmp/output-XXXXXX", path[OUTPUT_PATH], said[512], buf[4096];
static int lines;

static void hook(message_level level, const char *line, void *arg)
{
    lines++;
    snprintf(said, sizeof said, "%s", line);
}

static void setup(void)
{
    size_t bytes;
    stats_header *h = bed_create(&bytes);
    r = bed_report(h, bytes);
    cr_assert_not_null(mkdtemp(dir));
    message_set_hook(hook, NULL);
}

static void teardown(void)
{
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", dir);
    cr_assert_eq(system(command), 0);
}

TestSuite(output, .init = setup, .fini = teardown);

static const char *in_dir(const char *name)
{
    static char whole[256];
    snprintf(whole, sizeof whole, "%s/%s", dir, name);
    return whole;
}

static bool write_to(const char *name)
{
    return output_report(r, in_dir(name), buf, sizeof buf, path);
}

static unsigned entries(void)
{
    unsigned n = 0;
    DIR *d = opendir(dir);
    for (struct dirent *e; (e = readdir(d));)
        n += e->d_name[0] != '.' || strlen(e->d_name) > 2;
    closedir(d);
    return n;
}

static const char *read_file(const char *name)
{
    static char text[1 << 16];
    FILE *f = fopen(in_dir(name), "r");
    cr_assert_not_null(f);
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    return text;
}

Test(output, patterns)
{
    char got[256];
    cr_assert(output_path(r, "/x/%e-%p-%n.json", got, sizeof got));
    cr_assert_str_eq(got, "/x/lua5.4-42-3.json");
    cr_assert(output_path(r, "100%%-%q%", got, sizeof got));
    cr_assert_str_eq(got, "100%-%q%");
    cr_assert(output_path(r, "%t", got, sizeof got));
    cr_assert_gt(atol(got), 1000000000);
    cr_assert_not(output_path(r, "longer than this", got, 8));
}

Test(output, the_name_is_what_the_program_was_called)
{
    char got[256];
    strcpy(r->program, "lua");
    cr_assert(output_path(r, "%e.txt", got, sizeof got));
    cr_assert_str_eq(got, "lua.txt");
}

Test(output, unknown_letters_of_patterns)
{
    cr_assert_null(output_unknown("/x/%e-%p-%n-%t.json"));
    cr_assert_null(output_unknown("stderr"));
    cr_assert_null(output_unknown("%%q-100%"), "a pair is one sign, and one at the end is itself");
    cr_assert_str_eq(output_unknown("a%p%%%q.json"), "%q.json");
}

Test(output, ending_decides_the_format)
{
    cr_assert(write_to("a.json"));
    cr_assert_str_eq(read_file("a.json"), bed_format(r, FORMAT_JSON));
    cr_assert(write_to("a.folded"));
    cr_assert_str_eq(read_file("a.folded"), bed_format(r, FORMAT_FOLDED));
    cr_assert(write_to("a.txt"));
    cr_assert_str_eq(read_file("a.txt"), bed_format(r, FORMAT_TEXT));
    cr_assert(write_to("a.heap"));
    cr_assert_eq(strncmp(read_file("a.heap"), "heap profile:", 13), 0);
    cr_assert_eq(strncmp(read_file("a.heap.pools.so"), "\177ELF", 4), 0);
    cr_assert_eq(entries(), 5, "no temporary file stays");
    cr_assert_eq(lines, 0);
}

Test(output, file_is_replaced_whole)
{
    close(open(in_dir("a.json"), O_CREAT | O_WRONLY, 0600));
    cr_assert(write_to("a.json"));
    cr_assert_str_eq(read_file("a.json"), bed_format(r, FORMAT_JSON));
    cr_assert_str_eq(path, in_dir("a.json"));
}

Test(output, symbolic_link_is_refused)
{
    close(open(in_dir("victim"), O_CREAT | O_WRONLY, 0600));
    cr_assert_eq(symlink("victim", in_dir("a.json")), 0);
    cr_assert_not(write_to("a.json"));
    cr_assert_eq(lines, 1);
    cr_assert_not_null(strstr(said, "a.json: is a symbolic link"));
    cr_assert_str_eq(read_file("victim"), "");
    cr_assert_eq(entries(), 2);
}

Test(output, what_is_no_file_is_refused)
{
    mkdir(in_dir("a.json"), 0700);
    cr_assert_not(write_to("a.json"));
    cr_assert_not_null(strstr(said, "is not a plain file"));
    cr_assert_not(write_to("nowhere/a.json"));
    cr_assert_not_null(strstr(said, "No such file or directory"));
    cr_assert_eq(lines, 2);
}

Test(output, device_is_written_to_and_stays_one)
{
    struct stat st;
    mkfifo(in_dir("a.txt"), 0600);
    cr_assert_not(write_to("a.txt"), "a FIFO without a reader does not block");
    int fd = open(in_dir("a.txt"), O_RDONLY | O_NONBLOCK);
    cr_assert(write_to("a.txt"));
    char got[8] = "";
    cr_assert_eq(read(fd, got, 7), 7);
    cr_assert_str_eq(got, "poolmem");
    cr_assert(stat(in_dir("a.txt"), &st) == 0 && S_ISFIFO(st.st_mode));
    cr_assert(output_report(r, "/dev/null", buf, sizeof buf, path));
    cr_assert(stat("/dev/null", &st) == 0 && S_ISCHR(st.st_mode));
}

Test(output, disk_that_is_full_leaves_no_half_report)
{
    cr_assert_not(output_report(r, "/dev/full", buf, sizeof buf, path));
    cr_assert_not_null(strstr(said, "No space left"));
}
