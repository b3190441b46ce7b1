/* SPDX-License-Identifier: MIT */
/*
 * os_file_linux.c - see os_file.h: thin wrappers of system calls. Folders are read with getdents64, since
 * opendir would call malloc. Locking: none. Cost: system calls.
 */
#include "os_file.h"
#include "os.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int os_file_open(const char *path)
{
    struct stat st;
    int saved = errno;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0 && (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))) {
        close(fd);
        fd = -1;
    }
    errno = saved;
    return fd;
}

void os_file_close(int fd)
{
    int saved = errno;
    if (fd >= 0)
        close(fd);
    errno = saved;
}

bool os_file_size(int fd, uint64_t *size)
{
    struct stat st;
    int saved = errno;
    bool ok = fstat(fd, &st) == 0 && st.st_size >= 0;
    if (ok)
        *size = (uint64_t)st.st_size;
    errno = saved;
    return ok;
}

bool os_file_read(int fd, uint64_t offset, void *to, size_t size)
{
    int saved = errno;
    char *p = to;
    while (size && offset <= INT64_MAX) {
        ssize_t n = pread(fd, p, size, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        p += n;
        size -= (size_t)n;
        offset += (uint64_t)n;
    }
    errno = saved;
    return size == 0;
}

static void *map_checked(void *at, size_t size, bool writable, int flags, int fd, uint64_t offset)
{
    int saved = errno;
    bool refused = os_fault_hook && !os_fault_hook();
    int prot = writable ? PROT_READ | PROT_WRITE : PROT_READ;
    void *p = refused ? MAP_FAILED : mmap(at, size, prot, MAP_PRIVATE | flags, fd, (off_t)offset);
    errno = saved;
    return p == MAP_FAILED ? NULL : p;
}

void *os_file_map(int fd, uint64_t offset, size_t size, bool writable)
{
    return offset <= INT64_MAX ? map_checked(NULL, size, writable, 0, fd, offset) : NULL;
}

bool os_map_over(void *at, size_t size, bool writable)
{
    return map_checked(at, size, writable, MAP_FIXED | MAP_ANONYMOUS, -1, 0) != NULL;
}

/* --- folders ---------------------------------------------------------------------------------------------
 */

struct dirent_raw { /* as the kernel writes them */
    uint64_t inode;
    int64_t next;
    uint16_t size;
    uint8_t type;
    char name[];
};

static bool is_dots(const char *name)
{
    return name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]));
}

static bool walk_entries(const char *entries, size_t bytes, bool (*visit)(void *arg, const char *name),
                         void *arg)
{
    for (size_t at = 0; at < bytes;) {
        const struct dirent_raw *e = (const struct dirent_raw *)(entries + at);
        if (!is_dots(e->name) && !visit(arg, e->name))
            return false;
        at += e->size;
    }
    return true;
}

bool os_folder_walk(const char *path, bool (*visit)(void *arg, const char *name), void *arg)
{
    char entries[8192] __attribute__((aligned(8)));
    int saved = errno;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    long n = fd < 0 ? -1 : 1;
    while (n > 0) {
        n = syscall(SYS_getdents64, fd, entries, sizeof entries);
        if (n > 0 && !walk_entries(entries, (size_t)n, visit, arg))
            n = -1;
    }
    os_file_close(fd);
    errno = saved;
    return n == 0;
}
