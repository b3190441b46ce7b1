/* SPDX-License-Identifier: MIT */
/*
 * glob.h - floor F4: patterns of rules: `*` any text, `?` one character, `[abc]` `[a-z]` `[!abc]` one of a
 * set,
 * `\x` the character x itself. A `[` that no `]` closes stands for itself: matching takes it, but a
 * configuration that has one is wrong unless it is that of `operator[]`.
 */
#ifndef POOLMEM_GLOB_H
#define POOLMEM_GLOB_H

#include "base.h"

/* Whether the whole text fits the pattern. */
bool glob_match(const char *pattern, const char *text);
/* Whether the path or its last component fits. */
bool glob_match_path(const char *pattern, const char *path);
/* The `[` in a pattern behind which no `]` comes at all; NULL: all is well. */
const char *glob_unclosed(const char *pattern);
/* The last component of a path. */
const char *glob_basename(const char *path);

#endif
