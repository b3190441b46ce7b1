/* SPDX-License-Identifier: MIT */
/*
 * model_clump.c - see model.h: the subject `clump BYTES` with the command `count 0|1`. Places are offsets
 * from its block, which is aligned to a page. State: `used N free N live N`.
 */
#include "clump.h"
#include "model.h"
#include "os.h"

struct clump_state {
    clump clump; /* the first member, so that self is a pool as well */
    void *block;
    size_t bytes;
};

static pool_status clump_alloc(void *self, uint32_t size, uint32_t align, model_place *at)
{
    struct clump_state *c = self;
    void *block;
    if (!align) /* the pool would take its default */
        return POOL_ALIGN;
    pool_status status = pool_alloc(self, &(pool_request){.size = size, .align = align}, &block);
    if (status == POOL_OK)
        *at = (model_place)((char *)block - (char *)c->block);
    return status;
}

static pool_status clump_free(void *self, model_place at)
{
    return pool_free(self, (char *)((struct clump_state *)self)->block + at);
}

static uint64_t clump_largest(void *self)
{
    return pool_largest_free(self);
}

static uint64_t clump_rest(void *self)
{
    return pool_free_bytes(self);
}

static const char *clump_check(void *self)
{
    return pool_check(self) ? NULL : "its extents or counts do not agree";
}

static void clump_print(void *self, FILE *out)
{
    const clump *c = self;
    fprintf(out, "used %u free %u live %u", c->used, c->size - c->used, c->live);
}

static void clump_destroy(void *self)
{
    struct clump_state *c = self;
    pool_destroy(self);
    os_unmap(c->block, c->bytes);
}

static const model_subject clump_subject = {"clump",    clump_alloc, NULL,        clump_free,   clump_largest,
                                            clump_rest, clump_check, clump_print, clump_destroy};

static bool clump_make(void *self, size_t bytes)
{
    struct clump_state *c = self;
    c->bytes = bytes;
    c->block = os_map(bytes);
    return c->block && clump_init_in_place(&c->clump, NULL, c->block, bytes, "clump") == POOL_OK;
}

static void run_clump(void *state, script *s)
{
    model_make_subject(state, s, &clump_subject, sizeof(struct clump_state), CLUMP_SIZE_MAX, clump_make);
}

static void run_count(void *state, script *s)
{
    void *c = model_need(state, s, &clump_subject);
    if (!c)
        return;
    uint64_t on = script_number(s, 1, "count", 0, 1);
    if (s->status == SCRIPT_OK)
        pool_set_option(c, POOL_OPTION_COUNT_FREES, on);
}

const script_command model_clump_commands[] = {
    {"clump", 1, "BYTES", run_clump},
    {"count", 1, "0|1", run_count},
    {NULL, 0, NULL, NULL},
};
