/* SPDX-License-Identifier: MIT */
/*
 * model_engine.c - see model.h: the subjects `arena BYTES` and `hunk RESERVE` with their marks. Places are
 * offsets from the arena's block, or from the end of the hunk that a block is in. State: `used N peak N`, and
 * `low N high N commit N`. A mark NAME remembers the arena's place, or both ends of the hunk; going back to
 * one that is refused gives `null`.
 */
#include "arena.h"
#include "fatal.h"
#include "hunk.h"
#include "model.h"

#include <stdlib.h>

/* Marks by number, the number being the place that the name stands for. */
union model_mark {
    arena_mark arena;
    size_t end[2];
};

struct mark_list {
    union model_mark *marks;
    size_t count;
};

static model_place keep_mark(struct mark_list *l, union model_mark m)
{
    union model_mark *more = realloc(l->marks, (l->count + 1) * sizeof *more);
    if (!more)
        abort();
    l->marks = more;
    l->marks[l->count] = m;
    return l->count++;
}

/* The mark that argument 1 names; NULL after a message. */
static const union model_mark *named_mark(model *m, script *s, const struct mark_list *l)
{
    model_place at = model_name_known(m, s->words[1]) ? model_name_get(m, s->words[1]) : MODEL_NULL;
    if (at < l->count)
        return &l->marks[at];
    script_fail(s, SCRIPT_BAD, "nothing is named '%.40s', expected the name of a mark", s->words[1]);
    return NULL;
}

static void print_status(model *m, script *s, pool_status status)
{
    model_print(m, s, status == POOL_OK ? "" : "null");
}

/* --- arena ---------------------------------------------------------------------------------------------- */

struct arena_state {
    arena arena; /* the first member, so that self is a pool as well */
    struct mark_list marks;
};

static pool_status model_arena_alloc(void *self, uint32_t size, uint32_t align, model_place *at)
{
    arena *a = self;
    void *block;
    pool_status status = pool_alloc(self, &(pool_request){.size = size, .align = align}, &block);
    if (status == POOL_OK)
        *at = (model_place)((char *)block - a->first.base);
    return status;
}

static pool_status model_arena_resize(void *self, model_place from, uint32_t size, uint32_t align,
                                      model_place *at)
{
    arena *a = self;
    void *block;
    pool_status status =
        pool_resize(self, a->first.base + from, &(pool_request){.size = size, .align = align}, &block);
    if (status == POOL_OK)
        *at = (model_place)((char *)block - a->first.base);
    return status;
}

static uint64_t model_largest(void *self)
{
    return pool_largest_free(self);
}

static const char *model_check(void *self)
{
    return pool_check(self) ? NULL : "an invariant does not hold";
}

static void arena_print(void *self, FILE *out)
{
    fprintf(out, "used %zu peak %zu", arena_used(self), arena_peak(self));
}

static void arena_end(void *self)
{
    arena_free(self);
    free(((struct arena_state *)self)->marks.marks);
}

static const model_subject arena_subject = {.kind = "arena",
                                            .alloc = model_arena_alloc,
                                            .resize = model_arena_resize,
                                            .largest = model_largest,
                                            .largest_run = model_largest,
                                            .check = model_check,
                                            .print_state = arena_print,
                                            .destroy = arena_end};

static bool arena_make(void *self, size_t bytes)
{
    return arena_init(self, (int64_t)bytes, NULL);
}

static void run_arena(void *state, script *s)
{
    model_make_subject(state, s, &arena_subject, sizeof(struct arena_state), INT64_MAX, arena_make);
}

static void run_restore(void *state, script *s)
{
    struct arena_state *a = model_need(state, s, &arena_subject);
    const union model_mark *mark = a ? named_mark(state, s, &a->marks) : NULL;
    if (mark)
        print_status(state, s, arena_restore(&a->arena, mark->arena));
}

static void run_reset(void *state, script *s)
{
    struct arena_state *a = model_need(state, s, &arena_subject);
    if (!a)
        return;
    arena_reset(&a->arena);
    model_print(state, s, "");
}

/* --- hunk -------------------------------------------------------------------------------------------------
 */

