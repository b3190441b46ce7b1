/* SPDX-License-Identifier: MIT */
/*
 * logic.c - two-level logic minimisation over covers of cubes, in the manner of `espresso`.
 *
 * A cube holds two bits a variable (bit 0: the variable may be 0, bit 1: it may be 1) and is a block of its
 * own; a cover is a growing array of cubes. The steps are the classic ones: complement by Shannon's
 * recursion, expand each cube against the complement, drop what the rest covers (a tautology test on a
 * cofactor), reduce, repeat. Recursion makes whole covers and drops them again: small blocks, a realloc'd
 * array for each, lives nested like the recursion.
 */
#include "work.h"

#include <string.h>

typedef struct cube {
    unsigned vars;
    uint8_t part[]; /* one pair of bits a variable: 1, 2, or 3 for "either" */
} cube;

typedef struct cover {
    size_t n, room;
    unsigned vars;
    cube **cube;
} cover;

static cube *cube_create(unsigned vars)
{
    cube *c = must_malloc(sizeof *c + vars);
    c->vars = vars;
    memset(c->part, 3, vars);
    return c;
}

static cube *cube_copy(const cube *c)
{
    cube *d = cube_create(c->vars);
    memcpy(d->part, c->part, c->vars);
    return d;
}

static bool cube_contains(const cube *outer, const cube *inner)
{
    for (unsigned i = 0; i < outer->vars; i++)
        if (inner->part[i] & ~outer->part[i])
            return false;
    return true;
}

static bool cube_meets(const cube *a, const cube *b)
{
    for (unsigned i = 0; i < a->vars; i++)
        if (!(a->part[i] & b->part[i]))
            return false;
    return true;
}

static unsigned cube_literals(const cube *c)
{
    unsigned n = 0;
    for (unsigned i = 0; i < c->vars; i++)
        n += c->part[i] != 3;
    return n;
}

static cover *cover_create(unsigned vars)
{
    cover *f = must_malloc(sizeof *f);
    *f = (cover){0, 0, vars, NULL};
    return f;
}

static void cover_destroy(cover *f)
{
    for (size_t i = 0; i < f->n; i++)
        free(f->cube[i]);
    free(f->cube);
    free(f);
}

static void cover_add(cover *f, cube *c)
{
    if (f->n == f->room) {
        f->room = f->room ? f->room * 2 : 4;
        f->cube = must_realloc(f->cube, f->room * sizeof *f->cube);
    }
    f->cube[f->n++] = c;
}

static void cover_drop(cover *f, size_t i)
{
    free(f->cube[i]);
    f->cube[i] = f->cube[--f->n];
}

/* What of f remains inside `c`, as seen from there; cube `skip` is left out (SIZE_MAX: none). */
static cover *cover_cofactor(const cover *f, const cube *c, size_t skip)
{
    cover *g = cover_create(f->vars);
    for (size_t i = 0; i < f->n; i++) {
        if (i == skip || !cube_meets(f->cube[i], c))
            continue;
        cube *d = cube_copy(f->cube[i]);
        for (unsigned v = 0; v < f->vars; v++)
            d->part[v] |= (uint8_t)(~c->part[v] & 3);
        cover_add(g, d);
    }
    return g;
}

/* The variable that most cubes depend on, in both senses if possible; -1 if none does. */
static int cover_split_var(const cover *f)
{
    int best = -1;
    size_t best_score = 0;
    for (unsigned v = 0; v < f->vars; v++) {
        size_t zero = 0, one = 0;
        for (size_t i = 0; i < f->n; i++) {
            zero += f->cube[i]->part[v] == 1;
            one += f->cube[i]->part[v] == 2;
        }
        size_t score = zero + one + (zero && one ? f->n : 0);
        if (zero + one && score > best_score) {
            best_score = score;
            best = (int)v;
        }
    }
    return best;
}

static cube *half_space(unsigned vars, int v, uint8_t part)
{
    cube *c = cube_create(vars);
    c->part[v] = part;
    return c;
}

static bool cover_has_universe(const cover *f)
{
    for (size_t i = 0; i < f->n; i++)
        if (!cube_literals(f->cube[i]))
            return true;
    return false;
}

