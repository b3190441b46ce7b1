/* SPDX-License-Identifier: MIT */
/* Promise: a program that blocks the report signal is not harmed: the report comes when it unblocks (one),
 * and one that takes the signal by sigwait gets it itself. */
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include "check.h"

static int reports(void)
{
    int count = 0;
    DIR *folder = opendir(".");
    for (struct dirent *entry; (entry = readdir(folder));)
        count += strstr(entry->d_name, ".json") != NULL;
    closedir(folder);
    return count;
}

int main(void)
{
    sigset_t set, pending;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    kill(getpid(), SIGUSR1);
    for (size_t bytes = 1; bytes < 1 << 22; bytes *= 2)
        free(opaque(malloc(bytes)));
    sigpending(&pending);
    expect(sigismember(&pending, SIGUSR1) == 1, "blocked report signal, expected pending, got nothing");
    expect_equal("reports while blocked", 0, reports());
    int got = 0;
    expect_equal("sigwait", 0, sigwait(&set, &got));
    expect_equal("signal taken by sigwait", SIGUSR1, got);
    if (library()) {
        kill(getpid(), SIGUSR1);
        kill(getpid(), SIGUSR1);
        pthread_sigmask(SIG_UNBLOCK, &set, NULL);
        expect_equal("reports after unblocking", 1, reports());
    }
    return passed();
}
