/* SPDX-License-Identifier: MIT */
/*
 * signal.h - floor F4: the signal that asks for a report, and the host's own use of that number, which goes
 * on working: its handler is remembered, handed back when asked for, and called after our report.
 */
#ifndef POOLMEM_SIGNAL_H
#define POOLMEM_SIGNAL_H

#include "base.h"

/* Installs the handler; 0: none, and every call below passes through. After request_boot. */
void signal_boot(int number);

/* Sends this thread what arrived while it was reporting and is the host's to handle. */
void signal_deferred(void);

#endif
