/* SPDX-License-Identifier: MIT */
/*
 * symbol_map.c - see symbol_map.h: reads lines `ADDRESS [SIZE] NAME`, and those of nm and nm -S, which have a
 * letter for the type before the name. Addresses are hexadecimal, as the file is linked. A name with a size
 * covers that many bytes, one without reaches to the next name of the map. Of two names at one address the
 * one that comes first in the file counts. Lines about data, undefined symbols, empty ones and those that
 * start with `#` or `;` are skipped.
 *
 * Invariants: (1) entries are sorted by address, no two are equal; (2) names point into the file's text,
 * which is kept. Locking: boot only. Cost: the file's size plus 24 bytes a name; a search is logarithmic.
 */
#include "complain.h"
#include "glob.h"
#include "keep.h"
#include "os.h"
#include "symbol_map.h"
#include "symbols.h"
#include "textfile.h"

#include <string.h>

enum { MAP_FILE_MOST = 64 << 20, MAP_COMPLAINTS = 10 };

struct entry {
    uint64_t address, size; /* size 0: to the next entry */
    const char *name;
};

struct symbol_map {
    symbol_map *next;
    const char *module; /* pattern */
    struct entry *entries;
    size_t count;
};

static symbol_map *maps; /* in the order of the configuration */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* One word of a line; empty at its end. */
static char *next_word(char **at, size_t *length)
{
    char *p = *at;
    while (is_blank(*p))
        p++;
    char *word = p;
    while (*p && !is_blank(*p))
        p++;
    *at = p;
    *length = (size_t)(p - word);
    return word;
}

/* All of the word, hexadecimal with or without 0x. */
static bool read_hex(const char *word, size_t length, uint64_t *out)
{
    uint64_t v = 0;
    if (length > 2 && word[0] == '0' && (word[1] | 0x20) == 'x') {
        word += 2;
        length -= 2;
    }
    if (!length || length > 16)
        return false;
    for (size_t i = 0; i < length; i++) {
        const char *digits = "0123456789abcdef", *d;
        char c = word[i] >= 'A' && word[i] <= 'F' ? (char)(word[i] | 0x20) : word[i];
        if (!(d = strchr(digits, c)) || !c)
            return false;
        v = v << 4 | (uint64_t)(d - digits);
    }
    *out = v;
    return true;
}

/* nm's letter for the kind of a symbol. */
static bool is_type(const char *word, size_t length)
{
    char c = length == 1 ? (char)(*word | 0x20) : 0;
    return (c >= 'a' && c <= 'z') || (length == 1 && *word == '?');
}

/* Cuts what `nm -C` shows behind a function's name: parameters and a const. */
static void cut_parameters(char *name)
{
    size_t n = strlen(name);
    if (n > 6 && strcmp(name + n - 6, " const") == 0)
        n -= 6;
    if (!n || name[n - 1] != ')')
        return;
    int depth = 0;
    for (size_t i = n; i-- > 0;) {
        depth += name[i] == ')' ? 1 : name[i] == '(' ? -1 : 0;
        if (!depth) {
            if (i && strcmp(name + (i >= 8 ? i - 8 : 0), "operator") != 0)
                name[i] = 0;
            return;
        }
    }
}

enum line_kind { LINE_ENTRY, LINE_SKIP, LINE_BAD };

/* What follows the address: [SIZE] [TYPE] NAME, where only NAME must be. */
static enum line_kind read_rest(char *p, struct entry *e)
{
    char *rest = p, *word, type = 'T';
    size_t length;
    uint64_t size;
    word = next_word(&p, &length);
    if (length > 1 && read_hex(word, length, &size) && p[strspn(p, " \t\r")]) {
        e->size = size;
        rest = p;
        word = next_word(&p, &length);
    }
    if (is_type(word, length) && p[strspn(p, " \t\r")]) {
        type = *word;
        rest = p;
    }
    while (is_blank(*rest))
        rest++;
    for (size_t n = strlen(rest); n && is_blank(rest[n - 1]);)
        rest[--n] = 0;
    if (!*rest)
        return LINE_BAD;
    if (!strchr("TtWwi", type))
        return LINE_SKIP;
    cut_parameters(rest);
    e->name = rest;
    return LINE_ENTRY;
}

