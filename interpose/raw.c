/* SPDX-License-Identifier: MIT */
/*
 * raw.c - see raw.h. Locking: none; what stderr was is written once, at boot. Cost: the system calls.
 */
#include "raw.h"
#include "os.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MASK_BYTES      sizeof(raw_mask)
#define SAY_PATIENCE_MS 100

static long kernel(long number, long a, long b, long c, long d, long e)
{
    int saved = errno;
    long r = syscall(number, a, b, c, d, e);
    if (r < 0)
        r = -errno;
    errno = saved;
    return r;
}

int raw_open(const char *path, int flags, unsigned mode)
{
    return (int)kernel(SYS_openat, AT_FDCWD, (long)path, flags | O_CLOEXEC, mode, 0);
}

void raw_close(int fd)
{
    kernel(SYS_close, fd, 0, 0, 0, 0);
}

long raw_read(int fd, void *to, size_t n)
{
    long r;
    do
        r = kernel(SYS_read, fd, (long)to, (long)n, 0, 0);
    while (r == -EINTR);
    return r;
}

static bool wait_writable(int fd, int patience_ms)
{
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    struct timespec t = {patience_ms / 1000, patience_ms % 1000 * 1000000L};
    return kernel(SYS_ppoll, (long)&p, 1, (long)&t, 0, MASK_BYTES) > 0;
}

int raw_write_all(int fd, const char *data, size_t n, int patience_ms)
{
    while (n) {
        long r = kernel(SYS_write, fd, (long)data, (long)n, 0, 0);
        if (r == -EINTR || (r == -EAGAIN && wait_writable(fd, patience_ms)))
            continue;
        if (r <= 0)
            return r ? (int)r : -EIO;
        data += r;
        n -= (size_t)r;
    }
    return 0;
}

int raw_rename(const char *from, const char *to)
{
    return (int)kernel(SYS_renameat2, AT_FDCWD, (long)from, AT_FDCWD, (long)to, 0);
}

void raw_unlink(const char *path)
{
    kernel(SYS_unlinkat, AT_FDCWD, (long)path, 0, 0, 0);
}

long raw_read_file(const char *path, char *to, size_t cap)
{
    size_t len = 0;
    long r = 1;
    int fd = raw_open(path, O_RDONLY, 0);
    if (fd < 0)
        return fd;
    while (len + 1 < cap && (r = raw_read(fd, to + len, cap - 1 - len)) > 0)
        len += (size_t)r;
    raw_close(fd);
    to[len] = 0;
    return r < 0 ? r : (long)len;
}

void raw_sleep_ms(unsigned ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000L};
    kernel(SYS_nanosleep, (long)&t, 0, 0, 0, 0);
}

raw_mask raw_mask_set(raw_mask mask)
{
    raw_mask before = 0;
    kernel(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, (long)&before, MASK_BYTES, 0);
    return before;
}

static raw_mask raised_by_writing(void)
{
    raw_mask pending = 0;
    kernel(SYS_rt_sigpending, (long)&pending, MASK_BYTES, 0, 0, 0);
    return pending & (RAW_MASK(SIGPIPE) | RAW_MASK(SIGXFSZ));
}

void raw_guard_begin(raw_guard *g, raw_mask block)
{
    raw_mask mask = block | RAW_MASK(SIGPIPE) | RAW_MASK(SIGXFSZ);
    kernel(SYS_rt_sigprocmask, SIG_BLOCK, (long)&mask, (long)&g->before, MASK_BYTES, 0);
    g->pending = raised_by_writing();
}

void raw_guard_end(const raw_guard *g)
{
    raw_mask ours = raised_by_writing() & ~g->pending;
    struct timespec none = {0, 0};
    while (ours && kernel(SYS_rt_sigtimedwait, (long)&ours, 0, (long)&none, MASK_BYTES, 0) > 0)
        ;
    raw_mask_set(g->before);
}

/* --- stderr ------------------------------------------------------------------------------------- */

typedef struct known_file {
    dev_t device;
    ino_t inode;
    bool open;
} known_file;

static known_file at_start[3]; /* descriptors 1 and 2 */
static bool noted;

static int look_at(int fd, struct stat *st)
{
    return (int)kernel(SYS_fstat, fd, (long)st, 0, 0, 0);
}

void raw_stderr_boot(void)
{
    struct stat st = {0};
    for (int fd = 1; fd <= 2; fd++)
        if (look_at(fd, &st) != -EBADF)
            at_start[fd] = (known_file){st.st_dev, st.st_ino, true};
    noted = true;
}

static bool was_there(const struct stat *st)
{
    for (int fd = 1; fd <= 2; fd++)
        if (at_start[fd].open && at_start[fd].inode == st->st_ino && at_start[fd].device == st->st_dev)
            return true;
    return false;
}

/* A device, a pipe or a file open for writing alone, which exec hands on. Data files are read too, and what a
   program opens for itself is closed by exec. */
static bool is_redirection(const struct stat *st)
{
    if (kernel(SYS_fcntl, 2, F_GETFD, 0, 0, 0) & FD_CLOEXEC)
        return false;
    return S_ISCHR(st->st_mode) || S_ISFIFO(st->st_mode) ||
           (S_ISREG(st->st_mode) && (kernel(SYS_fcntl, 2, F_GETFL, 0, 0, 0) & O_ACCMODE) == O_WRONLY);
}

bool raw_stderr_is_there(void)
{
    struct stat st;
    if (!noted)
        return true;
    if (!at_start[2].open)
        return false;
    int error = look_at(2, &st);
    if (error)
        return error != -EBADF; /* else a sandbox that lets nobody look */
    return was_there(&st) || is_redirection(&st);
}

static int kept = -1; /* a copy of the host's stderr, out of its way */

void raw_stderr_keep(void)
{
    enum { HIGH_FD = 500 };
    if (at_start[2].open)
        kept = (int)kernel(SYS_fcntl, 2, F_DUPFD_CLOEXEC, HIGH_FD, 0, 0);
}

int raw_stderr(void)
{
    struct stat st;
    if (raw_stderr_is_there())
        return 2;
    bool ours = kept >= 0 && look_at(kept, &st) == 0 && st.st_ino == at_start[2].inode &&
                st.st_dev == at_start[2].device;
    return ours ? kept : -1;
}

void raw_say(int fd, const char *line, size_t n)
{
    raw_guard g;
    if (fd == 2 && !raw_stderr_is_there())
        return;
    raw_guard_begin(&g, 0);
    raw_write_all(fd, line, n, SAY_PATIENCE_MS);
    raw_guard_end(&g);
}

const char *raw_called_name(void)
{
    const char *path = (const char *)getauxval(AT_EXECFN), *slash = path ? strrchr(path, '/') : NULL;
    if (!path || strncmp(path, "/proc/", 6) == 0 || strncmp(path, "/dev/fd/", 8) == 0)
        return "";
    return slash ? slash + 1 : path;
}

uint64_t raw_resident_bytes(void)
{
    char text[128];
    if (raw_read_file("/proc/self/statm", text, sizeof text) <= 0)
        return 0;
    uint64_t pages = 0;
    const char *p = strchr(text, ' ');
    for (p = p ? p + 1 : ""; *p >= '0' && *p <= '9'; p++)
        pages = pages * 10 + (uint64_t)(*p - '0');
    return pages * os_page_size();
}
