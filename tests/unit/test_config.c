/* SPDX-License-Identifier: MIT */
/* test_config.c - configuration files, symbol maps and the environment: what is taken, and that every kind of
   bad input gives exactly one line that names file, line, fault and remedy. */
#include "../../interpose/complain.h"
#include "../../interpose/config.h"
#include "../../interpose/config_file.h"
#include "../../interpose/glob.h"
#include "../../interpose/rule.h"
#include "../../interpose/symbol_map.h"
#include "../../interpose/symbols.h"
#include "pools_bed.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[64], said[65536];
static config_file file;

static void start(void)
{
    strcpy(dir, "/tmp/poolmem-test-XXXXXX");
    cr_assert(mkdtemp(dir));
    complain_fd = memfd_create("said", 0);
    pools_bed_reset();
}

static void finish(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", dir);
    cr_assert_eq(system(command), 0);
}

TestSuite(config, .init = start, .fini = finish);
TestSuite(symbol_map, .init = start, .fini = finish);

/* What has been said since the last call. */
static const char *lines(void)
{
    ssize_t n = pread(complain_fd, said, sizeof said - 1, 0);
    said[n > 0 ? n : 0] = 0;
    cr_assert_eq(ftruncate(complain_fd, 0), 0);
    lseek(complain_fd, 0, SEEK_SET);
    return said;
}

static const char *put(const char *name, const char *text, size_t length)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "w");
    cr_assert(f && fwrite(text, 1, length, f) == length);
    fclose(f);
    return path;
}

static bool read_conf(const char *text)
{
    return config_file_read(put("conf", text, strlen(text)), &file);
}

/* The text gives one line about the given line number that says `what` and what was expected. */
static void expect_wrong(unsigned line, const char *what, const char *text)
{
    char place[32];
    cr_assert(!read_conf(text), "taken: %s", text);
    cr_assert_eq(file.errors, 1, "%u errors for: %s\n%s", file.errors, text, lines());
    const char *got = lines();
    snprintf(place, sizeof place, "/conf:%u: ", line);
    cr_assert(strncmp(got, "poolmem: ", 9) == 0 && strstr(got, place), "want line %u, got %s", line, got);
    cr_assert(strstr(got, what) && strstr(got, "expected"), "want '%s', got %s", what, got);
    cr_assert_eq(strchr(got, '\n') - got, (long)strlen(got) - 1, "more than one line: %s", got);
    cr_assert_eq(rules_count(), 0, "rules are left of a bad file");
}

/* --- files ---------------------------------------------------------------------------------------- */

Test(config, a_whole_file)
{
    cr_assert(read_conf("\xef\xbb\xbf; comment\n# another\n\n  include   builtin  \r\n"
                        "[pool Scene]\nparent = Global\nlimit = 64M\nover = fail\n"
                        "  [pool My Textures]  \n  kind = retail\n  size = 512k ; inline\n"
                        "[rules]\nScene = module:game symbol:Scene_*\n"
                        "  My Textures = symbol:Tex*\n- = symbol:wrap\n"),
              "%s", lines());
    cr_assert_str_empty(lines());
    cr_assert(file.builtin);
    cr_assert_eq(file.pool_count, 2);
    cr_assert_eq(file.pools[0].size, 64 << 20);
    cr_assert_eq(file.pools[0].over, OVER_FAIL);
    cr_assert_str_eq(file.pools[1].name, "My Textures");
    cr_assert_eq(file.pools[1].kind, POOL_RETAIL);
    cr_assert_eq(file.pools[1].size, 512 << 10);
    cr_assert_eq(rules_count(), 3 + builtin_rules_count);
    cr_assert_str_eq(rules_get(1)->pool, "My Textures");
    cr_assert_eq(rules_get(3), &builtin_rules[0], "the user's rules come first");
}

Test(config, without_include_the_file_stands_alone)
{
    cr_assert(read_conf("[rules]\nA = module:*"));
    cr_assert_eq(rules_count(), 1);
    cr_assert(read_conf(""));
    cr_assert_eq(rules_count(), 0);
}

