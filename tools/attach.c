/* SPDX-License-Identifier: MIT */
/*
 * attach.c - see attach.h. Nothing in the process is stopped or changed. The mapping is its writer's at any
 * moment, so every value is checked where it is used (report.c).
 */
#include "attach.h"
#include "command.h"
#include "os.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define MAPPING_NAME "/memfd:poolmem"
#define LIBRARY_NAME "/libpoolmem.so"

typedef struct place {
    unsigned long start, end, inode;
} place;

static attach_status status_of(int error)
{
    return error == EACCES || error == EPERM ? ATTACH_DENIED : ATTACH_NO_PROCESS;
}

/* Looks for the mapping in the process's list of mappings. */
static attach_status find_place(int pid, place *p)
{
    char path[64], line[4600], file[4096];
    bool ours = false;
    snprintf(path, sizeof path, "/proc/%d/maps", pid);
    FILE *maps = fopen(path, "re");
    if (!maps)
        return status_of(errno);
    p->end = 0;
    while (!p->end && fgets(line, sizeof line, maps)) {
        unsigned long start, end, inode;
        file[0] = 0;
        if (sscanf(line, "%lx-%lx %*s %*s %*s %lu %4095[^\n]", &start, &end, &inode, file) < 3)
            continue;
        ours |= strstr(file, LIBRARY_NAME) != NULL;
        if (strncmp(file, MAPPING_NAME, sizeof MAPPING_NAME - 1) == 0)
            *p = (place){start, end, inode};
    }
    bool denied = ferror(maps) && errno == EACCES;
    fclose(maps);
    if (p->end)
        return ATTACH_OK;
    return denied ? ATTACH_DENIED : ours ? ATTACH_NO_MAPPING : ATTACH_NOT_OURS;
}

static bool map_path(attached *a, const char *path, const place *p)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    void *m = MAP_FAILED;
    if (fstat(fd, &st) == 0 && st.st_ino == p->inode && (size_t)st.st_size == p->end - p->start)
        m = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    if (m == MAP_FAILED)
        return false;
    a->header = m;
    a->bytes = p->end - p->start;
    return true;
}

static bool map_descriptor(attached *a, const place *p)
{
    char dir[64], path[384], target[64];
    bool done = false;
    snprintf(dir, sizeof dir, "/proc/%d/fd", a->pid);
    DIR *d = opendir(dir);
    for (struct dirent *e; d && !done && (e = readdir(d));) {
        snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
        ssize_t n = readlink(path, target, sizeof target - 1);
        target[n > 0 ? n : 0] = 0;
        if (strncmp(target, MAPPING_NAME, sizeof MAPPING_NAME - 1) == 0)
            done = map_path(a, path, p);
    }
    if (d)
        closedir(d);
    return done;
}

static bool map_mapping(attached *a, const place *p)
{
    char path[96];
    snprintf(path, sizeof path, "/proc/%d/map_files/%lx-%lx", a->pid, p->start, p->end);
    return map_path(a, path, p);
}

/* --- reading its memory --------------------------------------------------------------------------- */

static bool read_memory(void *arg, uint64_t address, void *to, size_t n)
{
    const attached *a = arg;
    struct iovec local = {to, n}, remote = {(void *)(uintptr_t)address, n};
    return n == 0 || process_vm_readv(a->pid, &local, 1, &remote, 1, 0) == (ssize_t)n;
}

static bool copy_rows(attached *a, const place *p, uint32_t at, size_t bytes)
{
    size_t room = p->end - p->start;
    if (at > room || bytes > room - at)
        return false;
    return read_memory(a, p->start + at, (char *)a->copy + at, bytes);
}

/* Only what is in use: the rest stays untouched, here too. */
static bool copy_mapping(attached *a, const place *p)
{
    a->bytes = p->end - p->start;
    a->copy = os_map(a->bytes);
    stats_header *h = a->copy;
    if (!h || a->bytes < sizeof *h || !copy_rows(a, p, 0, sizeof *h))
        return false;
    a->header = h;
    return copy_rows(a, p, h->pools_at, h->pool_count * sizeof(stats_pool)) &&
           copy_rows(a, p, h->sites_at, h->site_count * sizeof(stats_site)) &&
           copy_rows(a, p, h->lives_at, h->site_count * sizeof(stats_live)) &&
           copy_rows(a, p, h->frames_at, h->frame_count * sizeof(stats_frame)) &&
           copy_rows(a, p, h->modules_at, h->module_count * sizeof(stats_module)) &&
           copy_rows(a, p, h->strings_at, h->string_bytes) &&
           copy_rows(a, p, h->tallies_at, h->tally_count * sizeof(stats_tally));
}

attach_status attach_open(attached *a, int pid)
{
    place p;
    *a = (attached){.pid = pid};
    attach_status s = find_place(pid, &p);
    if (s != ATTACH_OK)
        return s;
    if (map_descriptor(a, &p) || map_mapping(a, &p) || copy_mapping(a, &p))
        return ATTACH_OK;
    s = kill(pid, 0) == 0 || errno == EPERM ? ATTACH_DENIED : ATTACH_NO_PROCESS;
    attach_close(a);
    return s;
}

void attach_refresh(const attached *a)
{
    if (a->copy)
        read_memory((void *)a, a->header->address, a->copy, sizeof *a->header);
}

void attach_close(attached *a)
{
    if (a->header && !a->copy)
        munmap((void *)a->header, a->bytes);
    if (a->copy)
        os_unmap(a->copy, a->bytes);
    a->header = NULL;
    a->copy = NULL;
}

int attach_tell(attach_status s, int pid)
{
    static const char *const text[] = {
        [ATTACH_NO_PROCESS] = "no process %d",
        [ATTACH_NOT_OURS] = "process %d does not run under libpoolmem.so; poolmem run starts one that does",
        [ATTACH_NO_MAPPING] =
            "process %d could not publish its figures (no memfd); a signal still gets a report",
        [ATTACH_DENIED] = "process %d may not be read by this user",
    };
    return tell(STATUS_FAILED, text[s], pid);
}

static uint64_t resident_bytes(int pid)
{
    char path[64];
    unsigned long size, pages = 0;
    snprintf(path, sizeof path, "/proc/%d/statm", pid);
    FILE *f = fopen(path, "re");
    if (f && fscanf(f, "%lu %lu", &size, &pages) != 2)
        pages = 0;
    if (f)
        fclose(f);
    return (uint64_t)pages * os_page_size();
}

report *attach_report(const attached *a, unsigned top)
{
    report_source s = {
        .header = a->header,
        .bytes = a->bytes,
        .figures = heap_figures_read,
        .reader = read_memory,
        .reader_arg = (void *)a,
        .reason = REASON_REQUEST,
        .pid = (uint32_t)a->pid,
        .sequence = a->header->sequence,
        .now_ns = os_time_ns(),
        .rss_bytes = resident_bytes(a->pid),
        .top = top,
    };
    void *memory = malloc(report_bytes());
    report *r = memory ? report_take(&s, memory) : NULL;
    if (!r)
        free(memory);
    return r;
}
