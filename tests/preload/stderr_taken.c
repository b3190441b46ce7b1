/* SPDX-License-Identifier: MIT */
/* Promise: when descriptor 2 is no longer stderr but a data file, a socket or a pipe of the program's own,
 * nothing of the library is written there: no line about misuse, no report. A stderr that was redirected gets
 * both. The argument says how 2 came to be what it is. */
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include "check.h"

static void say_and_report(void)
{
    char *block = opaque(malloc(100));
    free(block);
    free(block);
    raise(SIGUSR1);
}

static long long written(void)
{
    struct stat info = {0};
    fstat(STDERR_FILENO, &info);
    return info.st_size;
}

/* makes 2 what `fd` was */
static void put(int fd, int flags)
{
    if (fd == STDERR_FILENO)
        return;
    close(STDERR_FILENO);
    expect_equal("descriptor", STDERR_FILENO, fcntl(fd, flags & O_CLOEXEC ? F_DUPFD_CLOEXEC : F_DUPFD, 2));
    close(fd);
}

static void own_file(int flags, bool expected)
{
    put(open("data", flags | O_CREAT | O_TRUNC, 0600), flags);
    say_and_report();
    expect(expected == (written() > 0), "bytes in the file, expected %s, got %lld",
           expected ? "some" : "none", written());
}

static void own_socket(void)
{
    int pair[2];
    char got;
    expect_equal("socketpair", 0, socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
    put(pair[0], 0);
    say_and_report();
    expect_equal("bytes at the other end", -1, recv(pair[1], &got, 1, MSG_DONTWAIT));
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    if (!strcmp(how, "none")) { /* from the start */
        close(STDERR_FILENO);
        execl("/proc/self/exe", argv[0], "data", (char *)NULL);
        fail("execl, expected no return");
    }
    if (!strcmp(how, "data"))
        own_file(O_RDWR, false);
    else if (!strcmp(how, "private"))
        own_file(O_WRONLY | O_CLOEXEC, false);
    else if (!strcmp(how, "socket"))
        own_socket();
    else
        own_file(O_WRONLY, true);
    return passed();
}
