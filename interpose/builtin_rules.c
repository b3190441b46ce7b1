/* SPDX-License-Identifier: MIT */
/*
 * builtin_rules.c - see rule.h: the rules that hold without a configuration file, or after the user's own
 * when the file starts with `include builtin`. Listed with their reasons in poolmem.conf(5) too.
 *
 * Order matters on one frame only: first what is looked past, then System, Lua, STL, RenderWare, Level.
 * Scopes of C++ come before patterns with a star in front, so that a container of levels counts as a
 * container. A rule with depth 0 speaks of code that allocates itself: used for modules that also call the
 * program back (constructors from the loader, thread functions and callbacks from SDL), whose outer frames
 * say nothing. Locking: none, constant. Cost: none at start; the table is ready-made.
 */
#include "rule.h"

/* clang-format off */
#define PASS(s)            {RULE_ANY, .pool = RULE_PASS_NAME, .symbol = (s)}
#define SYMBOL(p, s)       {RULE_ANY, .pool = (p), .symbol = (s)}
#define MODULE(p, m)       {RULE_ANY, .pool = (p), .module = (m)}
#define LIBC(s)            {RULE_ANY, .pool = "System", .module = "libc.so*", .symbol = (s)}
#define DIRECT(p, m, most) {RULE_ANY_BUT_DEPTH, .depth_max = (most), .pool = (p), .module = (m)}
/* clang-format on */

const char *const builtin_pools[] = {"Level", "Lua", "STL", "RenderWare", NULL};