static enum line_kind read_line(char *line, struct entry *e)
{
    size_t length;
    char *p = line, *word = next_word(&p, &length);
    *e = (struct entry){0};
    if (!length || *word == '#' || *word == ';' || (is_type(word, length) && strchr("UwvV", *word)))
        return LINE_SKIP;
    return read_hex(word, length, &e->address) ? read_rest(p, e) : LINE_BAD;
}

/* How many entries there can be. */
static size_t count_lines(const char *text, size_t size)
{
    size_t n = 1;
    for (size_t i = 0; i < size; i++)
        n += text[i] == '\n';
    return n;
}

/* Fills m->entries; returns how many lines were bad. */
static unsigned read_lines(symbol_map *m, const char *file, textfile *t)
{
    unsigned line = 1, bad = 0;
    for (char *p = t->text, *end = p + t->size; p < end; line++) {
        char *stop = memchr(p, '\n', (size_t)(end - p));
        if (!stop)
            stop = end;
        *stop = 0;
        enum line_kind kind = read_line(p, &m->entries[m->count]);
        m->count += kind == LINE_ENTRY;
        if (kind == LINE_BAD && bad++ < MAP_COMPLAINTS)
            complain(file, line, "not a symbol: '%.60s', expected ADDRESS [SIZE] NAME in hexadecimal", p);
        p = stop + 1;
    }
    return bad;
}

static void sift(struct entry *a, size_t root, size_t n)
{
    for (size_t child; (child = 2 * root + 1) < n; root = child) {
        struct entry *l = &a[child];
        if (child + 1 < n &&
            (l[0].address < l[1].address || (l[0].address == l[1].address && l[0].name < l[1].name)))
            child++;
        l = &a[child];
        if (a[root].address > l->address || (a[root].address == l->address && a[root].name >= l->name))
            return;
        struct entry e = a[root];
        a[root] = *l;
        *l = e;
    }
}

/* Heap sort by address, then by place in the file (names point into it); the C library's might allocate. */
static void sort(struct entry *a, size_t n)
{
    for (size_t i = n / 2; i-- > 0;)
        sift(a, i, n);
    for (size_t i = n; i-- > 1;) {
        struct entry e = a[0];
        a[0] = a[i];
        a[i] = e;
        sift(a, 0, i);
    }
}

/* Of equal addresses the first stays. */
static size_t drop_equal(struct entry *a, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (!kept || a[kept - 1].address != a[i].address)
            a[kept++] = a[i];
    return kept;
}

/* At the end: the first map of a module counts. */
static void append(symbol_map *m)
{
    symbol_map **end = &maps;
    while (*end)
        end = &(*end)->next;
    *end = m;
}

static bool add_text(const char *module, const char *file, textfile *t)
{
    symbol_map *m = keep_bytes(sizeof *m);
    if (memchr(t->text, 0, t->size))
        return complain(file, 0, "holds a NUL byte, expected lines ADDRESS [SIZE] NAME"), false;
    if (m)
        m->entries = os_map(count_lines(t->text, t->size) * sizeof *m->entries);
    if (!m || !m->entries)
        return complain(file, 0, "no memory for its symbols"), false;
    m->module = keep_text(module, strlen(module));
    if (read_lines(m, file, t))
        return false;
    sort(m->entries, m->count);
    m->count = drop_equal(m->entries, m->count);
    append(m);
    return true;
}

bool symbols_add_map(const char *module_glob, const char *file, const char *where)
{
    textfile t;
    int error = textfile_read(file, MAP_FILE_MOST, &t);
    if (error)
        return complain(where, 0, "symbol map %s: %s, expected a file of lines ADDRESS [SIZE] NAME", file,
                        textfile_error(error)),
               false;
    return add_text(module_glob, file, &t);
}

const symbol_map *symbol_map_for(const char *module_path)
{
    const symbol_map *m = maps;
    while (m && !glob_match_path(m->module, module_path))
        m = m->next;
    return m;
}

const char *symbol_map_find(const symbol_map *m, uint64_t address, uint64_t *start)
{
    size_t low = 0, high = m->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (m->entries[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low)
        return NULL;
    const struct entry *e = &m->entries[low - 1];
    if (e->size && address - e->address >= e->size)
        return NULL;
    *start = e->address;
    return e->name;
}

void symbol_maps_clear(void)
{
    maps = NULL;
}
