/* SPDX-License-Identifier: MIT */
/* A small audit library: it lives in a namespace of its own, with its own C library, and is asked about every
 * binding. */
#include <link.h>
#include "../check.h"

static unsigned long bindings;

unsigned int la_version(unsigned int version)
{
    free(malloc(100));
    return version;
}

unsigned int la_objopen(struct link_map *map, Lmid_t namespace_id, uintptr_t *cookie)
{
    char *name = strdup(map->l_name);
    free(name);
    return LA_FLG_BINDTO | LA_FLG_BINDFROM;
}

uintptr_t la_symbind64(Elf64_Sym *sym, unsigned int index, uintptr_t *from, uintptr_t *to,
                       unsigned int *flags, const char *name)
{
    bindings++;
    return sym->st_value;
}
