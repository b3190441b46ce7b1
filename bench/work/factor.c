/* SPDX-License-Identifier: MIT */
/*
 * factor.c - factorisation by continued fractions over heap-allocated bignums, in the manner of `cfrac`.
 *
 * Every number is a block of its own that is never changed once made, so each arithmetic step allocates its
 * result and soon frees its operands: many millions of blocks of 16 to 64 bytes, short lives, one thread.
 * Method (Morrison and Brillhart): the expansion of sqrt(N) yields A*A = +-Q (mod N) with small Q; those Q
 * that factor over a base of small primes are collected until a subset multiplies to a square.
 */
#include "work.h"

#include <string.h>

#define BASE_PRIMES 160
#define RELATIONS   (BASE_PRIMES + 24)
#define ROW_WORDS   ((RELATIONS + BASE_PRIMES + 1 + 63) / 64)

/* A natural number: `len` digits of 32 bits, least first, no zero on top; 0 has no digit. */
typedef struct big {
    uint32_t len;
    uint32_t digit[];
} big;

static big *big_alloc(size_t len)
{
    big *b = must_malloc(sizeof *b + len * sizeof b->digit[0]);
    b->len = (uint32_t)len;
    return b;
}

static big *big_trim(big *b)
{
    while (b->len && !b->digit[b->len - 1])
        b->len--;
    return b;
}

static big *big_small(uint64_t n)
{
    big *b = big_alloc(2);
    b->digit[0] = (uint32_t)n;
    b->digit[1] = (uint32_t)(n >> 32);
    return big_trim(b);
}

static big *big_copy(const big *a)
{
    big *b = big_alloc(a->len);
    memcpy(b->digit, a->digit, a->len * sizeof a->digit[0]);
    return b;
}

/* Stores `value` in `*to` and frees what was there: the way all variables here change. */
static void big_set(big **to, big *value)
{
    free(*to);
    *to = value;
}

static int big_compare(const big *a, const big *b)
{
    if (a->len != b->len)
        return a->len < b->len ? -1 : 1;
    for (size_t i = a->len; i-- > 0;)
        if (a->digit[i] != b->digit[i])
            return a->digit[i] < b->digit[i] ? -1 : 1;
    return 0;
}

static big *big_add(const big *a, const big *b)
{
    if (a->len < b->len)
        return big_add(b, a);
    big *r = big_alloc(a->len + 1u);
    uint64_t carry = 0;
    for (size_t i = 0; i < a->len; i++) {
        carry += (uint64_t)a->digit[i] + (i < b->len ? b->digit[i] : 0);
        r->digit[i] = (uint32_t)carry;
        carry >>= 32;
    }
    r->digit[a->len] = (uint32_t)carry;
    return big_trim(r);
}

/* a - b, where a >= b. */
static big *big_subtract(const big *a, const big *b)
{
    big *r = big_alloc(a->len);
    int64_t borrow = 0;
    for (size_t i = 0; i < a->len; i++) {
        borrow += (int64_t)a->digit[i] - (i < b->len ? b->digit[i] : 0);
        r->digit[i] = (uint32_t)borrow;
        borrow >>= 32;
    }
    return big_trim(r);
}

static big *big_multiply(const big *a, const big *b)
{
    big *r = big_alloc(a->len + b->len);
    memset(r->digit, 0, r->len * sizeof r->digit[0]);
    for (size_t i = 0; i < a->len; i++) {
        uint64_t carry = 0;
        for (size_t k = 0; k < b->len; k++) {
            carry += (uint64_t)a->digit[i] * b->digit[k] + r->digit[i + k];
            r->digit[i + k] = (uint32_t)carry;
            carry >>= 32;
        }
        r->digit[i + b->len] = (uint32_t)carry;
    }
    return big_trim(r);
}

