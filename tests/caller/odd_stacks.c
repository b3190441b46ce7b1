/* SPDX-License-Identifier: MIT */
/*
 * odd_stacks.c - stacks that are small, foreign or broken: threads of 16 KiB, coroutines on mapped memory
 * with nothing readable above, coroutines on the heap, a signal stack of 16 KiB, code without unwind tables,
 * a smashed chain of frame pointers, calls that the size decides, and a fork. Each call is tagged three
 * times: walked, then from the memo.
 */
#include "entries.h"
#include "publish.h"
#include "verify.h"
#include "stubs.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

enum { SMALL = 16 << 10, PAGE = 4096 };

static unsigned long checked, wrong;
static uint32_t wanted;
static const char *now = "";

static void check(const seen *s, void *arg)
{
    uint32_t pool;
    stub_site_of(s->tag, &pool);
    checked++;
    if (pool == wanted || wrong++ > 5)
        return;
    fprintf(stderr, "%s: pool %u, expected %u\n", now, pool, wanted);
}

__attribute__((noinline)) static void allocate(size_t size)
{
    for (int i = 0; i < 3; i++) {
        entry_lean(size, check, NULL);
        entry_framed(size, check, NULL);
    }
    __asm__ volatile("" ::: "memory");
}

/* Recursion, so that the stacks differ in more than one word. */
__attribute__((noinline)) static void recurse(unsigned depth, size_t size)
{
    if (depth)
        recurse(depth - 1, size);
    else
        allocate(size);
    __asm__ volatile("" ::: "memory");
}

__attribute__((noinline, visibility("default"))) void work_pool4(void)
{
    wanted = 4;
    for (unsigned depth = 0; depth < 12; depth++)
        recurse(depth, 10);
    __asm__ volatile("" ::: "memory");
}

__attribute__((noinline, visibility("default"))) void work_bysize(void)
{
    wanted = 7;
    recurse(3, 10);
    wanted = 8;
    recurse(3, 1000);
    __asm__ volatile("" ::: "memory");
}

static void unclaimed(void)
{
    wanted = self == &cold_thread ? 0 : self->top;
    for (unsigned depth = 0; depth < 12; depth++)
        recurse(depth, 10);
    __asm__ volatile("" ::: "memory");
}

static void *thread_main(void *unused)
{
    unclaimed();
    work_pool4();
    return NULL;
}

static void small_threads(void)
{
    pthread_attr_t attr;
    now = "thread of 16 KiB";
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, SMALL + 4 * PAGE); /* the C library keeps its own part there too */
    for (int i = 0; i < 20; i++) {
        pthread_t t;
        pthread_create(&t, &attr, thread_main, NULL);
        pthread_join(t, NULL);
    }
}

static ucontext_t back;

static void on_coroutine(void)
{
    unclaimed();
    work_pool4();
}

static void run_on(void *stack, size_t size)
{
    ucontext_t there;
    getcontext(&there);
    there.uc_stack.ss_sp = stack;
    there.uc_stack.ss_size = size;
    there.uc_link = &back;
    makecontext(&there, on_coroutine, 0);
    swapcontext(&back, &there);
}

/* The end of the stack is the end of what is mapped; the next one may lie where the last one was, but less of
   it. */
