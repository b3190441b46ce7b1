/* SPDX-License-Identifier: MIT */
/*
 * unwind.c - see unwind.h: the walk, and what memory it may touch. Each read is checked against the range of
 * pages known to be the thread's stack; at its edge the next page is proved by handing its address to a
 * system call that reads it and then refuses (no file, no signal, allowed by the strictest filters).
 */
#include "unwind.h"
#include "dl.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    STACK_REACH =
        64 << 20,      /* bytes: a stack pointer further from the thread's stack end is on another stack */
    LEARN_PAGES = 4096 /* pages proved at one go at most */
};

extern void *__libc_stack_end; /* the loader's: where the main thread's stack began */

bool readable(uintptr_t address)
{
    int saved = errno;
    bool faulted = syscall(SYS_rt_sigprocmask, ~0L, address, NULL, 8L) && errno != EINVAL;
    errno = saved;
    return !faulted;
}

static uintptr_t page_of(uintptr_t address)
{
    return address & ~(uintptr_t)(OS_PAGE - 1);
}

/* --- the thread's own stack --------------------------------------------------------------------------- */

/* Where the stack that cfa is on ends if it is this thread's own: at its thread block, or where the kernel
   put the arguments of main. 0: neither is near. */
static uintptr_t stack_end(uintptr_t cfa)
{
    uintptr_t own = (uintptr_t)__builtin_thread_pointer(), first = (uintptr_t)__libc_stack_end;
    if (cfa < own && own - cfa < STACK_REACH)
        return own;
    if (cfa < first && first - cfa < STACK_REACH)
        return first & ~(uintptr_t)7;
    return 0;
}

void stack_learn(thread *t, uintptr_t cfa)
{
    uintptr_t end = stack_end(cfa), from = page_of(cfa - 8);
    if (!end || cfa - t->stack_lo < t->stack_hi - t->stack_lo)
        return;
    uintptr_t to = t->stack_hi == end && cfa < t->stack_lo ? t->stack_lo : end;
    if (to - from > LEARN_PAGES * OS_PAGE)
        return;
    for (uintptr_t page = from; page < to; page += OS_PAGE)
        if (!readable(page))
            return;
    t->stack_lo = from;
    t->stack_hi = end;
}

/* --- the walk ------------------------------------------------------------------------------------------ */

typedef struct cursor {
    walk *w;
    uintptr_t lo, hi;         /* readable */
    uintptr_t start;          /* CFA of the first frame */
    uintptr_t pc, sp, rbp;    /* of the frame at hand */
    uintptr_t rbp_at;         /* where that rbp was saved; 0: still in the register */
    bool rbp_known, rbp_kept; /* kept: its word has been written down */
    bool exact;               /* pc is where a signal struck */
} cursor;

static bool widen(cursor *c, uintptr_t address)
{
    uintptr_t page = page_of(address);
    if (address % 8 || !readable(address))
        return false;
    if (page == c->hi)
        c->hi += OS_PAGE;
    else {
        c->lo = page;
        c->hi = page + OS_PAGE;
    }
    return true;
}

static bool get(cursor *c, uintptr_t address, uintptr_t *out)
{
    if (unlikely(address - c->lo >= c->hi - c->lo || address % 8) && !widen(c, address)) {
        c->w->keep = false; /* what is mapped is not ours to remember */
        return false;
    }
    *out = *(const volatile uintptr_t *)address;
    return true;
}

static void note(cursor *c, uintptr_t address, uintptr_t value, bool relative)
{
    walk *w = c->w;
    uint64_t offset = address - c->start;
    if (offset > UINT32_MAX || w->words == WALK_WORDS) {
        w->keep = false;
        return;
    }
    w->word[w->words++] = (walk_word){relative ? value - c->start : value, (uint32_t)offset, relative};
}

/* The frame pointer is about to be used: where its value came from becomes part of the stack's identity. */
static bool use_rbp(cursor *c)
{
    if (!c->rbp_known)
        return false;
    if (c->rbp_kept)
        return true;
    c->rbp_kept = true;
    if (c->rbp_at)
        note(c, c->rbp_at, c->rbp, true);
    else {
        c->w->uses_rbp = true;
        c->w->rbp = c->rbp - c->start;
    }
    return true;
}

