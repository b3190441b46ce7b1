/* SPDX-License-Identifier: MIT */
/*
 * textfile.h - floor F4: reads a whole regular file into mapped memory, without stdio and malloc.
 */
#ifndef POOLMEM_TEXTFILE_H
#define POOLMEM_TEXTFILE_H

#include "base.h"

typedef struct textfile {
    char *text;  /* ends with a NUL that is not counted */
    size_t size; /* bytes */
} textfile;

/* 0, or an errno value; EFBIG above `most` bytes, EINVAL when it is no regular file. Keeps errno. */
int textfile_read(const char *path, size_t most, textfile *out);
void textfile_free(textfile *t);
/* A phrase for such a value. */
const char *textfile_error(int error);

#endif
