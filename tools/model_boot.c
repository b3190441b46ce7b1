/* SPDX-License-Identifier: MIT */
/*
 * model_boot.c - see model.h: the command `boot` builds the console's pool tree anew and prints every figure
 * of it, `NAME -> VALUE` with addresses as the console's, then the tree as the registry has it. It is no
 * subject and leaves the current one alone. A figure that is not the console's ends the script with status 1.
 */
#include "boot.h"
#include "model.h"

static void print_pool(const boot *b, const registry_record *at, unsigned depth, FILE *out)
{
    uint32_t first = boot_address(b, (const void *)at->first), last = boot_address(b, (const void *)at->last);
    fprintf(out, "boot -> %*s%s 0x%08x..0x%08x %u bytes\n", (int)depth * 2, "", at->name, first, last,
            last - first + 1);
}

static void print_boot(const boot *b, FILE *out)
{
    unsigned depth;
    for (unsigned i = 0; i < b->figure_count; i++) {
        const boot_figure *f = &b->figures[i];
        fprintf(out, "boot -> %s%s%s %u 0x%08x\n", f->name, *f->what ? " " : "", f->what, f->got, f->got);
    }
    for (const registry_record *at = registry_next(&b->registry, NULL, &depth); at;
         at = registry_next(&b->registry, at, &depth))
        print_pool(b, at, depth, out);
}

static void run_boot(void *state, script *s)
{
    static boot b;
    if (boot_build(&b) != POOL_OK) {
        script_fail(s, SCRIPT_FAILED, "the system has no memory for the arena of %u bytes", BOOT_ARENA_SIZE);
        return;
    }
    print_boot(&b, s->out);
    const boot_figure *off = boot_check(&b);
    if (off)
        script_fail(s, SCRIPT_FAILED, "%s %s is %u, expected %u", off->name, off->what, off->got, off->want);
    boot_destroy(&b);
}

const script_command model_boot_commands[] = {
    {"boot", 0, "", run_boot},
    {NULL, 0, NULL, NULL},
};
