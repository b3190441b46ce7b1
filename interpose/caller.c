/* SPDX-License-Identifier: MIT */
/*
 * caller.c - see caller.h: the halves of caller_tag that are out of line, and what a thread keeps for them.
 *
 * A thread's side is one mapping, made once and parked with the thread: two memos (the one in use and the one
 * before it, which a look-up that a signal interrupted may still read), its tags by site, and the walk at
 * hand. A full memo is replaced by one that knows what was asked for lately, or by a larger one that knows
 * all when it filled up so fast that the misses cost more than a quarter of a per cent of the thread's time
 * since. Locking: as caller.h says. Tags and sides are never freed.
 */
#include "caller.h"
#include "callsites.h"
#include "chain.h"
#include "config.h"
#include "dl.h"
#include "fmt.h"
#include "lock.h"
#include "onstack.h"
#include "os.h"
#include "publish.h"
#include "raw.h"
#include "sandbox.h"
#include "verify.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    LEVELS = 7,         /* memo sizes: 92 KiB to 5.8 MiB */
    MODEST = 400 << 10, /* bytes of a memo that any process may have */
    GROW_NS = 32 << 20, /* the smallest memo lasted no longer than this: take a larger one */
    SETTLED = 1000,     /* entries after which a memo that was outgrown is given back */
    RESOLVE_STACK = 256 << 10
};

typedef struct caller_side {
    thread *owner;
    struct caller_side *next; /* of all ever made; set once */
    uintptr_t within;         /* CFA of the call under way, 0 none */
    memo *memo, *spare;       /* spare: NULL or the one before */
    unsigned level;           /* of memo */
    unsigned settled;         /* entries made since it was new */
    uint64_t epoch;           /* dl_epoch that the memo and the sites belong to */
    callsites sites;
    uint32_t foreign; /* misses on stacks that are not the thread's own */
    walk walk;        /* before the chain: what most threads need of all this is its first pages */
    chain chain;
} caller_side;

static caller_side *sides; /* atomic: list head */
static lock resolve_lock = LOCK_INIT(RANK_UNWIND);
/* A child of fork whose parent was resolving meanwhile: no address is looked up in it. */
static bool unresolved;
ROOMY static char resolve_stack[RESOLVE_STACK] __attribute__((aligned(64)));

/* --- once per return address, once per site ---------------------------------------------------------- */

static uint64_t signals_block(void)
{
    uint64_t all = ~(uint64_t)0, old = 0;
    syscall(SYS_rt_sigprocmask, 0 /* SIG_BLOCK */, &all, &old, sizeof old);
    return old;
}

static void signals_restore(uint64_t old)
{
    syscall(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, &old, NULL, sizeof old);
}

void caller_resolving(void (*fn)(void *), void *arg)
{
    int saved = errno;
    uint64_t old = signals_block();
    lock_take(&resolve_lock);
    if (!unresolved)
        onstack_call(fn, arg, resolve_stack + RESOLVE_STACK);
    lock_drop(&resolve_lock);
    signals_restore(old);
    errno = saved;
}

static void ask_resolving(void *arg)
{
    pc_info *info = arg;
    const pc_info *found = dl_closing ? NULL : pc_find(info->key);
    if (found) {
        *info = *found;
        return;
    }
    *info = pc_resolve(info->key);
    if (!dl_closing)
        pc_keep(info);
}

static const pc_info *ask(pc_key key, pc_info *scratch)
{
    scratch->key = key;
    caller_resolving(ask_resolving, scratch);
    return scratch;
}

/* --- a thread's memo ---------------------------------------------------------------------------------- */

/* A memo is worth memory only in proportion to what the process holds, from us or by itself. */
static bool affordable(uint64_t bytes)
{
    return bytes <= MODEST || bytes <= (sandboxed ? relaxed_load(&world.taken) : raw_resident_bytes()) / 32;
}

typedef enum renewal {
    RENEW_EMPTY,  /* forget all */
    RENEW_RECENT, /* but what was asked for lately */
    RENEW_LARGER  /* forget nothing, if a larger one can be had */
} renewal;

