/* SPDX-License-Identifier: MIT */
/*
 * rules.c - see rules.h and rule.h: the ordered list and its answers. For a code address the list is gone
 * through once. Rules that look at the call itself (entry, size, depth) and match so far are written down, in
 * order, as a list of indices that ends with LIST_END; equal lists are kept once, and a verdict names the
 * place of its list. The first rule without such conditions ends the search.
 *
 * Invariants: (1) lists only grow, and a verdict is made after its list, so reading needs no lock;
 * (2) the place 0 of `lists` is not used: 0 means no list; (3) ids[i] belongs to list[i].
 * Locking: built at boot by one thread; rules_verdict under the resolve lock; rules_decide needs none.
 * Cost: a verdict some us for a hundred rules, once an address; a decision a few ns a conditional rule.
 */
#include "glob.h"
#include "os.h"
#include "rule.h"

#include <string.h>

enum { LIST_END = 0xffff, LISTS_WORDS = 32768, LIST_MOST = 64 };

static const rule **list;         /* RULES_MAX places, mapped when the first rule comes */
static int16_t *ids;              /* pool of each, or RULE_NO_POOL */
static const char **asked_module; /* by rule: the module last compared with its pattern, and the answer */
static bool *module_fits;
static unsigned count;
ROOMY static uint16_t lists[LISTS_WORDS];
static uint32_t lists_used = 1;

bool rules_add(const rule *r)
{
    if (!list) {
        char *memory = os_map(RULES_MAX * (sizeof *list + sizeof *asked_module + sizeof *ids + sizeof(bool)));
        if (!memory)
            return false;
        asked_module = (const char **)(memory + RULES_MAX * sizeof *list);
        ids = (int16_t *)(asked_module + RULES_MAX);
        module_fits = (bool *)(ids + RULES_MAX);
        list = (const rule **)memory;
    }
    if (count == RULES_MAX)
        return false;
    ids[count] = RULE_NO_POOL;
    asked_module[count] = NULL;
    list[count++] = r;
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
    return list[index];
}

void rules_bind(int (*pool_of)(const char *name))
{
    for (unsigned i = 0; i < count; i++) {
        if (i && strcmp(list[i]->pool, list[i - 1]->pool) == 0)
            ids[i] = ids[i - 1];
        else if (strcmp(list[i]->pool, RULE_PASS_NAME) != 0)
            ids[i] = (int16_t)pool_of(list[i]->pool);
    }
}

static bool depends_on_call(const rule *r)
{
    return r->entry != RULE_ANY_ENTRY || r->size_min || r->size_max != SIZE_MAX || r->depth_min ||
           r->depth_max != RULE_ANY_DEPTH;
}

/* Most addresses asked about one after the other are in one module: each rule keeps its last answer. */
static bool fits_module(unsigned i, const char *module)
{
    if (asked_module[i] != module) {
        asked_module[i] = module;
        module_fits[i] = *module && glob_match_path(list[i]->module, module);
    }
    return module_fits[i];
}

/* Whether the conditions on the code address hold; an address range is looked up like a symbol, by the byte
   before the return address. */
static bool fits_frame(unsigned i, const symbol_info *s)
{
    const rule *r = list[i];
    if (r->addr_module && (s->offset <= r->addr_start || s->offset > r->addr_end ||
                           !glob_match_path(r->addr_module, s->module)))
        return false;
    if (r->module && !fits_module(i, s->module))
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
        if (!fits_frame(i, s))
            continue;
        if (!depends_on_call(list[i])) {
            v.pool = ids[i];
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
            if (fits_call(list[*at], entry, size, depth))
                return ids[*at];
    return v.pool;
}

bool rules_by_size(verdict v)
{
    if (v.conditional)
        for (const uint16_t *at = &lists[v.conditional]; *at != LIST_END; at++)
            if (list[*at]->size_min || list[*at]->size_max != SIZE_MAX)
                return true;
    return false;
}
