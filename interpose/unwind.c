/* SPDX-License-Identifier: MIT */
/*
 * unwind.c - see unwind.h: the walk, and what memory it may touch. Each read is checked against the range of
 * pages known to be the thread's stack; at its edge the next page is proved by handing its address to a
 * system call that reads it and then refuses (no file, no signal, allowed by the strictest filters).
 */
#include "unwind.h"

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

static bool widen(walk_cursor *c, uintptr_t address)
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

static bool get(walk_cursor *c, uintptr_t address, uintptr_t *out)
{
    if (unlikely(address - c->lo >= c->hi - c->lo || address % 8) && !widen(c, address)) {
        c->odd = true; /* what is mapped is not ours to remember */
        return false;
    }
    *out = *(const stack_word *)address;
    return true;
}

static void note(walk_cursor *c, uintptr_t address, uintptr_t value, bool relative)
{
    walk *w = c->w;
    uint64_t offset = address - c->start;
    if (!w)
        return;
    if (offset > UINT32_MAX || w->words == WALK_WORDS) {
        c->odd = true;
        return;
    }
    w->word[w->words++] = (walk_word){relative ? value - c->start : value, (uint32_t)offset, relative};
}

/* The frame pointer is about to be used: where its value came from becomes part of the stack's identity. */
static bool use_rbp(walk_cursor *c)
{
    c->used_rbp = true;
    c->odd = c->odd || !c->rbp_known;
    if (c->rbp_kept || !c->rbp_known)
        return c->rbp_known;
    c->rbp_kept = true;
    if (c->rbp_at)
        note(c, c->rbp_at, c->rbp, true);
    else if (c->w) {
        c->w->uses_rbp = true;
        c->w->rbp = c->rbp - c->start;
    }
    return true;
}

static bool place_of(walk_cursor *c, uint8_t where, int32_t offset, uintptr_t cfa, uintptr_t *out)
{
    uintptr_t base = where == CFI_AT_CFA ? cfa : where == CFI_AT_RBP ? c->rbp : c->sp;
    *out = base + (uintptr_t)(intptr_t)offset;
    return where != CFI_AT_RBP || use_rbp(c);
}

static bool find_cfa(walk_cursor *c, const cfi_rule *r, uintptr_t *cfa)
{
    if (r->base == CFI_RBP && !use_rbp(c))
        return false;
    *cfa = (r->base == CFI_RBP ? c->rbp : c->sp) + (uintptr_t)(intptr_t)r->cfa;
    if (r->deref) {
        uintptr_t at = *cfa;
        if (!get(c, at, cfa))
            return false;
        note(c, at, *cfa, true);
        c->odd = c->odd || !c->w; /* a chain has no place for that word */
    }
    return true;
}

static bool restore_rbp(walk_cursor *c, const cfi_rule *r, uintptr_t cfa)
{
    c->saved_at = 0;
    if (r->rbp_at == CFI_SAME)
        return true;
    if (r->rbp_at == CFI_LOST) {
        c->rbp_known = false;
        return true;
    }
    if (!place_of(c, r->rbp_at, r->rbp, cfa, &c->saved_at) || !get(c, c->saved_at, &c->rbp))
        return false;
    c->rbp_at = c->saved_at;
    c->rbp_known = true;
    c->rbp_kept = false;
    return true;
}

bool walk_step(walk_cursor *c, const cfi_rule *r)
{
    uintptr_t cfa, pc;
    c->used_rbp = false;
    if (r->kind < CFI_FRAME || !find_cfa(c, r, &cfa) || !place_of(c, r->ra_at, r->ra, cfa, &c->ra_at) ||
        !get(c, c->ra_at, &pc))
        return false;
    note(c, c->ra_at, pc, false);
    /* A handler may run on a stack of its own; a chain does not tell a word that ended it. */
    c->odd = c->odd || r->kind == CFI_SIGNAL || cfa <= c->sp || (!pc && !c->w);
    if (r->kind == CFI_FRAME && cfa <= c->sp)
        return false; /* no frame is smaller than its return address */
    if (!restore_rbp(c, r, cfa))
        return false;
    c->pc = pc;
    c->sp = cfa;
    c->exact = r->kind == CFI_SIGNAL;
    return pc != 0;
}

