/* SPDX-License-Identifier: MIT */
/*
 * aside.h - floor F4: standing down. Another malloc comes before ours, the program's own or another preloaded
 * allocator's, and its calls never arrive here. What it does not define still does (reallocarray, the aligned
 * family, malloc_usable_size, delete), with blocks of its making: that is handed on to whoever would have
 * been called without us. What it does define and calls in us as "the next one" is served from our heap, as
 * libc would. Locking: set once, by boot. Cost: a test in cold paths.
 */
#ifndef POOLMEM_ASIDE_H
#define POOLMEM_ASIDE_H

#include "base.h"

typedef struct aside {
    void *(*reallocarray)(void *, size_t, size_t);
    void *(*memalign)(size_t, size_t);
    size_t (*malloc_usable_size)(void *);
    void (*free)(void *); /* for what comes to delete */
} aside;

extern HIDDEN aside aside_now; /* all NULL while we serve */

/* Who serves malloc when it is not us: "the program" or "another library"; NULL: calls arrive here. */
const char *aside_other(void);
void aside_stand(void);

#endif
