/* SPDX-License-Identifier: MIT */
/*
 * verify.h - floor F4: POOLMEM_VERIFY: libunwind as referee. Every k-th tag that the memo gave is compared
 * with a fresh walk by the table of return addresses, and that walk, frame by frame, with a full one by
 * unw_step. Says one line per difference and counts. For tests: libunwind takes locks, blocks signals and
 * opens a pipe.
 * Locking: the resolve lock. Cost: some 50 us a check. Read next: caller.h.
 */
#ifndef POOLMEM_VERIFY_H
#define POOLMEM_VERIFY_H

#include "unwind.h"

/* Loads libunwind when verifying is asked for; without it nothing is verified, after a warning. */
void verify_boot(void);
/* Whether this tag's turn has come. */
bool verify_due(void);
/* `given` by the memo, `found` by the walk w from f. */
void verify_tag(const tag *given, const tag *found, caller_frame f, const walk *w);

#endif