static void mapped_coroutines(void)
{
    now = "mapped coroutine";
    for (int i = 0; i < 40; i++) {
        size_t size = SMALL + (size_t)(i % 4) * PAGE;
        char *all = mmap(NULL, size + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        mprotect(all + PAGE, size, PROT_READ | PROT_WRITE);
        run_on(all + PAGE, size);
        munmap(all, size + 2 * PAGE);
    }
}

static void heap_coroutines(void)
{
    now = "coroutine on the heap";
    for (int i = 0; i < 40; i++) {
        void *stack = malloc(SMALL);
        run_on(stack, SMALL);
        free(stack);
    }
}

static void on_signal(int number)
{
    unclaimed();
    work_pool4();
}

static void signal_stack(void)
{
    stack_t s = {.ss_sp = malloc(SMALL), .ss_size = SMALL};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
    now = "signal stack";
    sigaltstack(&s, NULL);
    sigaction(SIGUSR2, &action, NULL);
    for (int i = 0; i < 20; i++)
        raise(SIGUSR2);
    s.ss_flags = SS_DISABLE;
    sigaltstack(&s, NULL);
    free(s.ss_sp);
}

/* Code made at run time: no table says how to get out of it. It calls its argument. */
static void no_tables(void)
{
    static const unsigned char code[] = {0x48, 0x83, 0xec, 0x08, 0xff, 0xd7, 0x48, 0x83, 0xc4, 0x08, 0xc3};
    void *p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    now = "code without tables";
    memcpy(p, code, sizeof code);
    mprotect(p, PAGE, PROT_READ | PROT_EXEC);
    for (int i = 0; i < 5; i++) {
        ((void (*)(void (*)(void)))p)(unclaimed);
        ((void (*)(void (*)(void)))p)(work_pool4);
    }
    munmap(p, PAGE);
}

/* A function that says its caller's frame is found through rbp, while rbp points nowhere. */
void with_bad_rbp(void (*call)(void), uintptr_t rbp);
__asm__(".pushsection .text\n"
        ".type with_bad_rbp,@function\nwith_bad_rbp:\n.cfi_startproc\n"
        "pushq %rbp\n.cfi_def_cfa_offset 16\n.cfi_offset %rbp, -16\n"
        "movq %rsi, %rbp\n.cfi_def_cfa_register %rbp\n"
        "call *%rdi\n"
        "popq %rbp\n.cfi_def_cfa %rsp, 8\n"
        "ret\n.cfi_endproc\n.size with_bad_rbp, .-with_bad_rbp\n.popsection");

static void smashed(void)
{
    static const uintptr_t nowhere[] = {0, 8, 0x1234567, 0xdead0000beef0000u, ~(uintptr_t)0, 0x7fffffffffff};
    now = "smashed frame pointer";
    for (unsigned i = 0; i < sizeof nowhere / sizeof *nowhere; i++)
        with_bad_rbp(unclaimed, nowhere[i]);
}

static void forked(void)
{
    int status = 1;
    now = "child of a fork";
    caller_fork_locks(lock_take);
    pid_t child = fork();
    if (child == 0) {
        caller_fork_child();
        caller_fork_locks(lock_drop);
        unclaimed();
        work_pool4();
        _exit(wrong != 0);
    }
    caller_fork_locks(lock_drop);
    waitpid(child, &status, 0);
    wrong += status != 0;
    unclaimed();
}

/* A handler that leaves the cold half by longjmp: later calls are tagged as ever. */
static void left_by_longjmp(void)
{
    jmp_buf back_here;
    now = "after a longjmp";
    for (volatile int i = 0; i < 3; i++) {
        if (setjmp(back_here) == 0) {
            caller_suspend(); /* so that the next call goes to the cold half */
            config_now.verify = 0;
            stub_escape = &back_here;
            work_bysize();
        }
        stub_escape = NULL;
        unclaimed();
        work_pool4();
    }
}

/* Without unwinding everything goes to the top of the pool stack. */
static void no_depth(void)
{
    now = "depth 0";
    config_now.depth = 0;
    unclaimed();
    wanted = 0;
    recurse(3, 10);
    caller_set_top(self, 2);
    wanted = 2;
    recurse(3, 10);
    caller_set_top(self, 0);
    config_now.depth = 32;
}

/* Many calls that share their outer frames must not drive each other out of the memo. */
#define SITE(n)                                                                                              \
    __attribute__((noinline)) static void site_##n(void)                                                     \
    {                                                                                                        \
        entry_lean(10, check, NULL);                                                                         \
        __asm__ volatile("" ::: "memory");                                                                   \
    }
/* clang-format off */
SITE(0) SITE(1) SITE(2) SITE(3) SITE(4) SITE(5) SITE(6) SITE(7)
    /* clang-format on */
    static void (*const site[])(void) = {site_0, site_1, site_2, site_3, site_4, site_5, site_6, site_7};

__attribute__((noinline)) static void one_caller(unsigned n)
{
    site[n]();
    __asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) static void other_caller(unsigned n)
{
    site[n]();
    __asm__ volatile("" ::: "memory");
}

static void shared_outer_frames(void)
{
    uint64_t before = published->unwound;
    now = "shared outer frames";
    wanted = self->top;
    for (unsigned i = 0; i < 4000; i++)
        (i & 8 ? one_caller : other_caller)(i & 7);
    if (published->unwound - before > 200 && wrong++ < 5)
        fprintf(stderr, "%s: 16 stacks were walked %lu times\n", now, published->unwound - before);
}

/* With the referee on, the cold half answers and compares each time. */
static void verified(void)
{
    now = "verified";
    config_now.verify = 1;
    verify_boot();
    caller_suspend();
    unclaimed();
    work_pool4();
    config_now.verify = 0;
    wrong += verify_wrong != 0 || verify_checked == 0;
    printf("referee: %lu compared, %lu differ\n", verify_checked, verify_wrong);
}

int main(void)
{
    unclaimed();
    caller_set_top(self, 2);
    unclaimed();
    caller_set_top(self, 0);
    unclaimed();
    now = "by size";
    work_bysize();
    small_threads();
    mapped_coroutines();
    heap_coroutines();
    signal_stack();
    no_tables();
    smashed();
    forked();
    verified();
    shared_outer_frames();
    left_by_longjmp();
    no_depth();
    printf("%lu tags (%lu walked), %lu wrong\n", checked, published->unwound, wrong);
    return wrong != 0;
}
