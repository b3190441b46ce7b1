/* SPDX-License-Identifier: MIT */
/* test_base.c - floor F0: the formatter, status texts and checked arithmetic. */
#include "base.h"
#include "fmt.h"

#include <criterion/criterion.h>
#include <stdio.h>

static void expect(const char *want, const char *got)
{
    cr_assert_str_eq(got, want, "want '%s', got '%s'", want, got);
}

Test(fmt, conversions_match_printf)
{
    char got[128];
    fmt_text(got, sizeof got, "%5d|%-5d|%05d|%x|%s|%.*s|%c|%%|%zu|%lu", -42, 42, -42, 0xbeefu, "text", 2,
             "abc", 'z', (size_t)7, 1234567890123ul);
    expect("  -42|42   |-0042|beef|text|ab|z|%|7|1234567890123", got);
}

Test(fmt, cuts_at_the_end_and_tells_the_whole_length)
{
    char got[5];
    size_t n = fmt_text(got, sizeof got, "%s", "abcdefgh");
    cr_assert_eq(n, 8);
    expect("abcd", got);
    cr_assert_eq(fmt_text(NULL, 0, "%s", "abc"), 3);
}

Test(base, arithmetic_tells_overflow)
{
    size_t r;
    cr_assert(add_wraps(SIZE_MAX, 1, &r));
    cr_assert(!add_wraps(SIZE_MAX - 1, 1, &r));
    cr_assert(mul_wraps(SIZE_MAX / 2, 3, &r));
    cr_assert_eq(round_up(65, 64), 128);
    cr_assert_eq(log2_floor(1023), 9);
}

Test(base, every_status_has_a_text)
{
    for (int s = POOL_OK; s <= POOL_IO; s++)
        cr_assert_str_neq(pool_status_text((pool_status)s), "unknown status");
}
