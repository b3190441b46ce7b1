/* SPDX-License-Identifier: MIT */
/*
 * rules.h - floor F4: ordered rules that name a pool for a frame. A frame's module and symbol are matched
 * once per code address (rules_verdict); what depends on the call itself (entry, size, depth of the frame) is
 * decided at each walk (rules_decide). Among rules that match one frame the first wins; the walk takes the
 * innermost frame for which rules_decide names a pool.
 * Locking: rules are written once at boot, then constant. rules_verdict: resolve lock held.
 */
#ifndef POOLMEM_RULES_H
#define POOLMEM_RULES_H

#include "entry.h"
#include "symbols.h"

enum { RULE_NO_POOL = -1 };

/* What the rules say about one code address. */
typedef struct verdict {
    int16_t pool;         /* first unconditional match, or RULE_NO_POOL */
    uint16_t conditional; /* 0: no rule with entry:, size: or depth: before it; else a list of rules.c */
} verdict;

verdict rules_verdict(const symbol_info *s);

/* The pool for a frame in this call, or RULE_NO_POOL. `depth` counts frames outwards: 0 is the one that
   called the allocating function. Async-signal-safe. */
int rules_decide(verdict v, entry_id entry, size_t size, unsigned depth);

/* Whether the decision for this verdict depends on the size (then the caller does not memoise it). */
bool rules_by_size(verdict v);

#endif
