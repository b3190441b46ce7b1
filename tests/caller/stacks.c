/* SPDX-License-Identifier: MIT */
/*
 * stacks.c - random stacks over every kind of frame, at every depth, again and again, from several threads:
 * each tag is compared with a full walk by libunwind. Arguments: stacks, calls (defaults below).
 */
#define UNW_LOCAL_ONLY
#include "entries.h"
#include "frames.h"
#include "stubs.h"
#include "publish.h"

#include <libunwind.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STACKS = 400, CALLS = 60000, THREADS = 2, DEPTH_MAX = 40, REPEATS = 40, SHIFT_MAX = 4096 };

static unsigned long checked, wrong, whole, forks; /* atomic */

static unsigned draw(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

enum { SITE_FRAMES = 8 }; /* caller.c */

/* What the full walk says of a call. */
typedef struct truth {
    unsigned frames;
    uintptr_t pcs[128];
    uintptr_t rbp;
    int pool; /* that claims it, at the last frame */
} truth;

static void find_truth(const caller_frame *f, truth *w)
{
    unw_context_t context;
    unw_cursor_t at;
    unw_word_t pc, sp, rbp;
    w->frames = 0;
    w->pool = RULE_NO_POOL;
    unw_getcontext(&context);
    unw_init_local(&at, &context);
    while (unw_step(&at) > 0 && w->frames < config_now.depth && w->pool == RULE_NO_POOL) {
        unw_get_reg(&at, UNW_REG_IP, &pc);
        unw_get_reg(&at, UNW_REG_SP, &sp);
        unw_get_reg(&at, UNW_X86_64_RBP, &rbp);
        if (!w->frames && (pc != f->ret || sp != f->cfa))
            continue;
        if (!w->frames)
            w->rbp = rbp;
        w->pcs[w->frames++] = pc;
        w->pool = unw_is_signal_frame(&at) > 0 ? RULE_NO_POOL : stub_pool_of(pc);
    }
}

/* A site is named by the inner frames, and by the one further out that is claimed, if one is. */
static bool site_is(const stub_site *s, const truth *w)
{
    unsigned n = w->frames < SITE_FRAMES ? w->frames : SITE_FRAMES;
    bool claimed_outside = w->pool != RULE_NO_POOL && w->frames > SITE_FRAMES;
    if (s->frames != n + claimed_outside || memcmp(s->pcs, w->pcs, n * sizeof *s->pcs) != 0)
        return false;
    return !claimed_outside || s->pcs[n] == w->pcs[w->frames - 1];
}

static void check(const seen *s, void *arg)
{
    truth w;
    uint32_t pool;
    const stub_site *site = stub_site_of(s->tag, &pool);
    find_truth(&s->frame, &w);
    ((program *)arg)->cfa = s->frame.cfa;
    relaxed_add(&s->tag->tally->allocs, 1);
    uint32_t want = w.pool == RULE_NO_POOL ? self->top : (uint32_t)w.pool;
    bool full = !site; /* the table of sites is full: only the pool can be right */
    bool good = w.frames && pool == want && (full || site_is(site, &w)) && w.rbp == s->frame.rbp;
    __atomic_fetch_add(&checked, 1, __ATOMIC_RELAXED);
    if (good)
        return;
    if (__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED) > 5)
        return;
    fprintf(stderr, "stack of %u frames: pool %u, expected %u; rbp %lx, expected %lx; site of %u frames\n",
            w.frames, pool, want, s->frame.rbp, w.rbp, site ? site->frames : 0);
    for (unsigned i = 0; i < w.frames; i++)
        fprintf(stderr, "  %2u %lx %lx\n", i, w.pcs[i], site && i < site->frames ? site->pcs[i] : 0ul);
}

static void last_lean(program *p)
{
    entry_lean(p->seed, check, p);
    __asm__ volatile("" ::: "memory");
}

static void last_framed(program *p)
{
    entry_framed(p->seed, check, p);
    __asm__ volatile("" ::: "memory");
}

