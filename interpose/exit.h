/* SPDX-License-Identifier: MIT */
/*
 * exit.h - floor F4: POOLMEM_EXIT: one more report when the process ends, by whatever way it goes: exit,
 * return from main, quick_exit, _exit. Not when a signal ends it (abort too), nor when it becomes another
 * program.
 */
#ifndef POOLMEM_EXIT_H
#define POOLMEM_EXIT_H

/* The report, once in a process's life and only when asked for. Async-signal-safe. */
void exit_report(void);

/* After fork, in the child: with POOLMEM_CHILDREN=0 the report is the first process's alone. */
void exit_fork_child(void);

#endif