static bool place_of(cursor *c, uint8_t where, int32_t offset, uintptr_t cfa, uintptr_t *out)
{
    uintptr_t base = where == CFI_AT_CFA ? cfa : where == CFI_AT_RBP ? c->rbp : c->sp;
    *out = base + (uintptr_t)(intptr_t)offset;
    return where != CFI_AT_RBP || use_rbp(c);
}

static bool find_cfa(cursor *c, const cfi_rule *r, uintptr_t *cfa)
{
    if (r->base == CFI_RBP && !use_rbp(c))
        return false;
    *cfa = (r->base == CFI_RBP ? c->rbp : c->sp) + (uintptr_t)(intptr_t)r->cfa;
    if (r->deref) {
        uintptr_t at = *cfa;
        if (!get(c, at, cfa))
            return false;
        note(c, at, *cfa, true);
    }
    return true;
}

static bool restore_rbp(cursor *c, const cfi_rule *r, uintptr_t cfa)
{
    uintptr_t at;
    if (r->rbp_at == CFI_SAME)
        return true;
    if (r->rbp_at == CFI_LOST) {
        c->rbp_known = false;
        return true;
    }
    if (!place_of(c, r->rbp_at, r->rbp, cfa, &at) || !get(c, at, &c->rbp))
        return false;
    c->rbp_at = at;
    c->rbp_known = true;
    c->rbp_kept = false;
    return true;
}

/* To the caller's frame; false: the stack ends here or cannot be followed. */
static bool step(cursor *c, const cfi_rule *r)
{
    uintptr_t cfa, ra_at, pc;
    if (r->kind < CFI_FRAME || !find_cfa(c, r, &cfa) || !place_of(c, r->ra_at, r->ra, cfa, &ra_at) ||
        !get(c, ra_at, &pc))
        return false;
    note(c, ra_at, pc, false);
    if (r->kind == CFI_SIGNAL)
        c->w->keep = false; /* the handler may run on a stack of its own */
    else if (cfa <= c->sp)
        return false; /* no frame is smaller than its return address */
    if (!restore_rbp(c, r, cfa))
        return false;
    c->pc = pc;
    c->sp = cfa;
    c->exact = r->kind == CFI_SIGNAL;
    return pc != 0;
}

static cursor cursor_at(walk *w, const thread *t, caller_frame f)
{
    cursor c = {.w = w, .start = f.cfa, .pc = f.ret, .sp = f.cfa, .rbp = f.rbp, .rbp_known = true};
    bool own = f.cfa - t->stack_lo < t->stack_hi - t->stack_lo;
    c.lo = own ? t->stack_lo : page_of(f.cfa - 8);
    c.hi = own ? t->stack_hi : c.lo + OS_PAGE;
    w->frames = w->words = 0;
    w->pool = RULE_NO_POOL;
    w->keep = true;
    w->uses_rbp = false;
    return c;
}

/* What is known about the cursor's pc. While objects are being closed the table is not believed. */
static const pc_info *info_of(const cursor *c, walk_ask *ask, pc_info *scratch)
{
    pc_key key = (pc_key)c->pc | (c->exact ? PC_EXACT : 0);
    const pc_info *info = likely(!dl_closing) ? pc_find(key) : NULL;
    return likely(info != NULL) ? info : ask(key, scratch);
}

void walk_run(walk *w, const thread *t, caller_frame f, entry_id entry, size_t size, unsigned depth,
              walk_ask *ask)
{
    cursor c = cursor_at(w, t, f);
    pc_info scratch;
    if (depth > WALK_FRAMES)
        depth = WALK_FRAMES;
    while (w->frames < depth && !(c.pc & PC_EXACT)) {
        const pc_info *info = info_of(&c, ask, &scratch);
        w->pcs[w->frames++] = c.pc;
        if (entry != ENTRY_COUNT) {
            w->keep = w->keep && !info->by_size;
            w->pool = rules_decide(info->verdict, entry, size, w->frames - 1);
        }
        if (w->pool != RULE_NO_POOL || w->frames == depth || !step(&c, &info->rule))
            return;
    }
}
