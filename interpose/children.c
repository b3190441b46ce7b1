/* SPDX-License-Identifier: MIT */
/*
 * children.c - see children.h. The text of the variable only gets shorter, so it is changed where it stands;
 * nothing is allocated and pointers into the environment stay good. Locking: none, boot runs alone.
 * A program that builds an environment of its own from other sources is not seen.
 */
#include "children.h"
#include "base.h"

#include <string.h>
#include <unistd.h>

#define VARIABLE "LD_PRELOAD="
#define LIBRARY  "libpoolmem.so"

static bool is_separator(char c)
{
    return c == ':' || c == ' ';
}

static bool is_ours(const char *path, size_t n)
{
    const char *slash = memrchr(path, '/', n);
    const char *name = slash ? slash + 1 : path;
    size_t length = (size_t)(path + n - name), ours = sizeof LIBRARY - 1;
    return length >= ours && memcmp(name, LIBRARY, ours) == 0 && (length == ours || name[ours] == '.');
}

/* Copies the list onto itself without our entries; true when something is left. */
static bool cut_list(char *list)
{
    char *to = list;
    for (const char *from = list; *from;) {
        size_t n = 0;
        while (from[n] && !is_separator(from[n]))
            n++;
        bool keep = n && !is_ours(from, n);
        if (keep && to > list)
            *to++ = ':';
        if (keep) {
            memmove(to, from, n);
            to += n;
        }
        from += n + (from[n] != 0);
    }
    *to = 0;
    return to > list;
}

static void remove_entry(char **entry)
{
    do
        entry[0] = entry[1];
    while (*entry++);
}

void children_apply(void)
{
    size_t n = sizeof VARIABLE - 1;
    for (char **e = environ; e && *e;) {
        if (strncmp(*e, VARIABLE, n) == 0 && !cut_list(*e + n))
            remove_entry(e);
        else
            e++;
    }
}
