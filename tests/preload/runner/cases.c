/* SPDX-License-Identifier: MIT */
/* What is promised: program, environment, expected end, expected words. One row a promise. */
#include "runner.h"

#define REPORT "POOLMEM_EXIT=1 POOLMEM_STATS=@T/r.json "
#define CHECK  "python3 @S/check_report.py @T/r.json "

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
     .seconds = 180},
    {.name = "fork in a handler", .run = "fork_in_signal", .plain = true},
    {.name = "vfork", .run = "vfork_exec", .plain = true},
    {.name = "raw clone", .run = "raw_clone", .plain = true},
    {.name = "small stacks", .run = "small_stacks", .env = "POOLMEM_STATS=@T/r%n.json", .plain = true},
    {.name = "dlopen loop", .run = "dl_loop", .plain = true},
    {.name = "dlopen loop, tags",
     .run = "dl_loop",
     .env = REPORT "POOLMEM_CONF=@S/conf/plugins.conf",
     .check = CHECK "--that 'pool[\"PlugA\"].allocs == 30000 and pool[\"PlugB\"].allocs == 30000'"},
    {.name = "longjmp", .run = "longjmp", .plain = true},
    {.name = "exceptions", .run = "exceptions", .plain = true},
    {.name = "short threads", .run = "short_threads", .plain = true},
    {.name = "producer and consumer", .run = "producer_consumer", .plain = true},
    {.name = "memory comes back", .run = "rss_back"},
    {.name = "own malloc",
     .run = "own_malloc",
     .env = "POOLMEM_VERBOSE=1",
     .err = "^poolmem: .*malloc",
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
    {.name = "seccomp", .run = "seccomp", .plain = true},
};
const size_t promise_count = sizeof promises / sizeof promises[0];
