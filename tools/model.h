/* SPDX-License-Identifier: MIT */
/*
 * model.h - floor F5: `poolmem model FILE` runs a scenario script on the real allocators and prints what each
 * operation gave. The current allocator is the model's subject; a family (model_heap.c, model_clump.c)
 * brings the command that makes its subject, further commands of its own, and the subject's operations.
 * The commands a, r, f, L, P and C and the names of blocks are common to all (model.c).
 */
#ifndef POOLMEM_MODEL_H
#define POOLMEM_MODEL_H

#include "base.h"
#include "script.h"

/* Where a block is, as the script's results show it. */
typedef uint64_t model_place;
#define MODEL_NULL UINT64_MAX

/* What a subject can do. An operation it has not is NULL, and the command that needs it says so. */
typedef struct model_subject {
    const char *kind; /* "heap", for messages */
    pool_status (*alloc)(void *self, uint32_t size, uint32_t align, model_place *at);
    /* POOL_OK: now at *at; POOL_ZERO: freed; anything else: nothing changed. */
    pool_status (*resize)(void *self, model_place from, uint32_t size, uint32_t align, model_place *at);
    pool_status (*free)(void *self, model_place at);
    uint64_t (*largest)(void *self);     /* the original's query, with its effects */
    uint64_t (*largest_run)(void *self); /* the pure one */
    const char *(*check)(void *self);    /* NULL: sound, else what is broken */
    void (*print_state)(void *self, FILE *out);
    void (*destroy)(void *self);
} model_subject;

typedef struct model model;

/* For a command `KIND BYTES`: reads BYTES (1..max), lets make(self, BYTES) fill a zeroed state, and makes
   it the subject in place of the one before; all names are forgotten. */
void model_make_subject(model *m, script *s, const model_subject *subject, size_t state_bytes, uint64_t max,
                        bool (*make)(void *self, size_t bytes));
/* The subject when it is of that kind; otherwise NULL after a message. */
void *model_need(model *m, script *s, const model_subject *kind);
/* The same without a message, for commands that several kinds have. */
void *model_if(model *m, const model_subject *kind);
/* Names of blocks (and of marks, in families that have them). Get: MODEL_NULL for a null one. */
bool model_name_known(model *m, const char *name);
model_place model_name_get(model *m, const char *name);
void model_name_set(model *m, const char *name, model_place at);
/* Writes `COMMAND -> [result ]STATE` for the line being run; a place of MODEL_NULL shows as `null`. */
void model_print(model *m, script *s, const char *result);
void model_print_place(model *m, script *s, model_place at);

/* The tables, one a family. */
extern const script_command model_heap_commands[], model_clump_commands[], model_boot_commands[],
    model_engine_commands[];

/* Runs one script; the file name is for messages. Returns the exit status. */
int model_run(FILE *in, const char *file, FILE *out, FILE *err);
/* `poolmem model FILE`; argv[0] is "model". */
int model_main(int argc, char **argv);
int model_usage(FILE *out, int status);

#endif
