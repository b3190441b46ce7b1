/* SPDX-License-Identifier: MIT */
/*
 * rules.c - see rules.h and rule.h: the ordered list and its answers. For a code address the list is gone
 * through once. Rules that look at the call itself (entry, size, depth) and match so far are written down, in
 * order, as a list of indices that ends with LIST_END; equal lists are kept once, and a verdict names the
 * place of its list. The first rule without such conditions ends the search.
 *
 * Invariants: (1) lists only grow, and a verdict is made after its list, so reading needs no lock;
 * (2) the place 0 of `lists` is not used: 0 means no list.
 * Locking: built at boot by one thread; rules_verdict under the resolve lock; rules_decide needs none.
 * Cost: a verdict some us for a hundred rules, once an address; a decision a few ns a conditional rule.
 */
#include "glob.h"
#include "os.h"
#include "rule.h"

#include <string.h>

enum { LIST_END = 0xffff, LISTS_WORDS = 32768, LIST_MOST = 64 };

typedef struct listed {
    const rule *rule;
    const char *asked_module; /* the module last compared with its pattern, and the answer */
    int16_t id;               /* of its pool, or RULE_NO_POOL */
    bool fits_module;
    bool matched; /* some frame */
} listed;

static listed *list; /* RULES_MAX places, mapped when the first rule comes */
static unsigned count;
ROOMY static uint16_t lists[LISTS_WORDS];
static uint32_t lists_used = 1;

bool rules_add(const rule *r)
{
    if (!list && !(list = os_map(RULES_MAX * sizeof *list)))
        return false;
    if (count == RULES_MAX)
        return false;
    list[count++] = (listed){.rule = r, .id = RULE_NO_POOL};
    return true;
}

void rules_add_builtin(void)
{
    for (unsigned i = 0; i < builtin_rules_count; i++)
        rules_add(&builtin_rules[i]);
}

void rules_clear(void)
{
    count = 0;
    lists_used = 1;
}

unsigned rules_count(void)
{
    return count;
}

const rule *rules_get(unsigned index)
{
    return list[index].rule;
}

void rules_bind(int (*pool_of)(const char *name))
{
    for (unsigned i = 0; i < count; i++) {
        const char *pool = list[i].rule->pool;
        if (i && strcmp(pool, list[i - 1].rule->pool) == 0)
            list[i].id = list[i - 1].id;
        else if (strcmp(pool, RULE_PASS_NAME) != 0)
            list[i].id = (int16_t)pool_of(pool);
    }
}

void rules_unmatched(void (*tell)(const rule *r))
{
    for (unsigned i = 0; i < count; i++)
        if (list[i].rule->line && !list[i].matched)
            tell(list[i].rule);
}

static bool depends_on_call(const rule *r)
{
    return r->entry != RULE_ANY_ENTRY || r->size_min || r->size_max != SIZE_MAX || r->depth_min ||
           r->depth_max != RULE_ANY_DEPTH;
}

/* Most addresses asked about one after the other are in one module: each rule keeps its last answer. */
static bool fits_module(listed *l, const char *module)
{
    if (l->asked_module != module) {
        l->asked_module = module;
        l->fits_module = *module && glob_match_path(l->rule->module, module);
    }
    return l->fits_module;
}

/* Whether the conditions on the code address hold; an address range is looked up like a symbol, by the byte
   before the return address. */
static bool fits_frame(listed *l, const symbol_info *s)
{
    const rule *r = l->rule;
    if (r->addr_module && (s->offset <= r->addr_start || s->offset > r->addr_end ||
                           !glob_match_path(r->addr_module, s->module)))
        return false;
    if (r->module && !fits_module(l, s->module))
        return false;
    return !r->symbol || (s->name && glob_match(r->symbol, s->name));
}

static bool fits_call(const rule *r, entry_id entry, size_t size, unsigned depth)
{
    return (r->entry == RULE_ANY_ENTRY || r->entry == (int)entry) && size >= r->size_min &&
           size <= r->size_max && depth >= r->depth_min && depth <= r->depth_max;
}

/* The place of a list that equals this one (n indices and LIST_END), made when there is none yet; 0 when
   there is no room. */
static uint16_t list_place(const uint16_t *want, uint32_t n)
{
    for (uint32_t at = 1; at < lists_used;) {
        uint32_t length = 1;
        while (lists[at + length - 1] != LIST_END)
            length++;
        if (length == n && memcmp(&lists[at], want, n * sizeof *want) == 0)
            return (uint16_t)at;
        at += length;
    }
    if (lists_used + n > LISTS_WORDS)
        return 0;
    memcpy(&lists[lists_used], want, n * sizeof *want);
    lists_used += n;
    return (uint16_t)(lists_used - n);
}

verdict rules_verdict(const symbol_info *s)
{
    verdict v = {RULE_NO_POOL, 0};
    uint16_t conditional[LIST_MOST + 1];
    uint32_t n = 0;
    for (unsigned i = 0; i < count; i++) {
        if (!fits_frame(&list[i], s))
            continue;
        list[i].matched = true;
        if (!depends_on_call(list[i].rule)) {
            v.pool = list[i].id;
            break;
        }
        if (n < LIST_MOST)
            conditional[n++] = (uint16_t)i;
    }
    if (n) {
        conditional[n++] = LIST_END;
        v.conditional = list_place(conditional, n);
    }
    return v;
}

int rules_decide(verdict v, entry_id entry, size_t size, unsigned depth)
{
    if (v.conditional)
        for (const uint16_t *at = &lists[v.conditional]; *at != LIST_END; at++)
            if (fits_call(list[*at].rule, entry, size, depth))
                return list[*at].id;
    return v.pool;
}

bool rules_by_size(verdict v)
{
    if (v.conditional)
        for (const uint16_t *at = &lists[v.conditional]; *at != LIST_END; at++)
            if (list[*at].rule->size_min || list[*at].rule->size_max != SIZE_MAX)
                return true;
    return false;
}
