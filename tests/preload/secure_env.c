/* SPDX-License-Identifier: MIT */
/* Promise: in a set-user-id program (AT_SECURE) the environment does not steer the library: no report file,
 * no line on stderr, no signal taken, whatever POOLMEM_ variables say. The loader ignores LD_PRELOAD there,
 * so the program makes a copy of itself that needs the library, set-user-id root, and starts it as another
 * user. Needs root. */
#include <dlfcn.h>
#include <grp.h>
#include <limits.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include "check.h"

enum { NOBODY = 65534 };

static void copy_file(const char *from, const char *to, mode_t mode)
{
    static char buffer[1 << 16];
    int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_EXCL, 0700);
    expect(in >= 0 && out >= 0, "copy of %s, expected opened, got errno %d", from, errno);
    for (ssize_t bytes; (bytes = read(in, buffer, sizeof buffer)) > 0;)
        expect(write(out, buffer, (size_t)bytes) == bytes, "copy of %s, expected written, got errno %d", from,
               errno);
    expect_equal("chmod of the copy", 0, fchmod(out, mode));
    close(in);
    close(out);
}

/* the set-user-id copy: opens the library, as a program that links it would have it opened, and works */
static int be_secure(const char *library_path)
{
    if (!getauxval(AT_SECURE))
        return SKIPPED; /* a file system mounted nosuid */
    void *opened = dlopen(library_path, RTLD_NOW | RTLD_GLOBAL);
    expect(opened != NULL, "dlopen of the library, expected a handle, got %s", dlerror());
    void *(*take)(size_t) = (void *(*)(size_t))dlsym(opened, "malloc");
    void (*drop)(void *) = (void (*)(void *))dlsym(opened, "free");
    for (size_t bytes = 1; bytes < 1 << 20; bytes *= 3)
        drop(opaque(take(bytes)));
    struct sigaction action;
    sigaction(SIGUSR2, NULL, &action);
    expect(action.sa_handler == SIG_DFL,
           "action for the signal that the environment asked for, expected SIG_DFL");
    return 0;
}

static void start_as_nobody(char *program, char *library_path, const char *folder)
{
    char stats[PATH_MAX];
    snprintf(stats, sizeof stats, "POOLMEM_STATS=%.4000s/r.json", folder);
    char *arguments[] = {program, library_path, NULL};
    char *environment[] = {
        stats, "POOLMEM_EXIT=1", "POOLMEM_VERBOSE=2", "POOLMEM_SIGNAL=USR2", "POOLMEM_NONSENSE=1", NULL};
    if (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY))
        _exit(SKIPPED);
    execve(program, arguments, environment);
    _exit(98);
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/promise-secure-XXXXXX", program[64], copy[64], report[64];
    if (argc > 1)
        return be_secure(argv[1]);
    if (!library())
        skip("no library");
    if (geteuid() != 0)
        skip("only root can make a set-user-id copy");
    expect(mkdtemp(folder) != NULL, "folder, expected made, got errno %d", errno);
    expect_equal("chmod of the folder", 0, chmod(folder, 0777));
    snprintf(program, sizeof program, "%s/program", folder);
    snprintf(copy, sizeof copy, "%s/libpoolmem.so", folder);
    snprintf(report, sizeof report, "%s/r.json", folder);
    copy_file("/proc/self/exe", program, 04755);
    copy_file(library(), copy, 0755);
    pid_t pid = fork();
    if (pid == 0)
        start_as_nobody(program, copy, folder);
    int status;
    waitpid(pid, &status, 0);
    bool reported = access(report, F_OK) == 0;
    unlink(report);
    unlink(program);
    unlink(copy);
    rmdir(folder);
    if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED)
        skip("set-user-id programs get no AT_SECURE here");
    expect(status == 0, "the set-user-id program, expected status 0, got 0x%x", status);
    expect(!reported, "report asked for by the environment, expected none, got one");
    return passed();
}
