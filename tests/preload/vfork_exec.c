/* SPDX-License-Identifier: MIT */
/* Promise: a vfork child may allocate in the parent's memory and exec; the parent goes on with an intact
 * heap, also while its other threads allocate. posix_spawn and system() ride on the same. */
#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include "check.h"

extern char **environ;
static atomic_bool stop;

static void *work(void *unused)
{
    while (!stop) {
        free(opaque(malloc(300)));
        free(opaque(malloc(90000)));
    }
    return unused;
}

static void run_true(int number)
{
    char *volatile argument = NULL;
    pid_t pid = vfork();
    if (pid == 0) {
        for (size_t bytes = 8; bytes < 200000; bytes *= 3)
            free(opaque(malloc(bytes)));
        argument = strdup("true");
        execl("/bin/true", argument, (char *)NULL);
        _exit(126);
    }
    int status;
    waitpid(pid, &status, 0);
    expect(status == 0, "vfork child %d, expected status 0, got 0x%x", number, status);
    expect(argument && !strcmp(argument, "true"), "string made by the vfork child, expected true, got %s",
           argument);
    free(argument);
}

/* a child that gives up: what it does at its end must not be taken for the parent's */
static void give_up(void)
{
    pid_t pid = vfork();
    if (pid == 0) {
        free(opaque(malloc(500)));
        execl("/no/such/program", "none", (char *)NULL);
        _exit(7);
    }
    int status;
    waitpid(pid, &status, 0);
    expect(status == 7 << 8, "vfork child that gives up, expected status 7, got 0x%x", status);
}

static void spawn_true(void)
{
    char *arguments[] = {"true", NULL};
    pid_t pid;
    int status;
    expect_equal("posix_spawn", 0, posix_spawn(&pid, "/bin/true", NULL, NULL, arguments, environ));
    waitpid(pid, &status, 0);
    expect_equal("status of posix_spawn", 0, status);
}

int main(void)
{
    for (int i = 0; i < 40; i++)
        run_true(i);
    pthread_t worker[2];
    for (int i = 0; i < 2; i++)
        expect_equal("pthread_create", 0, pthread_create(&worker[i], NULL, work, NULL));
    for (int i = 0; i < 40; i++) {
        run_true(i);
        give_up();
        spawn_true();
    }
    stop = true;
    for (int i = 0; i < 2; i++)
        pthread_join(worker[i], NULL);
    expect_equal("system(true)", 0, system("true"));
    FILE *pipe = popen("echo through a pipe", "r");
    char line[64] = "";
    expect(fgets(line, sizeof line, pipe) && !strcmp(line, "through a pipe\n"),
           "popen, expected the line, got %s", line);
    pclose(pipe);
    return passed();
}