/* Another memo in place of the full one; false: no memory for it. */
static bool memo_renew(caller_side *s, renewal how)
{
    bool larger = how == RENEW_LARGER && s->level + 1 < LEVELS && affordable((uint64_t)s->memo->size * 2);
    unsigned level = s->level + larger;
    memo *fresh = s->spare && memo_level(s->spare) == level ? s->spare : memo_create(level);
    if (!fresh)
        return false;
    memo *spare = s->spare;
    s->spare = NULL; /* a longjmp may leave at any point: then it is lost, not used while it is gone */
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (fresh == spare)
        memo_clear(fresh);
    else if (spare)
        memo_destroy(spare);
    if (larger)
        memo_copy(fresh, s->memo);
    else if (how != RENEW_EMPTY)
        memo_copy_recent(fresh, s->owner);
    memo_forget_last(s->owner);
    spare = s->memo;
    s->settled = 0;
    s->level = level;
    s->memo = fresh;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    s->spare = spare;
    return true;
}

/* Whether the call comes from a signal handler, as far as its stack tells. */
static bool under_signal(const thread *t, caller_frame f)
{
    walk_point from = {.pc = f.ret, .sp = f.cfa, .rbp = f.rbp, .rbp_known = true};
    walk_cursor at = walk_resume(t, &from);
    pc_info scratch;
    for (unsigned i = 0; i < WALK_FRAMES && walk_valid(&at); i++) {
        const pc_info *info = walk_info(&at, ask, &scratch);
        if (info->rule.kind == CFI_SIGNAL)
            return true;
        if (!walk_step(&at, &info->rule))
            return false;
    }
    return false;
}

/* A look-up that the handler interrupted may be in the memo before this one: then that one stays as it is,
   and what the handler asks for is not kept where there is no room. */
static void remember(caller_side *s, uint64_t key, const walk *w, caller_frame f, uint32_t top, const tag *g)
{
    if (s->spare && memo_level(s->spare) != s->level && ++s->settled >= SETTLED &&
        !under_signal(s->owner, f)) {
        memo *spare = s->spare;
        s->spare = NULL;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        memo_destroy(spare);
    }
    if (memo_insert(s->memo, key, w, f.cfa, top, g) || (s->spare && under_signal(s->owner, f)))
        return;
    uint64_t lasted = os_time_thread_ns() - s->memo->since;
    if (memo_renew(s, lasted < (uint64_t)GROW_NS << s->level ? RENEW_LARGER : RENEW_RECENT))
        memo_insert(s->memo, key, w, f.cfa, top, g);
}

static void forget_all(caller_side *s)
{
    if (!memo_renew(s, RENEW_EMPTY)) {
        memo_forget_last(s->owner);
        memo_clear(s->memo);
    }
    s->chain.count = 0;
}

/* Forgets what an object closed meanwhile may have left; a signal handler leaves that to the call it
   interrupted, and goes without a memo. */
static void refresh(caller_side *s, caller_frame f)
{
    uint64_t now = __atomic_load_n(&dl_epoch, __ATOMIC_SEQ_CST);
    if (likely(s->epoch == now) || (s->spare && under_signal(s->owner, f)))
        return;
    forget_all(s);
    callsites_clear(&s->sites);
    s->epoch = now;
}

static bool current(const caller_side *s)
{
    return !__atomic_load_n(&dl_closing, __ATOMIC_SEQ_CST) &&
           __atomic_load_n(&dl_epoch, __ATOMIC_SEQ_CST) == s->epoch;
}

