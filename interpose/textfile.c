/* SPDX-License-Identifier: MIT */
/*
 * textfile.c - see textfile.h. Opened O_CLOEXEC and O_NONBLOCK, so that neither a program started meanwhile
 * gets the descriptor nor a FIFO in the file's place stops the host.
 * Locking: none. Cost: five system calls.
 */
#include "textfile.h"
#include "os.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int read_all(int fd, textfile *t)
{
    size_t n = 0;
    while (n < t->size) {
        ssize_t got = read(fd, t->text + n, t->size - n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return errno;
        if (got == 0)
            break;
        n += (size_t)got;
    }
    t->size = n; /* it may have shrunk meanwhile */
    t->text[n] = 0;
    return 0;
}

static int read_open(int fd, size_t most, textfile *out)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return errno;
    if (!S_ISREG(st.st_mode))
        return EINVAL;
    if (st.st_size < 0 || (size_t)st.st_size > most)
        return EFBIG;
    *out = (textfile){os_map((size_t)st.st_size + 1), (size_t)st.st_size};
    if (!out->text)
        return ENOMEM;
    size_t mapped = out->size;
    int error = read_all(fd, out);
    if (error) {
        os_unmap(out->text, mapped + 1);
        *out = (textfile){0};
    }
    return error;
}

int textfile_read(const char *path, size_t most, textfile *out)
{
    int saved = errno, error;
    *out = (textfile){0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        error = errno;
    } else {
        error = read_open(fd, most, out);
        close(fd);
    }
    errno = saved;
    return error;
}

void textfile_free(textfile *t)
{
    if (t->text)
        os_unmap(t->text, t->size + 1);
    *t = (textfile){0};
}

const char *textfile_error(int error)
{
    if (error == EFBIG)
        return "the file is too large";
    if (error == EINVAL)
        return "not a regular file";
    const char *text = strerrordesc_np(error);
    return text ? text : "cannot be read";
}
