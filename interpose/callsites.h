/* SPDX-License-Identifier: MIT */
/*
 * callsites.h - floor F4: the call-sites that one thread has met, and its tag for each: by the stack that led
 * there, and by the published site, so that a tag is made once for each site whatever objects come and go.
 * Invariant: at any point a longjmp may leave a call; what is found afterwards is whole or not there. Tags
 * are never freed. Locking: none, the thread's own.
 */
#ifndef POOLMEM_CALLSITES_H
#define POOLMEM_CALLSITES_H

#include "unwind.h"

enum { CALLSITE_FRAMES = 8 }; /* inner frames that name a site */

typedef struct callsites {
    struct known_site *cells;
    uint32_t mask, count; /* cells - 1; those in use */
    tag *tags;            /* free ones: */
    uint32_t tags_left;
} callsites;

/* The tag for a walked stack in a pool, which `claimer`, a frame further out than was walked, may have chosen
   (0: none did). Never NULL: the pool's base tag where there is no memory. */
const tag *callsites_tag(callsites *s, thread *t, const walk *w, uint32_t pool, uintptr_t claimer);
/* The same, to be found again under a key of the caller's. */
const tag *callsites_tag_as(callsites *s, thread *t, const walk *w, uint32_t pool, uintptr_t claimer,
                            uint64_t key);
/* What is kept under a key; NULL: nothing. */
const tag *callsites_known(const callsites *s, uint64_t key);
/* The key of a call whose inner frames are `inner`'s and whose outer ones a rule claims. */
uint64_t callsites_outer_key(const tag *inner, uint32_t pool, uintptr_t claimer);
/* Forgets what was told by code addresses. */
void callsites_clear(callsites *s);

#endif
