/* SPDX-License-Identifier: MIT */
/*
 * publish.c - see publish.h: the published mapping itself. Sparse: only rows in use cost memory.
 *
 * Tried in turn: a sealed memfd of full size, one of small size (little address space, a file size limit),
 * anonymous memory of small size (no memfd; no reader but this process), a static area.
 * Invariants: (1) `published` never moves, so tallies stay where threads have them; (2) the descriptor is out
 * of the way (>= HIGH_FD) or closed; (3) nobody can resize the file or map it for writing but we.
 * Locking: none; boot and fork run alone. Read next: publish_rows.c.
 */
#include "publish.h"
#include "glob.h"
#include "os.h"
#include "raw.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8u
#endif
#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 16
#endif

#define HIGH_FD      500
#define PLENTY       GIB(2) /* address space below which the small tables are taken */
#define STATIC_BYTES KIB(256)
#define NAME         "poolmem" /* /proc/PID/maps shows memfd:poolmem */

typedef struct table_sizes {
    uint32_t sites, frames, modules, strings, tallies;
} table_sizes;

static const table_sizes full = {STATS_SITES, STATS_FRAMES, STATS_MODULES, STATS_STRINGS, STATS_TALLIES};
static const table_sizes small = {4096, 8192, 256, 1u << 20, 1u << 15};
static const table_sizes least = {STATS_POOLS, 0, 0, 64, 2048};

stats_header *published;

ROOMY static char static_area[STATIC_BYTES] __attribute__((aligned(128)));
static struct stat file_id; /* which file our descriptor is */
static int file_fd = -1;    /* -1: none, or closed by us */
static bool shared;         /* the mapping is a file's: a fork would share it */
/* Pools and tallies at the moment of the fork; a thread's own, for several may fork at once. */
static __thread char *fork_counts __attribute__((tls_model("initial-exec")));
static __thread size_t fork_pool_bytes __attribute__((tls_model("initial-exec")));
static __thread size_t fork_bytes __attribute__((tls_model("initial-exec")));
static __thread uint32_t fork_tallies __attribute__((tls_model("initial-exec")));

static uint32_t place(size_t *end, size_t rows, size_t row_bytes)
{
    size_t at = *end;
    *end = round_up(at + rows * row_bytes, 128); /* two cache lines, see stock_up() */
    return (uint32_t)at;
}

static size_t lay_out(stats_header *h, const table_sizes *t)
{
    size_t end = round_up(sizeof *h, 128);
    h->pool_max = STATS_POOLS;
    h->site_max = t->sites;
    h->frame_max = t->frames;
    h->module_max = t->modules;
    h->string_max = t->strings;
    h->tally_max = t->tallies;
    h->pools_at = place(&end, STATS_POOLS, sizeof(stats_pool));
    h->sites_at = place(&end, t->sites, sizeof(stats_site));
    h->lives_at = place(&end, t->sites, sizeof(stats_live));
    h->frames_at = place(&end, t->frames, sizeof(stats_frame));
    h->modules_at = place(&end, t->modules, sizeof(stats_module));
    h->strings_at = place(&end, t->strings, 1);
    h->tallies_at = place(&end, t->tallies, sizeof(stats_tally));
    h->bytes = round_up(end, OS_PAGE);
    return h->bytes;
}

static size_t limit_of(int resource)
{
    struct rlimit r;
    return getrlimit(resource, &r) == 0 && r.rlim_cur != RLIM_INFINITY ? r.rlim_cur : SIZE_MAX;
}

/* Moves a descriptor out of the host's way; closes it when there is no such place. */
static int move_high(int fd)
{
    int high = fcntl(fd, F_DUPFD_CLOEXEC, HIGH_FD);
    raw_close(fd);
    return high;
}

static int make_file(size_t bytes)
{
    if (bytes > limit_of(RLIMIT_FSIZE)) /* growing the file would raise SIGXFSZ */
        return -1;
    int fd = (int)syscall(SYS_memfd_create, NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);
    if (fd < 0) /* an older kernel */
        fd = (int)syscall(SYS_memfd_create, NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd >= 0 && ftruncate(fd, (off_t)bytes) != 0) {
        raw_close(fd);
        fd = -1;
    }
    return fd;
}

/* Nobody may resize the file or map it for writing from now on. */
static void seal_file(int fd)
{
    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE);
    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
}

/* Maps the file, at `at` unless that is NULL, and seals it; the descriptor is used up: kept in *fd_out out of
   the way, or closed (-1). */
static void *map_file(int fd, void *at, size_t bytes, int *fd_out)
{
    int fixed = at ? MAP_FIXED : 0;
    void *p = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | fixed, fd, 0);
    if (p == MAP_FAILED) {
        raw_close(fd);
        return NULL;
    }
    seal_file(fd);
    *fd_out = move_high(fd);
    return p;
}

static void remember_file(int fd)
{
    file_fd = fd;
    if (fd >= 0)
        fstat(fd, &file_id);
}

static stats_header *try_file(const table_sizes *t)
{
    stats_header plan = {0};
    size_t bytes = lay_out(&plan, t);
    int fd = make_file(bytes);
    stats_header *h = fd < 0 ? NULL : map_file(fd, NULL, bytes, &fd);
    if (h) {
        shared = true;
        remember_file(fd);
        lay_out(h, t);
    }
    return h;
}

static stats_header *try_memory(const table_sizes *t)
{
    stats_header plan = {0};
    stats_header *h = os_map(lay_out(&plan, t));
    if (h)
        lay_out(h, t);
    return h;
}

static stats_header *static_mapping(void)
{
    stats_header *h = (stats_header *)static_area;
    ensure(lay_out(h, &least) <= sizeof static_area);
    return h;
}

