/* SPDX-License-Identifier: MIT */
/* What is promised: program, environment, expected end, expected words. One row a promise. */
#include "runner.h"

#include <signal.h>

#define REPORT "POOLMEM_EXIT=1 POOLMEM_STATS=@T/r.json "
#define CHECK  "python3 @S/check_report.py @T/r.json "

/* conf/bad_WHAT.conf has one wrong line */
#define BAD_LINE(what, line)                                                                                 \
    {                                                                                                        \
        .name = "configuration: bad " what, .run = "malloc_zero",                                            \
        .env = "POOLMEM_CONF=@S/conf/bad_" what ".conf",                                                     \
        .err = "^poolmem: .*bad_" what "[.]conf:" #line ": ."                                                \
    }

#define BUDGET(over, ...)                                                                                    \
    {                                                                                                        \
        .name = "budget: " over, .run = "budget " over,                                                      \
        .env = REPORT "POOLMEM_VERBOSE=1 POOLMEM_CONF=@S/conf/budget_" over ".conf", __VA_ARGS__             \
    }

/* said in one line with pool and caller, and the program goes on; POOLMEM_ABORT=1 ends it */
#define ONE_LINE "test $(grep -c '^poolmem: ' @T/run.err) = 1"
#define MISUSE(state, words)                                                                                 \
    {.name = "misuse: " state,                                                                               \
     .run = "misuse " state,                                                                                 \
     .err = "^poolmem: .*" words ".*Global.*misuse",                                                         \
     .check = ONE_LINE},                                                                                     \
    {                                                                                                        \
        .name = "misuse aborts: " state, .run = "misuse " state, .env = "POOLMEM_ABORT=1",                   \
        .err = "^poolmem: .*" words, .out = "^$", .signal = SIGABRT                                          \
    }
#define FOREIGN(state)                                                                                       \
    {.name = "misuse: " state,                                                                               \
     .run = "misuse " state,                                                                                 \
     .env = "POOLMEM_VERBOSE=1",                                                                             \
     .err = "^poolmem: .*foreign.*misuse",                                                                   \
     .check = ONE_LINE},                                                                                     \
    {                                                                                                        \
        .name = "misuse aborts: " state, .run = "misuse " state, .env = "POOLMEM_ABORT=1",                   \
        .err = "^poolmem: .*foreign", .out = "^$", .signal = SIGABRT                                         \
    }

/* a full pool of fixed size on the pool stack: what it says is one line with pool and caller */
#define FULL_SAYS "^poolmem: pool Full of 131072 bytes cannot hold 1000 more, .* spend"
#define FULL_CASE(kind, over, ...)                                                                           \
    {                                                                                                        \
        .name = "full on the stack: " kind " " over, .run = "pushed_full " kind " " over,                    \
        .env = REPORT "POOLMEM_VERBOSE=1", __VA_ARGS__                                                       \
    }
#define FULL(kind)                                                                                           \
    FULL_CASE(kind, "warn", .err = FULL_SAYS, .check = ONE_LINE),                                            \
        FULL_CASE(kind, "fail", .err = FULL_SAYS, .check = ONE_LINE),                                        \
        FULL_CASE(kind, "spill", .no_err = "^poolmem",                                                       \
                  .check = CHECK "--that 'pool[\"Full\"].over_limit > 0 and pool[\"Full\"].failed == 0'"),   \
        FULL_CASE(kind, "abort", .err = FULL_SAYS, .out = "^$", .signal = SIGABRT)

