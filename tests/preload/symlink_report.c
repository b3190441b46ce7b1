/* SPDX-License-Identifier: MIT */
/* Promise: a symbolic link, a hard link or a fifo planted at the report's path is not written through, nor
 * waited for: the files behind keep their bytes. */
#include <signal.h>
#include <sys/stat.h>
#include "check.h"

static void write_file(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    expect(write(fd, "untouched", 9) == 9, "write of %s, expected 9, got errno %d", path, errno);
    close(fd);
}

static void expect_untouched(const char *path)
{
    char text[32] = "";
    int fd = open(path, O_RDONLY);
    expect(fd >= 0 && read(fd, text, 31) == 9, "bytes in %s, expected 9, got another number", path);
    expect(!strcmp(text, "untouched"), "text in %s, expected untouched, got %s", path, text);
    close(fd);
}

int main(void)
{
    if (!library())
        skip("nobody takes the signal");
    write_file("victim");
    expect_equal("symlink", 0, symlink("victim", "planted.json"));
    raise(SIGUSR1);
    expect_untouched("victim");
    unlink("planted.json");
    expect_equal("dangling symlink", 0, symlink("new", "planted.json"));
    raise(SIGUSR1);
    expect(access("new", F_OK) != 0, "file behind a dangling link, expected none, got one");
    unlink("planted.json");
    expect_equal("hard link", 0, link("victim", "planted.json"));
    raise(SIGUSR1);
    expect_untouched("victim");
    unlink("planted.json");
    expect_equal("fifo", 0, mkfifo("planted.json", 0600));
    raise(SIGUSR1);
    unlink("planted.json");
    raise(SIGUSR1);
    struct stat info;
    expect_equal("report with the way free", 0, lstat("planted.json", &info));
    expect(S_ISREG(info.st_mode) && info.st_size > 100 && !(info.st_mode & 022),
           "report, expected a file nobody else may write, got mode %o, %ld bytes", info.st_mode,
           (long)info.st_size);
    return passed();
}
