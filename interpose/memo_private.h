/* SPDX-License-Identifier: MIT */
/*
 * memo_private.h - floor F4: what looking up (memo.c) and learning (memo_learn.c) must agree on: how the
 * words of a stack become a place in the index, and the keys of heads below a head.
 */
#ifndef POOLMEM_MEMO_PRIVATE_H
#define POOLMEM_MEMO_PRIVATE_H

#include "memo.h"

INLINE memo_entry *entry_at(const memo *m, uint32_t offset)
{
    return (memo_entry *)((uintptr_t)m + offset);
}

INLINE uint64_t mix_register(uint64_t rbp)
{
    return (rbp + 1) * 0xa0761d6478bd642fu;
}

INLINE uint64_t mix_top(uint32_t top)
{
    return (top + (uint64_t)1) * 0xe7037ed1a0b428dbu;
}

/* Index words hold the entry's place in units of 8 bytes above 12 bits of the hash. */
INLINE uint32_t fingerprint(uint64_t x)
{
    return (uint32_t)(x >> 24) & 0xfff;
}

INLINE size_t index_of(const memo *m, uint64_t x)
{
    return (size_t)(x >> m->index_shift);
}

INLINE const memo_entry *indexed(const memo *m, const memo_head *h, size_t i, uint64_t x)
{
    uint32_t word = m->index[i];
    if ((word & 0xfff) != fingerprint(x) || !word)
        return NULL;
    const memo_entry *e = entry_at(m, (word >> 12) * 8);
    return &m->head[e->head] == h ? e : NULL;
}

/* The head of those stacks that lack a word by which the head of this key is split. */
INLINE uint64_t others_key(uint64_t key)
{
    return (key * memo_weight[3] ^ key >> 17) | (uint64_t)1 << 63;
}

#endif
