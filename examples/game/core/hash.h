/* SPDX-License-Identifier: MIT */
/*
 * hash.h - the running checksum, and the random numbers of everything that is not script.
 * Both are plain 64-bit arithmetic: the same on every host, compiler and allocator. No state, no lock.
 */
#ifndef GAME_HASH_H
#define GAME_HASH_H

#include <stdint.h>
#include <string.h>

static inline uint64_t hash_u64(uint64_t h, uint64_t v)
{
    h = (h ^ v) * 0x9E3779B97F4A7C15ull;
    return h ^ (h >> 29);
}

static inline uint64_t hash_double(uint64_t h, double d)
{
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    return hash_u64(h, bits);
}

static inline uint64_t hash_bytes(uint64_t h, const void *data, size_t n)
{
    const unsigned char *p = (const unsigned char *)data;
    for (; n >= 8; n -= 8, p += 8) {
        uint64_t word;
        memcpy(&word, p, 8);
        h = hash_u64(h, word);
    }
    while (n--)
        h = hash_u64(h, *p++);
    return h;
}

/* xorshift64*: one step of *state, never 0. */
static inline uint64_t random_next(uint64_t *state)
{
    uint64_t x = *state;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    *state = x;
    return x * 0x2545F4914F6CDD1Dull;
}

#endif