/* a / d with the remainder in *rest. */
static big *big_divide_small(const big *a, uint32_t d, uint32_t *rest)
{
    big *q = big_alloc(a->len);
    uint64_t r = 0;
    for (size_t i = a->len; i-- > 0;) {
        r = r << 32 | a->digit[i];
        q->digit[i] = (uint32_t)(r / d);
        r %= d;
    }
    *rest = (uint32_t)r;
    return big_trim(q);
}

static big *big_shift_left(const big *a, unsigned bits)
{
    big *r = big_alloc(a->len + 1u);
    uint64_t carry = 0;
    for (size_t i = 0; i < a->len; i++) {
        carry |= (uint64_t)a->digit[i] << bits;
        r->digit[i] = (uint32_t)carry;
        carry >>= 32;
    }
    r->digit[a->len] = (uint32_t)carry;
    return r;
}

/* One step of long division: the quotient digit at `at`; subtracts its product from `u`. */
static uint32_t divide_step(big *u, const big *v, size_t at)
{
    uint64_t top = (uint64_t)u->digit[at + v->len] << 32 | u->digit[at + v->len - 1];
    uint64_t guess = top / v->digit[v->len - 1];
    if (guess > UINT32_MAX)
        guess = UINT32_MAX;
    int64_t borrow = 0;
    uint64_t carry = 0;
    for (size_t i = 0; i < v->len; i++) {
        carry += guess * v->digit[i];
        borrow += (int64_t)u->digit[at + i] - (uint32_t)carry;
        u->digit[at + i] = (uint32_t)borrow;
        borrow >>= 32;
        carry >>= 32;
    }
    borrow += (int64_t)u->digit[at + v->len] - (int64_t)carry;
    u->digit[at + v->len] = (uint32_t)borrow;
    for (bool negative = borrow < 0; negative; guess--) {
        uint64_t sum = 0;
        for (size_t i = 0; i < v->len; i++) {
            sum += (uint64_t)u->digit[at + i] + v->digit[i];
            u->digit[at + i] = (uint32_t)sum;
            sum >>= 32;
        }
        u->digit[at + v->len] += (uint32_t)sum;
        negative = !sum;
    }
    return (uint32_t)guess;
}

/* a / b; the remainder goes to *rest if that is wanted. */
static big *big_divide(const big *a, const big *b, big **rest)
{
    if (big_compare(a, b) < 0 || b->len == 1) {
        uint32_t small = 0;
        big *q = b->len == 1 ? big_divide_small(a, b->digit[0], &small) : big_small(0);
        if (rest)
            *rest = b->len == 1 ? big_small(small) : big_copy(a);
        return q;
    }
    unsigned shift = (unsigned)__builtin_clz(b->digit[b->len - 1]);
    big *u = big_shift_left(a, shift), *v = big_trim(big_shift_left(b, shift));
    size_t n = u->len - v->len;
    big *q = big_alloc(n);
    for (size_t at = n; at-- > 0;)
        q->digit[at] = divide_step(u, v, at);
    if (rest) {
        big_trim(u);
        big *r = big_alloc(u->len);
        for (size_t i = 0; i < u->len; i++)
            r->digit[i] =
                (uint32_t)(((uint64_t)(i + 1 < u->len ? u->digit[i + 1] : 0) << 32 | u->digit[i]) >> shift);
        *rest = big_trim(r);
    }
    free(u);
    free(v);
    return big_trim(q);
}

static big *big_mod(const big *a, const big *n)
{
    big *rest;
    free(big_divide(a, n, &rest));
    return rest;
}

static big *big_multiply_mod(const big *a, const big *b, const big *n)
{
    big *product = big_multiply(a, b);
    big *r = big_mod(product, n);
    free(product);
    return r;
}

/* floor(sqrt(n)) by Newton's iteration from above. */
static big *big_root(const big *n)
{
    big *x = big_copy(n);
    for (;;) {
        uint32_t rest;
        big *q = big_divide(n, x, NULL), *sum = big_add(x, q);
        big *half = big_divide_small(sum, 2, &rest);
        free(q);
        free(sum);
        if (big_compare(half, x) >= 0) {
            free(half);
            return x;
        }
        big_set(&x, half);
    }
}

