/* SPDX-License-Identifier: MIT */
/*
 * symbols.c - see symbols.h. The loader's lock-free _dl_find_object tells the object of an address; what was
 * read of an object stays in a row here. A name is looked for in the user's symbol map, then among the
 * exported symbols (in memory already), then in the file's own symbol table, then in a separate debug file
 * found by build-id. Files are opened for objects only whose exported symbols do not answer.
 *
 * Invariants: (1) a row is used only after it was compared with the loaded object in the present generation:
 * range, base, name and a print of the first bytes (headers and build-id); (2) texts handed out are kept.
 * Locking: the resolve lock; symbols_forget only raises a number. Cost: a few us an address; the first
 * address of an object a few hundred us at most, for sorting.
 * Read next: symbol_table.c, elf.c, demangle.c.
 */
#include "demangle.h"
#include "keep.h"
#include "symbol_map.h"
#include "symbol_table.h"
#include "symbols.h"

#include <dlfcn.h>
#include <errno.h>
#include <gnu/libc-version.h>
#include <string.h>
#include <unistd.h>

enum { MODULES_MAX = 1024, PRINT_BYTES = 1024 };

enum source { FROM_IMAGE, FROM_FILE, FROM_DEBUG_FILE, SOURCES };

struct module {
    elf_image image;
    const char *path;      /* kept */
    uint64_t print;        /* of the first bytes in memory */
    uint32_t generation;   /* last one it was compared in */
    uint32_t read;         /* bit per source: has been tried */
    const symbol_map *map; /* the user's, or NULL */
    symbol_table tables[SOURCES];
};

ROOMY static struct module modules[MODULES_MAX];
static unsigned module_count;
static bool sealed;             /* no file may be opened any more */
static uint32_t generation = 1; /* atomic: raised by symbols_forget */

void symbols_forget(void)
{
    __atomic_add_fetch(&generation, 1, __ATOMIC_RELEASE);
}

/* The program's own path: the loader's list has "" for it. */
static const char *program_path(void)
{
    ROOMY static char path[4096];
    int saved = errno;
    if (!*path) {
        ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
        path[n > 0 ? n : 0] = 0;
    }
    errno = saved;
    return path;
}

static const char *object_path(const struct link_map *l)
{
    return l->l_name && *l->l_name ? l->l_name : program_path();
}

static uint64_t image_print(const elf_image *image)
{
    size_t size = image->high - image->low, i = 0;
    uint64_t hash = 14695981039346656037u, word;
    if (size > PRINT_BYTES)
        size = PRINT_BYTES;
    for (; i + sizeof word <= size; i += sizeof word) {
        memcpy(&word, (const char *)image->low + i, sizeof word);
        hash = (hash ^ word) * 1099511628211u;
    }
    return hash;
}

static void module_drop(struct module *m)
{
    for (int i = 0; i < SOURCES; i++)
        symbol_table_drop(&m->tables[i]);
    *m = (struct module){0};
}

static bool module_is(const struct module *m, const elf_image *image, const char *path, uint64_t print)
{
    return m->image.high == image->high && m->image.base == image->base &&
           m->image.dynamic == image->dynamic && m->print == print && strcmp(m->path, path) == 0;
}

/* A path that is kept for ever, once. */
static const char *path_kept(const char *path)
{
    for (unsigned i = 0; i < module_count; i++)
        if (modules[i].path && strcmp(modules[i].path, path) == 0)
            return modules[i].path;
    return keep_text(path, strlen(path));
}

/* Compares a row with what is loaded there now and makes it anew when it is another object. */
static void module_renew(struct module *m, const elf_image *image, const char *path, uint32_t now)
{
    uint64_t print = image_print(image);
    if (!m->path || !module_is(m, image, path, print)) {
        const char *kept = path_kept(path);
        module_drop(m);
        *m = (struct module){.image = *image, .path = kept, .print = print};
        m->map = symbol_map_for(path);
    }
    m->generation = now;
}

/* The row of an object, by where it starts; when all are taken, the last is used again. */
static struct module *module_row(uintptr_t low)
{
    unsigned i = 0;
    while (i < module_count && modules[i].image.low != low)
        i++;
    if (i == MODULES_MAX)
        i--;
    else if (i == module_count)
        module_count++;
    return &modules[i];
}

static struct module *module_of(uintptr_t address)
{
    static struct module *last; /* most addresses of a stack are in one object */
    uint32_t now = __atomic_load_n(&generation, __ATOMIC_ACQUIRE);
    struct dl_find_object found;
    if (last && last->generation == now && address >= last->image.low && address < last->image.high)
        return last;
    if (_dl_find_object((void *)address, &found) != 0 || !found.dlfo_link_map)
        return NULL;
    elf_image image = {(uintptr_t)found.dlfo_map_start, (uintptr_t)found.dlfo_map_end,
                       found.dlfo_link_map->l_addr, found.dlfo_link_map->l_ld};
    struct module *m = module_row(image.low);
    if (m->generation != now || !m->path || m->image.low != image.low)
        module_renew(m, &image, object_path(found.dlfo_link_map), now);
    last = m;
    return m;
}

/* The C library's debug file is not asked: half a megabyte in every process, for static functions that decide
   nothing, and pools that depended on whether it is installed. */
static bool is_c_library(const struct module *m)
{
    uintptr_t inside = (uintptr_t)gnu_get_libc_version;
    return inside >= m->image.low && inside < m->image.high;
}

static bool read_source(struct module *m, int source, elf_symbols *out)
{
    elf_id id;
    char path[256];
    if (source == FROM_IMAGE)
        return elf_read_image(&m->image, out);
    if (sealed || is_c_library(m))
        return false;
    elf_image_id(&m->image, &id);
    if (source == FROM_FILE)
        return elf_read_file(m->path, &id, out);
    return elf_debug_path(&id, path, sizeof path) && elf_read_file(path, &id, out);
}

static const symbol_table *module_table(struct module *m, int source)
{
    symbol_table *t = &m->tables[source];
    if (!(m->read & 1u << source)) {
        m->read |= 1u << source;
        if (!read_source(m, source, &t->from) || !symbol_table_make(t))
            symbol_table_drop(t);
    }
    return t->count ? t : NULL;
}

void symbols_read_ahead(uintptr_t address)
{
    struct module *m = module_of(address);
    for (int i = 0; m && i < SOURCES; i++)
        module_table(m, i);
}

void symbols_seal(void)
{
    sealed = true;
}

/* The raw name at a link-time address, with where it starts. */
static const char *raw_name(struct module *m, uint64_t address, uint64_t *start)
{
    const char *name = m->map ? symbol_map_find(m->map, address, start) : NULL;
    for (int i = 0; i < SOURCES && !name; i++) {
        const symbol_table *t = module_table(m, i);
        const ElfW(Sym) *s = t ? symbol_table_find(t, address) : NULL;
        if (s) {
            name = elf_string(&t->from, s->st_name);
            *start = s->st_value;
        }
    }
    return name && *name ? name : NULL;
}

bool symbol_find(uintptr_t return_address, symbol_info *out)
{
    *out = (symbol_info){.module = ""};
    struct module *m = module_of(return_address - 1);
    if (!m)
        return false;
    out->module = m->path;
    out->print = m->print;
    out->base = m->image.base;
    out->offset = return_address - m->image.base;
    uint64_t start = 0;
    const char *raw = raw_name(m, out->offset - 1, &start);
    if (raw) {
        symbol_text t = symbol_text_keep(raw);
        out->raw = t.raw;
        out->name = t.name;
        out->symbol_offset = out->offset - start;
    }
    return true;
}
