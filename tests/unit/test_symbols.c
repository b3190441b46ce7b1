/* SPDX-License-Identifier: MIT */
/* test_symbols.c - names of code addresses: of this program, of libraries, of objects made by hand; readable
   names; objects that come, go and are replaced. */
#include "../../interpose/demangle.h"
#include "../../interpose/elf.h"
#include "../../interpose/glob.h"
#include "../../interpose/symbol_map.h"
#include "../../interpose/symbol_table.h"
#include "../../interpose/symbols.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- readable names ------------------------------------------------------------------------------- */

static void expect_name(const char *raw, const char *want)
{
    char name[1024];
    demangle_name(raw, name, sizeof name);
    cr_expect_str_eq(name, want, "%s: want %s, got %s", raw, want, name);
}

Test(demangle, functions_without_return_type_and_parameters)
{
    expect_name("_ZNSt6vectorIiSaIiEE17_M_realloc_insertIJiEEEvN9__gnu_cxx17__normal_iteratorIPiS1_EEDpOT_",
                "std::vector<int, std::allocator<int> >::_M_realloc_insert<int>");
    expect_name("_ZN5Level4loadEPKc", "Level::load");
    expect_name("_ZNK5Level4sizeEv", "Level::size");
    expect_name("_Z3maxIiET_S0_S0_", "max<int>");
    expect_name("_Znwm", "operator new");
    expect_name("_Znam", "operator new[]");
    expect_name("_ZN12_GLOBAL__N_14workEv", "(anonymous namespace)::work");
    expect_name("_ZN5LevelC2Ev", "Level::Level");
}

Test(demangle, plain_names_lose_what_compilers_append)
{
    expect_name("luaH_resize", "luaH_resize");
    expect_name("luaH_resize.part.0", "luaH_resize");
    expect_name("luaH_resize.constprop.0.isra.0", "luaH_resize");
    expect_name("memcpy@@GLIBC_2.14", "memcpy");
    expect_name("_ZN5Level4loadEPKc.cold", "Level::load");
    expect_name("_Znotmangled", "_Znotmangled");
    expect_name("_", "_");
}

Test(demangle, names_of_any_length_are_cut_and_done_in_time)
{
    static char raw[60000], name[1024];
    strcpy(raw, "_ZNSt8_Rb_treeI"); /* a real one would go on for thousands of characters */
    for (int i = 0; i < 2000; i++)
        strcat(raw, "1AI1BE");
    demangle_name(raw, name, sizeof name);
    cr_assert_str_eq(name, "std::_Rb_tree<...>");
    strcpy(raw, "_Z1fI"); /* doubles with each repetition */
    for (int i = 0; i < 200; i++)
        sprintf(raw + strlen(raw), "1AI%sS_E", i ? "S0_" : "i");
    strcat(raw, "EvT_");
    demangle_name(raw, name, sizeof name);
    cr_assert_leq(strlen(name), sizeof name - 1);
    memset(raw, 'x', sizeof raw - 1);
    demangle_name(raw, name, sizeof name);
    cr_assert_eq(strlen(name), sizeof name - 1);
}

Test(demangle, every_nesting_stays_on_its_stack)
{
    static char raw[4000], name[1024];
    static const char *const pieces[] = {"1AI", "P", "S_", "N1A", "XngT_", "J", "Z", "RT_", "DpT_", "L_Z"};
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++)
        for (size_t most = 100; most <= 1600; most += 100) {
            strcpy(raw, "_Z1fI");
            while (strlen(raw) < most)
                strcat(raw, pieces[i]);
            demangle_name(raw, name, sizeof name);
            strcat(raw, "iEvT_");
            demangle_name(raw, name, sizeof name);
        }
}

Test(demangle, texts_are_kept_once)
{
    symbol_text a = symbol_text_keep("_ZN5Level4loadEPKc"), b = symbol_text_keep("_ZN5Level4loadEPKc");
    cr_assert_str_eq(a.name, "Level::load");
    cr_assert_eq(a.name, b.name);
    symbol_text c = symbol_text_keep("plain");
    cr_assert_eq(c.raw, c.name);
}

/* --- one table ------------------------------------------------------------------------------------ */

static const char strings[] = "\0alpha\0_beta\0beta\0gamma\0delta\0label\0wide";
enum { ALPHA = 1, BAR_BETA = 7, BETA = 13, GAMMA = 18, DELTA = 24, LABEL = 30, WIDE = 36 };

static ElfW(Sym) symbol(uint32_t name, int binding, int type, uint64_t at, uint64_t size)
{
    return (ElfW(Sym)){.st_name = name,
                       .st_info = (unsigned char)(binding << 4 | type),
                       .st_shndx = 1,
                       .st_value = at,
                       .st_size = size};
}

static const char *found(const ElfW(Sym) * symbols, uint32_t count, const ElfW(Shdr) * sections, uint64_t at)
{
    symbol_table t = {.from = {.symbols = symbols,
                               .count = count,
                               .strings = strings,
                               .string_bytes = sizeof strings,
                               .sections = sections,
                               .section_count = 2}};
    cr_assert(symbol_table_make(&t));
    const ElfW(Sym) *s = symbol_table_find(&t, at);
    const char *name = s ? elf_string(&t.from, s->st_name) : "";
    symbol_table_drop(&t);
    return name;
}

