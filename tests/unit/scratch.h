/* SPDX-License-Identifier: MIT */
/* scratch.h - files and folders of a test, in a folder of its own that is removed at its end. */
#ifndef POOLMEM_TEST_SCRATCH_H
#define POOLMEM_TEST_SCRATCH_H

#include <criterion/criterion.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char scratch_folder[64];

static inline void scratch_make(void)
{
    snprintf(scratch_folder, sizeof scratch_folder, "/tmp/poolmem-test-XXXXXX");
    cr_assert_not_null(mkdtemp(scratch_folder));
}

static int scratch_unlink(const char *path, const struct stat *st, int type, struct FTW *walk)
{
    return remove(path);
}

static inline void scratch_remove(void)
{
    nftw(scratch_folder, scratch_unlink, 8, FTW_DEPTH | FTW_PHYS);
}

/* The path of a name in the folder; valid until the next call but one. */
static inline const char *scratch_path(const char *name)
{
    static char paths[2][160];
    static int turn;
    char *path = paths[turn ^= 1];
    snprintf(path, sizeof paths[0], "%s/%s", scratch_folder, name);
    return path;
}

static inline const char *scratch_file(const char *name, const void *data, size_t size)
{
    const char *path = scratch_path(name);
    FILE *f = fopen(path, "wb");
    cr_assert(f && fwrite(data, 1, size, f) == size && fclose(f) == 0);
    return path;
}

#endif