walk_cursor walk_resume(const thread *t, const walk_point *p)
{
    walk_cursor c = {.start = p->sp, .pc = p->pc, .sp = p->sp, .rbp = p->rbp};
    bool own = p->sp - t->stack_lo < t->stack_hi - t->stack_lo;
    c.rbp_known = p->rbp_known;
    c.exact = p->exact;
    c.lo = own ? t->stack_lo : page_of(p->sp - 8);
    c.hi = own ? t->stack_hi : c.lo + OS_PAGE;
    return c;
}

walk_point walk_here(const walk_cursor *c)
{
    return (walk_point){c->pc, c->sp, c->rbp, c->rbp_known, c->exact};
}

static void walk_start(walk *w)
{
    w->frames = w->words = 0;
    w->pool = RULE_NO_POOL;
    w->keep = true;
    w->uses_rbp = w->more = w->loose = false;
}

/* The outermost frames seen, the last one first: role, and the words noted when it was reached. */
typedef struct walk_tail {
    uint8_t role[3];
    unsigned words[3];
} walk_tail;

static void tail_add(walk_tail *tail, uint8_t role, unsigned words)
{
    for (unsigned i = 2; i > 0; i--) {
        tail->role[i] = tail->role[i - 1];
        tail->words[i] = tail->words[i - 1];
    }
    tail->role[0] = role;
    tail->words[0] = words;
}

/* The words that need comparing. The function that calls main is called from one place only, and so is the
   one that calls a thread's function: a return address into either tells all that lies outside of it. */
static unsigned words_that_tell(const walk_tail *tail, unsigned words)
{
    if (tail->role[0] != PC_OUTERMOST)
        return words;
    if (tail->role[1] == PC_START)
        return tail->words[1];
    return tail->role[1] == PC_START_MAIN && tail->role[2] == PC_START ? tail->words[2] : words;
}

/* The step that nearly all are, with its word written down. False: nothing was done, walk_step is to. */
static bool step_noted(walk_cursor *c, const pc_info *info)
{
    walk *w = c->w;
    if (w->words == WALK_WORDS || !walk_step_plain(c, info))
        return false;
    uint64_t offset = c->ra_at - c->start;
    c->odd = c->odd || offset > UINT32_MAX;
    w->word[w->words++] = (walk_word){c->pc, (uint32_t)offset, false};
    return true;
}

void walk_run(walk *w, const thread *t, caller_frame f, entry_id entry, size_t size, unsigned depth,
              bool onward, walk_ask *ask)
{
    walk_point start = {f.ret, f.cfa, f.rbp, true, false};
    walk_cursor c = walk_resume(t, &start);
    pc_info scratch;
    walk_tail tail = {{0}, {0}};
    bool more = true;
    walk_start(w);
    c.w = w;
    if (depth > WALK_FRAMES)
        depth = WALK_FRAMES;
    while (more && w->frames < depth && walk_valid(&c)) {
        const pc_info *info = walk_info(&c, ask, &scratch);
        w->pcs[w->frames++] = c.pc;
        tail_add(&tail, info->role, w->words);
        if (entry != ENTRY_COUNT) {
            w->keep = w->keep && !info->by_size;
            w->pool = rules_decide(info->verdict, entry, size, w->frames - 1);
        }
        bool last = w->pool != RULE_NO_POOL || (w->frames == depth && !onward);
        more = !last && (step_noted(&c, info) || walk_step(&c, &info->rule));
    }
    if (!more && w->pool == RULE_NO_POOL)
        w->words = words_that_tell(&tail, w->words);
    w->loose = !more && w->pool == RULE_NO_POOL && tail.role[0] != PC_OUTERMOST && w->frames < depth &&
               f.cfa - t->stack_lo >= t->stack_hi - t->stack_lo;
    w->keep = w->keep && !c.odd;
    w->more = more && w->frames == depth;
    w->next = walk_here(&c);
    w->next_rbp_at = c.rbp_at;
}
