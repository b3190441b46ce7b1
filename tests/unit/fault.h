/* SPDX-License-Identifier: MIT */
/*
 * fault.h - out-of-memory injection for tests: the n-th request for memory of the system fails. A test runs
 * its scenario with n = 1, 2, 3 ... until one run meets no fault, and looks after each for what was lost.
 */
#ifndef POOLMEM_TEST_FAULT_H
#define POOLMEM_TEST_FAULT_H

#include "os.h"

static long fault_countdown; /* requests until the one that fails; 0: never */
static bool fault_happened;

static bool fault_ask(void)
{
    if (fault_countdown && --fault_countdown == 0) {
        fault_happened = true;
        return false;
    }
    return true;
}

/* From here on the n-th request fails, once. */
static inline void fault_arm(long n)
{
    fault_countdown = n;
    fault_happened = false;
    os_fault_hook = fault_ask;
}

/* Back to normal; true when a fault was met. */
static inline bool fault_disarm(void)
{
    os_fault_hook = NULL;
    fault_countdown = 0;
    return fault_happened;
}

#endif
