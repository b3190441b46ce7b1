/* SPDX-License-Identifier: MIT */
/*
 * run.c - `poolmem run`: sets the environment that the library reads, puts it first in LD_PRELOAD and becomes
 * the program, so that exit status and signals are the program's own.
 */
#include "command.h"
#include "program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIBRARY "libpoolmem.so"

static const struct option {
    const char *name;     /* of the option, without -- */
    const char *variable; /* what it sets */
    const char *alone;    /* its value when none is given; NULL: it needs one */
    const char *help;
} options[] = {
    {"conf", "POOLMEM_CONF", NULL, "FILE       configuration: pools and rules"},
    {"stats", "POOLMEM_STATS", NULL, "WHERE     stderr or a file pattern; .json .txt .folded .heap"},
    {"signal", "POOLMEM_SIGNAL", NULL, "NAME     signal that asks for a report: USR1 USR2 RTMIN+n none"},
    {"exit", "POOLMEM_EXIT", "1", "           report when the process ends"},
    {"depth", "POOLMEM_DEPTH", NULL, "N         frames a rule may look out, 0 no unwinding"},
    {"track", "POOLMEM_TRACK", "1", "          record every allocation: live bytes by call-site, leaks"},
    {"children", "POOLMEM_CHILDREN", NULL,
     "0|1    0: no library in what it starts, no exit report of its forks"},
    {"abort", "POOLMEM_ABORT", "1", "          abort on heap misuse"},
    {"verbose", "POOLMEM_VERBOSE", NULL, "N       0 silent, 1 warnings, 2 what was loaded"},
    {"verify", "POOLMEM_VERIFY", NULL, "N        compare every N-th caller with a full unwind"},
    {"library", NULL, NULL, "FILE    the library itself, instead of the installed one"},
};

enum { OPTIONS = sizeof options / sizeof *options };

static const char *library_given;

int run_usage(FILE *out, int status)
{
    fprintf(out, "usage: poolmem run [OPTIONS] [--] COMMAND [ARGUMENT ...]\n");
    for (int i = 0; i < OPTIONS; i++)
        fprintf(out, "  --%s %s\n", options[i].name, options[i].help);
    return status;
}

static void set_option(const struct option *o, const char *value)
{
    if (!o->variable)
        library_given = value;
    else if (setenv(o->variable, value, 1) != 0)
        abort();
}

static const struct option *find_option(const char *word, size_t n)
{
    for (int i = 0; i < OPTIONS; i++)
        if (strlen(options[i].name) == n && memcmp(options[i].name, word, n) == 0)
            return &options[i];
    return NULL;
}

/* Reads the options; returns the place of the command in argv, or -1 after a line about what is wrong. */
static int read_options(int argc, char **argv)
{
    int i = 1;
    for (; i < argc && strncmp(argv[i], "--", 2) == 0; i++) {
        const char *word = argv[i] + 2, *equals = strchr(word, '=');
        if (!*word)
            return i + 1;
        const struct option *o = find_option(word, equals ? (size_t)(equals - word) : strlen(word));
        if (!o)
            return tell(-1, "run: %s: no such option", argv[i]);
        const char *value = equals ? equals + 1 : o->alone ? o->alone : argv[++i];
        if (!value)
            return tell(-1, "run: --%s needs a value", o->name);
        set_option(o, value);
    }
    if (i < argc && argv[i][0] == '-' && argv[i][1])
        return tell(-1, "run: %s: no such option", argv[i]);
    return i;
}

/* --- the library ---------------------------------------------------------------------------------- */

static bool try_library(const char *dir, const char *below, char *path, size_t cap)
{
    char joined[4096], *whole;
    if ((size_t)snprintf(joined, sizeof joined, "%s/%s%s", dir, below, LIBRARY) >= sizeof joined)
        return false;
    whole = access(joined, R_OK) == 0 ? realpath(joined, NULL) : NULL;
    bool found = whole && (size_t)snprintf(path, cap, "%s", whole) < cap;
    free(whole);
    return found;
}

/* Beside the command (a build tree), in lib beside its bin, or where it was installed. */
static bool find_library(char *path, size_t cap)
{
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (library_given)
        return access(library_given, R_OK) == 0 && realpath(library_given, path);
    self[n > 0 ? n : 0] = 0;
    char *slash = strrchr(self, '/');
    if (slash) {
        *slash = 0;
        if (try_library(self, "", path, cap) || try_library(self, "../lib/", path, cap))
            return true;
    }
    return try_library(POOLMEM_LIBDIR, "", path, cap);
}

/* Puts the library first; one that is there already is not put twice. */
static void preload(const char *library)
{
    const char *others = getenv("LD_PRELOAD");
    char *value = NULL;
    if (others && strstr(others, library))
        return;
    if (asprintf(&value, "%s%s%s", library, others && *others ? ":" : "", others ? others : "") < 0 ||
        setenv("LD_PRELOAD", value, 1) != 0)
        abort();
    free(value);
}

/* --- becoming the program ------------------------------------------------------------------------- */

static int become(const char *path, char **argv)
{
    execv(path, argv);
    if (errno == ENOEXEC) { /* neither program nor script with a first line: the shell's, as shells do */
        size_t n = 0;
        while (argv[n])
            n++;
        char **sh = calloc(n + 2, sizeof *sh);
        if (!sh)
            abort();
        sh[0] = "/bin/sh";
        sh[1] = (char *)path;
        memcpy(sh + 2, argv + 1, n * sizeof *sh);
        execv(sh[0], sh);
    }
    return tell(errno == ENOENT ? 127 : 126, "run: %s: %s", path, strerror(errno));
}

int run_main(int argc, char **argv)
{
    char path[4096], library[4096], why[4200];
    int at = read_options(argc, argv);
    if (at < 0)
        return run_usage(stderr, STATUS_USAGE);
    if (at >= argc) {
        tell(STATUS_USAGE, "run: no command given");
        return run_usage(stderr, STATUS_USAGE);
    }
    int status = program_find(argv[at], path, sizeof path);
    if (status)
        return tell(status, "run: %s: %s", argv[at],
                    status == 127 ? "command not found" : "may not be executed");
    if (!program_can_preload(path, why, sizeof why))
        return tell(STATUS_FAILED, "run: %s", why);
    if (!find_library(library, sizeof library))
        return tell(STATUS_FAILED, "run: %s: no such library",
                    library_given ? library_given : POOLMEM_LIBDIR "/" LIBRARY);
    if (strpbrk(library, ": "))
        return tell(STATUS_FAILED, "run: %s: a path with a space or colon cannot be preloaded", library);
    preload(library);
    return become(path, argv + at);
}