Test(config, names_of_63_characters_and_no_more)
{
    char text[256], name[80];
    memset(name, 'n', sizeof name);
    snprintf(text, sizeof text, "[pool %.63s]\n[rules]\n%.63s = module:x\n", name, name);
    cr_assert(read_conf(text), "%s", lines());
    cr_assert_eq(strlen(file.pools[0].name), 63);
    snprintf(text, sizeof text, "[pool %.64s]\n", name);
    expect_wrong(1, "pool name of 64 characters", text);
    snprintf(text, sizeof text, "[rules]\n%.64s = module:x\n", name);
    expect_wrong(2, "pool name of 64 characters", text);
}

Test(config, bad_lines)
{
    char longer[1400];
    snprintf(longer, sizeof longer, "[rules]\nA = module:x\nB = symbol:%01100d\nC = module:x\n", 0);
    expect_wrong(3, "line of 1111 characters", longer);
    expect_wrong(2, "not a rule", "[rules]\nLua module\n");
    expect_wrong(2, "not a setting", "[pool A]\nlimit\n");
    expect_wrong(1, "section not closed", "[pool A\n");
    expect_wrong(1, "unknown section [pols]", "[pols]\nx = y\n");
    expect_wrong(1, "pool without a name", "[pool ]\n");
    expect_wrong(1, "unknown section [poolA]", "[poolA]\n");
    expect_wrong(1, "before any section", "Lua = module:x\n");
    expect_wrong(2, "unknown key 'limits'", "[pool A]\nlimits = 4\n");
    expect_wrong(3, "given twice", "[pool A]\nlimit = 4\nsize = 4\n");
    expect_wrong(2, "bad size '4X'", "[pool A]\nlimit = 4X\n");
    expect_wrong(2, "bad size '0'", "[pool A]\nlimit = 0\n");
    expect_wrong(2, "bad size '99999999999G'", "[pool A]\nlimit = 99999999999G\n");
    expect_wrong(2, "unknown kind 'slab'", "[pool A]\nkind = slab\n");
    expect_wrong(2, "unknown action 'die'", "[pool A]\nover = die\n");
    expect_wrong(3, "declared in line 1", "[pool A]\nlimit = 1\n[pool A]\nlimit = 2\n");
    expect_wrong(1, "fixed kind without a size", "[pool A]\nkind = clump\n");
    expect_wrong(2, "Global has a parent", "[pool Global]\nparent = A\n");
    expect_wrong(1, "System may refuse", "[pool System]\nover = abort\n");
    expect_wrong(1, "means no pool", "[pool -]\n");
    expect_wrong(3, "include builtin stands too late", "\n[rules]\ninclude builtin\n");
    expect_wrong(2, "unknown condition 'modul'", "[rules]\nA = modul:x\n");
    expect_wrong(2, "no condition", "[rules]\nA =\n");
    expect_wrong(2, "quote not closed", "[rules]\nA = symbol:\"x\n");
    expect_wrong(2, "symbol: set not closed in '[abc'", "[rules]\nA = symbol:x[abc\n");
    expect_wrong(2, "symbol map of 'g[a': set not closed", "[rules]\nsymbols g[a = g.map\n");
    expect_wrong(
        2,
        "'std', expected module: symbol: entry: size: depth: or addr: (a pattern with blanks goes in quotes",
        "[rules]\nA = symbol:std::vector<int, std::allocator<int> >::reserve\n");
    expect_wrong(2, "without a file", "[rules]\nsymbols game =\n");
    expect_wrong(2, "No such file", "[rules]\nsymbols game = missing.map\n");
}

Test(config, every_bad_line_is_said)
{
    cr_assert(!read_conf("[rules]\nA\nB = x\n[pool C\n[pool D]\nparent = E\n[pool E]\nparent = D\n"));
    const char *got = lines();
    cr_assert_eq(file.errors, 5, "%s", got);
    for (const char *const *want =
             (const char *const[]){"/conf:2: ", "/conf:3: ", "/conf:4: ", "/conf:5: ", "/conf:7: ", NULL};
         *want; want++)
        cr_assert(strstr(got, *want), "no %s in %s", *want, got);
}

