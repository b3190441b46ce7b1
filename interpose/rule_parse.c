/* SPDX-License-Identifier: MIT */
/*
 * rule_parse.c - see rule.h: reads `module:GLOB symbol:GLOB entry:NAME size:MIN-MAX depth:MIN-MAX
 * addr:MODULE+START-END` and writes it. Conditions are separated by blanks; double quotes anywhere in one
 * keep blanks together and are dropped. A condition may be given once. Locking: none. Cost: boot only.
 */
#include "fmt.h"
#include "glob.h"
#include "keep.h"
#include "rule.h"

#include <string.h>

enum { WORD_MOST = 1024 };

/* Where the fault is described; `wrong` fills it and is false. */
struct reason {
    char *text;
    size_t cap;
};

#define wrong(why, ...) (fmt_text((why)->text, (why)->cap, __VA_ARGS__), false)

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* The value of a digit in any base up to 16; 99 fits none. */
static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

/* All of [p, end) as a number; false: empty, another character, or too large. */
static bool read_number(const char *p, const char *end, int base, uint64_t *out)
{
    uint64_t v = 0;
    if (p == end)
        return false;
    for (; p < end; p++) {
        int d = digit_of(*p);
        if (d >= base || __builtin_mul_overflow(v, (uint64_t)base, &v) ||
            __builtin_add_overflow(v, (uint64_t)d, &v))
            return false;
    }
    *out = v;
    return true;
}

bool rule_bytes(const char *text, const char *end, uint64_t *out)
{
    static const char units[] = "KMG";
    uint64_t v, unit = 1;
    if (text < end) {
        const char *u = strchr(units, end[-1] & ~0x20);
        if (u && *u) {
            unit = (uint64_t)1 << (10 * (u - units + 1));
            end--;
        }
    }
    return read_number(text, end, 10, &v) && !__builtin_mul_overflow(v, unit, out);
}

/* Hexadecimal with or without 0x. */
static bool read_hex(const char *p, const char *end, uint64_t *out)
{
    if (end - p > 2 && p[0] == '0' && (p[1] | 0x20) == 'x')
        p += 2;
    return read_number(p, end, 16, out);
}

/* MIN-MAX, MIN-, -MAX or one number. */
static bool read_range(const char *text, uint64_t most, uint64_t *min, uint64_t *max)
{
    const char *end = text + strlen(text), *dash = strchr(text, '-');
    *min = 0;
    *max = most;
    if (!dash) {
        if (!rule_bytes(text, end, min))
            return false;
        *max = *min;
    } else if (end - text == 1 || (dash > text && !rule_bytes(text, dash, min)) ||
               (dash + 1 < end && !rule_bytes(dash + 1, end, max))) {
        return false;
    }
    return *min <= *max && *max <= most;
}

static bool glob_good(const char *key, const char *pattern, struct reason *why)
{
    const char *open = glob_unclosed(pattern);
    return !open ||
           wrong(why, "%s: set not closed in '%.60s', expected a ] in it, or \\[ for a [", key, open);
}

/* Patterns are kept as they stand; glob.h says what they mean. */
static bool read_glob(const char *key, const char *value, const char **out, struct reason *why)
{
    if (*out)
        return wrong(why, "%s: is given twice, expected it once a line", key);
    if (!*value)
        return wrong(why, "%s: has no pattern, expected %s:GLOB", key, key);
    if (!glob_good(key, value, why))
        return false;
    *out = keep_text(value, strlen(value));
    return true;
}

/* The names reports use, and the other functions that count under them. */
static bool read_entry(const char *value, rule *r, struct reason *why)
{
    static const struct {
        const char *name;
        entry_id entry;
    } others[] = {
        {"reallocarray", ENTRY_REALLOC}, {"aligned_alloc", ENTRY_ALIGNED}, {"posix_memalign", ENTRY_ALIGNED},
        {"valloc", ENTRY_ALIGNED},       {"pvalloc", ENTRY_ALIGNED},       {"new", ENTRY_NEW},
        {"new[]", ENTRY_NEW_ARRAY},
    };
    if (r->entry != RULE_ANY_ENTRY)
        return wrong(why, "entry: is given twice, expected it once a line");
    for (int e = 0; e < ENTRY_COUNT; e++)
        if (strcmp(value, entry_name((entry_id)e)) == 0)
            r->entry = (int16_t)e;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(value, others[i].name) == 0)
            r->entry = (int16_t)others[i].entry;
    if (r->entry == RULE_ANY_ENTRY)
        return wrong(
            why,
            "unknown entry point '%s', expected malloc, calloc, realloc, memalign, \"operator new\", "
            "\"operator new[]\" or poolmem",
            value);
    return true;
}

static bool read_size(const char *value, rule *r, struct reason *why)
{
    uint64_t min, max;
    if (r->size_min || r->size_max != SIZE_MAX)
        return wrong(why, "size: is given twice, expected it once a line");
    if (!read_range(value, SIZE_MAX, &min, &max))
        return wrong(why, "bad size '%s', expected size:MIN-MAX in bytes with MIN not above MAX", value);
    r->size_min = (size_t)min;
    r->size_max = (size_t)max;
    return true;
}

