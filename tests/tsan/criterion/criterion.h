/* SPDX-License-Identifier: MIT */
/*
 * criterion.h (ThreadSanitizer) - Criterion maps its arena where ThreadSanitizer keeps its shadow, so the two
 * do not run in one program. This header stands in for it in the sanitizer's build alone: the same words,
 * each test in a forked child, one closing line in Criterion's form. Tests that use more of Criterion than is
 * here do not build, which is how one notices.
 */
#ifndef TSAN_CRITERION_H
#define TSAN_CRITERION_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct tsan_options {
    void (*init)(void), (*fini)(void);
    int signal, exit_code;
    double timeout;
    bool disabled;
};

struct tsan_test {
    const char *suite, *name;
    void (*body)(void);
    struct tsan_options options;
    struct tsan_test *next;
};

struct tsan_suite {
    const char *name;
    struct tsan_options options;
    struct tsan_suite *next;
};

extern struct tsan_test *tsan_tests;
extern struct tsan_suite *tsan_suites;
_Noreturn void tsan_fail(const char *file, int line, const char *expression, ...);

#define Test(suite_, name_, ...)                                                                             \
    static void test_##suite_##_##name_(void);                                                               \
    __attribute__((constructor)) static void register_##suite_##_##name_(void)                               \
    {                                                                                                        \
        static struct tsan_test t = {#suite_, #name_, test_##suite_##_##name_, {__VA_ARGS__}, NULL};         \
        t.next = tsan_tests;                                                                                 \
        tsan_tests = &t;                                                                                     \
    }                                                                                                        \
    static void test_##suite_##_##name_(void)

#define TestSuite(suite_, ...)                                                                               \
    __attribute__((constructor)) static void register_suite_##suite_(void)                                   \
    {                                                                                                        \
        static struct tsan_suite s = {#suite_, {__VA_ARGS__}, NULL};                                         \
        s.next = tsan_suites;                                                                                \
        tsan_suites = &s;                                                                                    \
    }

#define TSAN_CHECK(ok, text, ...) ((ok) ? (void)0 : tsan_fail(__FILE__, __LINE__, text, ##__VA_ARGS__, NULL))

#define cr_assert(e, ...)              TSAN_CHECK(e, #e, ##__VA_ARGS__)
#define cr_assert_not(e, ...)          TSAN_CHECK(!(e), "not " #e, ##__VA_ARGS__)
#define cr_expect                      cr_assert
#define cr_assert_eq(a, b, ...)        TSAN_CHECK((a) == (b), #a " == " #b, ##__VA_ARGS__)
#define cr_assert_neq(a, b, ...)       TSAN_CHECK((a) != (b), #a " != " #b, ##__VA_ARGS__)
#define cr_assert_lt(a, b, ...)        TSAN_CHECK((a) < (b), #a " < " #b, ##__VA_ARGS__)
#define cr_assert_gt(a, b, ...)        TSAN_CHECK((a) > (b), #a " > " #b, ##__VA_ARGS__)
#define cr_assert_leq(a, b, ...)       TSAN_CHECK((a) <= (b), #a " <= " #b, ##__VA_ARGS__)
#define cr_assert_geq(a, b, ...)       TSAN_CHECK((a) >= (b), #a " >= " #b, ##__VA_ARGS__)
#define cr_assert_null(a, ...)         TSAN_CHECK((a) == NULL, #a " is NULL", ##__VA_ARGS__)
#define cr_assert_not_null(a, ...)     TSAN_CHECK((a) != NULL, #a " is not NULL", ##__VA_ARGS__)
#define cr_assert_str_eq(a, b, ...)    TSAN_CHECK(!strcmp(a, b), #a " equals " #b, ##__VA_ARGS__)
#define cr_assert_str_neq(a, b, ...)   TSAN_CHECK(strcmp(a, b), #a " differs from " #b, ##__VA_ARGS__)
#define cr_assert_arr_eq(a, b, n, ...) TSAN_CHECK(!memcmp(a, b, n), #a " equals " #b, ##__VA_ARGS__)
#define cr_assert_fail(...)            TSAN_CHECK(false, "reached", ##__VA_ARGS__)
#define cr_skip_test(...)              exit(0)
#define cr_log_info(...)               ((void)0)

#endif