const struct promise promises[] = {
    /* the malloc family's own semantics */
    {.name = "zero bytes", .run = "malloc_zero", .plain = true},
    {.name = "too large", .run = "too_large", .plain = true},
    {.name = "calloc is zero", .run = "calloc_zero", .plain = true},
    {.name = "alignment", .run = "alignment", .plain = true},
    {.name = "aligned entries", .run = "aligned_entries", .plain = true},
    {.name = "realloc", .run = "realloc_rules", .plain = true},
    {.name = "usable size", .run = "usable_size", .plain = true},
    {.name = "errno", .run = "errno_kept", .plain = true},
    {.name = "entry matrix", .run = "entry_matrix", .plain = true},
    {.name = "operators", .run = "operators", .plain = true},
    {.name = "new_handler", .run = "new_handler", .plain = true},
    {.name = "exports", .run = "exports", .plain = true},
    {.name = "rare entries", .run = "rare_entries", .plain = true},

    /* the life of a process */
    {.name = "first call", .run = "first_call", .plain = true},
    {.name = "late calls", .run = "late_calls", .plain = true},
    {.name = "late calls, reporting", .run = "late_calls", .env = REPORT, .check = CHECK},
    {.name = "second preload before", .run = "operators", .preload = "@B/dlsym_ctor.so @L", .plain = true},
    {.name = "second preload after", .run = "operators", .preload = "@L @B/dlsym_ctor.so", .plain = true},
    {.name = "LD_AUDIT", .run = "operators", .env = "LD_AUDIT=@B/audit.so", .plain = true},
    {.name = "fork storm", .run = "fork_storm", .seconds = 120, .plain = true},
    {.name = "fork storm, reporting",
     .run = "fork_storm",
     .env = "POOLMEM_EXIT=1 POOLMEM_STATS=@T/%p.json",
     .seconds = 180,
     /* 2 x 120 children, 16 grandchildren, the parent */
     .check = "python3 @S/check_report.py --busy @T/*.json && test $(ls @T/*.json | wc -l) = 257"},
    {.name = "fork storm, one report",
     .run = "fork_storm",
     .env = "POOLMEM_EXIT=1 POOLMEM_CHILDREN=0 POOLMEM_STATS=@T/%p.json",
     .seconds = 180,
     .check = "python3 @S/check_report.py --busy @T/*.json && test $(ls @T/*.json | wc -l) = 1"},
    {.name = "fork storm, retail pool",
     .run = "fork_storm",
     .env = "POOLMEM_CONF=@S/conf/fork_retail.conf",
     .seconds = 180},
    {.name = "fork storm, clump pool",
     .run = "fork_storm",
     .env = "POOLMEM_CONF=@S/conf/fork_clump.conf",
     .seconds = 180},
    {.name = "fork in a handler", .run = "fork_in_signal", .plain = true},
    {.name = "forks in handlers, under locks",
     .run = "fork_under_locks",
     .env = "POOLMEM_CONF=@S/conf/fork_under_locks.conf",
     .seconds = 180},
    {.name = "forks in handlers, tracking",
     .run = "fork_under_locks 100",
     .env = "POOLMEM_TRACK=1 POOLMEM_CONF=@S/conf/fork_under_locks.conf",
     .seconds = 180},
    {.name = "quick_exit", .run = "quick_exit", .plain = true},
    {.name = "quick_exit, reporting", .run = "quick_exit", .env = REPORT, .check = CHECK},
    {.name = "vfork", .run = "vfork_exec", .plain = true},
    {.name = "vfork, reporting",
     .run = "vfork_exec",
     .env = "POOLMEM_EXIT=1 POOLMEM_STATS=@T/%e.%p.json",
     .check = "python3 @S/check_report.py --busy @T/*.json && test $(ls @T/vfork_exec.*.json | wc -l) = 1"},
    {.name = "raw clone", .run = "raw_clone", .plain = true},
    {.name = "small stacks", .run = "small_stacks", .env = "POOLMEM_STATS=@T/r%n.json", .plain = true},
    {.name = "switched stacks", .run = "switched_stack", .plain = true},
    {.name = "dlopen loop", .run = "dl_loop", .plain = true},
    {.name = "dlopen loop, tags",
     .run = "dl_loop",
     .env = REPORT "POOLMEM_CONF=@S/conf/plugins.conf",
     .check = CHECK "--that 'pool[\"PlugA\"].allocs == 30000 and pool[\"PlugB\"].allocs == 30000'"},
    {.name = "rules that matched no caller are told at the end",
     .run = "malloc_zero",
     .env = "POOLMEM_VERBOSE=1 POOLMEM_CONF=@S/conf/unmatched.conf",
     .err = "^poolmem: .*unmatched[.]conf:8: note: matched no caller: Enemies = .*symbol:nobody_\\*",
     .check = ONE_LINE},
    {.name = "hot reload",
     .run = "hot_reload",
     .env = REPORT,
     .check = CHECK
     "--that 'all(any(name in frame for site in pool[\"Global\"].sites for frame in site[\"frames\"])"
     " for name in (\"take_a\", \"take_b\"))'"},
    {.name = "threads that push", .run = "push_threads"},
    {.name = "fork handlers that allocate", .run = "fork_after_deep", .preload = "@L @B/atfork_preload.so"},
    {.name = "longjmp", .run = "longjmp", .plain = true},
    {.name = "exceptions", .run = "exceptions", .plain = true},
    {.name = "short threads", .run = "short_threads", .plain = true},
    {.name = "producer and consumer", .run = "producer_consumer", .plain = true},
    {.name = "memory comes back", .run = "rss_back"},
    {.name = "memory comes back after a pause", .run = "rss_back once"},
    {.name = "memory comes back, freed by another thread", .run = "rss_back remote"},
    {.name = "own malloc",
     .run = "own_malloc",
     .env = "POOLMEM_VERBOSE=1",
     .err = "^poolmem: .*malloc",
     .plain = true},
    {.name = "traced malloc",
     .run = "traced_malloc",
     .env = REPORT "POOLMEM_VERBOSE=1",
     .no_err = ".",
     .check = CHECK "--that 'counted.allocs > 60 and process.foreign_frees == 0'",
     .plain = true},
    {.name = "own malloc, silent", .run = "own_malloc", .no_err = "."},
    {.name = "foreign pointers",
     .run = "foreign",
     .env = REPORT "POOLMEM_VERBOSE=1",
     .err = "^poolmem: .*foreign",
     .check = CHECK "--that 'process.foreign_frees == 5' && test $(grep -c '^poolmem:' @T/run.err) = 1"},
    {.name = "descriptors closed", .run = "fds_closed", .plain = true},
    {.name = "descriptors closed, reporting",
     .run = "fds_closed",
     .env = "POOLMEM_EXIT=1 POOLMEM_STATS=@T/%n.json",
     .check = "python3 @S/check_report.py --count 2 @T/*.json"},
    {.name = "stderr taken by data", .run = "stderr_taken data"},
    {.name = "stderr taken, none at the start", .run = "stderr_taken none"},
    {.name = "stderr taken by a private file", .run = "stderr_taken private"},
    {.name = "stderr taken by a socket", .run = "stderr_taken socket"},
    {.name = "stderr redirected", .run = "stderr_taken log"},
    {.name = "torture", .run = "torture", .seconds = 180, .plain = true},
    {.name = "torture, reporting",
     .run = "torture",
     .env = REPORT,
     .seconds = 180,
     .check = CHECK "--that 'process.foreign_frees == 0'"},
    {.name = "many threads", .run = "many_threads", .plain = true},
    {.name = "made code", .run = "made_code", .plain = true},
    {.name = "seccomp", .run = "seccomp", .plain = true},
    {.name = "seccomp by prctl", .run = "seccomp prctl", .plain = true},

    /* counts */
    {.name = "totals, no report", .run = "traffic", .preload = "@B/count_preload.so @L", .plain = true},
    {.name = "totals",
     .run = "traffic",
     .preload = "@B/count_preload.so @L",
     .env = REPORT "COUNT_TOTALS=@T/totals",
     .check = CHECK "--totals @T/totals --that 'counted.failed >= 12'"},
    {.name = "totals, tracked",
     .run = "traffic",
     .preload = "@B/count_preload.so @L",
     .env = REPORT "COUNT_TOTALS=@T/totals POOLMEM_TRACK=1",
     .check = CHECK "--totals @T/totals"},
    {.name = "totals, shallow",
     .run = "traffic",
     .preload = "@B/count_preload.so @L",
     .env = REPORT "COUNT_TOTALS=@T/totals POOLMEM_DEPTH=0",
     .check = CHECK "--totals @T/totals"},
    {.name = "totals, of other programs",
     .run = "exceptions",
     .preload = "@B/count_preload.so @L",
     .env = REPORT "COUNT_TOTALS=@T/totals",
     .check = CHECK "--totals @T/totals"},

    /* the report signal */
    {.name = "signal storm",
     .run = "signal_storm",
     .env = "POOLMEM_STATS=@T/storm-%n.json",
     .seconds = 240,
     .check = "python3 @S/check_report.py --busy --count 1000 @T/storm-*.json"},
    {.name = "handler of many stacks",
     .run = "signal_stacks",
     .env = REPORT "POOLMEM_CONF=@S/conf/signal_stacks.conf",
     .check = CHECK "--that 'pool[\"Far\"].allocs > 0 and pool[\"Farther\"].allocs > 0'"},
    {.name = "handler of many stacks, left by a jump",
     .run = "signal_stacks jump",
     .env = REPORT "POOLMEM_CONF=@S/conf/signal_stacks.conf",
     .check = CHECK "--that 'pool[\"Far\"].allocs > 0 and pool[\"Farther\"].allocs > 0'"},
    {.name = "own handler",
     .run = "own_handler",
     .env = "POOLMEM_STATS=@T/%n.json",
     .plain = true,
     .check = "python3 @S/check_report.py @T/*.json && test $(ls @T/*.json | wc -l) -ge 6"},
    {.name = "signal burst",
     .run = "signal_burst",
     .env = "POOLMEM_STATS=@T/%n.json",
     .plain = true,
     .check = "python3 @S/check_report.py --busy --count $(cat @T/calls) @T/*.json"},
    {.name = "blocked signal", .run = "blocked_signal", .env = "POOLMEM_STATS=@T/%n.json", .plain = true},
    {.name = "signal in a futex", .run = "futex_signal", .env = "POOLMEM_STATS=@T/%n.json", .plain = true},
    {.name = "signals amid everything",
     .run = "signal_mix",
     .env = "POOLMEM_STATS=@T/mix-%p-%n.json",
     .check = "python3 @S/check_report.py --busy @T/mix-*.json",
     .plain = true},
    {.name = "signals amid everything, tracked",
     .run = "signal_mix",
     .env = "POOLMEM_STATS=@T/mix-%p-%n.json POOLMEM_TRACK=1",
     .check = "python3 @S/check_report.py --busy @T/mix-*.json"},
    {.name = "signal by name", .run = "raise_report =10 3", .env = "POOLMEM_STATS=@T/%n.json"},
    {.name = "signal USR2",
     .run = "raise_report =12 3",
     .env = "POOLMEM_STATS=@T/%n.json POOLMEM_SIGNAL=USR2"},
    {.name = "signal RTMIN+3",
     .run = "raise_report 3 3",
     .env = "POOLMEM_STATS=@T/%n.json POOLMEM_SIGNAL=RTMIN+3"},
    {.name = "no signal",
     .run = "raise_report =10 0",
     .env = "POOLMEM_STATS=@T/%n.json POOLMEM_SIGNAL=none",
     .out = "^$",
     .signal = SIGUSR1},
    {.name = "another signal",
     .run = "own_handler",
     .env = "POOLMEM_STATS=@T/%n.json POOLMEM_SIGNAL=USR2",
     .out = "^$",
     .signal = SIGUSR1},
    {.name = "planted links", .run = "symlink_report", .env = "POOLMEM_STATS=@T/planted.json"},
    {.name = "report on stderr", .run = "errno_kept", .env = "POOLMEM_EXIT=1", .err = "Global"},
    {.name = "silence", .run = "traffic", .no_err = "."},

    /* the kernel says no */
    {.name = "small address space", .run = "small_space", .seconds = 120},
    {.name = "map failures, once", .run = "map_failures once", .preload = "", .seconds = 240, .plain = true},
    {.name = "map failures, staying",
     .run = "map_failures stay",
     .preload = "",
     .seconds = 240,
     .plain = true},
    {.name = "map failures, at boot",
     .run = "map_failures boot",
     .preload = "",
     .seconds = 240,
     .plain = true},

    /* the environment */
    {.name = "set-user-id", .run = "secure_env", .preload = ""},
    {.name = "children with", .run = "children 1"},
    {.name = "children without", .run = "children 0", .env = "POOLMEM_CHILDREN=0"},
    {.name = "deep binding",
     .run = "deepbind",
     .env = REPORT,
     .plain = true,
     .check = CHECK "--that 'process.foreign_frees == 0'"},
    {.name = "unknown variable",
     .run = "malloc_zero",
     .env = "POOLMEM_NONSENSE=1",
     .err = "^poolmem: .*POOLMEM_NONSENSE"},
    {.name = "bad signal",
     .run = "malloc_zero",
     .env = "POOLMEM_SIGNAL=NOISE",
     .err = "^poolmem: .*POOLMEM_SIGNAL"},
    {.name = "bad depth",
     .run = "malloc_zero",
     .env = "POOLMEM_DEPTH=deep",
     .err = "^poolmem: .*POOLMEM_DEPTH"},
    {.name = "no such file",
     .run = "malloc_zero",
     .env = "POOLMEM_CONF=/nowhere/x.conf",
     .err = "^poolmem: .*/nowhere/x.conf"},
    BAD_LINE("key", 4),
    BAD_LINE("size", 3),
    BAD_LINE("kind", 3),
    BAD_LINE("over", 4),
    BAD_LINE("condition", 4),
    BAD_LINE("section", 2),
    BAD_LINE("line", 3),
    BAD_LINE("range", 4),
    BAD_LINE("name", 2),

    /* budgets and old kinds */
    {.name = "no budget", .run = "budget", .plain = true},
    BUDGET("fail", .exit_status = 0),
    {.name = "realloc to less in a full pool",
     .run = "shrink_full",
     .env = "POOLMEM_CONF=@S/conf/budget_fail.conf"},
    BUDGET("warn", .err = "^poolmem: .*Enemies", .check = ONE_LINE),
    {.name = "budget: warn, counted in silence",
     .run = "budget warn",
     .env = REPORT "POOLMEM_CONF=@S/conf/budget_warn.conf",
     .no_err = "poolmem",
     .check = CHECK "--that 'pool[\"Enemies\"].over_limit > 0'"},
    BUDGET("spill", .check = CHECK
                    "--that 'pool[\"Enemies\"].over_limit > 0 and pool[\"Enemies\"].peak_bytes <= 4 << 20'"),
    {.name = "budget: spilled totals",
     .run = "budget keep",
     .preload = "@B/count_preload.so @L",
     .env = REPORT "COUNT_TOTALS=@T/totals POOLMEM_CONF=@S/conf/budget_spill.conf",
     .check = CHECK "--totals @T/totals --that 'pool[\"Global\"].live_blocks > 3000'"},
    {.name = "retail pool, totals",
     .run = "traffic",
     .preload = "@B/count_preload.so @L",
     .env = REPORT "COUNT_TOTALS=@T/totals POOLMEM_CONF=@S/conf/retail.conf",
     .check = CHECK "--totals @T/totals"},
    BUDGET("abort", .err = "^poolmem: .*Enemies", .out = "^$", .signal = SIGABRT),
    {.name = "retail pool",
     .run = "traffic",
     .env = REPORT "POOLMEM_CONF=@S/conf/retail.conf",
     .check = CHECK "--that 'pool[\"Old\"].kind == \"retail\" and pool[\"Old\"].allocs > 100'"},
    {.name = "pools of every kind pushed",
     .run = "pushed_kinds",
     .env = REPORT "POOLMEM_ABORT=1",
     .no_err = "foreign|invalid|double",
     .check = CHECK "--that 'process.foreign_frees == 0'"},
    {.name = "pools of every kind pushed, tracked",
     .run = "pushed_kinds",
     .env = REPORT "POOLMEM_ABORT=1 POOLMEM_TRACK=1",
     .check = CHECK "--that 'process.foreign_frees == 0'"},
    {.name = "misuse: realloc in other kinds",
     .run = "pushed_kinds misuse",
     .err = "double free.*Old.*\n.*invalid pointer.*Old.*\n.*double free.*Records.*\n.*invalid "
            "pointer.*Records"},
    FULL("retail"),
    FULL("clump"),
    FULL("arena"),
    FULL("hunk"),
    {.name = "pool in a pool",
     .run = "traffic",
     .env = REPORT "POOLMEM_CONF=@S/conf/nested.conf",
     .check = CHECK "--that 'pool[\"World\"].allocs > 10 and pool[\"World\"].failed == 0'"
                    " --that 'pool[\"Sector\"].live_bytes < 2 << 20'"
                    " --that 'pool[\"Sector\"].committed_bytes <= 4 << 20'"},
    {.name = "figures of the interface's calls",
     .run = "api_figures",
     .env = REPORT,
     .check = CHECK "--that 'pool[\"Old\"].largest_free_bytes <= pool[\"Old\"].free_bytes'"
                    " --that 'any(\"take_from_pool\" in frame for site in pool[\"Work\"].sites for frame in "
                    "site[\"frames\"])'"
                    " --that 'any(\"take_from_pool\" in frame for site in pool[\"Old\"].sites for frame in "
                    "site[\"frames\"])'"},
    {.name = "peak of many threads",
     .run = "peaks 16 1000 88",
     .env = REPORT,
     .check = CHECK "--that 'pool[\"Global\"].peak_bytes > 1500000'"},
    {.name = "peak seen in a report",
     .run = "peaks 1 1000 88 signal",
     .env = REPORT,
     .check = CHECK "--that 'pool[\"Global\"].peak_bytes >= 104000'"},
    {.name = "clump pool",
     .run = "entry_matrix",
     .env = REPORT "POOLMEM_CONF=@S/conf/clump.conf",
     .check = CHECK "--that 'pool[\"Records\"].kind == \"clump\"'"},

    /* misuse */
    MISUSE("local", "double free"),
    MISUSE("remote", "double free"),
    MISUSE("pending", "double free"),
    MISUSE("remote-again", "double free"),
    MISUSE("emptied", "(double free|invalid pointer)"),
    MISUSE("given-back", "(double free|invalid pointer)"),
    MISUSE("large", "(double free|invalid pointer)"),
    MISUSE("huge", "(double free|invalid pointer)"),
    MISUSE("moved-away", "double free"),
    MISUSE("overwritten", "double free"),
    MISUSE("aligned", "double free"),
    MISUSE("aligned-large", "(double free|invalid pointer)"),
    MISUSE("interior", "(interior|invalid) pointer"),
    MISUSE("unaligned", "(interior|invalid) pointer"),
    MISUSE("interior-large", "(interior|invalid) pointer"),
    MISUSE("interior-block", "(interior|invalid) pointer"),
    MISUSE("never-given", "invalid pointer"),
    MISUSE("resized", "."),
    FOREIGN("foreign"),
    FOREIGN("wild"),
    FOREIGN("non-canonical"),
};
const size_t promise_count = sizeof promises / sizeof promises[0];
