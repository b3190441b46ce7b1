/* SPDX-License-Identifier: MIT */
/*
 * onstack.c - see onstack.h. The caller's stack pointer is kept in rbp, a register that fn preserves; the
 * unwind table says so, which is why a debugger sees the whole chain. Locking: none; whoever owns the stack
 * sees to it that one call at a time uses it. Cost: a call.
 */
#include "onstack.h"

__attribute__((naked)) void onstack_call(void (*fn)(void *), void *arg, void *top)
{
    __asm__("pushq %rbp\n\t"
            ".cfi_def_cfa_offset 16\n\t"
            ".cfi_offset %rbp, -16\n\t"
            "movq %rsp, %rbp\n\t"
            ".cfi_def_cfa_register %rbp\n\t"
            "movq %rdx, %rsp\n\t"
            "movq %rdi, %rax\n\t"
            "movq %rsi, %rdi\n\t"
            "call *%rax\n\t"
            "movq %rbp, %rsp\n\t"
            "popq %rbp\n\t"
            ".cfi_def_cfa %rsp, 8\n\t"
            "ret");
}