static bool cover_is_tautology(const cover *f)
{
    if (cover_has_universe(f))
        return true;
    int v = cover_split_var(f);
    bool all = v >= 0;
    for (uint8_t part = 1; all && part <= 2; part++) {
        cube *half = half_space(f->vars, v, part);
        cover *g = cover_cofactor(f, half, SIZE_MAX);
        all = cover_is_tautology(g);
        cover_destroy(g);
        free(half);
    }
    return all;
}

static cover *cover_complement(const cover *f)
{
    cover *out = cover_create(f->vars);
    if (!f->n) {
        cover_add(out, cube_create(f->vars));
        return out;
    }
    if (cover_has_universe(f))
        return out;
    int v = cover_split_var(f);
    for (uint8_t part = 1; part <= 2; part++) {
        cube *half = half_space(f->vars, v, part);
        cover *g = cover_cofactor(f, half, SIZE_MAX), *inverse = cover_complement(g);
        for (size_t i = 0; i < inverse->n; i++) {
            cube *c = cube_copy(inverse->cube[i]);
            c->part[v] &= part;
            cover_add(out, c);
        }
        cover_destroy(g);
        cover_destroy(inverse);
        free(half);
    }
    return out;
}

/* Raises parts of each cube as long as it stays clear of `off`; then drops cubes inside others. */
static void cover_expand(cover *f, const cover *off)
{
    for (size_t i = 0; i < f->n; i++) {
        for (unsigned v = 0; v < f->vars; v++) {
            cube *wider = cube_copy(f->cube[i]);
            bool hit = wider->part[v] == 3;
            wider->part[v] = 3;
            for (size_t k = 0; !hit && k < off->n; k++)
                hit = cube_meets(wider, off->cube[k]);
            free(hit ? wider : f->cube[i]);
            if (!hit)
                f->cube[i] = wider;
        }
        for (size_t k = f->n; k-- > 0;)
            if (k != i && cube_contains(f->cube[i], f->cube[k])) {
                cover_drop(f, k);
                if (i == f->n)
                    i = k;
            }
    }
}

static void cover_irredundant(cover *f)
{
    for (size_t i = f->n; i-- > 0;) {
        cover *rest = cover_cofactor(f, f->cube[i], i);
        if (cover_is_tautology(rest))
            cover_drop(f, i);
        cover_destroy(rest);
    }
}

/* Shrinks each cube to the smallest one that holds what only it covers. */
static void cover_reduce(cover *f)
{
    for (size_t i = 0; i < f->n; i++) {
        cover *rest = cover_cofactor(f, f->cube[i], i), *alone = cover_complement(rest);
        for (unsigned v = 0; v < f->vars && alone->n; v++) {
            uint8_t used = 0;
            for (size_t k = 0; k < alone->n; k++)
                used |= alone->cube[k]->part[v];
            f->cube[i]->part[v] &= used;
        }
        cover_destroy(rest);
        cover_destroy(alone);
    }
}

static cover *cover_random(uint64_t *rng, unsigned vars, unsigned cubes)
{
    cover *f = cover_create(vars);
    for (unsigned i = 0; i < cubes; i++) {
        cube *c = cube_create(vars);
        for (unsigned v = 0; v < vars; v++) {
            uint64_t r = rng_next(rng) >> 60;
            c->part[v] = r < 6 ? 1 : r < 12 ? 2 : 3;
        }
        cover_add(f, c);
    }
    return f;
}

static uint64_t cover_value(const cover *f)
{
    uint64_t sum = f->n * 1000;
    for (size_t i = 0; i < f->n; i++)
        sum += cube_literals(f->cube[i]);
    return sum;
}

static work_result run_logic(const work_args *a)
{
    uint64_t n = work_count(a, 320), sum = 0, rng = rng_seed(5);
    for (uint64_t i = 0; i < n; i++) {
        cover *f = cover_random(&rng, 12, 90), *off = cover_complement(f);
        for (unsigned pass = 0; pass < 2; pass++) {
            cover_expand(f, off);
            cover_irredundant(f);
            cover_reduce(f);
        }
        sum = sum * 31 + cover_value(f);
        cover_destroy(f);
        cover_destroy(off);
    }
    return (work_result){n, sum, 0};
}

const work work_table[] = {{"espresso", run_logic}, {NULL, NULL}};
