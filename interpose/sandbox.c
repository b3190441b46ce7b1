/* SPDX-License-Identifier: MIT */
/*
 * sandbox.c - see sandbox.h. prctl is a thin function. syscall is written in assembler, as it is in libc: its
 * arguments stay where they are, and nothing is on the stack when a child starts in it.
 * Objects are listed first and read afterwards, because the list is held under the loader's lock.
 */
#include "sandbox.h"
#include "caller.h"
#include "symbols.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdarg.h>
#include <sys/prctl.h>

#define EXPORT      __attribute__((visibility("default")))
#define OBJECTS_MAX 512

typedef struct object_list {
    uintptr_t at[OBJECTS_MAX]; /* an address in each */
    unsigned count;
} object_list;

bool sandboxed;

static int note_object(struct dl_phdr_info *info, size_t size, void *to)
{
    object_list *list = to;
    for (int i = 0; i < info->dlpi_phnum && list->count < OBJECTS_MAX; i++) {
        if (info->dlpi_phdr[i].p_type != PT_LOAD)
            continue;
        list->at[list->count++] = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        break;
    }
    return 0;
}

static void read_ahead(void *arg)
{
    const object_list *list = arg;
    for (unsigned i = 0; i < list->count; i++)
        symbols_read_ahead(list->at[i]);
    symbols_seal();
}

HIDDEN __attribute__((used)) void sandbox_enter(void)
{
    object_list list = {.count = 0};
    thread *t = self;
    if (t->busy)
        return;
    int saved = errno;
    sandboxed = true;
    t->busy += t != &cold_thread;
    dl_iterate_phdr(note_object, &list);
    caller_resolving(read_ahead, &list);
    t->busy -= t != &cold_thread;
    errno = saved;
}

HIDDEN __attribute__((used)) long sandbox_failed(long result)
{
    errno = (int)-result;
    return -1;
}

EXPORT int prctl(int option, ...)
{
    typedef int call(int, unsigned long, unsigned long, unsigned long, unsigned long);
    static call *next;
    unsigned long a[4];
    va_list list;
    va_start(list, option);
    for (int i = 0; i < 4; i++)
        a[i] = va_arg(list, unsigned long);
    va_end(list);
    if (option == PR_SET_SECCOMP)
        sandbox_enter();
    if (!next)
        next = (call *)dlsym(RTLD_NEXT, "prctl");
    return next(option, a[0], a[1], a[2], a[3]);
}

#ifdef __x86_64__
__asm__(".pushsection .text\n"
        ".globl syscall\n.type syscall,@function\nsyscall:\n"
        ".cfi_startproc\n"
        "endbr64\n"
        "cmpl $317, %edi\n" /* seccomp */
        "je 3f\n"
        "1: movq %rdi, %rax\n"
        "movq %rsi, %rdi\n"
        "movq %rdx, %rsi\n"
        "movq %rcx, %rdx\n"
        "movq %r8, %r10\n"
        "movq %r9, %r8\n"
        "movq 8(%rsp), %r9\n"
        "syscall\n"
        "cmpq $-4095, %rax\n"
        "jae 2f\n"
        "retq\n"
        "2: movq %rax, %rdi\n"
        "jmp sandbox_failed\n"
        "3: pushq %rdi\n.cfi_adjust_cfa_offset 8\n"
        "pushq %rsi\n.cfi_adjust_cfa_offset 8\n"
        "pushq %rdx\n.cfi_adjust_cfa_offset 8\n"
        "pushq %rcx\n.cfi_adjust_cfa_offset 8\n"
        "pushq %r8\n.cfi_adjust_cfa_offset 8\n"
        "call sandbox_enter\n"
        "popq %r8\n.cfi_adjust_cfa_offset -8\n"
        "popq %rcx\n.cfi_adjust_cfa_offset -8\n"
        "popq %rdx\n.cfi_adjust_cfa_offset -8\n"
        "popq %rsi\n.cfi_adjust_cfa_offset -8\n"
        "popq %rdi\n.cfi_adjust_cfa_offset -8\n"
        "jmp 1b\n"
        ".cfi_endproc\n.size syscall, .-syscall\n"
        ".popsection");
#endif
