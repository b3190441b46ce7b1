/* SPDX-License-Identifier: MIT */
/*
 * message.h - floor F4: prints what the core and the interposer have to say: `poolmem: LINE` on stderr.
 */
#ifndef POOLMEM_MESSAGE_H
#define POOLMEM_MESSAGE_H

#include "fatal.h"

/* From now on messages go to stderr: notes from verbose 2, warnings from 1; misuse and fatal always. */
void message_boot(int verbose);

#endif
