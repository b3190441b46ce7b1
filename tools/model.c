/* SPDX-License-Identifier: MIT */
/*
 * model.c - see model.h: the names of a script, the commands that every subject has, and the entry.
 *
 * A name is null until an allocation gave it a place, and again after a free or a resize to 0. Allocating to
 * a name that is live is allowed, because the old allocator had no names: the block stays, and a note says
 * so. Freeing a name that the script has never used is an error: it is a typing mistake. Read next:
 * model_heap.c.
 */
#include "model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- names ----------------------------------------------------------------------------------------- */

struct name {
    struct name *next; /* in the same bucket */
    model_place at;
    char text[];
};

enum { BUCKETS = 4096 };

struct model {
    const model_subject *subject;
    void *self;
    struct name *names[BUCKETS];
};

static struct name **find_name(model *m, const char *text)
{
    uint32_t hash = 2166136261u;
    for (const char *c = text; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 16777619u;
    struct name **at = &m->names[hash % BUCKETS];
    while (*at && strcmp((*at)->text, text) != 0)
        at = &(*at)->next;
    return at;
}

bool model_name_known(model *m, const char *name)
{
    return *find_name(m, name) != NULL;
}

model_place model_name_get(model *m, const char *name)
{
    const struct name *n = *find_name(m, name);
    return n ? n->at : MODEL_NULL;
}

void model_name_set(model *m, const char *name, model_place at)
{
    struct name **slot = find_name(m, name);
    if (!*slot) {
        *slot = calloc(1, sizeof **slot + strlen(name) + 1);
        if (!*slot)
            abort();
        strcpy((*slot)->text, name);
    }
    (*slot)->at = at;
}

static void forget_names(model *m)
{
    for (int i = 0; i < BUCKETS; i++) {
        while (m->names[i]) {
            struct name *n = m->names[i];
            m->names[i] = n->next;
            free(n);
        }
    }
}

/* --- the subject ----------------------------------------------------------------------------------- */

static void set_subject(model *m, const model_subject *subject, void *self)
{
    if (m->subject)
        m->subject->destroy(m->self);
    free(m->self);
    forget_names(m);
    m->subject = subject;
    m->self = self;
}

void model_make_subject(model *m, script *s, const model_subject *subject, size_t state_bytes, uint64_t max,
                        bool (*make)(void *self, size_t bytes))
{
    size_t bytes = script_number(s, 1, "size", 1, max);
    if (!bytes)
        return;
    void *self = calloc(1, state_bytes);
    if (self && make(self, bytes)) {
        set_subject(m, subject, self);
        return;
    }
    free(self);
    script_fail(s, SCRIPT_FAILED, "the system has no memory for a %s of %zu bytes", subject->kind, bytes);
}

void *model_need(model *m, script *s, const model_subject *kind)
{
    if (m->subject == kind)
        return m->self;
    script_fail(s, SCRIPT_BAD, "'%s' needs a %s, expected a line '%s BYTES' before it", s->words[0],
                kind->kind, kind->kind);
    return NULL;
}

void *model_if(model *m, const model_subject *kind)
{
    return m->subject == kind ? m->self : NULL;
}

/* True when the subject has an operation for the command. */
static bool can(model *m, script *s, bool has)
{
    if (!m->subject)
        script_fail(s, SCRIPT_BAD, "nothing to work on, expected a line such as 'heap BYTES' first");
    else if (!has)
        script_fail(s, SCRIPT_BAD, "a %s has no command '%s'", m->subject->kind, s->words[0]);
    return s->status == SCRIPT_OK;
}

void model_print(model *m, script *s, const char *result)
{
    script_echo(s);
    fprintf(s->out, " -> %s%s", result, *result ? " " : "");
    m->subject->print_state(m->self, s->out);
    fputc('\n', s->out);
}

void model_print_place(model *m, script *s, model_place at)
{
    char text[24] = "null";
    if (at != MODEL_NULL)
        snprintf(text, sizeof text, "%llu", (unsigned long long)at);
    model_print(m, s, text);
}

/* --- the commands every subject has ---------------------------------------------------------------- */

static void alloc_block(model *m, script *s, uint32_t size, uint32_t align)
{
    model_place at = MODEL_NULL;
    if (model_name_get(m, s->words[1]) != MODEL_NULL)
        script_note(s, "'%s' was live: its block stays allocated and has no name any more", s->words[1]);
    if (m->subject->alloc(m->self, size, align, &at) != POOL_OK)
        at = MODEL_NULL;
    model_name_set(m, s->words[1], at);
    model_print_place(m, s, at);
}

static void resize_block(model *m, script *s, uint32_t size, uint32_t align)
{
    model_place from = model_name_get(m, s->words[1]), to = MODEL_NULL;
    if (from == MODEL_NULL) {
        alloc_block(m, s, size, align);
        return;
    }
    pool_status status =
        m->subject->resize ? m->subject->resize(m->self, from, size, align, &to) : POOL_UNSUPPORTED;
    if (status == POOL_OK)
        model_name_set(m, s->words[1], to);
    else if (status == POOL_ZERO)
        model_name_set(m, s->words[1], MODEL_NULL);
    model_print_place(m, s, status == POOL_OK ? to : MODEL_NULL);
}

/* Reads SIZE and ALIGN and goes on with one of the two above. */
static void with_size(model *m, script *s, void (*go)(model *, script *, uint32_t, uint32_t))
{
    if (!can(m, s, m->subject && m->subject->alloc))
        return;
    uint32_t size = (uint32_t)script_number(s, 2, "size", 0, UINT32_MAX);
    uint32_t align = s->status == SCRIPT_OK ? (uint32_t)script_number(s, 3, "align", 0, UINT32_MAX) : 0;
    if (s->status == SCRIPT_OK)
        go(m, s, size, align);
}

static void run_alloc(void *state, script *s)
{
    with_size(state, s, alloc_block);
}

static void run_resize(void *state, script *s)
{
    with_size(state, s, resize_block);
}

static void run_free(void *state, script *s)
{
    model *m = state;
    if (!can(m, s, m->subject && m->subject->free))
        return;
    if (!model_name_known(m, s->words[1])) {
        script_fail(s, SCRIPT_BAD, "nothing is named '%.40s', expected the name of an allocation",
                    s->words[1]);
        return;
    }
    model_place at = model_name_get(m, s->words[1]);
    if (at != MODEL_NULL)
        m->subject->free(m->self, at);
    model_name_set(m, s->words[1], MODEL_NULL);
    model_print(m, s, "");
}

static void run_largest(void *state, script *s)
{
    model *m = state;
    if (can(m, s, m->subject && m->subject->largest))
        model_print_place(m, s, m->subject->largest(m->self));
}

static void run_largest_run(void *state, script *s)
{
    model *m = state;
    if (can(m, s, m->subject && m->subject->largest_run))
        model_print_place(m, s, m->subject->largest_run(m->self));
}

static void run_check(void *state, script *s)
{
    model *m = state;
    if (!can(m, s, m->subject && m->subject->check))
        return;
    const char *wrong = m->subject->check(m->self);
    if (wrong)
        script_fail(s, SCRIPT_FAILED, "the %s is not sound: %s", m->subject->kind, wrong);
    else
        model_print(m, s, "ok");
}

static const script_command common_commands[] = {
    {"a", 3, "NAME SIZE ALIGN", run_alloc},
    {"r", 3, "NAME SIZE ALIGN", run_resize},
    {"f", 1, "NAME", run_free},
    {"L", 0, "", run_largest},
    {"P", 0, "", run_largest_run},
    {"C", 0, "", run_check},
    {NULL, 0, NULL, NULL},
};

static const script_command *const tables[] = {common_commands,       model_heap_commands,
                                               model_clump_commands,  model_boot_commands,
                                               model_engine_commands, NULL};

/* --- entry ----------------------------------------------------------------------------------------- */

int model_run(FILE *in, const char *file, FILE *out, FILE *err)
{
    model m = {0};
    script s = {.file = file, .out = out, .err = err};
    int status = script_run(&s, in, tables, &m);
    set_subject(&m, NULL, NULL);
    return status;
}

int model_usage(FILE *out, int status)
{
    fprintf(out, "usage: poolmem model FILE\n"
                 "  run a scenario script on the real allocators; - for standard input\n");
    return status;
}

int model_main(int argc, char **argv)
{
    if (argc != 2)
        return model_usage(stderr, SCRIPT_BAD);
    if (strcmp(argv[1], "-") == 0)
        return model_run(stdin, "-", stdout, stderr);
    FILE *in = fopen(argv[1], "re");
    if (!in) {
        fprintf(stderr, "poolmem: cannot open %s: %s\n", argv[1], strerror(errno));
        return SCRIPT_FAILED;
    }
    int status = model_run(in, argv[1], stdout, stderr);
    fclose(in);
    return status;
}
