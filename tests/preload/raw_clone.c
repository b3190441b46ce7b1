/* SPDX-License-Identifier: MIT */
/* Promise: children made by clone without the thread library allocate: one that shares the memory (and the
 * parent's thread area; the parent waits) and one that got a copy by the bare system call, so that no fork
 * handler ran. */
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include "check.h"

enum { STACK = 64 << 10 };
static void *given[8];

static int allocate(void *unused)
{
    for (int i = 0; i < 8; i++) {
        for (size_t bytes = 1; bytes < 150000; bytes *= 3)
            free(opaque(malloc(bytes)));
        given[i] = malloc(1000u << i);
        memset(given[i], i, 1000u << i);
    }
    return 0;
}

static void share_memory(void)
{
    char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int round = 0; round < 20; round++) {
        int pid = clone(allocate, stack + STACK, CLONE_VM | CLONE_FS | CLONE_FILES | SIGCHLD, NULL);
        expect(pid > 0, "clone, expected a child, got errno %d", errno);
        int status;
        waitpid(pid, &status, 0);
        expect(status == 0, "clone child, expected status 0, got 0x%x", status);
        for (int i = 0; i < 8; i++) {
            expect(((char *)given[i])[999] == i, "bytes of a clone child, expected %d, got %d", i,
                   ((char *)given[i])[999]);
            free(given[i]);
        }
    }
    munmap(stack, STACK);
}

static void copy_memory(void)
{
    void *inherited = opaque(malloc(100));
    for (int round = 0; round < 20; round++) {
        struct clone_args args = {.exit_signal = SIGCHLD};
        long pid = syscall(SYS_clone3, &args, sizeof args);
        if (pid < 0 && errno == ENOSYS)
            pid = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
        if (pid == 0) {
            free(inherited);
            _exit(allocate(NULL));
        }
        int status;
        waitpid((pid_t)pid, &status, 0);
        expect(status == 0, "child of a bare clone, expected status 0, got 0x%x", status);
        free(opaque(malloc(200)));
    }
    free(inherited);
}

int main(void)
{
    share_memory();
    copy_memory();
    return passed();
}
