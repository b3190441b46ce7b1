/* SPDX-License-Identifier: MIT */
/*
 * rule.h - floor F4: what one rule is, how its line is read, and how the ordered list is built at boot.
 * Locking: none; one thread builds the list before it is used.
 * Read next: rules.h (the questions asked later), rules.c, builtin_rules.c.
 */
#ifndef POOLMEM_RULE_H
#define POOLMEM_RULE_H

#include "entry.h"
#include "rules.h"

#define RULE_PASS_NAME "-" /* in the pool's place: look past this frame */

enum { RULE_ANY_ENTRY = -1, RULE_ANY_DEPTH = 0xffff, RULES_MAX = 8192 };

/* All conditions hold together; one that is not given holds always. */
typedef struct rule {
    const char *pool;              /* name, or RULE_PASS_NAME */
    const char *module, *symbol;   /* patterns, NULL any */
    const char *addr_module;       /* pattern, NULL any address */
    uint64_t addr_start, addr_end; /* link-time addresses, end excluded */
    size_t size_min, size_max;     /* bytes asked for, both included; 0..SIZE_MAX any */
    uint16_t depth_min, depth_max; /* frames outwards, both included; 0..RULE_ANY_DEPTH any */
    int16_t entry;                 /* entry_id or RULE_ANY_ENTRY */
    unsigned line;                 /* in its file, for messages; 0 built in */
} rule;

#define RULE_ANY_BUT_DEPTH .size_max = SIZE_MAX, .entry = RULE_ANY_ENTRY
#define RULE_ANY           RULE_ANY_BUT_DEPTH, .depth_max = RULE_ANY_DEPTH

/* Reads the conditions of a line (what stands after `POOL =`); `pool` is copied. False: `why` says what is
   wrong and what was expected. */
bool rule_parse(const char *pool, const char *conditions, rule *out, char *why, size_t why_cap);
/* A copy that is kept; NULL: no memory. */
rule *rule_keep(const rule *r);
/* Writes the rule as its line in a file. */
void rule_format(const rule *r, char *out, size_t cap);
/* A number of bytes with an optional K, M or G (of 1024). False: it is none. */
bool rule_bytes(const char *text, const char *end, uint64_t *out);

/* The list. An added rule must stay alive; false: there are RULES_MAX already. */
bool rules_add(const rule *r);
void rules_add_builtin(void);
void rules_clear(void);
unsigned rules_count(void);
const rule *rules_get(unsigned index);
/* Gives every rule the id of its pool; `pool_of` returns -1 for a pool that cannot be had (the rule then
   names none). Verdicts may be asked for afterwards. */
void rules_bind(int (*pool_of)(const char *name));
/* Tells the rules of a file that have matched no frame of any caller so far. */
void rules_unmatched(void (*tell)(const rule *r));

/* builtin_rules.c */
extern const rule builtin_rules[];
extern const unsigned builtin_rules_count;
extern const char *const builtin_pools[]; /* children of Global, NULL at the end */

#endif
