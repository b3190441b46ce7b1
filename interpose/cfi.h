/* SPDX-License-Identifier: MIT */
/*
 * cfi.h - floor F4: how to get from a frame to its caller's, read from the object's own unwind table
 * (.eh_frame). Asked once per code address; pcrule.c keeps the answer.
 *
 * Why not libunwind here: it opens a pipe in the host and proves memory readable by writing into it, so a
 * program that closes all descriptors finds bytes of ours in its own files, and a seccomp filter kills it.
 * libunwind is the referee instead (verify.c). Only what real code needs at call sites is understood: CFA
 * from rsp or rbp, directly or through one word of memory (realigned stacks, signal frames); anything else
 * ends the walk.
 * Locking: none; async-signal-safe. Cost: about 1 us. Read next: pcrule.h.
 */
#ifndef POOLMEM_CFI_H
#define POOLMEM_CFI_H

#include "base.h"

enum cfi_base { CFI_RSP, CFI_RBP };

/* Where a register of the caller stands. */
enum cfi_where {
    CFI_SAME,   /* rbp only: it still holds the caller's value */
    CFI_AT_CFA, /* in memory at CFA + offset */
    CFI_AT_RSP,
    CFI_AT_RBP,
    CFI_LOST
};

enum cfi_kind {
    CFI_NONE,  /* no unwind information, or none that we follow: the walk ends */
    CFI_END,   /* outermost frame of the thread */
    CFI_FRAME, /* the rule below holds */
    CFI_SIGNAL /* so it does, and the caller's address is where a signal struck, not a return address */
};

typedef struct cfi_rule {
    int32_t cfa, ra, rbp; /* offsets in bytes */
    uint8_t kind;         /* cfi_kind */
    uint8_t base : 4;     /* cfi_base of the CFA */
    uint8_t deref : 4;    /* 1: the CFA is the word at base + offset, not the sum itself */
    uint8_t ra_at;        /* cfi_where */
    uint8_t rbp_at;       /* cfi_where */
} cfi_rule;

/* The rule that holds at `pc`, an address inside the instruction (a return address minus one). */
cfi_rule cfi_find(uintptr_t pc);

#endif
