/* SPDX-License-Identifier: MIT */
/*
 * config.c - see config.h. The environment first, then the first configuration file there is, then pools and
 * rules. A set-user-id program gets defaults, and of files only the administrator's /etc/poolmem.conf.
 *
 * Invariants: (1) whatever was wrong, the process ends up with a full set of rules: the file's or the
 * built-in ones; (2) nothing is printed unless something was wrong or POOLMEM_VERBOSE is 2. Locking: once, at
 * boot, one thread. Cost: a few system calls without a file. Read next: config_file.c, rule.h, pools.h.
 */
#include "config.h"
#include "complain.h"
#include "config_file.h"
#include "fmt.h"
#include "glob.h"
#include "keep.h"
#include "output.h"
#include "pools.h"
#include "raw.h"
#include "rule.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

enum { PATH_MOST = 4096, DEPTH_MOST = 1024, VERIFY_MOST = 1 << 30 };

config config_now = {
    .conf = "", .stats = "stderr", .signal = SIGUSR1, .depth = 32, .verbose = 0, .children = true};

/* --- environment ---------------------------------------------------------------------------------- */

/* The value of a variable, NULL when not set or empty. One that is no good leaves the default. */
static const char *variable(const char *name)
{
    const char *v = secure_getenv(name);
    return v && *v ? v : NULL;
}

static bool read_number(const char *text, unsigned most, unsigned *out)
{
    unsigned long v = 0;
    for (const char *p = text; *p; p++) {
        if (*p < '0' || *p > '9' || v > most)
            return false;
        v = v * 10 + (unsigned)(*p - '0');
    }
    if (!*text || v > most)
        return false;
    *out = (unsigned)v;
    return true;
}

static void number_variable(const char *name, unsigned most, unsigned *out)
{
    const char *v = variable(name);
    if (v && !read_number(v, most, out))
        complain("environment", 0, "%s=%s: not a number in range, expected 0 to %u", name, v, most);
}

static void switch_variable(const char *name, bool *out)
{
    const char *v = variable(name);
    if (v && strcmp(v, "0") != 0 && strcmp(v, "1") != 0)
        complain("environment", 0, "%s=%s: not a switch, expected 0 or 1", name, v);
    else if (v)
        *out = *v == '1';
}

/* USR1, USR2, RTMIN+n, none. */
static bool read_signal(const char *text, int *out)
{
    unsigned n = 0;
    if (strcmp(text, "USR1") == 0)
        *out = SIGUSR1;
    else if (strcmp(text, "USR2") == 0)
        *out = SIGUSR2;
    else if (strcmp(text, "none") == 0)
        *out = 0;
    else if (strcmp(text, "RTMIN") == 0 ||
             (strncmp(text, "RTMIN+", 6) == 0 && read_number(text + 6, (unsigned)(SIGRTMAX - SIGRTMIN), &n)))
        *out = SIGRTMIN + (int)n;
    else
        return false;
    return true;
}

static void signal_variable(void)
{
    const char *v = variable("POOLMEM_SIGNAL");
    if (v && !read_signal(v, &config_now.signal))
        complain("environment", 0, "POOLMEM_SIGNAL=%s: unknown signal, expected USR1, USR2, RTMIN+n or none",
                 v);
}

static void stats_variable(void)
{
    const char *v = variable("POOLMEM_STATS"), *unknown = v ? output_unknown(v) : NULL;
    if (unknown)
        complain("environment", 0, "POOLMEM_STATS=%s: %%%c is unknown, expected %%p, %%e, %%n, %%t or %%%%",
                 v, unknown[1]);
    else if (v) /* a copy: programs write over their environment */
        config_now.stats = keep_text(v, strlen(v));
}

static bool is_known(const char *entry, size_t length)
{
    static const char *const names[] = {"CONF",  "STATS",    "SIGNAL", "EXIT",    "DEPTH",
                                        "TRACK", "CHILDREN", "ABORT",  "VERBOSE", "VERIFY"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == length - 8 && strncmp(names[i], entry + 8, length - 8) == 0)
            return true;
    return false;
}

/* A misspelt variable would be silently without effect. */
static void find_unknown_variables(void)
{
    for (char **e = environ; e && *e; e++) {
        size_t length = strcspn(*e, "=");
        if (length >= 8 && strncmp(*e, "POOLMEM_", 8) == 0 && !is_known(*e, length))
            complain("environment", 0,
                     "%.*s: unknown variable, expected POOLMEM_ CONF, STATS, SIGNAL, EXIT, DEPTH, TRACK, "
                     "CHILDREN, ABORT, VERBOSE or VERIFY",
                     (int)length, *e);
    }
}

