/* SPDX-License-Identifier: MIT */
/*
 * misuse.h - floor F4: what the program does wrong with the heap, said in one line with pool and caller.
 */
#ifndef POOLMEM_MISUSE_H
#define POOLMEM_MISUSE_H

#include "caller.h"
#include "pool.h"

void misuse_boot(void);
/* A pointer given to `call` ("free", "realloc", ...) that status `what` was found for. Counts it, says the
   line, aborts when POOLMEM_ABORT asks for it. */
COLD void misuse_report(const char *call, const void *p, pool_status what, caller_frame f);

#endif
