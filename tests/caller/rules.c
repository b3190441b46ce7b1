/* SPDX-License-Identifier: MIT */
/*
 * rules.c - the unwind rule of every row of the C library's unwind table (and of this program's) as cfi.c
 * reads it, against readelf's reading of the same table.
 */
#include "stubs.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct columns {
    int rbp, ra, count;
} columns;

static unsigned long rows, wrong, plain;

static int split(char *line, char **word, int max)
{
    int n = 0;
    for (char *w = strtok(line, " \n"); w && n < max; w = strtok(NULL, " \n"))
        if (w[0] != '(') /* a register has its other name behind it */
            word[n++] = w;
    return n;
}

/* readelf's "c-16", "u", "s", "exp" or no column at all. */
static bool place_agrees(const char *word, uint8_t where, int32_t offset)
{
    if (!word || strcmp(word, "u") == 0 || strcmp(word, "s") == 0)
        return where == CFI_SAME;
    if (word[0] == 'c')
        return where == CFI_AT_CFA && offset == atoi(word + 1);
    return where != CFI_SAME && where != CFI_AT_CFA;
}

static bool rule_agrees(const cfi_rule *r, const char *cfa, const char *rbp, const char *ra)
{
    if (ra && strcmp(ra, "u") == 0)
        return r->kind == CFI_END;
    if (ra && ra[0] == 'r')
        return r->kind == CFI_NONE; /* in a register: never so at a call */
    if (strcmp(cfa, "exp") == 0)
        return r->kind == CFI_NONE || r->deref;
    if (strncmp(cfa, "rsp", 3) != 0 && strncmp(cfa, "rbp", 3) != 0)
        return r->kind == CFI_NONE;
    plain++;
    return r->kind == CFI_FRAME && !r->deref && r->cfa == atoi(cfa + 3) &&
           (r->base == CFI_RBP) == (cfa[1] == 'b') && r->ra_at == CFI_AT_CFA && r->ra == -8 &&
           place_agrees(rbp, r->rbp_at, r->rbp);
}

static void check_row(char *line, const columns *c, uintptr_t base)
{
    char copy[512], *word[40];
    snprintf(copy, sizeof copy, "%s", line);
    int n = split(copy, word, 40);
    if (n < c->count || n < 2)
        return;
    uintptr_t pc = base + strtoul(word[0], NULL, 16);
    cfi_rule r = cfi_find(pc);
    rows++;
    if (rule_agrees(&r, word[1], c->rbp ? word[c->rbp] : NULL, c->ra ? word[c->ra] : NULL))
        return;
    if (wrong++ < 10)
        fprintf(stderr, "rule of %lx: readelf says %s; read as kind %u base %u deref %u cfa %d rbp %u %d\n",
                pc - base, line, r.kind, r.base, r.deref, r.cfa, r.rbp_at, r.rbp);
}

static bool header(char *line, columns *c)
{
    char copy[512], *word[40];
    snprintf(copy, sizeof copy, "%s", line);
    int n = split(copy, word, 40);
    if (n < 2 || strcmp(word[0], "LOC") != 0)
        return false;
    *c = (columns){.count = n};
    for (int i = 0; i < n; i++) {
        c->rbp = strcmp(word[i], "rbp") == 0 ? i : c->rbp;
        c->ra = strcmp(word[i], "ra") == 0 ? i : c->ra;
    }
    return true;
}

/* Rows of CIEs (at address 0) describe no code: only what follows an FDE's line is looked at. */
static void check_object(const char *path, uintptr_t base)
{
    char command[512], line[512];
    snprintf(command, sizeof command, "readelf --debug-dump=no-follow-links --debug-dump=frames-interp '%s'",
             path);
    FILE *f = popen(command, "r");
    columns c = {0};
    bool in_fde = false;
    while (f && fgets(line, sizeof line, f)) {
        if (strstr(line, " FDE ") || strstr(line, " CIE "))
            in_fde = strstr(line, " FDE ") != NULL;
        else if (in_fde && !header(line, &c) && strlen(line) > 16 && line[16] == ' ')
            check_row(line, &c, base);
    }
    if (f)
        pclose(f);
}

int main(int argc, char **argv)
{
    struct link_map *map = NULL;
    Dl_info libc;
    dladdr((void *)(uintptr_t)puts, &libc);
    check_object(libc.dli_fname, (uintptr_t)libc.dli_fbase);
    dlinfo(dlopen(NULL, RTLD_LAZY), RTLD_DI_LINKMAP, &map);
    check_object(argv[0], map->l_addr);
    printf("%lu rows of unwind tables (%lu plain), %lu differ\n", rows, plain, wrong);
    return wrong != 0 || plain < 1000;
}