static void read_environment(void)
{
    unsigned verbose = 0;
    number_variable("POOLMEM_DEPTH", DEPTH_MOST, &config_now.depth);
    number_variable("POOLMEM_VERBOSE", 2, &verbose);
    number_variable("POOLMEM_VERIFY", VERIFY_MOST, &config_now.verify);
    switch_variable("POOLMEM_EXIT", &config_now.exit_report);
    switch_variable("POOLMEM_TRACK", &config_now.track);
    switch_variable("POOLMEM_CHILDREN", &config_now.children);
    switch_variable("POOLMEM_ABORT", &config_now.abort_on_misuse);
    signal_variable();
    stats_variable();
    config_now.verbose = (int)verbose;
    if (!getauxval(AT_SECURE))
        find_unknown_variables();
}

/* --- which file ----------------------------------------------------------------------------------- */

ROOMY static char found[PATH_MOST]; /* the file that is read, "" none */

static bool try_file(const char *format, const char *a, const char *b)
{
    if (fmt_text(found, sizeof found, format, a, b) < sizeof found && access(found, F_OK) == 0)
        return true;
    *found = 0;
    return false;
}

/* Under the user's configuration directory, whose default is ~/.config. */
static bool try_user(const char *name)
{
    const char *xdg = variable("XDG_CONFIG_HOME"), *home = variable("HOME");
    if (xdg)
        return *xdg == '/' && try_file("%s/poolmem/%s.conf", xdg, name);
    return home && try_file("%s/.config/poolmem/%s.conf", home, name);
}

/* The program's file by the name it has, then by the name it was called by: `vim` may be vim.nox. */
static bool try_program(void)
{
    char exe[PATH_MOST];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    exe[n > 0 ? n : 0] = 0;
    const char *name = glob_basename(exe), *called = raw_called_name();
    return (n > 0 && try_user(name)) || (*called && strcmp(called, name) != 0 && try_user(called));
}

static void find_file(void)
{
    const char *given = variable("POOLMEM_CONF");
    if (given) {
        fmt_text(found, sizeof found, "%s", given);
        return;
    }
    if (!getauxval(AT_SECURE) &&
        (try_file("%s%s", "./poolmem.conf", "") || try_program() || try_user("default")))
        return;
    try_file("%s%s", "/etc/poolmem.conf", "");
}

/* --- pools and rules ------------------------------------------------------------------------------ */

ROOMY static config_file loaded;

/* There even when a file replaces the rules: programs may push them by name. */
static void define_builtin_pools(void)
{
    for (const char *const *name = builtin_pools; *name; name++)
        pools_define(&(pool_spec){.name = *name, .kind = POOL_HEAP, .over = OVER_WARN});
}

/* Defines a pool of the file after its parents; each is done once (line 0 marks it). */
static void define_pool(config_pool *p)
{
    if (!p->line)
        return;
    unsigned line = p->line;
    p->line = 0;
    int parent = *p->parent ? config_file_pool(&loaded, p->parent) : -1;
    if (parent >= 0)
        define_pool(&loaded.pools[parent]);
    pool_spec spec = {.name = p->name,
                      .parent = *p->parent ? p->parent : NULL,
                      .kind = p->kind,
                      .size = p->size,
                      .over = p->over};
    if (pools_define(&spec) < 0)
        complain(loaded.path, line, "pool %s cannot be made, expected fewer or smaller pools", p->name);
    else if (config_now.verbose >= 2)
        remark("pool %s: %s below %s, %lu bytes", p->name, pool_kind_name(p->kind),
               *p->parent ? p->parent : "Global", (unsigned long)p->size);
}

/* The id of a rule's pool; one that no section declares is made as a child of Global. */
static int rule_pool(const char *name)
{
    int id = pools_find(name);
    if (id >= 0)
        return id;
    if (config_now.verbose >= 2)
        remark("pool %s: named by a rule only, heap below Global", name);
    return pools_define(&(pool_spec){.name = name, .kind = POOL_HEAP, .over = OVER_WARN});
}

static void say_rules(void)
{
    char line[1024];
    remark("configuration: %s", *config_now.conf ? config_now.conf : "built-in rules");
    for (unsigned i = 0; i < rules_count(); i++) {
        rule_format(rules_get(i), line, sizeof line);
        remark("rule %u: %s", i + 1, line);
    }
}

static void say_unmatched(const rule *r)
{
    char line[512];
    rule_format(r, line, sizeof line);
    complain(loaded.path, r->line, "note: matched no caller: %s", line);
}

void config_say_unmatched(void)
{
    if (config_now.verbose)
        rules_unmatched(say_unmatched);
}

void config_load(void)
{
    int saved = errno;
    read_environment();
    find_file();
    define_builtin_pools();
    if (*found && config_file_read(found, &loaded)) {
        config_now.conf = found;
        for (unsigned i = 0; i < loaded.pool_count; i++)
            define_pool(&loaded.pools[i]);
    } else {
        rules_clear();
        rules_add_builtin();
    }
    rules_bind(rule_pool);
    if (config_now.verbose >= 2)
        say_rules();
    errno = saved;
}
