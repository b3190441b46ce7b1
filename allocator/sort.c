/* SPDX-License-Identifier: MIT */
/* sort.c - see sort.h: heap sort (Williams 1964). Locking: none. */
#include "sort.h"

static void swap(char *a, char *b, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        char c = a[i];
        a[i] = b[i];
        b[i] = c;
    }
}

/* Moves record `at` down until none below it is greater. */
static void sift(char *r, size_t at, size_t count, size_t size, int (*compare)(const void *, const void *))
{
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && compare(r + child * size, r + (child + 1) * size) < 0)
            child++;
        if (compare(r + at * size, r + child * size) >= 0)
            return;
        swap(r + at * size, r + child * size, size);
    }
}

void sort(void *records, size_t count, size_t size, int (*compare)(const void *, const void *))
{
    char *r = records;
    for (size_t i = count / 2; i-- > 0;)
        sift(r, i, count, size, compare);
    for (size_t i = count; i-- > 1;) {
        swap(r, r + i * size, size);
        sift(r, 0, i, size, compare);
    }
}
