/* SPDX-License-Identifier: MIT */
/*
 * test_children.c - the library is taken out of LD_PRELOAD, and nothing else is.
 */
#include "../../interpose/children.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *after(const char *list)
{
    static char variable[256];
    static char *made[] = {"A=1", variable, "B=2", NULL};
    strcpy(variable, "LD_PRELOAD=");
    strcat(variable, list);
    made[1] = variable;
    made[2] = "B=2";
    environ = made;
    children_apply();
    cr_assert_str_eq(getenv("A"), "1");
    cr_assert_str_eq(getenv("B"), "2");
    return getenv("LD_PRELOAD");
}

Test(children, takes_out_the_library_alone)
{
    cr_assert_null(after("/usr/lib/libpoolmem.so"));
    cr_assert_null(after("libpoolmem.so.1"));
    cr_assert_null(after(""));
    cr_assert_str_eq(after("/a/libpoolmem.so:/b/other.so"), "/b/other.so");
    cr_assert_str_eq(after("/b/other.so /a/libpoolmem.so"), "/b/other.so");
    cr_assert_str_eq(after("/b/x.so:/a/libpoolmem.so:/c/y.so"), "/b/x.so:/c/y.so");
    cr_assert_str_eq(after("/b/mylibpoolmem.so:/a/libpoolmem.sox"), "/b/mylibpoolmem.so:/a/libpoolmem.sox");
}
