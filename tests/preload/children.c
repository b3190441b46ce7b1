/* SPDX-License-Identifier: MIT */
/* Promise: POOLMEM_CHILDREN=0 keeps the library out of programs that this one starts, by whatever call; else
 * they run with it. The argument is the number of lines (1 or 0) that each child must find. */
#include <spawn.h>
#include <sys/wait.h>
#include "check.h"

extern char **environ;
static char *look[] = {"sh", "-c", "test $(grep -c 'r-xp.*libpoolmem' /proc/self/maps) -gt 0", NULL};

static bool has_library(int status)
{
    expect(WIFEXITED(status) && WEXITSTATUS(status) < 2, "child's status, expected 0 or 1, got 0x%x", status);
    return WEXITSTATUS(status) == 0;
}

static int wait_for(pid_t pid)
{
    int status;
    waitpid(pid, &status, 0);
    return status;
}

static int by_exec(int (*start)(const char *, char *const *))
{
    pid_t pid = fork();
    if (pid == 0) {
        start("/bin/sh", look);
        _exit(99);
    }
    return wait_for(pid);
}

static int start_execve(const char *path, char *const *arguments)
{
    return execve(path, arguments, environ);
}

static int by_spawn(void)
{
    pid_t pid;
    expect_equal("posix_spawn", 0, posix_spawn(&pid, "/bin/sh", NULL, NULL, look, environ));
    return wait_for(pid);
}

int main(int argc, char **argv)
{
    if (!library())
        skip("no library to look for");
    bool wanted = argc > 1 && !strcmp(argv[1], "1");
    expect_equal("library in a child of system()", wanted, has_library(system(look[2])));
    expect_equal("library in a child of execv", wanted, has_library(by_exec(execv)));
    expect_equal("library in a child of execvp", wanted, has_library(by_exec(execvp)));
    expect_equal("library in a child of execve", wanted, has_library(by_exec(start_execve)));
    expect_equal("library in a child of posix_spawn", wanted, has_library(by_spawn()));
    return passed();
}
