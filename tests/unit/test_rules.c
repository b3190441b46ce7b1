/* SPDX-License-Identifier: MIT */
/* test_rules.c - patterns, rule lines, verdicts and decisions, and what the built-in rules make of names. */
#include "../../interpose/glob.h"
#include "../../interpose/rule.h"
#include "pools_bed.h"

#include <criterion/criterion.h>
#include <string.h>

/* --- patterns ------------------------------------------------------------------------------------- */

Test(glob, stars_questions_sets)
{
    static const struct {
        const char *pattern, *text;
        bool fits;
    } cases[] = {
        {"", "", true},
        {"", "a", false},
        {"*", "", true},
        {"a*c", "abbbc", true},
        {"a*c", "abbbd", false},
        {"*a*b*", "xxaxxbxx", true},
        {"a?c", "abc", true},
        {"a?c", "ac", false},
        {"[abc]x", "bx", true},
        {"[a-f]x", "gx", false},
        {"[!a-f]x", "gx", true},
        {"Rw[A-Z]*", "RwTexture", true},
        {"Rw[A-Z]*", "Rwx", false},
        {"[]]", "]", true},
        {"a[", "a[", true},
        {"\\*", "*", true},
        {"\\*", "x", false},
        {"operator new[[]]", "operator new[]", true},
        {"*.so*", "libx.so.1", true},
        {"[", "[", true},
        {"[!]a]", "b", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect_eq(glob_match(cases[i].pattern, cases[i].text), cases[i].fits, "'%s' on '%s'",
                     cases[i].pattern, cases[i].text);
}

Test(glob, sets_that_are_not_closed)
{
    static const char *const closed[] = {
        "", "[a]", "[]]", "[!]]", "[a]b[c]", "\\[a", "a]", "operator new[]", "[a\\]"};
    static const char *const open[] = {"[", "[abc", "[!", "a[b]c[d", "\\\\[a", "operator new[]["};
    for (size_t i = 0; i < sizeof closed / sizeof *closed; i++)
        cr_expect_null(glob_unclosed(closed[i]), "'%s'", closed[i]);
    for (size_t i = 0; i < sizeof open / sizeof *open; i++)
        cr_expect_not_null(glob_unclosed(open[i]), "'%s'", open[i]);
}

Test(glob, many_stars_take_no_exponential_time)
{
    char text[4001], pattern[101];
    memset(text, 'a', 4000);
    text[4000] = 0;
    for (int i = 0; i < 100; i += 2)
        memcpy(pattern + i, "*a", 2);
    pattern[99] = 'b';
    pattern[100] = 0;
    cr_assert(!glob_match(pattern, text)); /* a backtracking matcher would not come back */
}

Test(glob, modules_by_path_or_last_component)
{
    cr_assert(glob_match_path("liblua*.so*", "/usr/lib/x86_64-linux-gnu/liblua5.4.so.0"));
    cr_assert(glob_match_path("*/gconv/*", "/usr/lib/gconv/UTF-7.so"));
    cr_assert(!glob_match_path("lua", "/opt/lua/game"));
}

/* --- lines ---------------------------------------------------------------------------------------- */

static rule parsed(const char *conditions)
{
    char why[256] = "";
    rule r;
    cr_assert(rule_parse("Pool", conditions, &r, why, sizeof why), "%s: %s", conditions, why);
    return r;
}

static void expect_wrong(const char *conditions, const char *what)
{
    char why[256] = "";
    rule r;
    cr_assert(!rule_parse("Pool", conditions, &r, why, sizeof why), "'%s' was taken", conditions);
    cr_assert(strstr(why, what), "'%s' gave '%s', want '%s'", conditions, why, what);
    cr_assert(strstr(why, "expected"), "'%s' gave '%s', which says nothing of what was expected", conditions,
              why);
}

Test(rule_parse, all_conditions)
{
    rule r = parsed("module:libfoo.so* symbol:\"operator new*\" entry:realloc size:4K-1M depth:0-2 "
                    "addr:libstdc++.so.6+0x1f0-0x2A0");
    cr_assert_str_eq(r.module, "libfoo.so*");
    cr_assert_str_eq(r.symbol, "operator new*");
    cr_assert_eq(r.entry, ENTRY_REALLOC);
    cr_assert_eq(r.size_min, 4096);
    cr_assert_eq(r.size_max, 1 << 20);
    cr_assert_eq(r.depth_min, 0);
    cr_assert_eq(r.depth_max, 2);
    cr_assert_str_eq(r.addr_module, "libstdc++.so.6");
    cr_assert_eq(r.addr_start, 0x1f0);
    cr_assert_eq(r.addr_end, 0x2a0);
}

Test(rule_parse, open_ranges_and_single_values)
{
    cr_assert_eq(parsed("size:16").size_max, 16);
    cr_assert_eq(parsed("size:1K-").size_max, SIZE_MAX);
    cr_assert_eq(parsed("size:-1k").size_max, 1024);
    cr_assert_eq(parsed("depth:0").depth_max, 0);
    cr_assert_eq(parsed("entry:\"operator new[]\"").entry, ENTRY_NEW_ARRAY);
    cr_assert_eq(parsed("\"entry:operator new\"").entry, ENTRY_NEW);
    cr_assert_eq(parsed("entry:posix_memalign").entry, ENTRY_ALIGNED);
}

Test(rule_parse, blanks_in_quotes)
{
    cr_assert_str_eq(parsed("symbol:\"std::vector<int, std::allocator<int> >::reserve\"").symbol,
                     "std::vector<int, std::allocator<int> >::reserve");
    cr_assert_str_eq(parsed("symbol:\"operator new[]\"").symbol, "operator new[]");
}

Test(rule_parse, bad_lines_say_what_and_what_else)
{
    expect_wrong("", "no condition");
    expect_wrong("module", "unknown condition 'module'");
    expect_wrong("modul:x", "unknown condition 'modul'");
    expect_wrong("module:", "has no pattern");
    expect_wrong("module:a module:b", "given twice");
    expect_wrong("entry:free", "unknown entry point 'free'");
    expect_wrong("size:9-3", "bad size");
    expect_wrong("size:-", "bad size");
    expect_wrong("size:99999999999999999999", "bad size");
    expect_wrong("size:99999999999999999G", "bad size");
    expect_wrong("depth:x", "bad depth");
    expect_wrong("addr:game+10", "bad range");
    expect_wrong("addr:game+20-10", "bad range");
    expect_wrong("addr:10-20", "bad range");
    expect_wrong("symbol:\"abc", "quote not closed");
    expect_wrong("symbol:[abc", "set not closed in '[abc'");
    expect_wrong("module:lib[ab", "set not closed in '[ab'");
    expect_wrong("addr:ga[me+10-20", "set not closed in '[me'");
    expect_wrong("symbol:operator new*", "in quotes");
    char longer[2000] = "symbol:";
    memset(longer + 7, 'a', 1900);
    expect_wrong(longer, "too long");
}

Test(rule_parse, what_is_written_reads_the_same)
{
    const char *line = "Pool = module:a* symbol:\"b c\" entry:malloc size:1-2 depth:0-3 addr:m+10-20";
    char out[256], again[256];
    rule r = parsed(line + 7);
    rule_format(&r, out, sizeof out);
    cr_assert_str_eq(out, line);
    rule s = parsed(out + 7);
    rule_format(&s, again, sizeof again);
    cr_assert_str_eq(again, line);
}

/* --- verdicts ------------------------------------------------------------------------------------- */

static void add(const char *pool, const char *conditions)
{
    char why[256];
    rule r;
    cr_assert(rule_parse(pool, conditions, &r, why, sizeof why), "%s", why);
    cr_assert(rules_add(rule_keep(&r)));
}

static int pool_of(const char *name)
{
    return pools_define(&(pool_spec){.name = name});
}

static symbol_info frame(const char *module, const char *name, uint64_t offset)
{
    return (symbol_info){.module = module, .name = name, .raw = name, .offset = offset};
}

static const char *decided(symbol_info s, entry_id entry, size_t size, unsigned depth)
{
    int id = rules_decide(rules_verdict(&s), entry, size, depth);
    return id < 0 ? "none" : defined_pools[id].name;
}

static void fresh(void)
{
    pools_bed_reset();
    rules_clear();
}

Test(rules, the_first_line_wins_on_a_frame, .init = fresh)
{
    add("A", "symbol:f*");
    add("B", "symbol:foo");
    rules_bind(pool_of);
    cr_assert_str_eq(decided(frame("/m", "foo", 1), ENTRY_MALLOC, 1, 0), "A");
    cr_assert_str_eq(decided(frame("/m", "bar", 1), ENTRY_MALLOC, 1, 0), "none");
    cr_assert_str_eq(decided(frame("/m", NULL, 1), ENTRY_MALLOC, 1, 0), "none");
}

Test(rules, conditions_on_the_call_fall_through_in_order, .init = fresh)
{
    add("Small", "symbol:foo size:-64");
    add("New", "symbol:foo entry:new");
    add("Near", "module:/m depth:0");
    add("Rest", "module:m");
    add("Never", "symbol:foo");
    rules_bind(pool_of);
    symbol_info s = frame("/m", "foo", 1);
    cr_assert_str_eq(decided(s, ENTRY_NEW, 64, 3), "Small");
    cr_assert_str_eq(decided(s, ENTRY_NEW, 65, 3), "New");
    cr_assert_str_eq(decided(s, ENTRY_MALLOC, 65, 0), "Near");
    cr_assert_str_eq(decided(s, ENTRY_MALLOC, 65, 1), "Rest");
    cr_assert(rules_by_size(rules_verdict(&s)));
    symbol_info other = frame("/m", "bar", 1);
    cr_assert(!rules_by_size(rules_verdict(&other)));
    cr_assert_eq(rules_verdict(&s).conditional, rules_verdict(&s).conditional, "equal lists are kept once");
}

Test(rules, a_dash_looks_past_the_frame, .init = fresh)
{
    add("-", "symbol:wrap_*");
    add("A", "module:/m");
    rules_bind(pool_of);
    cr_assert_str_eq(decided(frame("/m", "wrap_malloc", 1), ENTRY_MALLOC, 1, 0), "none");
    cr_assert_str_eq(decided(frame("/m", "work", 1), ENTRY_MALLOC, 1, 0), "A");
}

Test(rules, addresses_count_as_link_time_ranges, .init = fresh)
{
    add("A", "addr:game+100-120");
    rules_bind(pool_of);
    cr_assert_str_eq(decided(frame("/opt/game", NULL, 0x100), ENTRY_MALLOC, 1, 0), "none",
                     "a return address at the start belongs to the code before");
    cr_assert_str_eq(decided(frame("/opt/game", NULL, 0x101), ENTRY_MALLOC, 1, 0), "A");
    cr_assert_str_eq(decided(frame("/opt/game", NULL, 0x120), ENTRY_MALLOC, 1, 0), "A");
    cr_assert_str_eq(decided(frame("/opt/game", NULL, 0x121), ENTRY_MALLOC, 1, 0), "none");
    cr_assert_str_eq(decided(frame("/opt/other", NULL, 0x110), ENTRY_MALLOC, 1, 0), "none");
}

Test(rules, more_than_the_table_holds_is_refused, .init = fresh)
{
    static rule r = {RULE_ANY, .pool = "A", .symbol = "x"};
    for (int i = 0; i < RULES_MAX; i++)
        cr_assert(rules_add(&r));
    cr_assert(!rules_add(&r));
}

/* --- built-in rules ------------------------------------------------------------------------------- */

static void builtin(void)
{
    fresh();
    rules_add_builtin();
    rules_bind(pool_of);
}

static void expect_pool(const char *pool, const char *module, const char *name, unsigned depth)
{
    const char *got = decided(frame(module, name, 0x1000), ENTRY_MALLOC, 100, depth);
    cr_expect_str_eq(got, pool, "%s in %s at depth %u: want %s, got %s", name ? name : "(no symbol)", module,
                     depth, pool, got);
}

#define GAME   "/opt/game/game"
#define LIBC   "/lib/x86_64-linux-gnu/libc.so.6"
#define LOADER "/lib64/ld-linux-x86-64.so.2"
#define STDCXX "/lib/x86_64-linux-gnu/libstdc++.so.6"

Test(builtin, lua, .init = builtin)
{
    expect_pool("Lua", "/usr/lib/x86_64-linux-gnu/liblua5.4.so.0", NULL, 5);
    expect_pool("Lua", "/usr/lib/x86_64-linux-gnu/libluajit-5.1.so.2", NULL, 0);
    expect_pool("Lua", "/usr/bin/lua5.4", NULL, 0);
    expect_pool("none", "/usr/bin/luatex", NULL, 0);
    expect_pool("Lua", GAME, "luaM_realloc_", 1);
    expect_pool("Lua", GAME, "l_alloc", 0);
    expect_pool("Lua", GAME, "lua_newstate", 0);
    expect_pool("Lua", GAME, "luaL_newstate", 0);
    expect_pool("none", GAME, "lunar_phase", 0);
}

Test(builtin, stl, .init = builtin)
{
    expect_pool("STL", GAME, "std::vector<int, std::allocator<int> >::_M_realloc_insert<int>", 0);
    expect_pool("STL", GAME, "__gnu_cxx::new_allocator<int>::allocate", 0);
    expect_pool("STL", GAME, "std::vector<Level, std::allocator<Level> >::_M_realloc_insert<Loader>", 0);
    expect_pool("STL", STDCXX, "std::locale::_Impl::_Impl", 4);
    expect_pool("STL", STDCXX, NULL, 0);
    expect_pool("STL", "/usr/lib/libc++.so.1", "std::__1::locale::locale", 2);
}

Test(builtin, code_of_the_standard_library_that_calls_back_is_looked_past, .init = builtin)
{
    expect_pool("none", STDCXX, NULL, 3); /* what starts every std::thread */
    expect_pool("none", STDCXX, "execute_native_thread_routine", 3);
    expect_pool("none", GAME, "std::thread::_State_impl<std::thread::_Invoker<std::tuple<f> > >::_M_run", 2);
    expect_pool("none", GAME, "std::_Function_handler<void (), main::{lambda()#1}>::_M_invoke", 1);
}

Test(builtin, renderware, .init = builtin)
{
    expect_pool("RenderWare", GAME, "RwTextureCreate", 0);
    expect_pool("RenderWare", GAME, "RpAtomicClone", 0);
    expect_pool("RenderWare", GAME, "RtAnimInterpolator", 0);
    expect_pool("none", GAME, "Rwanda", 0);
    expect_pool("none", GAME, "RtlAllocateHeap", 0);
    expect_pool("RenderWare", "/usr/lib/x86_64-linux-gnu/dri/swrast_dri.so", NULL, 9);
    expect_pool("RenderWare", "/usr/lib/x86_64-linux-gnu/libGLX_mesa.so.0", NULL, 2);
    expect_pool("RenderWare", "/usr/lib/x86_64-linux-gnu/libX11.so.6", NULL, 2);
    expect_pool("RenderWare", "/usr/lib/x86_64-linux-gnu/libSDL2-2.0.so.0", NULL, 0);
    expect_pool("none", "/usr/lib/x86_64-linux-gnu/libSDL2-2.0.so.0", NULL, 1); /* may run a thread */
}

Test(builtin, system, .init = builtin)
{
    expect_pool("System", LOADER, NULL, 0);
    expect_pool("none", LOADER, NULL, 2); /* a constructor's memory is not the loader's */
    expect_pool("System", LIBC, "pthread_create", 1);
    expect_pool("System", LIBC, "setlocale", 3);
    expect_pool("System", LIBC, "_IO_file_doallocate", 0);
    expect_pool("System", LIBC, "dlopen", 2);
    expect_pool("none", LIBC, "dlopen", 9);
    expect_pool("none", LIBC, "strdup", 0);
    expect_pool("none", LIBC, "getdelim", 0);
    expect_pool("none", LIBC, "__libc_start_main", 5);
    expect_pool("none", LIBC, "qsort_r", 0);
}

Test(builtin, level, .init = builtin)
{
    expect_pool("Level", GAME, "Level_Load", 0);
    expect_pool("Level", GAME, "LevelStreamPart", 0);
    expect_pool("Level", GAME, "Level::load", 0);
    expect_pool("Level", GAME, "game::Level::load", 0);
    expect_pool("Level", GAME, "P_SetupLevel", 0);
    expect_pool("Level", GAME, "P_LoadSegs", 0);
    expect_pool("Level", GAME, "W_CacheLumpName", 0);
    expect_pool("Level", GAME, "Mod_LoadBrushModel", 0);
    expect_pool("none", "/lib/libz.so.1", "deflateInit2_", 0);
    expect_pool("none", "/lib/libzstd.so.1", "ZSTD_minCLevel", 0);
    expect_pool("none", GAME, "set_log_level", 0);
    expect_pool("none", GAME, "Levenshtein", 0);
}

Test(builtin, every_rule_names_a_pool_of_the_contract)
{
    for (unsigned i = 0; i < builtin_rules_count; i++) {
        const char *pool = builtin_rules[i].pool;
        bool known = strcmp(pool, "-") == 0 || strcmp(pool, "System") == 0;
        for (const char *const *p = builtin_pools; *p; p++)
            known |= strcmp(*p, pool) == 0;
        cr_assert(known, "rule %u names %s", i, pool);
    }
}
