/* SPDX-License-Identifier: MIT */
/* pools_bed.c - see pools_bed.h: a table of pools that only remembers what was defined. */
#include "pools_bed.h"

#include <string.h>

struct defined defined_pools[64];
uint32_t defined_count;

void pools_bed_reset(void)
{
    defined_count = 0;
    pools_define(&(pool_spec){.name = "Global"});
    pools_define(&(pool_spec){.name = "System"});
}

int pools_find(const char *name)
{
    for (uint32_t i = 0; i < defined_count; i++)
        if (strcmp(defined_pools[i].name, name) == 0)
            return (int)i;
    return -1;
}

int pools_define(const pool_spec *spec)
{
    int id = pools_find(spec->name);
    if (id < 0)
        id = (int)defined_count++;
    struct defined *d = &defined_pools[id];
    *d = (struct defined){.kind = spec->kind, .size = spec->size, .over = spec->over};
    strcpy(d->name, spec->name);
    strcpy(d->parent, spec->parent ? spec->parent : "");
    return id;
}
