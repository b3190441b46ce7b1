/* SPDX-License-Identifier: MIT */
/*
 * fuzz_archive.c - libFuzzer harness: any bytes at all are opened as an archive, checked, indexed and read
 * whole. Nothing but an error or sound entries may come of it; the sanitizers tell the rest. `make
 * fuzz-archive` runs it for a short time.
 */
#include "archive_index.h"
#include "os.h"

#include <stdlib.h>

static void read_all(archive *a)
{
    for (uint32_t i = 0; i < a->count; i++) {
        size_t size = a->entries[i].size < MIB(1) ? (size_t)a->entries[i].size : MIB(1);
        void *to = malloc(size ? size : 1);
        archive_read(a, i, to, size);
        free(to);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    archive a;
    static archive_index ix;
    archive_add_kind(&archive_zip);
    if (archive_open_memory(&a, data, size, "fuzz") == POOL_OK) {
        if (!archive_check(&a))
            abort();
        read_all(&a);
        archive_close(&a);
    }
    index_init(&ix, INDEX_LONG_NAMES);
    index_mount_memory(&ix, data, size, "fuzz");
    index_mount_memory(&ix, data, size / 2, "fuzz");
    if (!index_check(&ix))
        abort();
    index_close(&ix);
    return 0;
}