const rule builtin_rules[] = {
    /* Code of the C++ library that runs the program's functions: memory these ask for is the program's. */
    PASS("std::thread::*"),
    PASS("std::jthread::*"),
    PASS("execute_native_thread_routine*"), /* named where libstdc++'s debug file is installed */
    PASS("std::_Function_handler<*"),
    PASS("std::function<*::operator()"),
    PASS("std::invoke<*"),
    PASS("std::__invoke*"),
    PASS("std::apply<*"),
    PASS("std::__apply*"),
    PASS("std::visit<*"),
    PASS("std::__do_visit<*"),
    PASS("std::__detail::__variant::*"),
    PASS("std::call_once<*"),
    PASS("std::once_flag::*"),
    PASS("std::async<*"),
    PASS("std::__future_base::*"),
    PASS("std::packaged_task<*"),
    PASS("std::for_each*"),
    PASS("std::generate*"),
    PASS("std::transform<*"),
    PASS("std::__1::thread::*"),
    PASS("std::__1::__function::*"),
    PASS("std::__1::__invoke*"),
    PASS("std::__1::__thread_*"),
    PASS("std::__1::__async*"),
    PASS("std::__1::__call_once*"),

    /* The loader's own lists of objects, search paths, blocks for thread-local variables. */
    DIRECT("System", "ld-linux*.so*", 0),
    DIRECT("System", "ld.so*", 0),
    /* Tables of the C++ unwinder. */
    DIRECT("System", "libgcc_s.so*", 0),
    /* dlopen and its kin: close to the allocation, because constructors run inside dlopen too. */
    {RULE_ANY_BUT_DEPTH, .depth_max = 3, .pool = "System", .module = "libc.so*", .symbol = "dl*"},
    {RULE_ANY_BUT_DEPTH, .depth_max = 3, .pool = "System", .module = "libc.so*", .symbol = "_dl_*"},
    DIRECT("System", "libdl.so*", 3),
    /* Threads: stacks' records and per-thread keys. */
    LIBC("pthread_create"),
    LIBC("pthread_setspecific"),
    LIBC("pthread_getattr_np"),
    LIBC("thrd_create"),
    LIBC("tss_set"),
    LIBC("sem_open"),
    DIRECT("System", "libpthread.so*", 2),
    /* Handlers at exit and fork. */
    LIBC("*__cxa_atexit"),
    LIBC("*__cxa_at_quick_exit"),
    LIBC("on_exit"),
    LIBC("*__cxa_thread_atexit_impl"),
    LIBC("__register_atfork"),
    /* Buffers of stdio streams; not what getline, asprintf or strdup hand to the program. */
    LIBC("_IO_file_doallocate"),
    LIBC("_IO_wfile_doallocate"),
    LIBC("_IO_default_doallocate"),
    LIBC("_IO_wdefault_doallocate"),
    /* Locale data, message catalogues, time zones, conversions. */
    LIBC("*setlocale"),
    LIBC("*newlocale"),
    LIBC("*duplocale"),
    LIBC("*gettext"),
    LIBC("*textdomain*"),
    LIBC("tzset"),
    LIBC("*localtime*"),
    LIBC("*mktime"),
    LIBC("strftime*"),
    LIBC("iconv_open"),
    LIBC("mb*towc*"),
    LIBC("wc*tomb*"),
    MODULE("System", "*/gconv/*.so"),
    /* Copies of environment variables, which libc keeps. */
    LIBC("*setenv"),
    LIBC("*putenv"),
    /* Name services and the resolver. */
    LIBC("getaddrinfo"),
    LIBC("getnameinfo"),
    LIBC("gethostby*"),
    LIBC("getpw*"),
    LIBC("getgr[egn]*"),
    LIBC("getserv*"),
    LIBC("getproto*"),
    LIBC("getnet*"),
    LIBC("initgroups"),
    LIBC("*__nss_*"),
    LIBC("*res_*init"),
    LIBC("res_n*"),
    MODULE("System", "libnss_*.so*"),
    MODULE("System", "libresolv.so*"),

    /* Lua and LuaJIT, as a library, as the stand-alone program, or linked in with symbols, with the
       allocation function luaL_newstate installs. A C function that Lua calls counts for Lua unless a frame
       inside it has a rule. */
    MODULE("Lua", "liblua*.so*"),
    MODULE("Lua", "lua"),
    MODULE("Lua", "lua[5-9]*"),
    MODULE("Lua", "luajit*"),
    SYMBOL("Lua", "lua[A-Z]_*"),
    SYMBOL("Lua", "lua_[a-z]*"),
    SYMBOL("Lua", "luaopen_*"),
    SYMBOL("Lua", "l_alloc"),
    SYMBOL("Lua", "lj_*"),

    /* The C++ library: templates in the program's code, and the shared library itself. The latter by its
       named functions, because the one that starts every thread has no name. */
    SYMBOL("STL", "std::*"),
    SYMBOL("STL", "__gnu_cxx::*"),
    SYMBOL("STL", "__gnu_debug::*"),
    {RULE_ANY, .pool = "STL", .module = "libstdc++.so*", .symbol = "*"},
    {RULE_ANY, .pool = "STL", .module = "libc++*.so*", .symbol = "*"},
    DIRECT("STL", "libstdc++.so*", 0),
    DIRECT("STL", "libc++*.so*", 0),

    /* RenderWare's functions carry a prefix and a capital; internal ones an underscore before; librw is a
       C++ namespace. */
    SYMBOL("RenderWare", "Rw[A-Z]*"),
    SYMBOL("RenderWare", "Rp[A-Z]*"),
    SYMBOL("RenderWare", "Rt[A-Z]*"),
    SYMBOL("RenderWare", "_r[wpt][A-Z]*"),
    SYMBOL("RenderWare", "rw::*"),
    /* OpenGL, EGL, Vulkan and their drivers. */
    MODULE("RenderWare", "libGL*.so*"),
    MODULE("RenderWare", "libEGL*.so*"),
    MODULE("RenderWare", "libOpenGL*.so*"),
    MODULE("RenderWare", "libvulkan*.so*"),
    MODULE("RenderWare", "*_dri.so"),
    MODULE("RenderWare", "libgallium*.so*"),
    MODULE("RenderWare", "libglapi.so*"),
    MODULE("RenderWare", "libgbm.so*"),
    MODULE("RenderWare", "libdrm*.so*"),
    MODULE("RenderWare", "libnvidia-*.so*"),
    /* X11 and its extensions. */
    MODULE("RenderWare", "libX11*.so*"),
    MODULE("RenderWare", "libxcb*.so*"),
    MODULE("RenderWare", "libX[acdefirsx]*.so*"),
    /* Libraries that run callbacks or threads of the program: what they allocate themselves. */
    DIRECT("RenderWare", "libSDL*.so*", 0),
    DIRECT("RenderWare", "libwayland-*.so*", 0),
    DIRECT("RenderWare", "libdecor*.so*", 0),
    DIRECT("RenderWare", "libxkbcommon*.so*", 0),
    DIRECT("RenderWare", "libglfw*.so*", 0),
    {RULE_ANY_BUT_DEPTH, .depth_max = 0, .pool = "RenderWare", .symbol = "SDL_[A-Za-z]*"},

    /* Loading of levels, as engines name it. Capitals, because `level` alone is a compressor's setting. */
    SYMBOL("Level", "Level[A-Z_]*"),
    SYMBOL("Level", "Level::*"),
    SYMBOL("Level", "*::Level::*"),
    SYMBOL("Level", "*::Level[A-Z]*::*"),
    SYMBOL("Level", "*Level*Load*"),
    SYMBOL("Level", "*LoadLevel*"),
    SYMBOL("Level", "load_level*"),
    SYMBOL("Level", "level_load*"),
    /* Doom: level set-up and the WAD reader. */
    SYMBOL("Level", "P_SetupLevel"),
    SYMBOL("Level", "P_Load[A-Z]*"),
    SYMBOL("Level", "P_GroupLines"),
    SYMBOL("Level", "W_[A-Z]*"),
    /* Quake and its children: models, maps, BSP trees. */
    SYMBOL("Level", "Mod_Load*"),
    SYMBOL("Level", "CM_Load*"),
    SYMBOL("Level", "BSP_*"),
    SYMBOL("Level", "BSP::*"),
    /* Maps and worlds. */
    SYMBOL("Level", "Map*Load*"),
    SYMBOL("Level", "LoadMap*"),
    SYMBOL("Level", "*::LoadMap*"),
    SYMBOL("Level", "World*Load*"),
    SYMBOL("Level", "LoadWorld*"),
};

const unsigned builtin_rules_count = sizeof builtin_rules / sizeof *builtin_rules;
