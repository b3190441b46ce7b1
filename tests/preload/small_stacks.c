/* SPDX-License-Identifier: MIT */
/* Promise: 16 KiB are enough: for threads, for coroutines switched by swapcontext or by hand, for a handler
 * on an alternate stack, and for the report signal arriving on any of them. Unmapped pages surround every
 * stack, so that a walk past its end is a crash. */
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include "check.h"

enum { STACK = 16 << 10, GUARD = 16 << 10, COROUTINES = 100, ROUNDS = 20 };
static int report_signal; /* 0 where nobody takes it: without the library it would end the process */

static char *take_stack(void)
{
    char *base = mmap(NULL, STACK + 2 * GUARD, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    expect(base != MAP_FAILED, "mmap of a stack, expected memory, got errno %d", errno);
    mprotect(base + GUARD, STACK, PROT_READ | PROT_WRITE);
    return base + GUARD;
}

__attribute__((noinline)) static void churn(int depth)
{
    void *p = malloc(40 + (size_t)depth * 1000);
    expect(p != NULL, "malloc on a small stack, expected a pointer, got NULL");
    if (depth > 0)
        churn(depth - 1);
    free(opaque(realloc(p, 70000)));
}

static void churn_and_report(void)
{
    churn(8);
    if (report_signal)
        raise(report_signal);
    churn(4);
}

static void *thread_main(void *unused)
{
    churn_and_report();
    return unused;
}

static void run_threads(void)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    expect_equal("16 KiB stack size", 0, pthread_attr_setstacksize(&attributes, STACK));
    for (int i = 0; i < 50; i++) {
        pthread_t thread;
        expect_equal("pthread_create", 0, pthread_create(&thread, &attributes, thread_main, NULL));
        pthread_join(thread, NULL);
    }
    pthread_attr_destroy(&attributes);
}

static ucontext_t host, routine[COROUTINES];

static void coroutine(int number)
{
    for (int round = 0; round < ROUNDS; round++) {
        churn(number % 10);
        swapcontext(&routine[number], &host);
    }
    churn_and_report();
}

static void run_coroutines(void)
{
    for (int i = 0; i < COROUTINES; i++) {
        getcontext(&routine[i]);
        routine[i].uc_stack.ss_sp = take_stack();
        routine[i].uc_stack.ss_size = STACK;
        routine[i].uc_link = &host;
        makecontext(&routine[i], (void (*)(void))coroutine, 1, i);
    }
    for (int round = 0; round <= ROUNDS; round++)
        for (int i = 0; i < COROUTINES; i++)
            swapcontext(&host, &routine[i]);
    for (int i = 0; i < COROUTINES; i++)
        munmap((char *)routine[i].uc_stack.ss_sp - GUARD, STACK + 2 * GUARD);
}

#ifdef __x86_64__
/* the switch of a hand-written coroutine library: nothing lies above the first frame */
static void run_by_hand(void)
{
    char *stack = take_stack();
    for (int round = 0; round < ROUNDS; round++) {
        char *top = stack + STACK;
        __asm__ volatile("movq %%rsp, %%rbx\n\tmovq %0, %%rsp\n\tcallq *%1\n\tmovq %%rbx, %%rsp"
                         :
                         : "r"(top), "r"(churn_and_report)
                         : "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory",
                           "cc");
    }
    munmap(stack - GUARD, STACK + 2 * GUARD);
}
#else
static void run_by_hand(void)
{
}
#endif

static void at_signal(int number)
{
    churn(8);
}

static void run_alternate(void)
{
    stack_t alternate = {.ss_sp = take_stack(), .ss_size = STACK};
    expect_equal("sigaltstack", 0, sigaltstack(&alternate, NULL));
    struct sigaction action = {.sa_handler = at_signal, .sa_flags = SA_ONSTACK};
    sigaction(SIGUSR2, &action, NULL);
    for (int i = 0; i < 50; i++)
        raise(SIGUSR2);
    churn_and_report();
}

int main(int argc, char **argv)
{
    report_signal = library() ? SIGUSR1 : 0;
    run_threads();
    run_coroutines();
    run_by_hand();
    run_alternate();
    return passed();
}