Test(config, files_that_are_none)
{
    cr_assert(!config_file_read(dir, &file));
    cr_assert(strstr(lines(), "not a regular file"));
    cr_assert(!config_file_read("/nonexistent/conf", &file));
    cr_assert(strstr(lines(), "No such file"));
    cr_assert(!config_file_read(put("nul", "a\0b", 3), &file));
    cr_assert(strstr(lines(), "NUL"));
    char *large = calloc(1, (1 << 20) + 1);
    memset(large, '#', (1 << 20) + 1);
    cr_assert(!config_file_read(put("large", large, (1 << 20) + 1), &file));
    cr_assert(strstr(lines(), "too large"));
    cr_assert(config_file_read(put("fits", large, 900), &file));
    free(large);
    char fifo[128];
    snprintf(fifo, sizeof fifo, "%s/fifo", dir);
    cr_assert_eq(mkfifo(fifo, 0600), 0);
    cr_assert(!config_file_read(fifo, &file), "a FIFO is refused, not waited for");
}

Test(config, check_counts_errors)
{
    const char *bad = "[rules]\nA = x\nB = y\n";
    cr_assert_eq(config_check(put("bad", bad, strlen(bad))), 2);
    const char *good = "include builtin\n[rules]\nA = module:x\n";
    cr_assert_eq(config_check(put("good", good, strlen(good))), 0);
}

/* What check says of a good file, without the path in front. */
static const char *noted(const char *text)
{
    lines();
    cr_assert_eq(config_check(put("noted", text, strlen(text))), 0);
    const char *got = strstr(lines(), "/noted:");
    return got ? got + 1 : "";
}

Test(config, check_notes_a_rule_for_a_pool_without_a_section)
{
    cr_assert_str_eq(
        noted(
            "include builtin\n[pool Audio]\n[rules]\nAduio = module:x\nAduio = module:y\nAudio = module:z\n"),
        "noted:4: note: rule sends to pool 'Aduio', which has no [pool Aduio] section\n");
    cr_assert_str_eq(noted("[rules]\n- = symbol:x\nLua = symbol:y\nSystem = symbol:z\nGlobal = symbol:g\n"),
                     "");
}

Test(config, check_notes_a_section_without_a_rule)
{
    cr_assert_str_eq(noted("[pool Audio]\n[pool Sound]\nparent = Audio\n[rules]\n"),
                     "noted:2: note: no rule leads to pool 'Sound'\n");
    cr_assert_str_eq(noted("[pool Lua]\nlimit = 1M\n"), "noted:1: note: no rule leads to pool 'Lua'\n");
    cr_assert_str_eq(noted("include builtin\n[pool Lua]\nlimit = 1M\n[pool System]\n[pool Global]\n"), "");
}

Test(config, check_notes_a_mangled_name)
{
    cr_assert_str_eq(
        noted("[rules]\nLua = symbol:_ZN5Enemy*\nSTL = symbol:Z_Z\n"),
        "noted:2: note: symbol:_ZN5Enemy* may fit nothing: names are demangled, as reports show them\n");
}

/* --- symbol maps ---------------------------------------------------------------------------------- */

static const char *name_at(uint64_t address)
{
    uint64_t start;
    const symbol_map *m = symbol_map_for("/opt/game");
    const char *name = m ? symbol_map_find(m, address, &start) : "(no map)";
    return name ? name : "";
}

static bool read_map(const char *text)
{
    symbol_maps_clear();
    return symbols_add_map("game", put("map", text, strlen(text)), "conf:1");
}

Test(symbol_map, plain_and_nm_lines)
{
    cr_assert(read_map("# made by hand\n0x1000 0x20 first\n1040 second\r\n"
                       "0000000000002000 T third\n0000000000003000 0000000000000010 t fourth\n"
                       "                 U malloc\n0000000000004000 D data\n"
                       "0000000000005000 T std::map<int, int>::at(int const&) const\n"
                       "0000000000006000 W operator()(int)\n7000 b\n\n"),
              "%s", lines());
    cr_assert_str_eq(name_at(0xfff), "");
    cr_assert_str_eq(name_at(0x1000), "first");
    cr_assert_str_eq(name_at(0x101f), "first");
    cr_assert_str_eq(name_at(0x1020), "", "beyond its size");
    cr_assert_str_eq(name_at(0x1fff), "second", "without a size: up to the next");
    cr_assert_str_eq(name_at(0x2fff), "third");
    cr_assert_str_eq(name_at(0x300f), "fourth");
    cr_assert_str_eq(name_at(0x4000), "", "data is skipped");
    cr_assert_str_eq(name_at(0x5001), "std::map<int, int>::at");
    cr_assert_str_eq(name_at(0x6000), "operator()");
    cr_assert_str_eq(name_at(0x7000), "b");
}

