/* SPDX-License-Identifier: MIT */
/*
 * sandbox.h - floor F4: a host that puts itself behind a seccomp filter. Reading a symbol table opens a file,
 * and a filter made for a program that only allocates ends the process for that. So prctl and syscall are
 * exported; when either is about to set a filter, the tables of all loaded objects are read ahead, and
 * no file is opened for symbols from then on. A filter set by a system call of the host's own making is
 * not seen.
 * Locking: takes the resolve lock. Cost: two instructions a call of syscall(); the reading once.
 */
#ifndef POOLMEM_SANDBOX_H
#define POOLMEM_SANDBOX_H

#include "base.h"

void sandbox_enter(void);

/* The host has announced a filter: no file is opened on our own account any more. */
extern HIDDEN bool sandboxed;

#endif
