/* SPDX-License-Identifier: MIT */
/*
 * children.h - floor F4: POOLMEM_CHILDREN=0: programs that this one starts run without the library. That
 * its forks make no exit report is exit.c's part.
 */
#ifndef POOLMEM_CHILDREN_H
#define POOLMEM_CHILDREN_H

/* Takes the library out of LD_PRELOAD in this process's environment; other preloads stay. At boot, before the
   program's own code runs. */
void children_apply(void);

#endif
