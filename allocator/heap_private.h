/* SPDX-License-Identifier: MIT */
/*
 * heap_private.h - floor F2: what the files of the native heap (heap*.c) share with each other only.
 */
#ifndef POOLMEM_HEAP_PRIVATE_H
#define POOLMEM_HEAP_PRIVATE_H

#include "heap.h"

#define FULL_FREES 32u /* frees a full block may see before it gives again */

/* heap.c: account and lists */
heap *heap_charge(heap *h, size_t bytes, bool last);
void heap_uncharge(heap *h, size_t bytes);
void heap_count(heap *h, int64_t delta);
void front_set_head(front *f, unsigned c, block *b);
void front_link(front *f, block *b);
void front_unlink(front *f, block *b);
void front_trim(front *f);
void front_unretire(front *f);
/* Fragments in use, pending ones included. */
uint32_t block_used(const block *b);
/* Tells the heap what the front has taken and counted since it last did. */
void front_settle(front *f);
void front_release_spares(front *f);
/* A request that `refuser` (NULL: the system) does not grant. */
void *front_refused(front *f, heap *refuser, size_t size, size_t align);

/* heap_run.c */
void *run_alloc(front *f, size_t size, uint32_t align_blocks, bool *zeroed);
pool_status run_free(block *b, void *p);
void *run_resize(heap_thread *me, block *b, void *p, size_t size);

/* heap_thread.c */
void heap_collect(heap_thread *t);
/* The owner takes back what others freed in a block; that may leave it empty and so take it away. True: there
   was something. */
bool heap_take_pending(block *b);
/* The owner of a block is to take back what is pending there, if it has an owner. */
void heap_announce(block *b);
/* Lets the owner's frees be quick, unless the block is on a remote list or has large fragments. */
INLINE void block_set_quick(block *b, heap_thread *owner)
{
    if (block_is_large(b))
        owner = NULL;
    __atomic_store_n(&b->quick, owner, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&b->in_remote, __ATOMIC_SEQ_CST))
        __atomic_store_n(&b->quick, NULL, __ATOMIC_SEQ_CST);
}

/* heap_stash.c: large fragments at hand */
/* Frees one of a block that the calling thread owns, not pending. False: it does not live, nothing done. */
bool stash_free_own(block *b, void *p);
/* Frees one that lives in another running thread's block. False: it is pending already. */
bool stash_free_others(heap_thread *me, block *b, void *p);
/* NULL: there is none of class c. */
void *stash_take(front *f, unsigned c);
/* All of them go back to their blocks, and what others have at hand of this front's too. */
void front_unstash(front *f);

void heap_tick(heap_thread *t);
/* After a refusal by a limit (`refuser`) or by the system (NULL): gives back what this thread keeps empty. */
void heap_make_room(heap_thread *t, const heap *refuser);
pool_status heap_free_remote(heap_thread *me, block *b, void *p);

#endif
