/* SPDX-License-Identifier: MIT */
/* Promise: a program's own handler for the report signal runs too, with its flags, mask and stack; sigaction
 * and signal tell the program what it had set itself, and every other signal is left alone. With the library,
 * 7 reports come of the raises below while a handler of the program's is set. */
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include "check.h"

static volatile sig_atomic_t plain_calls, info_calls, stack_calls;
static char *alternate;
enum { ALTERNATE = 256 << 10 };

static void plain(int number)
{
    plain_calls += number == SIGUSR1;
}

static void with_info(int number, siginfo_t *info, void *context)
{
    sigset_t now;
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    if (info->si_signo == SIGUSR1 && info->si_pid == getpid() && context && sigismember(&now, SIGUSR2) == 1)
        info_calls++;
}

static void on_stack(int number)
{
    char local;
    char *at = opaque(&local);
    stack_calls += at >= alternate && at < alternate + ALTERNATE;
}

static void check_signal(void)
{
    expect(signal(SIGUSR1, plain) == SIG_DFL,
           "signal() the first time, expected SIG_DFL, got something else");
    raise(SIGUSR1);
    raise(SIGUSR1);
    expect_equal("calls of the handler set by signal()", 2, plain_calls);
    struct sigaction old;
    expect_equal("sigaction to ask", 0, sigaction(SIGUSR1, NULL, &old));
    expect(old.sa_handler == plain && (old.sa_flags & SA_RESTART) && !(old.sa_flags & SA_SIGINFO),
           "action set by signal(), expected the handler with SA_RESTART alone, got %p flags 0x%x",
           (void *)(uintptr_t)old.sa_handler, (unsigned)old.sa_flags);
}

static void check_sigaction(void)
{
    struct sigaction action = {.sa_sigaction = with_info, .sa_flags = SA_SIGINFO | SA_NODEFER}, old;
    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, SIGUSR2);
    expect_equal("sigaction", 0, sigaction(SIGUSR1, &action, &old));
    expect(old.sa_handler == plain, "old action, expected the program's handler, got %p",
           (void *)(uintptr_t)old.sa_handler);
    raise(SIGUSR1);
    kill(getpid(), SIGUSR1);
    expect_equal("calls of the SA_SIGINFO handler with its mask", 2, info_calls);
    sigaction(SIGUSR1, NULL, &old);
    expect(old.sa_sigaction == with_info && sigismember(&old.sa_mask, SIGUSR2) == 1 &&
               (old.sa_flags & (SA_SIGINFO | SA_NODEFER | SA_RESTART)) == (SA_SIGINFO | SA_NODEFER),
           "action asked back, expected what was set, got flags 0x%x", (unsigned)old.sa_flags);
}

static void check_stack(void)
{
    alternate = mmap(NULL, ALTERNATE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stack_t stack = {.ss_sp = alternate, .ss_size = ALTERNATE};
    sigaltstack(&stack, NULL);
    struct sigaction action = {.sa_handler = on_stack, .sa_flags = SA_ONSTACK};
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    expect_equal("calls on the alternate stack", 1, stack_calls);
}

static void check_once(void)
{
    plain_calls = 0;
    struct sigaction action = {.sa_handler = plain, .sa_flags = (int)SA_RESETHAND}, old;
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    sigaction(SIGUSR1, NULL, &old);
    expect(old.sa_handler == SIG_DFL, "action after SA_RESETHAND, expected SIG_DFL, got %p",
           (void *)(uintptr_t)old.sa_handler);
    if (library())
        raise(SIGUSR1);
    expect_equal("calls of a handler set for once", 1, plain_calls);
}

static void check_others(void)
{
    expect(signal(SIGUSR1, SIG_IGN) == SIG_DFL, "signal() after SA_RESETHAND, expected SIG_DFL, got another");
    raise(SIGUSR1);
    expect(signal(SIGUSR1, plain) == SIG_IGN, "signal() after SIG_IGN, expected SIG_IGN, got another");
    expect(signal(SIGUSR2, plain) == SIG_DFL, "signal(SIGUSR2), expected SIG_DFL, got another");
    expect(signal(SIGUSR2, SIG_DFL) == plain, "signal(SIGUSR2), expected the handler, got another");
    errno = 0;
    expect(signal(SIGKILL, plain) == SIG_ERR && errno == EINVAL, "signal(SIGKILL), expected EINVAL, got %d",
           errno);
    errno = 0;
    struct sigaction action = {.sa_handler = plain};
    expect(sigaction(1000, &action, NULL) == -1 && errno == EINVAL,
           "sigaction(1000), expected EINVAL, got %d", errno);
}

int main(void)
{
    struct sigaction old;
    expect_equal("sigaction to ask at the start", 0, sigaction(SIGUSR1, NULL, &old));
    expect(old.sa_handler == SIG_DFL, "action at the start, expected SIG_DFL, got %p",
           (void *)(uintptr_t)old.sa_handler);
    check_signal();
    check_sigaction();
    check_stack();
    check_once();
    check_others();
    return passed();
}