static big *big_gcd(const big *a, const big *b)
{
    big *x = big_copy(a), *y = big_copy(b);
    while (y->len) {
        big *r = big_mod(x, y);
        big_set(&x, y);
        y = r;
    }
    free(y);
    return x;
}

/* One attempt to factor n: the base, the relations found, the matrix of their exponents mod 2. */
typedef struct attempt {
    big *n;
    uint32_t prime[BASE_PRIMES];
    big *a[RELATIONS];
    uint8_t exponent[RELATIONS][BASE_PRIMES + 1]; /* [BASE_PRIMES] counts the sign */
    unsigned relations;
} attempt;

static uint32_t power_mod(uint64_t base, uint32_t e, uint32_t p)
{
    uint64_t r = 1;
    for (base %= p; e; e >>= 1, base = base * base % p)
        if (e & 1)
            r = r * base % p;
    return (uint32_t)r;
}

/* The primes modulo which n is a square: no other can divide a Q. */
static void base_choose(attempt *t)
{
    unsigned have = 0;
    for (uint32_t p = 2; have < BASE_PRIMES; p++) {
        uint32_t d = 2, rest;
        while (d * d <= p && p % d)
            d++;
        if (d * d <= p && p > 3)
            continue;
        free(big_divide_small(t->n, p, &rest));
        if (p == 2 || !rest || power_mod(rest, (p - 1) / 2, p) == 1)
            t->prime[have++] = p;
    }
}

/* Divides the base's primes out of q; a relation is recorded if 1 remains. */
static void relation_try(attempt *t, const big *q, const big *a, bool negative)
{
    uint8_t *e = t->exponent[t->relations];
    big *left = big_copy(q);
    memset(e, 0, BASE_PRIMES + 1);
    e[BASE_PRIMES] = negative;
    for (unsigned i = 0; i < BASE_PRIMES; i++) {
        uint32_t rest;
        big *next = big_divide_small(left, t->prime[i], &rest);
        while (!rest) {
            e[i]++;
            big_set(&left, next);
            next = big_divide_small(left, t->prime[i], &rest);
        }
        free(next);
    }
    if (left->len == 1 && left->digit[0] == 1)
        t->a[t->relations++] = big_copy(a);
    free(left);
}

