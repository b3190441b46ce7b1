/* SPDX-License-Identifier: MIT */
/* Promise: report signals that arrive while a report is being written are neither lost nor answered twice:
 * the program's own handler, on an alternate stack and on the thread's, is called as often as reports are
 * written, with the sender's information, and may leave by siglongjmp. Writes its count to `calls`. */
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include "check.h"

enum { BURSTS = 40, SIGNALS = 25, STACK = 64 << 10 };
static volatile sig_atomic_t calls, wrong, armed;
static pid_t sender;
static sigjmp_buf back;

static void on_report(int number, siginfo_t *info, void *context)
{
    calls++;
    wrong += number != SIGUSR1 || info->si_pid != sender || info->si_code != SI_USER || !context;
    if (armed) {
        armed = 0;
        siglongjmp(back, 1);
    }
}

static void install(int flags)
{
    struct sigaction action = {.sa_sigaction = on_report, .sa_flags = SA_SIGINFO | SA_RESTART | flags};
    expect_equal("sigaction", 0, sigaction(SIGUSR1, &action, NULL));
}

/* a child that sends a burst and ends */
static void send_burst(void)
{
    pid_t parent = getpid();
    sender = fork();
    if (sender == 0) {
        for (int i = 0; i < SIGNALS; i++) {
            kill(parent, SIGUSR1);
            usleep(i % 5 * 100);
        }
        _exit(0);
    }
    expect(sender > 0, "fork, expected a child, got %d", errno);
}

static void take_burst(void)
{
    sigset_t block, before;
    sigemptyset(&block);
    sigaddset(&block, SIGUSR1);
    sigprocmask(SIG_BLOCK, &block, &before); /* until `sender` is known */
    send_burst();
    sigprocmask(SIG_SETMASK, &before, NULL);
    while (waitpid(sender, NULL, 0) < 0)
        expect(errno == EINTR, "waitpid, expected the child, got errno %d", errno);
}

static void write_calls(void)
{
    int fd = open("calls", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dprintf(fd, "%d\n", (int)calls);
    close(fd);
}

int main(void)
{
    char *memory = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stack_t stack = {.ss_sp = memory, .ss_size = STACK};
    sigaltstack(&stack, NULL);
    for (volatile int i = 0; i < BURSTS; i++) {
        install(i % 2 ? SA_ONSTACK : 0);
        armed = i % 8 == 4;
        if (sigsetjmp(back, 1) == 0)
            take_burst();
        else
            while (waitpid(sender, NULL, 0) < 0 && errno == EINTR)
                continue;
    }
    expect_equal("calls with wrong information", 0, wrong);
    expect(calls >= BURSTS, "calls of the handler, expected %d at least, got %d", BURSTS, (int)calls);
    write_calls();
    return passed();
}