static void last_unoptimised(program *p)
{
    entry_unoptimised(p->seed, check, p);
    __asm__ volatile("" ::: "memory");
}

static void make_program(program *p, unsigned *seed)
{
    static void (*const lasts[])(program *) = {last_lean, last_framed, last_unoptimised};
    p->depth = draw(seed) % DEPTH_MAX;
    p->seed = draw(seed);
    p->last = lasts[draw(seed) % 3];
    for (unsigned i = 0; i < p->depth; i++)
        p->call[i] = draw(seed) & 1 ? lean_frames[draw(seed) % lean_frame_count]
                                    : framed_frames[draw(seed) % framed_frame_count];
}

/* Some programs are kin: they share their outer calls, as the branches of one program do. */
static void make_programs(program *all, unsigned count, unsigned *seed)
{
    for (unsigned i = 0; i < count; i++) {
        make_program(&all[i], seed);
        if (i && draw(seed) % 4) {
            const program *kin = &all[draw(seed) % i];
            unsigned shared = draw(seed) % (kin->depth + 1);
            memcpy(all[i].call, kin->call, shared * sizeof *kin->call);
            all[i].last = kin->last;
            all[i].depth = shared > all[i].depth ? shared : all[i].depth;
        }
    }
}

static unsigned stacks = STACKS, calls = CALLS;

/* Runs a program with the stack pointer anywhere. */
__attribute__((noinline)) static void run(program *p, unsigned shift)
{
    volatile char *room = __builtin_alloca(shift);
    room[0] = 0;
    p->at = 0;
    program_next(p);
    room[0] = 1;
}

/* This thread's cells that lead to an entry for a whole stack, and those that are forks. */
static void count_cells(void)
{
    for (unsigned i = 0; i < MEMO_CELLS; i++) {
        const memo_entry *e = memo_cell_entry(self, i * sizeof(uint64_t));
        __atomic_fetch_add(&whole, e && e->whole, __ATOMIC_RELAXED);
        __atomic_fetch_add(&forks, !e && self->cell[i], __ATOMIC_RELAXED);
    }
}

/* Two programs that end in the same call at the same address take turns. */
static void take_turns(program *p, program *q, unsigned shift)
{
    run(p, shift);
    run(q, shift);
    uintptr_t apart = p->cfa - q->cfa;
    for (unsigned n = REPEATS; n && apart % 16 == 0 && apart < SHIFT_MAX; n--) {
        run(p, shift + (unsigned)apart);
        run(q, shift);
    }
}

static void *thread_main(void *arg)
{
    unsigned seed = (unsigned)(uintptr_t)arg;
    program *all = calloc(stacks, sizeof *all);
    make_programs(all, stacks, &seed);
    for (unsigned i = 0; i < calls; i++) {
        if (self != &cold_thread && draw(&seed) % 64 == 0)
            caller_set_top(self, draw(&seed) % 3);
        program *p = &all[draw(&seed) % stacks];
        unsigned shift = 16 + draw(&seed) % (SHIFT_MAX / 16) * 16;
        bool again = draw(&seed) % 128 == 0; /* then the memo comes to tell all of it */
        for (unsigned n = again ? REPEATS : 1; n; n--)
            run(p, shift);
        if (draw(&seed) % 32 == 0)
            take_turns(p, &all[draw(&seed) % stacks], shift);
        if (i % 1024 == 0)
            count_cells();
    }
    free(all);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread[THREADS];
    stacks = argc > 1 ? (unsigned)atoi(argv[1]) : stacks;
    calls = argc > 2 ? (unsigned)atoi(argv[2]) : calls;
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, thread_main, (void *)(i + 1));
    thread_main((void *)(uintptr_t)77);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    printf("%lu tags (%lu walked; cells: %lu tell a whole stack, %lu fork) compared with libunwind, %lu "
           "differ\n",
           checked, published->unwound, whole, forks, wrong);
    return wrong != 0 || checked == 0 || whole == 0 || forks == 0;
}
