/* SPDX-License-Identifier: MIT */
/*
 * exit.c - see exit.h. Shells and children of fork end by _exit, which runs no destructor, so that is
 * exported here; exit and a return from main come to the destructor in boot.c, quick_exit to the handler that
 * boot.c registers. A child of vfork has our
 * memory but another number: it is not this process that ends. Locking: none.
 */
#include "exit.h"
#include "boot.h"
#include "config.h"
#include "publish.h"
#include "request.h"

#include <sys/syscall.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

static uint32_t done_by; /* the process that has reported; a child of fork has not */

void exit_report(void)
{
    if (boot_now != BOOT_LIVE || !config_now.exit_report || published->pid != (uint32_t)getpid())
        return;
    if (__atomic_exchange_n(&done_by, published->pid, __ATOMIC_ACQ_REL) != published->pid)
        request_report(REASON_EXIT);
}

void exit_fork_child(void)
{
    config_now.exit_report = config_now.exit_report && config_now.children;
}

EXPORT _Noreturn void _exit(int status)
{
    exit_report();
    for (;;)
        syscall(SYS_exit_group, status);
}

EXPORT _Noreturn void _Exit(int status)
{
    _exit(status);
}
