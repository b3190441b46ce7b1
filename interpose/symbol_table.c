/* SPDX-License-Identifier: MIT */
/*
 * symbol_table.c - see symbol_table.h. A symbol covers an address when the address lies within its size: the
 * nearest one below proves nothing, for code without symbols lies between. The one exception is a symbol of
 * size 0 in a file's symbol table, as assembler code has them: it reaches to the next symbol of its section.
 *
 * Of several that cover, the innermost counts (highest start). Of aliases at one address: global and weak
 * before local; fewer leading underscores, since rules are written with public names; global before weak;
 * alphabetical order.
 *
 * Invariants: (1) places are sorted by start; (2) no symbol that covers an address starts more than `back`
 * places before the last one that starts at or below it.
 * Locking: the caller's. Cost: radix sort once, 8 bytes a function; a search is logarithmic plus `back`.
 */
#include "symbol_table.h"
#include "os.h"

#include <string.h>

enum { RADIX_BITS = 11, RADIX = 1 << RADIX_BITS };

struct place {
    uint32_t start; /* bytes above the table's low */
    uint32_t index; /* of the symbol */
};

static unsigned type_of(const ElfW(Sym) * s)
{
    return s->st_info & 0xf;
}

static bool is_defined(const ElfW(Sym) * s)
{
    return s->st_name && s->st_shndx != SHN_UNDEF && s->st_shndx < SHN_LORESERVE;
}

static bool is_function(const ElfW(Sym) * s)
{
    return s->st_size && (type_of(s) == STT_FUNC || type_of(s) == STT_GNU_IFUNC) && is_defined(s);
}

/* Assembler's: size 0, in a section with code. */
static bool is_label(const elf_symbols *e, const ElfW(Sym) * s)
{
    return e->sections && !s->st_size && is_defined(s) && s->st_shndx < e->section_count &&
           (type_of(s) == STT_FUNC || type_of(s) == STT_NOTYPE) &&
           (e->sections[s->st_shndx].sh_flags & SHF_EXECINSTR);
}

/* Finds the lowest function and counts them. */
static uint32_t survey(symbol_table *t)
{
    uint32_t n = 0;
    t->low = UINT64_MAX;
    for (uint32_t i = 0; i < t->from.count; i++) {
        const ElfW(Sym) *s = &t->from.symbols[i];
        if (!is_function(s) && !is_label(&t->from, s))
            continue;
        n++;
        if (s->st_value < t->low)
            t->low = s->st_value;
    }
    return n;
}

/* Functions beyond 4 GiB of the lowest have no place here; no object is that large. */
static void collect(symbol_table *t, uint32_t most)
{
    for (uint32_t i = 0; i < t->from.count && t->count < most; i++) {
        const ElfW(Sym) *s = &t->from.symbols[i];
        if ((is_function(s) || is_label(&t->from, s)) && s->st_value >= t->low &&
            s->st_value - t->low <= UINT32_MAX)
            t->places[t->count++] = (struct place){(uint32_t)(s->st_value - t->low), i};
    }
}

/* Stable, by eleven bits of the start. */
static void sort_pass(const struct place *from, struct place *to, uint32_t n, unsigned shift)
{
    uint32_t at[RADIX] = {0}, sum = 0;
    for (uint32_t i = 0; i < n; i++)
        at[from[i].start >> shift & (RADIX - 1)]++;
    for (uint32_t d = 0; d < RADIX; d++) {
        uint32_t here = at[d];
        at[d] = sum;
        sum += here;
    }
    for (uint32_t i = 0; i < n; i++)
        to[at[from[i].start >> shift & (RADIX - 1)]++] = from[i];
}

static bool sort(symbol_table *t)
{
    size_t size = t->count * sizeof(struct place);
    struct place *other = os_map(size), *from = t->places;
    if (!other)
        return false;
    for (unsigned shift = 0; shift < 32; shift += RADIX_BITS) {
        sort_pass(from, other, t->count, shift);
        struct place *swap = from;
        from = other;
        other = swap;
    }
    t->places = from; /* three passes: this is the other mapping */
    os_unmap(other, size);
    return true;
}

