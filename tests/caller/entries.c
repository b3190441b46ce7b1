/* SPDX-License-Identifier: MIT */
/* entries.c - see entries.h; compiled once for each NAME. */
#include "entries.h"

__attribute__((noinline, visibility("default"))) void NAME(size_t size, entry_check *check, void *arg)
{
    caller_frame f = CALLER_HERE();
    seen s = {f, caller_tag(self, ENTRY_MALLOC, size, f)};
    check(&s, arg);
    __asm__ volatile("" : : "r"(&s) : "memory");
}
