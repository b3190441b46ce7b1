/* SPDX-License-Identifier: MIT */
/*
 * tracked_heap.c - the original game's heap with a tracker round it: what leaks, and the dump of all blocks.
 *
 *   cc examples/tracked_heap.c -Iallocator build/libpool.a -pthread -o tracked_heap && ./tracked_heap
 */
#include "fatal.h"
#include "memdump.h"
#include "retail.h"
#include "tracker.h"

#include <stdio.h>

#define SECTOR 17217536

static _Alignas(1024) char memory[SECTOR];

/* What the library has to say; without a hook it is silent. */
static void say(message_level level, const char *line, void *arg)
{
    (void)level, (void)arg;
    printf("said: %s\n", line);
}

static void put(void *file, const char *line, size_t length)
{
    fprintf(file, "%.*s\n", (int)length, line);
}

static void *get(pool *p, size_t size, const char *tag, const char *name, int line)
{
    void *block = NULL;
    pool_request r = {.size = size, .tag = tag, .name = name, .file = __FILE__, .line = line};
    pool_status s = pool_alloc(p, &r, &block);
    if (s != POOL_OK)
        printf("%s: %s\n", name, pool_status_text(s));
    return block;
}

int main(void)
{
    static retail_pool heap;
    static tracker tracked;
    registry all;
    message_set_hook(say, NULL);
    retail_init_in_place(&heap, NULL, memory, sizeof memory, "Sector Pool");
    tracker_init(&tracked, &heap.base, "Sector Pool");
    registry_init(&all, 64, 0);
    pool *sector = &tracked.filter.base; /* from here on everybody uses the tracker */
    registry_add(&all, sector, "Sector Pool");

    void *world = get(sector, 641842, "Level", "world data", __LINE__);
    void *grunt = get(sector, 40, "Enemy", "grunt", __LINE__);
    lines to = {put, stdout};
    memdump_write(&all, &to);

    pool_free(sector, grunt);
    printf("%zu left\n", pool_report_leaks(sector));
    pool_free(sector, world);
    printf("%s\n", pool_status_text(pool_destroy(sector)));
    return 0;
}