static const ElfW(Sym) * symbol_at(const symbol_table *t, uint32_t i)
{
    return &t->from.symbols[t->places[i].index];
}

static bool covers(const ElfW(Sym) * s, uint64_t address)
{
    return address >= s->st_value && address - s->st_value < s->st_size;
}

/* The first place whose symbol still covers a given start only ever moves up. */
static void measure_back(symbol_table *t)
{
    uint32_t first = 0;
    for (uint32_t i = 0; i < t->count; i++) {
        uint64_t start = t->low + t->places[i].start;
        while (first < i && !covers(symbol_at(t, first), start))
            first++;
        if (i - first > t->back)
            t->back = i - first;
    }
}

bool symbol_table_make(symbol_table *t)
{
    uint32_t n = survey(t);
    t->places = n ? os_map(n * sizeof *t->places) : NULL;
    if (!t->places)
        return false;
    collect(t, n);
    if (!sort(t)) {
        symbol_table_drop(t);
        return false;
    }
    measure_back(t);
    return true;
}

void symbol_table_drop(symbol_table *t)
{
    if (t->places)
        os_unmap(t->places, t->count * sizeof *t->places);
    elf_release(&t->from);
    *t = (symbol_table){0};
}

/* How many places start at or below an address. */
static uint32_t places_below(const symbol_table *t, uint64_t address)
{
    uint32_t low = 0, high = t->count;
    if (address < t->low)
        return 0;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (t->places[middle].start <= address - t->low)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int binding_rank(const ElfW(Sym) * s)
{
    unsigned binding = s->st_info >> 4;
    return binding == STB_GLOBAL ? 2 : binding == STB_LOCAL ? 0 : 1;
}

/* Whether alias a is the better name than b. */
static bool better(const symbol_table *t, const ElfW(Sym) * a, const ElfW(Sym) * b)
{
    if (!b)
        return true;
    if (a->st_value != b->st_value)
        return a->st_value > b->st_value;
    int rank_a = binding_rank(a), rank_b = binding_rank(b);
    if (!rank_a != !rank_b)
        return rank_a > rank_b;
    const char *name_a = elf_string(&t->from, a->st_name), *name_b = elf_string(&t->from, b->st_name);
    size_t bars_a = strspn(name_a, "_"), bars_b = strspn(name_b, "_");
    if (bars_a != bars_b)
        return bars_a < bars_b;
    return rank_a != rank_b ? rank_a > rank_b : strcmp(name_a, name_b) < 0;
}

/* The label just below, when nothing with a size stands there and its section reaches so far. */
static const ElfW(Sym) * find_label(const symbol_table *t, uint32_t below, uint64_t address)
{
    const ElfW(Sym) *best = NULL;
    for (uint32_t i = below; i-- > 0;) {
        const ElfW(Sym) *s = symbol_at(t, i);
        if (t->places[i].start != t->places[below - 1].start)
            break;
        if (s->st_size || !t->from.sections)
            return NULL;
        const ElfW(Shdr) *section = &t->from.sections[s->st_shndx];
        if (address >= section->sh_addr && address - section->sh_addr < section->sh_size &&
            better(t, s, best))
            best = s;
    }
    return best;
}

const ElfW(Sym) * symbol_table_find(const symbol_table *t, uint64_t address)
{
    const ElfW(Sym) *best = NULL;
    uint32_t below = places_below(t, address);
    for (uint32_t i = below; i-- > 0 && below - i <= t->back + 1;) {
        const ElfW(Sym) *s = symbol_at(t, i);
        if (covers(s, address) && better(t, s, best))
            best = s;
    }
    return best ? best : find_label(t, below, address);
}
