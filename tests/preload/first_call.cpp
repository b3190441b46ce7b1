// SPDX-License-Identifier: MIT
// Promise: any entry may be the first call of the process. Without an argument the program starts itself once
// for every entry and both stages: from .preinit_array (before any constructor, also the library's) and from
// the first constructor.
#include <sys/wait.h>
#include "entries.h"

static const struct {
    const char *name;
    void (*call)();
} quiet[] = {
    {"free", [] { free(opaque(NULL)); }},
    {"malloc_usable_size",
     [] { expect_equal("usable size of NULL", 0, (long long)malloc_usable_size(opaque(NULL))); }},
    {"mallinfo2", [] { mallinfo2(); }},
    {"mallopt", [] { mallopt(M_MMAP_THRESHOLD, 1 << 20); }},
    {"malloc_trim", [] { malloc_trim(0); }},
    {"delete", [] { ::operator delete(opaque(NULL)); }},
};
enum { QUIET_COUNT = sizeof quiet / sizeof quiet[0], COUNT = ENTRY_COUNT + QUIET_COUNT };

static void call_entry(int index)
{
    if (index >= ENTRY_COUNT) {
        quiet[index - ENTRY_COUNT].call();
        return;
    }
    const entry &e = entries[index];
    void *p = e.take(100);
    expect(p && (uintptr_t)p % e.align == 0, "first call %s, expected an aligned pointer, got %p", e.name, p);
    memset(p, 1, 100);
    free(p);
}

// the first argument is the stage's letter and the entry's number: p7, c12
static void stage(char letter, char **argv)
{
    if (argv && argv[0] && argv[1] && argv[1][0] == letter)
        call_entry(atoi(argv[1] + 1));
}

static void at_preinit(int, char **argv, char **)
{
    stage('p', argv);
}
__attribute__((section(".preinit_array"), used)) static void (*const preinit)(int, char **,
                                                                              char **) = at_preinit;

__attribute__((constructor(101))) static void at_constructor(int, char **argv, char **)
{
    stage('c', argv);
}

static void start_self(char letter, int index)
{
    char argument[16];
    snprintf(argument, sizeof argument, "%c%d", letter, index);
    const char *name = index < ENTRY_COUNT ? entries[index].name : quiet[index - ENTRY_COUNT].name;
    pid_t pid = fork();
    if (pid == 0) {
        execl("/proc/self/exe", "first_call", argument, (char *)NULL);
        _exit(126);
    }
    int status;
    waitpid(pid, &status, 0);
    expect(status == 0, "%s as the first call (stage %c), expected status 0, got 0x%x", name, letter, status);
}

int main(int argc, char **)
{
    if (argc > 1)
        return 0;
    for (int index = 0; index < COUNT; index++) {
        start_self('p', index);
        start_self('c', index);
    }
    return passed();
}