Test(symbol_table, only_what_covers_counts)
{
    ElfW(Sym) s[] = {symbol(GAMMA, STB_GLOBAL, STT_FUNC, 0x2000, 0x10),
                     symbol(ALPHA, STB_GLOBAL, STT_FUNC, 0x1000, 0x20),
                     symbol(DELTA, STB_GLOBAL, STT_OBJECT, 0x1800, 0x100)};
    cr_assert_str_eq(found(s, 3, NULL, 0xfff), "");
    cr_assert_str_eq(found(s, 3, NULL, 0x1000), "alpha");
    cr_assert_str_eq(found(s, 3, NULL, 0x101f), "alpha");
    cr_assert_str_eq(found(s, 3, NULL, 0x1020), "", "the nearest is not enough");
    cr_assert_str_eq(found(s, 3, NULL, 0x1810), "", "data is no function");
    cr_assert_str_eq(found(s, 3, NULL, UINT64_MAX), "");
}

Test(symbol_table, aliases_and_nesting)
{
    ElfW(Sym) s[] = {
        symbol(WIDE, STB_GLOBAL, STT_FUNC, 0x1000, 0x1000), symbol(ALPHA, STB_LOCAL, STT_FUNC, 0x1100, 0x10),
        symbol(BAR_BETA, STB_GLOBAL, STT_FUNC, 0x1100, 0x10), symbol(BETA, STB_WEAK, STT_FUNC, 0x1100, 0x10),
        symbol(GAMMA, STB_GLOBAL, STT_FUNC, 0x1200, 0x10)};
    cr_assert_str_eq(found(s, 5, NULL, 0x1105), "beta", "exported, and the public spelling");
    cr_assert_str_eq(found(s, 2, NULL, 0x1105), "alpha");
    cr_assert_str_eq(found(s, 5, NULL, 0x1900), "wide", "one that starts earlier still covers");
}

Test(symbol_table, labels_reach_to_the_next_symbol_of_their_section)
{
    ElfW(Shdr) sections[2] = {{0}, {.sh_flags = SHF_EXECINSTR, .sh_addr = 0x1000, .sh_size = 0x100}};
    ElfW(Sym) s[] = {symbol(LABEL, STB_LOCAL, STT_NOTYPE, 0x1000, 0),
                     symbol(ALPHA, STB_GLOBAL, STT_FUNC, 0x1040, 0x10),
                     symbol(GAMMA, STB_GLOBAL, STT_NOTYPE, 0x1080, 0)};
    cr_assert_str_eq(found(s, 3, sections, 0x103f), "label");
    cr_assert_str_eq(found(s, 3, sections, 0x1060), "", "a symbol with a size ends where it ends");
    cr_assert_str_eq(found(s, 3, sections, 0x10ff), "gamma");
    cr_assert_str_eq(found(s, 3, sections, 0x1100), "", "beyond the section");
}

/* --- the running program -------------------------------------------------------------------------- */

/* Where it will return to, seen from inside. */
static NOINLINE symbol_info here(void)
{
    symbol_info s;
    cr_assert(symbol_find((uintptr_t)__builtin_return_address(0), &s));
    return s;
}

static NOINLINE symbol_info local_caller(void)
{
    symbol_info s = here();
    __asm__ volatile("" ::: "memory");
    return s;
}

Test(symbols, a_static_function_of_the_program)
{
    symbol_info s = local_caller();
    char exe[4096] = "";
    cr_assert_gt(readlink("/proc/self/exe", exe, sizeof exe - 1), 0);
    cr_assert_str_eq(s.module, exe);
    cr_assert_str_eq(s.name, "local_caller");
    cr_assert_gt(s.symbol_offset, 0);
    cr_assert_lt(s.symbol_offset, 0x1000);
}

static symbol_info seen; /* by what a library called */

static int look(const void *a, const void *b)
{
    if (!seen.module)
        symbol_find((uintptr_t)__builtin_return_address(0), &seen);
    return *(const int *)a - *(const int *)b;
}

Test(symbols, a_library)
{
    int v[] = {3, 1, 2};
    size_t n = 3;
    seen = (symbol_info){0};
    lfind(v, v, &n, sizeof *v, look);
    cr_assert(glob_match_path("libc.so.*", seen.module), "%s", seen.module);
    cr_assert_neq(seen.base, 0);
}

Test(symbols, exported_functions_by_address)
{
    for (const char *const *name = (const char *const[]){"setlocale", "qsort", "fopen", "getaddrinfo", NULL};
         *name; name++) {
        symbol_info s;
        uintptr_t at = (uintptr_t)dlvsym(RTLD_NEXT, *name, "GLIBC_2.2.5");
        cr_assert(symbol_find(at + 1, &s));
        cr_assert(s.name && strstr(s.name, *name), "%s is %s", *name, s.name ? s.name : "(none)");
        cr_assert_eq(s.symbol_offset, 1);
    }
}