Test(symbol_map, order_and_equal_addresses)
{
    cr_assert(read_map("300 c\n100 a\n200 b\n100 other\n200 another\n"));
    cr_assert_str_eq(name_at(0x1ff), "a", "the first in the file counts");
    cr_assert_str_eq(name_at(0x200), "b");
    cr_assert_str_eq(name_at(0x300), "c");
}

Test(symbol_map, bad_lines)
{
    cr_assert(!read_map("1000 ok\nxyz bad\n2000\n"));
    const char *got = lines();
    cr_assert(strstr(got, "/map:2: not a symbol: 'xyz bad', expected ADDRESS [SIZE] NAME"), "%s", got);
    cr_assert(strstr(got, "/map:3: "), "%s", got);
    cr_assert(read_map(""));
    cr_assert_str_eq(name_at(0x1000), "");
}

Test(symbol_map, stands_beside_the_configuration_file)
{
    put("game.map", "1000 f\n", 7);
    cr_assert(read_conf("symbols */game = game.map\n[rules]\nA = symbol:f\n"), "%s", lines());
    cr_assert_str_eq(name_at(0x1000), "f");
    cr_assert(!read_conf("symbols */game = game.map\n[rules]\nA = f\n"));
    cr_assert_str_eq(name_at(0x1000), "(no map)", "a bad file leaves no map");
}

/* --- environment ---------------------------------------------------------------------------------- */

static void load_with(const char *name, const char *value)
{
    cr_assert_eq(setenv(name, value, 1), 0);
    cr_assert_eq(chdir(dir), 0);
    setenv("XDG_CONFIG_HOME", dir, 1);
    lines();
    config_load();
}

Test(config, defaults)
{
    load_with("POOLMEM_CONF", "");
    cr_assert_str_empty(lines());
    cr_assert_str_eq(config_now.conf, "");
    cr_assert_str_eq(config_now.stats, "stderr");
    cr_assert_eq(config_now.signal, SIGUSR1);
    cr_assert_eq(config_now.depth, 32);
    cr_assert(config_now.children && !config_now.exit_report && !config_now.track);
    cr_assert_eq(rules_count(), builtin_rules_count);
    cr_assert_eq(pools_find("Level"), 2);
    cr_assert_eq(pools_find("RenderWare"), 5);
}

Test(config, variables)
{
    setenv("POOLMEM_SIGNAL", "RTMIN+3", 1);
    setenv("POOLMEM_EXIT", "1", 1);
    setenv("POOLMEM_CHILDREN", "0", 1);
    setenv("POOLMEM_STATS", "/tmp/r.%p.json", 1);
    load_with("POOLMEM_DEPTH", "0");
    cr_assert_str_empty(lines());
    cr_assert_eq(config_now.signal, SIGRTMIN + 3);
    cr_assert_eq(config_now.depth, 0);
    cr_assert(config_now.exit_report && !config_now.children);
    memset(getenv("POOLMEM_STATS"), 'x', 5);
    cr_assert_str_eq(config_now.stats, "/tmp/r.%p.json", "programs write over their environment");
}

