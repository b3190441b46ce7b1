/* SPDX-License-Identifier: MIT */
/* Promise: POOLMEM_SIGNAL says which signal asks for a report: the arguments are the signal (an offset from
 * SIGRTMIN, or a number with a leading =) and how many reports three of them make. */
#include <dirent.h>
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

int main(int argc, char **argv)
{
    expect(argc == 3, "arguments, expected a signal and a count, got %d", argc - 1);
    int number = *argv[1] == '=' ? atoi(argv[1] + 1) : SIGRTMIN + atoi(argv[1]);
    for (int i = 0; i < 3; i++) {
        free(opaque(malloc(1000)));
        raise(number);
    }
    expect_equal("reports", atoi(argv[2]), reports());
    return passed();
}