static stats_header *make_mapping(void)
{
    stats_header *h = limit_of(RLIMIT_AS) < PLENTY ? NULL : try_file(&full);
    if (!h)
        h = try_file(&small);
    if (!h)
        h = try_memory(&small);
    return h ? h : static_mapping();
}

static void fill_header(stats_header *h)
{
    h->version = STATS_VERSION;
    h->header_bytes = sizeof *h;
    h->pid = (uint32_t)getpid();
    h->start_ns = os_time_ns();
    h->address = (uintptr_t)h;
    if (readlink("/proc/self/exe", h->exe, sizeof h->exe - 1) < 0)
        h->exe[0] = 0;
    const char *called = raw_called_name();
    strncpy(h->program, *called ? called : glob_basename(h->exe), sizeof h->program - 1);
    strncpy(h->library, POOLMEM_VERSION, sizeof h->library - 1);
    h->site_count = STATS_POOLS;
    h->string_bytes = 1;
    h->module_count = h->module_max ? 1 : 0; /* row 0: no known module */
    __atomic_thread_fence(__ATOMIC_RELEASE);
    memcpy(h->magic, STATS_MAGIC, sizeof h->magic); /* last: a reader sees a whole header or none */
}

void publish_create(void)
{
    if (published)
        return;
    stats_header *h = make_mapping();
    fill_header(h);
    published = h;
}

void publish_fork_prepare(void)
{
    const stats_header *h = published;
    if (!h || !shared)
        return;
    fork_tallies = h->tally_count;
    fork_pool_bytes = h->pool_count * sizeof(stats_pool);
    fork_bytes = fork_pool_bytes + fork_tallies * sizeof(stats_tally);
    fork_counts = os_map(fork_bytes);
    if (!fork_counts)
        return;
    memcpy(fork_counts, stats_pools(h), fork_pool_bytes);
    memcpy(fork_counts + fork_pool_bytes, stats_tallies(h), fork_bytes - fork_pool_bytes);
}

void publish_fork_parent(void)
{
    if (fork_counts)
        os_unmap(fork_counts, fork_bytes);
    fork_counts = NULL;
}

/* Where the child's copy is made: by writes to the new file, which cost no page faults, or in memory. */
typedef struct copy_target {
    int fd; /* -1: memory */
    char *memory;
} copy_target;

static bool put(const copy_target *to, size_t at, const void *data, size_t bytes)
{
    if (to->fd < 0)
        memcpy(to->memory + at, data, bytes);
    return to->fd < 0 || pwrite(to->fd, data, bytes, (off_t)at) == (ssize_t)bytes;
}

static bool put_rows(const copy_target *to, uint32_t at, size_t bytes)
{
    return put(to, at, stats_at(published, at), bytes);
}

/* Pools and tallies as they were at the fork; when that could not be kept, as the parent has them by now. */
static bool put_counts(const copy_target *to, const stats_header *h)
{
    const char *pools = fork_counts ? fork_counts : (const char *)stats_pools(published);
    const char *tallies =
        fork_counts ? fork_counts + fork_pool_bytes : (const char *)stats_tallies(published);
    return put(to, h->pools_at, pools, fork_pool_bytes) &&
           put(to, h->tallies_at, tallies, fork_tallies * sizeof(stats_tally));
}

/* Everything in use. The parent goes on changing it: rows only grow, and counts were taken down. */
static bool put_used(const copy_target *to)
{
    stats_header h = *published;
    h.tally_count = fork_tallies;
    h.pid = (uint32_t)getpid();
    return put(to, 0, &h, sizeof h) && put_counts(to, &h) &&
           put_rows(to, h.sites_at, h.site_count * sizeof(stats_site)) &&
           (!h.track || put_rows(to, h.lives_at, h.site_count * sizeof(stats_live))) &&
           put_rows(to, h.frames_at, h.frame_count * sizeof(stats_frame)) &&
           put_rows(to, h.modules_at, h.module_count * sizeof(stats_module)) &&
           put_rows(to, h.strings_at, h.string_bytes);
}

/* The descriptor may be the host's by now: it closed ours and the number was used again. */
static void close_old_file(void)
{
    struct stat now;
    if (file_fd >= 0 && fstat(file_fd, &now) == 0 && now.st_ino == file_id.st_ino &&
        now.st_dev == file_id.st_dev)
        raw_close(file_fd);
    file_fd = -1;
}

/* A file of the child's own, mapped where the parent's stands. */
static bool move_to_file(size_t bytes, int *fd)
{
    copy_target to = {.fd = make_file(bytes)};
    if (to.fd < 0)
        return false;
    if (put_used(&to))
        return map_file(to.fd, published, bytes, fd) != NULL;
    raw_close(to.fd);
    return false;
}

static bool move_to_memory(size_t bytes)
{
    copy_target to = {.fd = -1, .memory = os_map(bytes)};
    if (!to.memory)
        return false;
    put_used(&to);
    shared = false;
    return mremap(to.memory, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, published) != MAP_FAILED;
}

/* Private pages of the old file, so that at least nothing of the parent changes. */
static void move_to_private_pages(size_t bytes)
{
    if (file_fd < 0 || mmap(published, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE,
                            file_fd, 0) == MAP_FAILED)
        return;
    shared = false;
    published->pid = (uint32_t)getpid();
}

void publish_fork_child(void)
{
    int fd = -1;
    if (!published || !shared)
        return;
    size_t bytes = published->bytes;
    if (!move_to_file(bytes, &fd) && !move_to_memory(bytes))
        move_to_private_pages(bytes);
    close_old_file();
    remember_file(fd);
    publish_fork_parent();
}