/* No look-up of one's own that begins after this finds anything: the key keeps it from the cells. */
static void take_out(thread *t)
{
    relaxed_store(&t->call_key, MEMO_UNUSABLE);
    relaxed_store(&t->memo, memo_dead);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* Puts the memo back into use; a dlclose that begins at the same time either is seen here or takes it out. */
static void give_back(thread *t)
{
    if (config_now.verify)
        return;
    __atomic_store_n(&t->memo, t->caller->memo, __ATOMIC_SEQ_CST);
    __atomic_store_n(&t->call_key, memo_top_key(t->top), __ATOMIC_SEQ_CST);
    if (!current(t->caller))
        take_out(t);
}

void caller_suspend(void)
{
    for (caller_side *s = __atomic_load_n(&sides, __ATOMIC_ACQUIRE); s; s = s->next) {
        thread *t = s->owner;
        __atomic_store_n(&t->call_key, MEMO_UNUSABLE, __ATOMIC_SEQ_CST);
        __atomic_store_n(&t->memo, memo_dead, __ATOMIC_SEQ_CST);
    }
}

bool caller_thread_start(thread *t)
{
    caller_side *s = os_map(sizeof *s);
    take_out(t);
    t->caller = NULL;
    if (!s || !(s->memo = memo_create(0)))
        return false;
    s->owner = t;
    s->epoch = __atomic_load_n(&dl_epoch, __ATOMIC_SEQ_CST);
    s->next = __atomic_load_n(&sides, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&sides, &s->next, s, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        continue;
    t->caller = s;
    return true;
}

/* --- the slower halves of a look-up ------------------------------------------------------------------- */

/* The key of a call, whether the memo is in use or not. */
static uint64_t key_of(const thread *t, entry_id entry, caller_frame f)
{
    return memo_key(f.ret, entry, memo_top_key(t->top));
}

static unsigned depth_now(void)
{
    return config_now.depth < WALK_FRAMES ? config_now.depth : WALK_FRAMES;
}

/* Whether a rule claims the call further out than the memo tells. */
static int outer_pool(thread *t, const walk_point *from, unsigned first, entry_id entry, size_t size,
                      uintptr_t *claimer)
{
    chain_query q = {*from, first, depth_now(), entry, size};
    return chain_decide(&t->caller->chain, t, &q, ask, claimer);
}

/* Foreign stacks (coroutines) are not worth a proof at each miss. */
static void learn_stack(thread *t, uintptr_t cfa)
{
    if (thread_on_stack(t, cfa))
        return;
    if (is_pow2(++t->caller->foreign) || t->stack_lo - cfa < MIB(1))
        stack_learn(t, cfa);
}

/* At most `inner` frames. */
static void walk_inner(thread *t, walk *w, unsigned inner, entry_id entry, size_t size, caller_frame f)
{
    unsigned depth = depth_now();
    learn_stack(t, f.cfa);
    walk_run(w, t, f, entry, size, depth < inner ? depth : inner, depth > inner, ask);
}

/* The whole way: inner frames by the rules of their addresses, outer ones by the chain. */
static const tag *walked(thread *t, entry_id entry, size_t size, caller_frame f)
{
    caller_side *s = t->caller;
    walk *w = &s->walk;
    uintptr_t claimer = 0;
    uint32_t top = t->top;
    walk_inner(t, w, memo_depth(s->memo, key_of(t, entry, f)), entry, size, f);
    const tag *g = callsites_tag(&s->sites, t, w, w->pool == RULE_NO_POOL ? top : (uint32_t)w->pool, 0);
    if (w->keep && current(s))
        remember(s, key_of(t, entry, f), w, f, top, g);
    int pool = w->more ? outer_pool(t, &w->next, w->frames, entry, size, &claimer) : RULE_NO_POOL;
    return pool == RULE_NO_POOL ? g : callsites_tag(&s->sites, t, w, (uint32_t)pool, claimer);
}

/* The tag of an entry's call-site in the pool that claims the call further out. */
static const tag *outer_tag(thread *t, const memo_entry *e, uint32_t pool, uintptr_t claimer, entry_id entry,
                            size_t size, caller_frame f)
{
    callsites *sites = &t->caller->sites;
    uint64_t key = callsites_outer_key(e->tag, pool, claimer);
    const tag *known = callsites_known(sites, key);
    if (likely(known != NULL))
        return known;
    walk *w = &t->caller->walk;
    walk_inner(t, w, CALLSITE_FRAMES, entry, size, f);
    return callsites_tag_as(sites, t, w, pool, claimer, key);
}

/* The outer frames have been the same so often that one entry is to tell all of them. */
static void tell_whole(thread *t, memo_entry *e, entry_id entry, size_t size, caller_frame f, const tag *g)
{
    walk *w = &t->caller->walk;
    memo_query q = {f.cfa, f.rbp, t->stack_lo, t->stack_hi, t->top};
    walk_run(w, t, f, entry, size, depth_now(), false, ask);
    w->keep = w->keep && current(t->caller);
    memo_tell_whole(t, t->caller->memo, e, w, &q, g);
}

/* Counts one more use of an entry that a whole one may take the place of. */
static bool is_due(memo_entry *e)
{
    return ++e->repeats == memo_patience(e);
}

/* The tag for an entry of the memo: its own, or that of the pool which claims the call further out. */
static const tag *entry_tag(thread *t, memo_entry *e, entry_id entry, size_t size, caller_frame f)
{
    uintptr_t claimer;
    if (!e->onward) {
        if (e->special && e->repeats == memo_patience(e))
            tell_whole(t, e, entry, size, f, e->tag);
        return e->tag;
    }
    walk_point next = memo_onward(e, f.cfa, f.rbp);
    unsigned mended = t->caller->chain.mended;
    int pool = outer_pool(t, &next, e->depth, entry, size, &claimer);
    const tag *g = pool == RULE_NO_POOL ? e->tag : outer_tag(t, e, (uint32_t)pool, claimer, entry, size, f);
    if (mended != t->caller->chain.mended)
        e->repeats = 0;
    else if (unlikely(is_due(e)))
        tell_whole(t, e, entry, size, f, g);
    return g;
}

/* Takes the memo out of use and raises busy: what allocates from here on gets System's base tag. */
static void enter(thread *t, uintptr_t cfa)
{
    t->busy++;
    t->caller->within = cfa;
    take_out(t);
}

static void leave(thread *t)
{
    give_back(t);
    t->caller->within = 0;
    t->busy--;
}

/* Whether the call from cfa comes while another is under way. One that lies further in on the same stack can
   only have been left by a longjmp out of a signal handler: what it was working on is dropped. `busy` was
   raised by that look-up alone, or it is not the one that was left. */
COLD static bool interrupted(thread *t, uintptr_t cfa)
{
    caller_side *s = t->caller;
    if (!s || !s->within || t->busy != 1 || cfa < s->within || !thread_on_stack(t, cfa) ||
        !thread_on_stack(t, s->within))
        return true;
    forget_all(s);
    s->within = 0;
    t->busy = 0;
    return false;
}

COLD static const tag *caller_tag_cold(thread *t, entry_id entry, size_t size, uintptr_t cfa, uintptr_t rbp);

/* The inner frames are known, the outer ones are to be asked. */
static const tag *tag_outer(thread *t, memo_entry *e, entry_id entry, size_t size, uintptr_t cfa,
                            uintptr_t rbp)
{
    if (unlikely(t->busy)) /* a signal handler interrupted a look at the chain */
        return e->onward ? caller_tag_cold(t, entry, size, cfa, rbp) : &e->now;
    t->caller->within = cfa;
    t->busy = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    const tag *g = entry_tag(t, e, entry, size, (caller_frame){*(const stack_word *)(cfa - 8), cfa, rbp});
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    t->caller->within = 0;
    t->busy = 0;
    return g;
}

HOT const tag *caller_tag_searched(thread *t, entry_id entry, size_t size, uintptr_t cfa, uintptr_t rbp)
{
    uintptr_t ret = *(const stack_word *)(cfa - 8);
    uint64_t key = memo_key(ret, entry, t->call_key);
    const memo_entry *e = memo_cell_entry(t, memo_cell_first(t, ret, cfa));
    if (!memo_same_call(e, key) || !memo_matches(e, cfa, rbp, t->top)) {
        memo_query q = {cfa, rbp, t->stack_lo, t->stack_hi, t->top};
        e = memo_find_again(t, t->memo, key, &q);
    }
    if (unlikely(!e))
        return caller_tag_cold(t, entry, size, cfa, rbp);
    if (e->onward || (e->special && is_due((memo_entry *)e)))
        return tag_outer(t, (memo_entry *)e, entry, size, cfa, rbp);
    if (unlikely(memo_fork_lasted(e)))
        memo_unfork(t, cfa);
    return &e->now;
}

/* What the memo says where the fast path could not ask it: just back from a dlclose, or verifying. */
static const tag *remembered(thread *t, entry_id entry, size_t size, caller_frame f)
{
    memo_query q = {f.cfa, f.rbp, t->stack_lo, t->stack_hi, t->top};
    memo_entry *e = NULL;
    if (current(t->caller))
        e = (memo_entry *)memo_find_again(t, t->caller->memo, key_of(t, entry, f), &q);
    if (e && e->special && !e->onward)
        is_due(e);
    return e ? entry_tag(t, e, entry, size, f) : NULL;
}

static const tag *resolve(thread *t, entry_id entry, size_t size, caller_frame f, bool asked)
{
    refresh(t->caller, f);
    const tag *g = asked ? NULL : remembered(t, entry, size, f);
    if (g && config_now.verify && verify_due()) {
        walk *w = &t->caller->walk;
        walk_run(w, t, f, entry, size, config_now.depth, false, ask);
        uint32_t pool = w->pool == RULE_NO_POOL ? t->top : (uint32_t)w->pool;
        verify_tag(g, callsites_tag(&t->caller->sites, t, w, pool, 0), f, w);
    }
    if (g)
        return g;
    __atomic_fetch_add(&published->unwound, 1, __ATOMIC_RELAXED);
    return walked(t, entry, size, f);
}

/* POOLMEM_DEPTH=0: every call goes to the top of the pool stack; the memo says so as for any other. */
static const tag *unwalked(thread *t, entry_id entry, caller_frame f)
{
    walk *w = &t->caller->walk;
    const tag *g = thread_base(t, t->top);
    refresh(t->caller, f);
    learn_stack(t, f.cfa);
    w->frames = w->words = 0;
    w->pool = RULE_NO_POOL;
    w->uses_rbp = w->more = w->loose = false;
    if (current(t->caller))
        remember(t->caller, key_of(t, entry, f), w, f, t->top, g);
    return g;
}

COLD static const tag *caller_tag_cold(thread *t, entry_id entry, size_t size, uintptr_t cfa, uintptr_t rbp)
{
    caller_frame f = {*(const stack_word *)(cfa - 8), cfa, rbp};
    if (t == &cold_thread && (t = thread_start()) == &cold_thread)
        return thread_emergency_tag();
    if (unlikely(t->busy) && interrupted(t, cfa))
        return thread_base(t, STATS_POOL_SYSTEM);
    if (!t->caller || unresolved)
        return thread_base(t, t->top);
    int saved = errno;
    bool asked = t->memo != memo_dead;
    enter(t, cfa);
    const tag *g = config_now.depth ? resolve(t, entry, size, f, asked) : unwalked(t, entry, f);
    leave(t);
    errno = saved;
    return g;
}

unsigned caller_walk(thread *t, caller_frame f, uintptr_t *pcs, unsigned max)
{
    if (!max)
        return 0;
    pcs[0] = f.ret;
    if (t == &cold_thread || t->busy || !t->caller || unresolved)
        return 1;
    int saved = errno;
    walk *w = &t->caller->walk;
    enter(t, f.cfa);
    walk_run(w, t, f, ENTRY_COUNT, 0, max, false, ask);
    memcpy(pcs, w->pcs, w->frames * sizeof *pcs);
    leave(t);
    errno = saved;
    return w->frames;
}

typedef struct description {
    uintptr_t address;
    char *out;
    size_t cap;
} description;

static void describe_resolving(void *arg)
{
    description *d = arg;
    symbol_info s;
    if (!symbol_find(d->address, &s))
        fmt_text(d->out, d->cap, "0x%lx", d->address);
    else if (s.name || s.raw)
        fmt_text(d->out, d->cap, "%s+0x%lx (%s)", s.name ? s.name : s.raw, s.symbol_offset, s.module);
    else
        fmt_text(d->out, d->cap, "0x%lx (%s)", s.offset, s.module);
}

void caller_describe(thread *t, caller_frame f, char *out, size_t cap)
{
    description d = {f.ret, out, cap};
    if (t == &cold_thread || t->busy || unresolved || lock_is_mine(&resolve_lock)) {
        fmt_text(out, cap, "0x%lx", f.ret);
        return;
    }
    t->busy++;
    caller_resolving(describe_resolving, &d);
    t->busy--;
}

/* --- the life of the process -------------------------------------------------------------------------- */

void caller_boot(void)
{
    take_out(&cold_thread);
}

void caller_fork_locks(lock_visit *visit)
{
    visit(&resolve_lock);
}

/* A close under way in another thread is not in the child. */
void caller_fork_child(void)
{
    unresolved = unresolved || !lock_is_mine(&resolve_lock);
    dl_fork_child();
}
