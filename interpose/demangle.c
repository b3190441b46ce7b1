/* SPDX-License-Identifier: MIT */
/*
 * demangle.c - see demangle.h. The work is done by libiberty's demangler, which needs no malloc but much
 * stack: it runs on a stack of its own. Names are bounded: output stops the demangler at NAME_MOST bytes,
 * because substitutions can make a short name expand without end; a mangled name beyond MANGLED_MOST, whose
 * stack need would not be bounded, gets the scopes before its first template arguments
 * (`std::_Rb_tree<...>`).
 *
 * Invariant: every text in `texts` is complete and never changes.
 * Locking: the resolve lock, because of the one stack and the table. Cost: some us a name, once.
 */
#include "demangle.h"
#include "keep.h"
#include "onstack.h"
#include "os.h"

#include <string.h>

/* From libiberty; its header brings macros that clash with the standard's. */
int cplus_demangle_v3_callback(const char *mangled, int options,
                               void (*piece)(const char *text, size_t length, void *arg), void *arg);

enum {
    NAME_MOST = 1024,
    MANGLED_MOST = 1500,
    PLAIN_MOST = 300, /* what a stack of 128 KiB is enough for (measured on the worst nestings) */
    NO_RECURSE_LIMIT = 1 << 18,
    TEXT_BUCKETS = 1024
};

static char *stack_top; /* end of the demangler's own stack, NULL none yet */

struct demangling {
    const char *raw;
    char *out;
    size_t cap, length; /* bytes; length excludes the NUL */
    bool ok;
    void *full[5]; /* where to go when out is full */
};

static void take_piece(const char *text, size_t length, void *arg)
{
    struct demangling *d = arg;
    size_t room = d->cap - 1 - d->length;
    size_t n = length < room ? length : room;
    memcpy(d->out + d->length, text, n);
    d->length += n;
    if (n < length) /* the demangler holds nothing but stack, so it may be left like this */
        __builtin_longjmp(d->full, 1);
}

static NOINLINE void run(void *arg)
{
    struct demangling *d = arg;
    if (__builtin_setjmp(d->full) == 0)
        d->ok = cplus_demangle_v3_callback(d->raw, NO_RECURSE_LIMIT, take_piece, d) != 0;
    else
        d->ok = true;
}

static char *own_stack(void)
{
    const size_t size = MIB(2);
    if (!stack_top) {
        char *low = os_reserve(size, OS_PAGE); /* the lowest pages stay without access */
        if (low && os_commit(low + 4 * OS_PAGE, size - 4 * OS_PAGE))
            stack_top = low + size;
    }
    return stack_top;
}

static bool demangle_whole(const char *raw, size_t length, char *out, size_t cap)
{
    struct demangling d = {.raw = raw, .out = out, .cap = cap};
    char *top = length <= MANGLED_MOST ? own_stack() : NULL;
    if (top)
        onstack_call(run, &d, top);
    else if (length <= PLAIN_MOST)
        run(&d);
    out[d.length] = 0;
    return d.ok && d.length;
}

/* Appends; false when it did not fit. */
static bool append(char *out, size_t cap, size_t *n, const char *text, size_t length)
{
    if (*n + length >= cap)
        return false;
    memcpy(out + *n, text, length);
    *n += length;
    out[*n] = 0;
    return true;
}

static bool append_part(char *out, size_t cap, size_t *n, const char *text, size_t length)
{
    return (!*n || append(out, cap, n, "::", 2)) && append(out, cap, n, text, length);
}

/* One `<length><identifier>` of a mangled name; returns what follows, NULL when there is none. */
static const char *source_name(const char *p, const char **text, size_t *length)
{
    size_t n = 0;
    if (*p < '1' || *p > '9')
        return NULL;
    for (; *p >= '0' && *p <= '9'; p++)
        if ((n = n * 10 + (size_t)(*p - '0')) > 4096)
            return NULL;
    if (strnlen(p, n) < n)
        return NULL;
    *text = p;
    *length = n;
    return p + n;
}

/* The scopes of a mangled name up to its first template arguments, for names too long to demangle. */
static bool demangle_scopes(const char *raw, char *out, size_t cap)
{
    const char *text, *next, *p = raw + 2;
    size_t length, n = 0;
    *out = 0;
    p += *p == 'N';
    p += strspn(p, "rVKRO"); /* qualifiers of a member function */
    if (strncmp(p, "St", 2) == 0) {
        append_part(out, cap, &n, "std", 3);
        p += 2;
    }
    while ((next = source_name(p, &text, &length))) {
        if (!append_part(out, cap, &n, text, length))
            return n > 0;
        p = next;
    }
    if (n && *p == 'I')
        append(out, cap, &n, "<...>", 5);
    return n > 0;
}

/* Length of a plain name without `@VERSION` and the suffixes of cloned functions. */
static size_t plain_length(const char *raw)
{
    static const char *const clones[] = {".part.", ".constprop.", ".isra.", ".cold", ".lto_priv.", ".llvm."};
    size_t n = strcspn(raw, "@");
    for (size_t i = 0; i < sizeof clones / sizeof *clones; i++) {
        const char *at = strstr(raw, clones[i]);
        if (at && at > raw && (size_t)(at - raw) < n)
            n = (size_t)(at - raw);
    }
    return n ? n : strlen(raw);
}

void demangle_name(const char *raw, char *out, size_t cap)
{
    if (raw[0] == '_' && raw[1] == 'Z') {
        size_t length = strnlen(raw, MANGLED_MOST + 1);
        if (demangle_whole(raw, length, out, cap) || (length > PLAIN_MOST && demangle_scopes(raw, out, cap)))
            return;
    }
    size_t n = plain_length(raw);
    if (n >= cap)
        n = cap - 1;
    memcpy(out, raw, n);
    out[n] = 0;
}

struct text {
    struct text *next;
    uint32_t hash;
    symbol_text names;
};

static uint32_t text_hash(const char *s)
{
    uint32_t h = 2166136261u;
    for (; *s; s++)
        h = (h ^ (uint8_t)*s) * 16777619u;
    return h;
}

static symbol_text text_make(const char *raw)
{
    char name[NAME_MOST];
    symbol_text t = {.raw = keep_text(raw, strlen(raw))};
    demangle_name(raw, name, sizeof name);
    t.name = strcmp(name, raw) ? keep_text(name, strlen(name)) : t.raw;
    return t;
}

symbol_text symbol_text_keep(const char *raw)
{
    ROOMY static struct text *texts[TEXT_BUCKETS];
    uint32_t hash = text_hash(raw);
    struct text **bucket = &texts[hash % TEXT_BUCKETS];
    for (struct text *t = *bucket; t; t = t->next)
        if (t->hash == hash && strcmp(t->names.raw, raw) == 0)
            return t->names;
    symbol_text names = text_make(raw);
    struct text *t = keep_bytes(sizeof *t);
    if (t && *names.raw) {
        *t = (struct text){*bucket, hash, names};
        *bucket = t;
    }
    return names;
}
