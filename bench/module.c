/* SPDX-License-Identifier: MIT */
/*
 * module.c - a shared object that the stack leads through; bench/scale loads up to 64 copies of it.
 */
#include <stddef.h>
#include <stdint.h>

void *module_through(void *(*inner)(size_t, uint64_t), size_t size, uint64_t which);

void *module_through(void *(*inner)(size_t, uint64_t), size_t size, uint64_t which)
{
    volatile uint64_t frame[4] = {size};
    void *p = inner(size, which);
    return frame[0] ? p : NULL;
}
