/* SPDX-License-Identifier: MIT */
/*
 * glob.c - see glob.h. Runs along pattern and text; at a mismatch it goes back to the last `*`, which then
 * takes as many more as lie before the next character that what follows it can begin with. Only the last star
 * needs to be remembered, so time is at most length times length and there is no recursion. Locking: none, no
 * state.
 */
#include "glob.h"

#include <string.h>

/* The end of the set that starts at p (after the '['), at its ']'; NULL: not closed. */
static const char *set_end(const char *p)
{
    if (*p == '!')
        p++;
    if (*p == ']') /* first in the set: a member */
        p++;
    return strchr(p, ']');
}

static bool set_has(const char *p, const char *end, char c)
{
    bool negated = *p == '!';
    for (p += negated; p < end; p++) {
        char first = *p;
        if (p + 2 < end && p[1] == '-')
            p += 2;
        if (c >= first && c <= *p)
            return !negated;
    }
    return negated;
}

/* Matches one character against the pattern's next piece and steps past it. */
static bool match_one(const char **pattern, char c)
{
    const char *p = *pattern;
    const char *end = *p == '[' ? set_end(p + 1) : NULL;
    if (end) {
        *pattern = end + 1;
        return set_has(p + 1, end, c);
    }
    if (*p == '?') {
        *pattern = p + 1;
        return true;
    }
    if (*p == '\\' && p[1])
        p++;
    *pattern = p + 1;
    return *p == c;
}

static bool stands_for_itself(char c)
{
    return c && c != '*' && c != '?' && c != '[' && c != '\\';
}

/* Where what follows a star may begin, in the text or at its end. */
static const char *skip_to(const char *text, char c)
{
    const char *at = stands_for_itself(c) ? strchr(text, c) : text;
    return at ? at : text + strlen(text);
}

bool glob_match(const char *pattern, const char *text)
{
    if (stands_for_itself(*pattern) && *pattern != *text)
        return false;                       /* as nearly always */
    const char *star = NULL, *retry = NULL; /* pattern after the last '*', text it has not taken yet */
    while (*text) {
        if (*pattern == '*') {
            star = ++pattern;
            text = retry = skip_to(text, *star);
        } else if (*pattern && match_one(&pattern, *text)) {
            text++;
        } else if (star) {
            pattern = star;
            text = retry = skip_to(retry + 1, *star);
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return !*pattern;
}

const char *glob_unclosed(const char *pattern)
{
    for (const char *p = pattern; *p; p++) {
        const char *end = *p == '[' ? set_end(p + 1) : p;
        if (!end && !strchr(p, ']'))
            return p;
        p = end ? end : p;
        p += *p == '\\' && p[1];
    }
    return NULL;
}

const char *glob_basename(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool glob_match_path(const char *pattern, const char *path)
{
    return glob_match(pattern, path) || glob_match(pattern, glob_basename(path));
}
