/* SPDX-License-Identifier: MIT */
/*
 * program.c - see program.h. Only headers are read; what looks damaged is left to the kernel to refuse.
 */
#include "program.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define SCRIPT_DEPTH 5 /* interpreters that are scripts themselves */
#define HEAD_BYTES   8192

/* --- finding it ----------------------------------------------------------------------------------- */

static bool is_file(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static int judge_file(const char *path)
{
    if (access(path, F_OK) != 0)
        return errno == EACCES ? 126 : 127;
    return is_file(path) && access(path, X_OK) == 0 ? 0 : 126;
}

static int search_path(const char *command, char *path, size_t cap)
{
    const char *dirs = getenv("PATH");
    int found = 127;
    dirs = dirs ? dirs : "/usr/local/bin:/usr/bin:/bin";
    for (const char *end; dirs; dirs = *end ? end + 1 : NULL) {
        end = strchrnul(dirs, ':');
        int n = (int)(end - dirs);
        snprintf(path, cap, "%.*s%s%s", n, dirs, n ? "/" : "./", command);
        int status = judge_file(path);
        if (status == 0)
            return 0;
        if (status == 126 && is_file(path))
            found = 126;
    }
    snprintf(path, cap, "%s", command);
    return found;
}

int program_find(const char *command, char *path, size_t cap)
{
    if (!*command || !strchr(command, '/'))
        return *command ? search_path(command, path, cap) : 127;
    snprintf(path, cap, "%s", command);
    return judge_file(path);
}

/* --- looking at it -------------------------------------------------------------------------------- */

typedef struct file_head {
    char bytes[HEAD_BYTES + 1];
    size_t len;
} file_head;

static bool read_head(const char *path, file_head *h)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, h->bytes, HEAD_BYTES);
    if (fd >= 0)
        close(fd);
    h->len = n > 0 ? (size_t)n : 0;
    h->bytes[h->len] = 0;
    return n >= 0;
}

static bool say(char *why, size_t cap, const char *path, const char *reason)
{
    snprintf(why, cap, "%s: %s", path, reason);
    return false;
}

static const char *privileges(const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return NULL;
    if (st.st_mode & S_ISUID)
        return "is set-user-ID: the loader ignores preloaded libraries there";
    if ((st.st_mode & S_ISGID) && (st.st_mode & S_IXGRP))
        return "is set-group-ID: the loader ignores preloaded libraries there";
    if (getxattr(path, "security.capability", NULL, 0) > 0)
        return "has file capabilities: the loader ignores preloaded libraries there";
    return NULL;
}

static bool is_loader(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    return strncmp(name, "ld-linux", 8) == 0 || strncmp(name, "ld.so", 5) == 0;
}

/* The loader that the program asks for; NULL none, "" beyond what was read. */
static const char *loader_of(const file_head *h)
{
    const Elf64_Ehdr *e = (const Elf64_Ehdr *)h->bytes;
    for (unsigned i = 0; i < e->e_phnum; i++) {
        size_t at = e->e_phoff + i * sizeof(Elf64_Phdr);
        if (at > h->len || h->len - at < sizeof(Elf64_Phdr))
            return "";
        Elf64_Phdr p;
        memcpy(&p, h->bytes + at, sizeof p);
        if (p.p_type == PT_INTERP)
            return p.p_offset < h->len ? h->bytes + p.p_offset : "";
    }
    return NULL;
}

static const char *elf_obstacle(const char *path, const file_head *h)
{
    const Elf64_Ehdr *e = (const Elf64_Ehdr *)h->bytes;
    if (h->len < sizeof *e)
        return NULL;
    if (e->e_ident[EI_CLASS] != ELFCLASS64 || e->e_ident[EI_DATA] != ELFDATA2LSB || e->e_machine != EM_X86_64)
        return "is built for another architecture than the library (x86-64)";
    const char *loader = loader_of(h);
    if (!loader)
        return is_loader(path) ? NULL : "is statically linked: no loader that could preload a library";
    if (strstr(loader, "ld-musl"))
        return "is built for musl: the library needs glibc";
    return NULL;
}

/* The interpreter named by a script's first line; false when it names none. */
static bool interpreter_of(const file_head *h, char *path, size_t cap)
{
    const char *from = h->bytes + 2;
    from += strspn(from, " \t");
    size_t n = strcspn(from, " \t\r\n");
    return n && (size_t)snprintf(path, cap, "%.*s", (int)n, from) < cap;
}

static bool judge(const char *path, int depth, char *why, size_t cap)
{
    char interpreter[4096];
    file_head h;
    const char *obstacle;
    if (!read_head(path, &h)) /* executable but not readable: left to the kernel and the loader */
        return true;
    if (h.len >= 2 && memcmp(h.bytes, "#!", 2) == 0) {
        if (depth == SCRIPT_DEPTH || !interpreter_of(&h, interpreter, sizeof interpreter))
            return true;
        return judge(interpreter, depth + 1, why, cap);
    }
    obstacle = privileges(path);
    if (!obstacle && h.len >= SELFMAG && memcmp(h.bytes, ELFMAG, SELFMAG) == 0)
        obstacle = elf_obstacle(path, &h);
    return !obstacle || say(why, cap, path, obstacle);
}

bool program_can_preload(const char *path, char *why, size_t cap)
{
    return judge(path, 0, why, cap);
}
