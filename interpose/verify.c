/* SPDX-License-Identifier: MIT */
/*
 * verify.c - see verify.h. The full walk starts in our own frame on the resolve stack, from where the unwind
 * tables lead back to the host's, and is compared from the frame on that called the entry point.
 * libunwind is loaded when it is asked for, so that hosts do not carry it and what it needs.
 */
#define UNW_LOCAL_ONLY
#include "verify.h"
#include "caller.h"
#include "config.h"
#include "dl.h"
#include "fatal.h"

#include <dlfcn.h>
#include <libunwind.h>
#include <string.h>

uint64_t verify_checked, verify_wrong; /* atomic */

/* libunwind's functions of these names, which its header turns into others. */
static struct {
    __typeof__(unw_set_caching_policy) *set_caching_policy;
    __typeof__(unw_tdep_getcontext) *getcontext;
    __typeof__(unw_init_local) *init_local;
    __typeof__(unw_get_reg) *get_reg;
    __typeof__(unw_step) *step;
    unw_addr_space_t *local;
} referee;

#define TEXT_OF(name) #name
#define SYMBOL(name)  TEXT_OF(name)

void verify_boot(void)
{
    if (!config_now.verify)
        return;
    void *library = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
    if (library) {
        *(void **)&referee.set_caching_policy = dlsym(library, SYMBOL(unw_set_caching_policy));
        *(void **)&referee.getcontext = dlsym(library, SYMBOL(unw_tdep_getcontext));
        *(void **)&referee.init_local = dlsym(library, SYMBOL(unw_init_local));
        *(void **)&referee.get_reg = dlsym(library, SYMBOL(unw_get_reg));
        *(void **)&referee.step = dlsym(library, SYMBOL(unw_step));
        referee.local = dlsym(library, SYMBOL(unw_local_addr_space));
    }
    if (referee.set_caching_policy && referee.getcontext && referee.init_local && referee.get_reg &&
        referee.step && referee.local)
        return;
    message(MESSAGE_WARNING, "POOLMEM_VERIFY needs libunwind.so.8, which cannot be loaded: not verifying");
    config_now.verify = 0;
}

typedef struct full_walk {
    caller_frame from;
    unsigned frames, max;
    uintptr_t pcs[WALK_FRAMES];
} full_walk;

bool verify_due(void)
{
    static __thread unsigned turn __attribute__((tls_model("initial-exec")));
    return ++turn % config_now.verify == 0;
}

typedef struct verify_order {
    const tag *given, *found;
    caller_frame from;
    const walk *walk;
} verify_order;

static bool full_step(unw_cursor_t *at)
{
    unw_word_t pc = 0;
    referee.get_reg(at, UNW_REG_IP, &pc);
    dl_only_object_of(pc - 1);
    return referee.step(at) > 0;
}

static void walk_full(full_walk *w)
{
    unw_context_t context;
    unw_cursor_t at;
    unw_word_t pc = 0, sp = 0;
    w->frames = 0;
    referee.set_caching_policy(*referee.local, UNW_CACHE_NONE);
    referee.getcontext(&context);
    referee.init_local(&at, &context);
    while (w->frames < w->max && full_step(&at)) {
        referee.get_reg(&at, UNW_REG_IP, &pc);
        referee.get_reg(&at, UNW_REG_SP, &sp);
        if (w->frames || (pc == w->from.ret && sp == w->from.cfa))
            w->pcs[w->frames++] = pc;
    }
    dl_only_object_of(0);
}

/* Whether the walk stopped for want of unwind information, where libunwind goes on by guessing. */
static bool stopped_blind(const walk *w)
{
    const pc_info *last = pc_find(w->pcs[w->frames - 1]);
    return !last || last->rule.kind == CFI_NONE;
}

static void complain(const char *what, const walk *w, const full_walk *full)
{
    __atomic_fetch_add(&verify_wrong, 1, __ATOMIC_RELAXED);
    unsigned i = 0;
    while (i < w->frames && i < full->frames && w->pcs[i] == full->pcs[i])
        i++;
    message(MESSAGE_MISUSE, "verify: %s: call from %lx: %u frames, libunwind %u; frame %u is %lx, not %lx",
            what, w->pcs[0], w->frames, full->frames, i, i < w->frames ? w->pcs[i] : 0ul,
            i < full->frames ? full->pcs[i] : 0ul);
}

static void compare_resolving(void *arg)
{
    ROOMY static full_walk full; /* the resolve lock's */
    const verify_order *o = arg;
    const walk *w = o->walk;
    full.from = o->from;
    full.max = config_now.depth < WALK_FRAMES ? config_now.depth : WALK_FRAMES;
    walk_full(&full);
    bool decided = w->pool != RULE_NO_POOL || w->frames == full.max;
    bool same = full.frames >= w->frames && memcmp(full.pcs, w->pcs, w->frames * sizeof *w->pcs) == 0;
    bool ends = decided || full.frames == w->frames || stopped_blind(w);
    __atomic_fetch_add(&verify_checked, 1, __ATOMIC_RELAXED);
    if (o->given->front != o->found->front || o->given->tally != o->found->tally)
        complain("the memo gave another tag", w, &full);
    else if (!same || !ends)
        complain("libunwind sees other frames", w, &full);
}

void verify_tag(const tag *given, const tag *found, caller_frame f, const walk *w)
{
    verify_order o = {given, found, f, w};
    caller_resolving(compare_resolving, &o);
}

/* Late, when the exit report has gone out. */
__attribute__((destructor(102))) static void say_count(void)
{
    if (config_now.verify)
        message(MESSAGE_MISUSE, "verify: %lu tags compared with libunwind, %lu differ", verify_checked,
                verify_wrong);
}
