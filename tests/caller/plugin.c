/* SPDX-License-Identifier: MIT */
/* plugin.c - two objects of the same shape that the rules tell apart by their function's name only. */
__attribute__((visibility("default"), noinline)) void NAME(void (*call)(void *), void *arg)
{
    volatile char room[FRAME];
    __asm__ volatile("" : : "r"(room) : "memory");
    call(arg);
    __asm__ volatile("" : : "r"(room) : "memory");
}
