/* SPDX-License-Identifier: MIT */
/*
 * output.c - see output.h. Invariants: (1) nothing is ever opened through a symbolic link in the last place;
 * (2) a file that existed before we wrote is only replaced by rename, and only when it is a plain file;
 * (3) what cannot be finished is removed. Locking: none; the caller has one report at a time.
 */
#include "output.h"
#include "fatal.h"
#include "fmt.h"
#include "os.h"
#include "raw.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

const char *output_unknown(const char *pattern)
{
    for (const char *p = strchr(pattern, '%'); p && p[1]; p = strchr(p + 2, '%'))
        if (!strchr("pent%", p[1]))
            return p;
    return NULL;
}

static size_t append(char *path, size_t len, size_t cap, const char *text)
{
    for (; *text && len + 1 < cap; text++)
        path[len++] = *text;
    return *text ? cap : len;
}

/* The program's name as part of a file name. */
static size_t append_program(const report *r, char *path, size_t len, size_t cap)
{
    return append(path, len, cap, *r->program ? r->program : "program");
}

static size_t append_number(char *path, size_t len, size_t cap, uint64_t n)
{
    char digits[24];
    fmt_text(digits, sizeof digits, "%lu", (unsigned long)n);
    return append(path, len, cap, digits);
}

static size_t expand(const report *r, char code, char *path, size_t len, size_t cap)
{
    switch (code) {
    case 'p':
        return append_number(path, len, cap, r->source.pid);
    case 'n':
        return append_number(path, len, cap, r->source.sequence);
    case 't':
        return append_number(path, len, cap, (uint64_t)time(NULL));
    case 'e':
        return append_program(r, path, len, cap);
    default:
        return append(path, len, cap, (char[]){'%', code == '%' ? 0 : code, 0});
    }
}

bool output_path(const report *r, const char *pattern, char *path, size_t cap)
{
    size_t len = 0;
    for (; *pattern && len < cap; pattern++) {
        if (*pattern == '%' && pattern[1])
            len = expand(r, *++pattern, path, len, cap);
        else
            len = append(path, len, cap, (char[]){*pattern, 0});
    }
    if (len >= cap)
        return false;
    path[len] = 0;
    return true;
}

static bool refuse(const report *r, const char *path, const char *why)
{
    message(r->source.quiet ? MESSAGE_WARNING : MESSAGE_MISUSE, "%s: %s: no report written", path, why);
    return false;
}

static bool refuse_errno(const report *r, const char *path, int error)
{
    return refuse(r, path, strerrordesc_np(error));
}

typedef void writer(const report *r, sink *out);

static bool write_to(const report *r, int fd, writer *write, const char *path, char *buf, size_t cap)
{
    sink out;
    sink_open(&out, buf, cap, fd);
    write(r, &out);
    return sink_flush(&out) == 0 || refuse_errno(r, path, -out.error);
}

static uint64_t random_number(void)
{
    uint64_t n = 0;
    int saved = errno;
    if (syscall(SYS_getrandom, &n, sizeof n, 1 /* GRND_NONBLOCK */) != (long)sizeof n)
        n = os_time_ns() * 0x9e3779b97f4a7c15u;
    errno = saved;
    return n;
}

/* Opens a new file beside `path`, under a name nobody can have planted; its name goes to `name`. */
static int open_beside(const char *path, char *name)
{
    size_t dir = (size_t)(report_base_name(path) - path);
    int fd = -EEXIST;
    for (int tries = 0; fd == -EEXIST && tries < 8; tries++) {
        fmt_text(name, OUTPUT_PATH, "%.*s.poolmem-%016lx", (int)dir, path, (unsigned long)random_number());
        fd = raw_open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0644);
    }
    return fd;
}

static bool write_file(const report *r, const char *path, writer *write, char *buf, size_t cap)
{
    char name[OUTPUT_PATH];
    int fd = open_beside(path, name);
    if (fd < 0)
        return refuse_errno(r, path, -fd);
    bool whole = write_to(r, fd, write, path, buf, cap);
    raw_close(fd);
    int error = whole ? raw_rename(name, path) : -1;
    if (error)
        raw_unlink(name);
    return whole && (!error || refuse_errno(r, path, -error));
}

static bool write_device(const report *r, const char *path, writer *write, char *buf, size_t cap)
{
    int fd = raw_open(path, O_WRONLY | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK, 0);
    if (fd < 0)
        return refuse_errno(r, path, -fd);
    bool ok = write_to(r, fd, write, path, buf, cap);
    raw_close(fd);
    return ok;
}

static bool write_path(const report *r, const char *path, writer *write, char *buf, size_t cap)
{
    struct stat st;
    int saved = errno;
    bool there = fstatat(AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW) == 0;
    errno = saved;
    if (there && S_ISLNK(st.st_mode))
        return refuse(r, path, "is a symbolic link");
    if (there && (S_ISCHR(st.st_mode) || S_ISFIFO(st.st_mode)))
        return write_device(r, path, write, buf, cap);
    if (there && !S_ISREG(st.st_mode))
        return refuse(r, path, "is not a plain file");
    return write_file(r, path, write, buf, cap);
}

/* A heap profile needs an object beside it that names the pools. */
static bool write_heap_profile(report *r, const char *path, char *buf, size_t cap)
{
    char object[OUTPUT_PATH];
    if (fmt_text(object, sizeof object, "%s.pools.so", path) >= sizeof object)
        return refuse(r, path, "name too long");
    if (!write_path(r, object, report_object, buf, cap))
        return false;
    r->source.pools_object = object;
    bool ok = write_path(r, path, report_heap, buf, cap);
    r->source.pools_object = NULL;
    return ok;
}

bool output_report_as(report *r, const char *path, report_format f, char *buf, size_t cap)
{
    static writer *const writers[] = {
        [FORMAT_TEXT] = report_text, [FORMAT_JSON] = report_json, [FORMAT_FOLDED] = report_folded};
    if (f == FORMAT_HEAP)
        return write_heap_profile(r, path, buf, cap);
    return write_path(r, path, writers[f], buf, cap);
}

bool output_report(report *r, const char *target, char *buf, size_t cap, char *path)
{
    if (!output_path(r, target, path, OUTPUT_PATH))
        return refuse(r, target, "name too long");
    if (strcmp(target, "stderr") == 0) {
        int fd = raw_stderr();
        return fd >= 0 && write_to(r, fd, report_text, target, buf, cap);
    }
    return output_report_as(r, path, report_format_of(path), buf, cap);
}
