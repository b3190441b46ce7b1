/* SPDX-License-Identifier: MIT */
/*
 * onstack.h - floor F4: calls a function on another stack. Threads and coroutines of the host may have 16 KiB
 * or less, which neither the unwinder nor a report fits into.
 */
#ifndef POOLMEM_ONSTACK_H
#define POOLMEM_ONSTACK_H

/* Runs fn(arg) with the stack pointer at `top` (the end of the memory, 16-byte aligned) and comes back on the
   caller's stack. Async-signal-safe; the frame chain and the unwind tables lead across the switch. */
void onstack_call(void (*fn)(void *), void *arg, void *top);

#endif