Test(config, bad_variables_keep_the_default)
{
    setenv("POOLMEM_SIGNAL", "KILL", 1);
    setenv("POOLMEM_EXIT", "yes", 1);
    setenv("POOLMEM_VERBOSE", "3", 1);
    setenv("POOLMEM_FOO", "1", 1);
    setenv("POOLMEM_STATS", "a%p%q.json", 1);
    load_with("POOLMEM_DEPTH", "4x");
    const char *got = lines();
    for (const char *const *want =
             (const char *const[]){"POOLMEM_SIGNAL=KILL: ", "POOLMEM_EXIT=yes: ", "POOLMEM_VERBOSE=3: ",
                                   "poolmem: environment: POOLMEM_FOO: unknown variable, expected",
                                   "POOLMEM_STATS=a%p%q.json: %q is unknown, expected %p, %e, %n, %t or %%\n",
                                   "POOLMEM_DEPTH=4x: ", NULL};
         *want; want++)
        cr_assert(strstr(got, *want), "no '%s' in %s", *want, got);
    cr_assert_eq(config_now.depth, 32);
    cr_assert_eq(config_now.verbose, 0);
    cr_assert_eq(config_now.signal, SIGUSR1);
    cr_assert_str_eq(config_now.stats, "stderr");
    cr_assert(!config_now.exit_report);
}

Test(config, a_number_out_of_range_keeps_the_default)
{
    load_with("POOLMEM_DEPTH", "1025");
    cr_assert(strstr(lines(), "POOLMEM_DEPTH=1025: not a number in range, expected 0 to 1024"));
    cr_assert_eq(config_now.depth, 32);
    load_with("POOLMEM_DEPTH", "1024");
    cr_assert_str_empty(lines());
    cr_assert_eq(config_now.depth, 1024);
}

Test(config, pools_are_made_parents_first)
{
    const char *text = "[pool Leaf]\nparent = Middle\nlimit = 1K\n[pool Middle]\nparent = Top\n"
                       "[pool Global]\nlimit = 1G\nover = fail\n[rules]\nLeaf = module:a\nLoose = module:b\n";
    load_with("POOLMEM_CONF", put("c", text, strlen(text)));
    cr_assert_str_empty(lines());
    cr_assert(pools_find("Middle") < pools_find("Leaf"));
    cr_assert_str_eq(defined_pools[pools_find("Middle")].parent, "Top");
    cr_assert_eq(defined_pools[0].size, 1 << 30);
    cr_assert_geq(pools_find("Loose"), 0, "named by a rule only");
    symbol_info s = {.module = "/b"};
    cr_assert_eq(rules_verdict(&s).pool, pools_find("Loose"));
}

Test(config, a_bad_file_leaves_the_builtin_rules)
{
    load_with("POOLMEM_CONF", put("c", "[rules]\nA = module:x\nB\n", 23));
    cr_assert(strstr(lines(), "/c:3: not a rule"));
    cr_assert_str_eq(config_now.conf, "");
    cr_assert_eq(rules_count(), builtin_rules_count);
    cr_assert_eq(pools_find("A"), -1);
    load_with("POOLMEM_CONF", "/nonexistent");
    cr_assert(strstr(lines(), "poolmem: /nonexistent: No such file"));
}

Test(config, files_are_looked_for_in_order)
{
    const char *text = "[rules]\nA = module:x\n";
    char path[128], exe[256] = "";
    cr_assert_gt(readlink("/proc/self/exe", exe, sizeof exe - 1), 0);
    snprintf(path, sizeof path, "%s/poolmem", dir);
    mkdir(path, 0700);
    put("poolmem/default.conf", text, strlen(text));
    load_with("POOLMEM_CONF", "");
    cr_assert(strstr(config_now.conf, "/poolmem/default.conf"), "%s", config_now.conf);
    snprintf(path, sizeof path, "poolmem/%s.conf", glob_basename(exe));
    put(path, text, strlen(text));
    load_with("POOLMEM_CONF", "");
    cr_assert(strstr(config_now.conf, path), "%s", config_now.conf);
    put("poolmem.conf", text, strlen(text));
    load_with("POOLMEM_CONF", "");
    cr_assert_str_eq(config_now.conf, "./poolmem.conf");
}

Test(config, verbose_2_says_what_was_loaded)
{
    setenv("POOLMEM_VERBOSE", "2", 1);
    const char *text = "[rules]\nA = module:x symbol:\"a b\"\n";
    load_with("POOLMEM_CONF", put("c", text, strlen(text)));
    const char *got = lines();
    cr_assert(strstr(got, "rule 1: A = module:x symbol:\"a b\"\n"), "%s", got);
    cr_assert(strstr(got, "pool A: named by a rule only"), "%s", got);
}
