/* SPDX-License-Identifier: MIT */
/*
 * boot.h - floor F4: the library's life: COLD (nothing yet), BOOT (System pool only: no rules are read),
 * LIVE, EXIT (the exit report is out; calls are served as ever).
 */
#ifndef POOLMEM_BOOT_H
#define POOLMEM_BOOT_H

#include "base.h"

typedef enum boot_phase { BOOT_COLD, BOOT_BOOT, BOOT_LIVE, BOOT_EXIT } boot_phase;

extern HIDDEN boot_phase boot_now;

/* Brings COLD to BOOT: mapping, address space, Global and System. Safe from any first call; any thread.
   False: not even that can be had; the next call tries again. */
bool boot_first(void);

#endif
