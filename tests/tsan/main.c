/* SPDX-License-Identifier: MIT */
/* main.c - runs the unit tests that use threads under ThreadSanitizer; see criterion/criterion.h beside it.
 */
#include <criterion/criterion.h>

struct tsan_test *tsan_tests;
struct tsan_suite *tsan_suites;

void tsan_fail(const char *file, int line, const char *expression, ...)
{
    fprintf(stderr, "%s:%d: expected %s\n", file, line, expression);
    _exit(1);
}

static const struct tsan_options *suite_options(const char *name)
{
    static const struct tsan_options none;
    for (struct tsan_suite *s = tsan_suites; s; s = s->next)
        if (!strcmp(s->name, name))
            return &s->options;
    return &none;
}

static void run_here(const struct tsan_test *t)
{
    const struct tsan_options *suite = suite_options(t->suite);
    if (suite->init)
        suite->init();
    if (t->options.init)
        t->options.init();
    t->body();
    if (t->options.fini)
        t->options.fini();
    if (suite->fini)
        suite->fini();
    exit(0);
}

static bool passes(const struct tsan_test *t)
{
    int status;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        run_here(t);
    waitpid(child, &status, 0);
    if (t->options.signal)
        return WIFSIGNALED(status) && WTERMSIG(status) == t->options.signal;
    return WIFEXITED(status) && WEXITSTATUS(status) == t->options.exit_code;
}

int main(int argc, char **argv)
{
    int passed = 0, failed = 0;
    for (struct tsan_test *t = tsan_tests; t; t = t->next) {
        if (argc > 1 && strcmp(argv[1], t->suite))
            continue;
        bool ok = passes(t);
        ok ? passed++ : failed++;
        if (!ok)
            fprintf(stderr, "[FAIL] %s::%s\n", t->suite, t->name);
    }
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
