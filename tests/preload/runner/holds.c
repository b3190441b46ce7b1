/* SPDX-License-Identifier: MIT */
/* The Criterion tests: every case of cases.c under the library named by PROMISE_LIBRARY; when that is empty,
 * the cases that state the C library's own semantics without any (which shows that the programs themselves
 * are right). `holds_tracked` and `holds_shallow` run those again with recording on, and with unwinding off.
 */
#include "runner.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static const char *library(void)
{
    const char *path = getenv("PROMISE_LIBRARY");
    return path && *path ? path : NULL;
}

static bool matches(const char *expression, const char *text)
{
    regex_t compiled;
    cr_assert_eq(regcomp(&compiled, expression, REG_EXTENDED | REG_NEWLINE | REG_NOSUB), 0,
                 "bad expression %s", expression);
    bool found = regexec(&compiled, text, 0, NULL, 0) == 0;
    regfree(&compiled);
    return found;
}

static bool ended_as_said(const struct promise *promise, int status)
{
    if (promise->signal)
        return WIFSIGNALED(status) && WTERMSIG(status) == promise->signal;
    return WIFEXITED(status) && WEXITSTATUS(status) == promise->exit_status;
}

/* NULL when all holds, else what does not */
static const char *complaint(const struct promise *promise, const struct outcome *outcome)
{
    if (outcome->late)
        return "time limit reached";
    if (!ended_as_said(promise, outcome->status))
        return "wrong end";
    if (promise->out ? !matches(promise->out, outcome->out) : strcmp(outcome->out, "ok\n") != 0)
        return "stdout is not as expected";
    if (library() && promise->err && !matches(promise->err, outcome->err))
        return "stderr does not match";
    if (library() && promise->no_err && matches(promise->no_err, outcome->err))
        return "stderr holds what it must not";
    return outcome->check_failed ? "the check of what it left failed" : NULL;
}

static void hold(const struct promise *promise, const char *extra_env)
{
    struct outcome outcome = promise_run(promise, library(), extra_env);
    if (WIFEXITED(outcome.status) && WEXITSTATUS(outcome.status) == SKIPPED)
        cr_skip("%s: %s", promise->name, outcome.out);
    const char *wrong = complaint(promise, &outcome);
    cr_assert(
        wrong == NULL,
        "%s (%s %s): %s\n  ended: %s %d\n  stdout: %s\n  stderr: %s\n  expected on stderr: %s\n  check: %s",
        promise->name, promise->run, extra_env ? extra_env : "", wrong,
        WIFSIGNALED(outcome.status) ? "signal" : "status",
        WIFSIGNALED(outcome.status) ? WTERMSIG(outcome.status) : WEXITSTATUS(outcome.status), outcome.out,
        outcome.err, promise->err ? promise->err : "anything", outcome.check);
}

/* numbers of the cases wanted, in static storage as Criterion asks */
static struct criterion_test_params wanted(bool plain_only)
{
    static size_t numbers[512];
    const char *only = getenv("PROMISE_ONLY");
    size_t count = 0;
    for (size_t i = 0; i < promise_count; i++) {
        bool chosen = !only || strstr(promises[i].name, only);
        bool fits = promises[i].plain || (library() && !plain_only);
        if (chosen && fits)
            numbers[count++] = i;
    }
    return cr_make_param_array(size_t, numbers, count);
}

ParameterizedTestParameters(promises, holds)
{
    return wanted(false);
}

ParameterizedTest(const size_t *number, promises, holds)
{
    hold(&promises[*number], getenv("PROMISE_ENV"));
}

static struct criterion_test_params wanted_again(void)
{
    static size_t none;
    return library() ? wanted(true) : cr_make_param_array(size_t, &none, 0);
}

ParameterizedTestParameters(promises, holds_tracked)
{
    return wanted_again();
}

ParameterizedTest(const size_t *number, promises, holds_tracked)
{
    hold(&promises[*number], "POOLMEM_TRACK=1");
}

ParameterizedTestParameters(promises, holds_shallow)
{
    return wanted_again();
}

ParameterizedTest(const size_t *number, promises, holds_shallow)
{
    hold(&promises[*number], "POOLMEM_DEPTH=0");
}
