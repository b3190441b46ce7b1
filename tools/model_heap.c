/* SPDX-License-Identifier: MIT */
/*
 * model_heap.c - see model.h: the subject `heap BYTES`, a retail heap whose block starts on a 1 KB boundary.
 * Places are offsets from usable start. State: `used N free N largest N core N`.
 */
#include "model.h"
#include "os.h"
#include "retail.h"

struct heap {
    rheap heap; /* the first member, so that self is a heap as well */
    void *block;
    size_t bytes;
};

static model_place place_of(uint32_t offset)
{
    return offset ? offset : MODEL_NULL;
}

static pool_status heap_alloc(void *self, uint32_t size, uint32_t align, model_place *at)
{
    uint32_t offset;
    pool_status status = rheap_alloc(self, size, align, &offset);
    *at = place_of(offset);
    return status;
}

static pool_status heap_resize(void *self, model_place from, uint32_t size, uint32_t align, model_place *at)
{
    uint32_t offset;
    pool_status status = rheap_realloc(self, (uint32_t)from, size, align, &offset);
    *at = place_of(offset);
    return status;
}

static pool_status heap_free(void *self, model_place at)
{
    return rheap_free(self, (uint32_t)at);
}

static uint64_t heap_largest(void *self)
{
    return rheap_largest_probe(self);
}

static uint64_t heap_largest_run(void *self)
{
    return rheap_largest_run(self);
}

static const char *heap_check(void *self)
{
    return rheap_check(self);
}

static void heap_print(void *self, FILE *out)
{
    const rheap *h = self;
    fprintf(out, "used %u free %u largest %u core %u", h->used, rheap_free_bytes(h), rheap_largest_run(h),
            h->core);
}

static void heap_destroy(void *self)
{
    struct heap *h = self;
    rheap_done(&h->heap);
    os_unmap(h->block, h->bytes);
}

static const model_subject heap_subject = {"heap",     heap_alloc,   heap_resize,
                                           heap_free,  heap_largest, heap_largest_run,
                                           heap_check, heap_print,   heap_destroy};

/* Pages start on a 1 KB boundary as the scenario wants it. */
static bool heap_make(void *self, size_t bytes)
{
    struct heap *h = self;
    h->bytes = bytes;
    h->block = os_map(bytes);
    if (!h->block)
        return false;
    if (rheap_init(&h->heap, h->block, bytes) == POOL_OK)
        return true;
    os_unmap(h->block, bytes);
    return false;
}

static void run_heap(void *state, script *s)
{
    model_make_subject(state, s, &heap_subject, sizeof(struct heap), UINT32_MAX, heap_make);
}

const script_command model_heap_commands[] = {
    {"heap", 1, "BYTES", run_heap},
    {NULL, 0, NULL, NULL},
};
