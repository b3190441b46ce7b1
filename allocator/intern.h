/* SPDX-License-Identifier: MIT */
/*
 * intern.h - floor F0: byte strings kept once each and known by a number: names, file paths, call stacks.
 * Insert-only. Number 0 is "none": it stands for NULL, and for what there was no memory to keep.
 *
 * Locking: the caller's. Cost: a hash of the bytes and a comparison. Whoever meets the same few texts all the
 * time remembers their numbers and asks intern_is, because the bytes at an address may change: a library may
 * be unloaded and another string lie there.
 */
#ifndef POOLMEM_INTERN_H
#define POOLMEM_INTERN_H

#include "growing.h"

#define INTERN_TEXT_MAX 255 /* longer texts are cut */

typedef struct intern {
    growing bytes;   /* the strings, each behind its header */
    growing entries; /* uint32_t a number: where its string is */
    growing table;   /* uint32_t a cell: a number, 0 empty */
    size_t used;     /* of bytes */
    uint32_t count;  /* numbers given, from 1 */
} intern;

/* A zeroed one is empty. */
void intern_done(intern *n);
uint32_t intern_bytes(intern *n, const void *data, size_t size);
uint32_t intern_text(intern *n, const char *text);
/* The bytes of a number; valid until the next intern call. NULL and 0 for number 0 or an unknown one. Texts
   end with a NUL, which size does not count. */
const void *intern_get(const intern *n, uint32_t id, size_t *size);

/* Whether the text is the one the number stands for; NULL is that of number 0. */
bool intern_is(const intern *n, uint32_t id, const char *text);

#endif
