/* SPDX-License-Identifier: MIT */
/*
 * static.c - a program over libpool.a alone: an arena, and the archive named on the command line. Links
 * without zlib unless WITH_ZIP names the zip reader.
 */
#include "arena.h"
#include "archive.h"

#include <stdio.h>

int main(int argc, char **argv)
{
    arena a = {0};
    archive file;
#ifdef WITH_ZIP
    archive_add_kind(&archive_zip);
#endif
    if (argc < 2 || !arena_init(&a, 4096, NULL))
        return 2;
    pool_status s = archive_open(&file, argv[1]);
    printf("%s\n", s == POOL_OK ? arena_format(&a, "%s with %u entries", file.kind->name, file.count)
                                : arena_format(&a, "refused: %s", pool_status_text(s)));
    archive_close(&file);
    arena_free(&a);
    return 0;
}
