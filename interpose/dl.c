/* SPDX-License-Identifier: MIT */
/*
 * dl.c - see dl.h: the loader's calls that we stand in front of.
 *
 * dlopen and dlmopen clear one bit and jump: a call would put our return address where the loader looks for
 * the caller's RUNPATH and namespace. The real functions are looked up once, in a constructor; a call before
 * that looks them up itself. Before they jump they ask whether something has been unloaded that did not come
 * by dlclose (the C library's own character sets and name services), for the next object may lie at its
 * place.
 */
#include "dl.h"
#include "caller.h"
#include "pcrule.h"
#include "publish.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>

#define EXPORT __attribute__((visibility("default")))

uint32_t dl_closing;
uint64_t dl_epoch;
static __thread uint32_t closing_here __attribute__((tls_model("initial-exec"))); /* of this thread */

typedef int phdr_callback(struct dl_phdr_info *, size_t, void *);

HIDDEN void *real_dlopen, *real_dlmopen; /* named by the jumps below */
static int (*real_dlclose)(void *);
static int (*real_iterate)(phdr_callback *, void *);

__attribute__((used, constructor(102))) HIDDEN void dl_look_up(void)
{
    thread *t = self;
    t->busy += t != &cold_thread;
    real_dlopen = dlsym(RTLD_NEXT, "dlopen");
    real_dlmopen = dlsym(RTLD_NEXT, "dlmopen");
    real_dlclose = (int (*)(void *))dlsym(RTLD_NEXT, "dlclose");
    real_iterate = (int (*)(phdr_callback *, void *))dlsym(RTLD_NEXT, "dl_iterate_phdr");
    t->busy -= t != &cold_thread;
}

#define JUMP(name, flags)                                                                                    \
    __asm__(".pushsection .text\n"                                                                           \
            ".globl " #name "\n.type " #name ",@function\n" #name ":\n"                                      \
            ".cfi_startproc\n"                                                                               \
            "endbr64\n"                                                                                      \
            "andl $~8, %" #flags "\n" /* RTLD_DEEPBIND */                                                    \
            "pushq %rdi\n.cfi_adjust_cfa_offset 8\n"                                                         \
            "pushq %rsi\n.cfi_adjust_cfa_offset 8\n"                                                         \
            "pushq %rdx\n.cfi_adjust_cfa_offset 8\n"                                                         \
            "call dl_before_open\n"                                                                          \
            "popq %rdx\n.cfi_adjust_cfa_offset -8\n"                                                         \
            "popq %rsi\n.cfi_adjust_cfa_offset -8\n"                                                         \
            "popq %rdi\n.cfi_adjust_cfa_offset -8\n"                                                         \
            "jmpq *real_" #name "(%rip)\n"                                                                   \
            ".cfi_endproc\n.size " #name ", .-" #name "\n"                                                   \
            ".popsection")
JUMP(dlopen, esi);
JUMP(dlmopen, edx);

/* --- dl_iterate_phdr ----------------------------------------------------------------------------------- */

static __thread uintptr_t only_pc __attribute__((tls_model("initial-exec")));

void dl_only_object_of(uintptr_t pc)
{
    only_pc = pc;
}

static int iterate_one(phdr_callback *callback, void *arg)
{
    struct dl_find_object object;
    if (_dl_find_object((void *)only_pc, &object) != 0)
        return 0;
    const ElfW(Ehdr) *file = object.dlfo_map_start;
    struct dl_phdr_info info = {.dlpi_addr = object.dlfo_link_map->l_addr,
                                .dlpi_name = object.dlfo_link_map->l_name,
                                .dlpi_phdr = (const ElfW(Phdr) *)((uintptr_t)file + file->e_phoff),
                                .dlpi_phnum = file->e_phnum,
                                .dlpi_adds = 1 + __atomic_load_n(&dl_epoch, __ATOMIC_RELAXED)};
    return callback(&info, sizeof info, arg);
}

EXPORT int dl_iterate_phdr(phdr_callback *callback, void *arg)
{
    if (unlikely(only_pc))
        return iterate_one(callback, arg);
    if (unlikely(!real_iterate))
        dl_look_up();
    return real_iterate(callback, arg);
}

/* --- dlclose ------------------------------------------------------------------------------------------- */

typedef struct loads {
    unsigned long long adds, subs; /* objects ever loaded and unloaded */
} loads;

static int count_loads(struct dl_phdr_info *info, size_t size, void *arg)
{
    loads *l = arg;
    if (size >= offsetof(struct dl_phdr_info, dlpi_subs) + sizeof info->dlpi_subs)
        *l = (loads){info->dlpi_adds, info->dlpi_subs};
    return 1;
}

static void forget_resolving(void *arg)
{
    pc_forget_closed(*(bool *)arg);
    symbols_forget();
    publish_forget();
}

static loads known; /* all that is unloaded up to here has been forgotten */

/* Nobody trusts what is known of addresses until unknow_end. */
static void unknow_begin(void)
{
    closing_here++;
    __atomic_fetch_add(&dl_closing, 1, __ATOMIC_SEQ_CST);
    caller_suspend();
}

static void unknow_end(void)
{
    loads now = {0, 0};
    real_iterate(count_loads, &now);
    if (now.subs != known.subs) {
        bool loaded_too = now.adds != known.adds; /* perhaps at the very addresses */
        caller_resolving(forget_resolving, &loaded_too);
        __atomic_fetch_add(&dl_epoch, 1, __ATOMIC_SEQ_CST);
    }
    known = now;
    __atomic_fetch_sub(&dl_closing, 1, __ATOMIC_SEQ_CST);
    closing_here--;
}

__attribute__((used)) HIDDEN void dl_before_open(void)
{
    int saved = errno;
    loads now = {0, 0};
    if (unlikely(!real_dlopen || !real_iterate))
        dl_look_up();
    real_iterate(count_loads, &now);
    if (unlikely(now.subs != known.subs)) {
        unknow_begin();
        unknow_end();
    }
    errno = saved;
}

EXPORT int dlclose(void *handle)
{
    if (unlikely(!real_dlclose))
        dl_look_up();
    unknow_begin();
    int result = real_dlclose(handle);
    unknow_end();
    return result;
}

/* A dlclose of another thread never ends in the child; one whose destructors fork does. */
void dl_fork_child(void)
{
    __atomic_store_n(&dl_closing, closing_here, __ATOMIC_SEQ_CST);
}
