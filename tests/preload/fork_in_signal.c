/* SPDX-License-Identifier: MIT */
/* Promise: fork inside a signal handler that interrupted an allocation: neither side hangs. Even children
 * leave at once, odd ones return from the handler and go on allocating where their parent was. */
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include "check.h"

enum { FORKS = 150, SLOTS = 512 };
static volatile sig_atomic_t forks, is_child, failures;

static void at_alarm(int signal_number)
{
    int saved = errno;
    if (is_child || forks >= FORKS)
        return;
    int number = forks++;
    pid_t pid = fork();
    if (pid == 0) {
        if (number % 2 == 0)
            _exit(0);
        is_child = 1;
        errno = saved;
        return;
    }
    if (pid < 0)
        failures++;
    errno = saved;
}

static void churn(void **slots, unsigned *seed)
{
    size_t slot = next_random(seed) % SLOTS;
    free(slots[slot]);
    size_t bytes = 1 + next_random(seed) % (next_random(seed) % 32 ? 1000 : 300000);
    char *p = malloc(bytes);
    expect(p != NULL, "malloc(%zu), expected a pointer, got NULL", bytes);
    p[0] = p[bytes - 1] = 1;
    slots[slot] = p;
}

static void go_on_as_child(void **slots, unsigned *seed)
{
    for (int i = 0; i < 3000; i++)
        churn(slots, seed);
    _exit(0);
}

static void reap(int options)
{
    int status;
    while (waitpid(-1, &status, options) > 0)
        expect(status == 0, "a child's status, expected 0, got 0x%x", status);
}

int main(void)
{
    static void *slots[SLOTS];
    unsigned seed = 1;
    struct sigaction action = {.sa_handler = at_alarm, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &action, NULL);
    struct itimerval timer = {{0, 1500}, {0, 1500}};
    setitimer(ITIMER_REAL, &timer, NULL);
    while (forks < FORKS) {
        churn(slots, &seed);
        if (is_child)
            go_on_as_child(slots, &seed);
        reap(WNOHANG);
    }
    struct itimerval off = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &off, NULL);
    if (is_child)
        go_on_as_child(slots, &seed);
    reap(0);
    expect_equal("failed forks", 0, failures);
    return passed();
}