struct hunk_state {
    hunk hunk; /* the first member, so that self is a pool as well */
    struct mark_list marks;
};

static void hunk_print(void *self, FILE *out)
{
    const hunk *h = self;
    fprintf(out, "low %zu high %zu commit %zu", h->end[0].mark, h->end[1].mark,
            h->end[0].commit + h->end[1].commit);
}

static void hunk_end_model(void *self)
{
    hunk_free(self);
    free(((struct hunk_state *)self)->marks.marks);
}

static const model_subject hunk_subject = {.kind = "hunk",
                                           .largest = model_largest,
                                           .largest_run = model_largest,
                                           .check = model_check,
                                           .print_state = hunk_print,
                                           .destroy = hunk_end_model};

static bool hunk_make(void *self, size_t bytes)
{
    return hunk_init(self, &(hunk_options){.low = bytes}) == POOL_OK;
}

static void run_hunk(void *state, script *s)
{
    model_make_subject(state, s, &hunk_subject, sizeof(struct hunk_state), INT64_MAX, hunk_make);
}

static void alloc_at(model *m, script *s, hunk_side side)
{
    struct hunk_state *h = model_need(m, s, &hunk_subject);
    uint64_t size = h ? script_number(s, 2, "size", 0, INT64_MAX) : 0;
    void *block;
    if (s->status != SCRIPT_OK)
        return;
    model_place at = MODEL_NULL;
    if (hunk_alloc(&h->hunk, side, (int64_t)size, s->words[1], &block) == POOL_OK)
        at = (model_place)((char *)block - h->hunk.end[side].base);
    model_print_place(m, s, at);
}

static void run_low(void *state, script *s)
{
    alloc_at(state, s, HUNK_SIDE_LOW);
}

static void run_high(void *state, script *s)
{
    alloc_at(state, s, HUNK_SIDE_HIGH);
}

static void free_to(model *m, script *s, hunk_side side)
{
    struct hunk_state *h = model_need(m, s, &hunk_subject);
    const union model_mark *mark = h ? named_mark(m, s, &h->marks) : NULL;
    if (mark)
        print_status(m, s, hunk_free_to_mark(&h->hunk, side, (int64_t)mark->end[side]));
}

static void run_free_low(void *state, script *s)
{
    free_to(state, s, HUNK_SIDE_LOW);
}

static void run_free_high(void *state, script *s)
{
    free_to(state, s, HUNK_SIDE_HIGH);
}

static void run_temp(void *state, script *s)
{
    struct hunk_state *h = model_need(state, s, &hunk_subject);
    uint64_t size = h ? script_number(s, 1, "size", 0, INT64_MAX) : 0;
    if (s->status == SCRIPT_OK)
        model_print(state, s, hunk_temp_alloc(&h->hunk, (int64_t)size) ? "ok" : "null");
}

/* --- marks of both ----------------------------------------------------------------------------------------
 */

static void run_mark(void *state, script *s)
{
    struct hunk_state *h = model_if(state, &hunk_subject);
    struct arena_state *a = h ? NULL : model_need(state, s, &arena_subject);
    if (h) {
        union model_mark m = {.end = {h->hunk.end[0].mark, h->hunk.end[1].mark}};
        model_name_set(state, s->words[1], keep_mark(&h->marks, m));
    } else if (a) {
        union model_mark m = {.arena = arena_get_mark(&a->arena)};
        model_name_set(state, s->words[1], keep_mark(&a->marks, m));
    }
    if (s->status == SCRIPT_OK)
        model_print(state, s, "");
}

const script_command model_engine_commands[] = {
    {"arena", 1, "BYTES", run_arena},
    {"hunk", 1, "RESERVE", run_hunk},
    {"mark", 1, "NAME", run_mark},
    {"restore", 1, "NAME", run_restore},
    {"reset", 0, "", run_reset},
    {"low", 2, "NAME SIZE", run_low},
    {"high", 2, "NAME SIZE", run_high},
    {"freelow", 1, "MARKNAME", run_free_low},
    {"freehigh", 1, "MARKNAME", run_free_high},
    {"temp", 1, "SIZE", run_temp},
    {NULL, 0, NULL, NULL},
};