static bool read_depth(const char *value, rule *r, struct reason *why)
{
    uint64_t min, max;
    if (r->depth_min || r->depth_max != RULE_ANY_DEPTH)
        return wrong(why, "depth: is given twice, expected it once a line");
    if (!read_range(value, RULE_ANY_DEPTH, &min, &max))
        return wrong(why, "bad depth '%s', expected depth:MIN-MAX in frames, 0 for the caller itself", value);
    r->depth_min = (uint16_t)min;
    r->depth_max = (uint16_t)max;
    return true;
}

static bool read_addr(const char *value, rule *r, struct reason *why)
{
    const char *plus = strrchr(value, '+'); /* the last: libstdc++ has two of its own */
    const char *dash = plus ? strchr(plus, '-') : NULL;
    if (r->addr_module)
        return wrong(why, "addr: is given twice, expected it once a line");
    if (!dash || plus == value || !read_hex(plus + 1, dash, &r->addr_start) ||
        !read_hex(dash + 1, dash + strlen(dash), &r->addr_end) || r->addr_start >= r->addr_end)
        return wrong(why, "bad range '%s', expected addr:MODULE+START-END, hexadecimal, START below END",
                     value);
    r->addr_module = keep_text(value, (size_t)(plus - value));
    return glob_good("addr", r->addr_module, why);
}

/* One `key:value`; the word is cut at its colon. One that is `not_first` may be the rest of a pattern. */
static bool read_condition(char *word, rule *r, bool not_first, struct reason *why)
{
    char *colon = strchr(word, ':');
    const char *value = colon ? colon + 1 : "";
    if (colon)
        *colon = 0;
    if (colon && strcmp(word, "module") == 0)
        return read_glob(word, value, &r->module, why);
    if (colon && strcmp(word, "symbol") == 0)
        return read_glob(word, value, &r->symbol, why);
    if (colon && strcmp(word, "entry") == 0)
        return read_entry(value, r, why);
    if (colon && strcmp(word, "size") == 0)
        return read_size(value, r, why);
    if (colon && strcmp(word, "depth") == 0)
        return read_depth(value, r, why);
    if (colon && strcmp(word, "addr") == 0)
        return read_addr(value, r, why);
    return wrong(why, "unknown condition '%.60s', expected module: symbol: entry: size: depth: or addr:%s",
                 word, not_first ? " (a pattern with blanks goes in quotes: symbol:\"a b\")" : "");
}

/* Copies the next word without its quotes and steps past it; false and a reason when it is no good. */
static bool next_word(const char **at, char *word, struct reason *why)
{
    bool quoted = false;
    size_t n = 0;
    const char *p = *at;
    for (; *p && (quoted || !is_blank(*p)); p++) {
        if (*p == '"') {
            quoted = !quoted;
            continue;
        }
        if (n + 1 == WORD_MOST)
            return wrong(why, "condition too long, expected at most %d characters", WORD_MOST - 1);
        word[n++] = *p;
    }
    word[n] = 0;
    *at = p;
    return !quoted || wrong(why, "quote not closed, expected another \" in the line");
}

bool rule_parse(const char *pool, const char *conditions, rule *out, char *why_text, size_t why_cap)
{
    struct reason why = {why_text, why_cap};
    char word[WORD_MOST];
    unsigned count = 0;
    *out = (rule){RULE_ANY};
    for (const char *p = conditions;; count++) {
        while (is_blank(*p))
            p++;
        if (!*p)
            break;
        if (!next_word(&p, word, &why) || !read_condition(word, out, count > 0, &why))
            return false;
    }
    if (!count)
        return wrong(&why, "no condition, expected POOL = module:GLOB, symbol:GLOB, ...");
    out->pool = keep_text(pool, strlen(pool));
    return true;
}

rule *rule_keep(const rule *r)
{
    rule *copy = keep_bytes(sizeof *copy);
    if (copy)
        *copy = *r;
    return copy;
}

/* Quotes come back where a blank needs them. */
static void add_text(char *out, size_t cap, const char *key, const char *value)
{
    size_t n = strlen(out);
    bool quote = value && strpbrk(value, " \t");
    if (value)
        fmt_text(out + n, cap - n, quote ? " %s:\"%s\"" : " %s:%s", key, value);
}

/* Nothing when the range is the default one. */
static void add_range(char *out, size_t cap, const char *key, uint64_t min, uint64_t max, uint64_t any)
{
    size_t n = strlen(out);
    if (min == max)
        fmt_text(out + n, cap - n, " %s:%lu", key, (unsigned long)min);
    else if (max == any && min)
        fmt_text(out + n, cap - n, " %s:%lu-", key, (unsigned long)min);
    else if (max != any)
        fmt_text(out + n, cap - n, " %s:%lu-%lu", key, (unsigned long)min, (unsigned long)max);
}

void rule_format(const rule *r, char *out, size_t cap)
{
    fmt_text(out, cap, "%s =", r->pool);
    add_text(out, cap, "module", r->module);
    add_text(out, cap, "symbol", r->symbol);
    add_text(out, cap, "entry", r->entry == RULE_ANY_ENTRY ? NULL : entry_name((entry_id)r->entry));
    add_range(out, cap, "size", r->size_min, r->size_max, SIZE_MAX);
    add_range(out, cap, "depth", r->depth_min, r->depth_max, RULE_ANY_DEPTH);
    size_t n = strlen(out);
    if (r->addr_module)
        fmt_text(out + n, cap - n, " addr:%s+%lx-%lx", r->addr_module, (unsigned long)r->addr_start,
                 (unsigned long)r->addr_end);
}