Test(symbols, no_object_at_all)
{
    symbol_info s;
    int on_the_stack;
    cr_assert(!symbol_find((uintptr_t)&on_the_stack, &s));
    cr_assert_str_eq(s.module, "");
    cr_assert(!symbol_find(8, &s));
    cr_assert(!symbol_find(0, &s));
}

/* --- libraries made for the test ------------------------------------------------------------------ */

static char dir[64], library[128];

static void build_in(const char *source, const char *flags)
{
    char command[512];
    snprintf(library, sizeof library, "%s/libthing.so", dir);
    snprintf(command, sizeof command,
             "echo '%s' | gcc -shared -fPIC -O1 %s -x c -o %s/new.so - && mv %s/new.so %s", source, flags,
             dir, dir, library);
    cr_assert_eq(system(command), 0);
}

static void start(void)
{
    strcpy(dir, "/tmp/poolmem-test-XXXXXX");
    cr_assert(mkdtemp(dir));
    symbol_maps_clear();
}

static void finish(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", dir);
    cr_assert_eq(system(command), 0);
}

TestSuite(symbols_of_files, .init = start, .fini = finish);

#define SOURCE(inner)                                                                                        \
    "typedef void *f(void);"                                                                                 \
    "static __attribute__((noinline)) void *" inner "(f *g) { void *p = g(); __asm__(\"\"); return p; }"     \
    "void *outer(f *g) { void *p = " inner "(g); __asm__(\"\"); return p; }"

static void *look_back(void)
{
    symbol_find((uintptr_t)__builtin_return_address(0), &seen);
    return NULL;
}

/* The name of the function in the library that calls back. */
static const char *inner_name(void **handle)
{
    *handle = dlopen(library, RTLD_NOW);
    cr_assert(*handle, "%s", dlerror());
    symbols_forget();
    void *(*outer)(void *(*)(void)) = (void *(*)(void *(*)(void)))dlsym(*handle, "outer");
    outer(look_back);
    cr_assert_str_eq(seen.module, library);
    return seen.name ? seen.name : "";
}

Test(symbols_of_files, static_functions_come_from_the_file)
{
    void *handle;
    build_in(SOURCE("inner"), "");
    cr_assert_str_eq(inner_name(&handle), "inner");
}

Test(symbols_of_files, a_file_replaced_meanwhile_is_not_believed)
{
    void *handle;
    for (const char *const *flags = (const char *const[]){"", "-Wl,--build-id=none", NULL}; *flags; flags++) {
        build_in(SOURCE("inner"), *flags);
        handle = dlopen(library, RTLD_NOW);
        cr_assert(handle);
        build_in(SOURCE("other") "char more[1 << 20] = {1};", *flags);
        cr_assert_str_eq(inner_name(&handle), "");
        while (dlclose(handle) == 0)
            ;
    }
}

Test(symbols_of_files, another_library_at_the_same_place)
{
    void *handle;
    build_in(SOURCE("inner"), "");
    cr_assert_str_eq(inner_name(&handle), "inner");
    uint64_t base = seen.base;
    dlclose(handle);
    build_in(SOURCE("later") "int more = 3;", ""); /* the build-id is of code and data */
    const char *name = inner_name(&handle);
    cr_assert_str_eq(name, "later", "%s mapped at %lx, before at %lx", name, (long)seen.base, (long)base);
}

Test(symbols_of_files, a_symbol_map_names_a_stripped_library)
{
    void *handle;
    char map[128];
    build_in(SOURCE("inner"), "-s");
    cr_assert_str_eq(inner_name(&handle), "");
    snprintf(map, sizeof map, "%s/map", dir);
    FILE *f = fopen(map, "w");
    fprintf(f, "%lx _ZN5Level4loadEv\n", (long)seen.offset - 8);
    fclose(f);
    dlclose(handle);
    cr_assert(symbols_add_map("libthing.so", map, "test"));
    build_in(SOURCE("inner"), "-s -Wl,--build-id=0x01020304");
    cr_assert_str_eq(inner_name(&handle), "Level::load");
    cr_assert_str_eq(seen.raw, "_ZN5Level4loadEv");
}

Test(symbols_of_files, damaged_files_are_refused)
{
    build_in(SOURCE("inner"), "");
    FILE *f = fopen(library, "r");
    static char good[1 << 16], bad[1 << 16];
    size_t size = fread(good, 1, sizeof good, f);
    fclose(f);
    elf_id id = {0};
    elf_symbols s;
    symbol_table t;
    for (unsigned seed = 0; seed < 3000; seed++) {
        memcpy(bad, good, size);
        for (unsigned i = 0; i < 1 + seed % 4; i++) /* in the header and the section headers */
            bad[rand() % 2 ? rand() % 64 : (int)size - 1 - rand() % 2048] = (char)rand();
        f = fopen(library, "w");
        fwrite(bad, 1, seed % 3 ? size : (size_t)rand() % size, f);
        fclose(f);
        if (elf_read_file(library, &id, &s)) {
            t = (symbol_table){.from = s};
            if (symbol_table_make(&t))
                symbol_table_find(&t, (uint64_t)rand());
            symbol_table_drop(&t);
        }
    }
}
