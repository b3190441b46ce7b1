/* SPDX-License-Identifier: MIT */
/*
 * fork.h - floor F4: every lock of ours is held across a fork, so that the child starts with sound
 * structures, also when other threads allocate, and when a signal handler forks in the middle of one of our
 * own sections.
 */
#ifndef POOLMEM_FORK_H
#define POOLMEM_FORK_H

/* Registers with the C library; once, at boot. */
void fork_boot(void);

#endif
