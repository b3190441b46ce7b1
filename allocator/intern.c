/* SPDX-License-Identifier: MIT */
/*
 * intern.c - see intern.h. Three mappings that double: the strings one behind the other, each with a header;
 * where the string of a number starts; and a hash table of numbers with linear steps, at most half full.
 *
 * A number never changes what it stands for, and nothing is ever taken out. Texts are kept with a NUL behind
 * them because fresh room is zero. When any of the three cannot grow, number 0 is the answer and everything
 * kept so far stays good.
 * Locking: the caller's. Cost: see intern.h; the hash takes about 1 ns a byte.
 */
#include "intern.h"

#include <string.h>

struct header {
    uint32_t size; /* bytes of the string */
    uint32_t hash;
};

static const struct header *header_of(const intern *n, uint32_t id)
{
    return (const struct header *)(const void *)((const char *)n->bytes.at +
                                                 ((const uint32_t *)n->entries.at)[id]);
}

static uint32_t hash_bytes(const unsigned char *data, size_t size)
{
    uint64_t h = 14695981039346656037u;
    for (size_t i = 0; i < size; i++)
        h = (h ^ data[i]) * 1099511628211u;
    return (uint32_t)(h ^ h >> 32);
}

static bool matches(const intern *n, uint32_t id, uint32_t hash, const void *data, size_t size)
{
    const struct header *h = header_of(n, id);
    return h->hash == hash && h->size == size && memcmp(h + 1, data, size) == 0;
}

static size_t table_cells(const intern *n)
{
    return n->table.bytes / sizeof(uint32_t);
}

/* The cell that holds the string's number, or the empty one where it belongs. */
static uint32_t *find_cell(const intern *n, uint32_t hash, const void *data, size_t size)
{
    uint32_t *cells = n->table.at;
    size_t mask = table_cells(n) - 1, at = hash & mask;
    while (cells[at] && !matches(n, cells[at], hash, data, size))
        at = (at + 1) & mask;
    return &cells[at];
}

static COLD bool grow_table(intern *n)
{
    growing more = {0};
    if (!growing_reserve(&more, 0, n->table.bytes ? n->table.bytes * 2 : 1))
        return false;
    growing_done(&n->table);
    n->table = more;
    for (uint32_t id = 1; id <= n->count; id++) {
        const struct header *h = header_of(n, id);
        *find_cell(n, h->hash, h + 1, h->size) = id;
    }
    return true;
}

/* All three before anything is written, so a failure leaves no half entry. */
static bool make_room(intern *n, size_t size)
{
    size_t need = n->used + sizeof(struct header) + size + 1;
    if (need > UINT32_MAX)
        return false;
    if ((n->count + 1) * 2 > table_cells(n) && !grow_table(n))
        return false;
    return growing_reserve(&n->bytes, n->used, need) &&
           growing_reserve(&n->entries, (n->count + 1) * sizeof(uint32_t), (n->count + 2) * sizeof(uint32_t));
}

static uint32_t append(intern *n, uint32_t hash, const void *data, size_t size)
{
    char *at = (char *)n->bytes.at + n->used;
    *(struct header *)(void *)at = (struct header){(uint32_t)size, hash};
    memcpy(at + sizeof(struct header), data, size); /* fresh room is zero: the NUL is there */
    ((uint32_t *)n->entries.at)[++n->count] = (uint32_t)n->used;
    n->used = round_up(n->used + sizeof(struct header) + size + 1, 8);
    return n->count;
}

uint32_t intern_bytes(intern *n, const void *data, size_t size)
{
    uint32_t hash = hash_bytes(data, size);
    uint32_t *cell = n->table.at ? find_cell(n, hash, data, size) : NULL;
    if (cell && *cell)
        return *cell;
    if (!make_room(n, size))
        return 0;
    cell = find_cell(n, hash, data, size);
    return *cell = append(n, hash, data, size);
}

uint32_t intern_text(intern *n, const char *text)
{
    return text ? intern_bytes(n, text, strnlen(text, INTERN_TEXT_MAX)) : 0;
}

bool intern_is(const intern *n, uint32_t id, const char *text)
{
    if (!id || !text)
        return !id && !text;
    return strncmp((const char *)(header_of(n, id) + 1), text, INTERN_TEXT_MAX) == 0;
}

const void *intern_get(const intern *n, uint32_t id, size_t *size)
{
    bool known = id && id <= n->count;
    *size = known ? header_of(n, id)->size : 0;
    return known ? header_of(n, id) + 1 : NULL;
}

void intern_done(intern *n)
{
    growing_done(&n->bytes);
    growing_done(&n->entries);
    growing_done(&n->table);
    memset(n, 0, sizeof *n);
}