static void relations_collect(attempt *t)
{
    big *root = big_root(t->n), *one = big_small(1);
    big *p = big_small(0), *q = big_small(1), *term = big_copy(root), *a = big_mod(root, t->n),
        *before = big_copy(one);
    for (bool negative = true; t->relations < RELATIONS; negative = !negative) {
        big *product = big_multiply(term, q);
        big_set(&p, big_subtract(product, p));
        free(product);
        big *square = big_multiply(p, p), *rest = big_subtract(t->n, square);
        big_set(&q, big_divide(rest, q, NULL));
        free(square);
        free(rest);
        relation_try(t, q, a, negative);
        big *sum = big_add(root, p);
        big_set(&term, big_divide(sum, q, NULL));
        free(sum);
        big *grown = big_multiply(term, a), *next = big_add(grown, before);
        big_set(&before, a);
        a = big_mod(next, t->n);
        free(grown);
        free(next);
    }
    big *all[] = {root, one, p, q, term, a, before};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

static bool bit_get(const uint64_t *row, unsigned i)
{
    return row[i / 64] >> (i % 64) & 1;
}

/* gcd(X - Y, n) for the relations whose bits are set in `chosen`; NULL if that factor is 1 or n. */
static big *subset_factor(const attempt *t, const uint64_t *chosen)
{
    unsigned sum[BASE_PRIMES] = {0};
    big *x = big_small(1), *y = big_small(1), *factor = NULL;
    for (unsigned r = 0; r < t->relations; r++) {
        if (!bit_get(chosen, BASE_PRIMES + 1 + r))
            continue;
        big_set(&x, big_multiply_mod(x, t->a[r], t->n));
        for (unsigned i = 0; i < BASE_PRIMES; i++)
            sum[i] += t->exponent[r][i];
    }
    for (unsigned i = 0; i < BASE_PRIMES; i++)
        for (unsigned k = 0; k < sum[i] / 2; k++) {
            big *prime = big_small(t->prime[i]);
            big_set(&y, big_multiply_mod(y, prime, t->n));
            free(prime);
        }
    big *gap = big_compare(x, y) < 0 ? big_subtract(y, x) : big_subtract(x, y);
    factor = big_gcd(gap, t->n);
    if ((factor->len == 1 && factor->digit[0] == 1) || big_compare(factor, t->n) == 0)
        big_set(&factor, NULL);
    free(gap);
    free(x);
    free(y);
    return factor;
}

typedef uint64_t bits[ROW_WORDS];

static void rows_swap(bits *row, unsigned a, unsigned b)
{
    bits kept;
    memcpy(kept, row[a], sizeof kept);
    memcpy(row[a], row[b], sizeof kept);
    memcpy(row[b], kept, sizeof kept);
}

/* Brings the rows to echelon form over the columns of the exponents; returns how many stay non-empty there.
 */
static unsigned rows_eliminate(bits *row, unsigned rows)
{
    unsigned done = 0;
    for (unsigned column = 0; column <= BASE_PRIMES; column++) {
        unsigned pivot = done;
        while (pivot < rows && !bit_get(row[pivot], column))
            pivot++;
        if (pivot == rows)
            continue;
        rows_swap(row, pivot, done);
        for (unsigned r = done + 1; r < rows; r++)
            if (bit_get(row[r], column))
                for (unsigned w = 0; w < ROW_WORDS; w++)
                    row[r][w] ^= row[done][w];
        done++;
    }
    return done;
}

/* Elimination mod 2: a row that becomes empty left of the unit bits names a subset that is a square. */
static big *matrix_solve(const attempt *t)
{
    static bits row[RELATIONS];
    big *factor = NULL;
    memset(row, 0, sizeof row);
    for (unsigned r = 0; r < t->relations; r++) {
        for (unsigned i = 0; i <= BASE_PRIMES; i++)
            row[r][i / 64] |= (uint64_t)(t->exponent[r][i] & 1) << (i % 64);
        row[r][(BASE_PRIMES + 1 + r) / 64] |= 1ull << ((BASE_PRIMES + 1 + r) % 64);
    }
    for (unsigned r = rows_eliminate(row, t->relations); r < t->relations && !factor; r++)
        factor = subset_factor(t, row[r]);
    return factor;
}

static uint64_t factor_one(uint64_t p, uint64_t q)
{
    attempt *t = calloc(1, sizeof *t);
    big *x = big_small(p), *y = big_small(q);
    uint64_t sum = 0;
    t->n = big_multiply(x, y);
    base_choose(t);
    relations_collect(t);
    big *factor = matrix_solve(t);
    for (size_t i = factor ? factor->len : 0; i-- > 0;)
        sum = sum << 32 | factor->digit[i];
    if (sum != p && sum != q)
        abort();
    for (unsigned r = 0; r < t->relations; r++)
        free(t->a[r]);
    free(factor);
    free(t->n);
    free(t);
    free(x);
    free(y);
    return sum;
}

static work_result run_factor(const work_args *a)
{
    static const uint64_t pairs[][2] = {{1000000007, 4294967291},
                                        {2147483647, 68718952447},
                                        {998244353, 1099511627689},
                                        {4294967291, 281474976710597},
                                        {34359738421, 100000000003}};
    uint64_t n = work_count(a, 60), sum = 0;
    for (uint64_t i = 0; i < n; i++)
        sum += factor_one(pairs[i % 5][0], pairs[i % 5][1]) ^ i;
    return (work_result){n, sum, 0};
}

const work work_table[] = {{"cfrac", run_factor}, {NULL, NULL}};
