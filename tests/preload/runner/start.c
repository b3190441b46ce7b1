/* SPDX-License-Identifier: MIT */
/* Runs one promise program: a fresh folder, a small environment, output into files there, a time limit.
 *
 *  1. The program's environment is what the case says and nothing of ours but PATH.
 *  2. A program that is late is killed with its process group, which it was put in by us; nothing else is.
 *  3. The folder is removed whatever happened.
 * Cost: two processes a case, three with a check. Read next: cases.c. */
#include "runner.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS_MAX = 40 };

struct place {
    const char *library;
    char programs[PATH_MAX], sources[PATH_MAX], folder[PATH_MAX];
};

static const char *expansion(const struct place *place, char letter)
{
    switch (letter) {
    case 'L':
        return place->library ? place->library : "";
    case 'B':
        return place->programs;
    case 'S':
        return place->sources;
    default:
        return place->folder;
    }
}

static char *expand(const struct place *place, const char *text)
{
    char *to = malloc(strlen(text) + 16 * PATH_MAX), *at = to;
    for (; *text; text++) {
        if (*text == '@' && strchr("LBST", text[1]) && text[1])
            at = stpcpy(at, expansion(place, *++text));
        else
            *at++ = *text;
    }
    *at = 0;
    return to;
}

static size_t split(char *text, char **words, size_t count)
{
    for (char *word = strtok(text, " "); word && count + 1 < WORDS_MAX; word = strtok(NULL, " "))
        words[count++] = word;
    words[count] = NULL;
    return count;
}

static char *join(const char *name, const char *value)
{
    char *text = NULL;
    if (asprintf(&text, "%s%s", name, value) < 0)
        abort();
    return text;
}

static size_t environment(const struct promise *promise, const struct place *place, const char *extra,
                          char **env)
{
    size_t count = 0;
    env[count++] = join("PATH=", getenv("PATH") ? getenv("PATH") : "/usr/bin:/bin");
    env[count++] = join("HOME=", place->folder);
    env[count++] = join("PROMISE_FOLDER=", place->folder);
    env[count++] = join("PROMISE_LIBRARY=", expansion(place, 'L'));
    char *preload = expand(place, promise->preload ? promise->preload : "@L");
    if (*preload)
        env[count++] = join("LD_PRELOAD=", preload);
    count = split(expand(place, promise->env ? promise->env : ""), env, count);
    return split(expand(place, extra ? extra : ""), env, count);
}

static void redirect(const struct place *place, const char *file, int to)
{
    char *path = join(place->folder, file);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (fd < 0 || dup2(fd, to) < 0)
        _exit(125);
    close(fd);
}

__attribute__((noreturn)) static void become(const struct place *place, char **words, char **env,
                                             const char *tag)
{
    setpgid(0, 0);
    redirect(place, join(tag, ".out"), STDOUT_FILENO);
    redirect(place, join(tag, ".err"), STDERR_FILENO);
    if (chdir(place->folder))
        _exit(125);
    int null = open("/dev/null", O_RDONLY);
    dup2(null, STDIN_FILENO);
    close_range(3, ~0u, 0);
    char *path = strchr(words[0], '/') ? words[0] : join(join(place->programs, "/"), words[0]);
    execve(path, words, env);
    _exit(125);
}

/* true when it ended in time; late ones are killed, group and all */
static bool wait_for(pid_t pid, int seconds, int *status)
{
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    struct pollfd poller = {.fd = fd, .events = POLLIN};
    bool in_time = poll(&poller, 1, seconds * 1000) == 1;
    close(fd);
    kill(-pid, SIGKILL); /* a late one, and whatever an ended one left running */
    waitpid(pid, status, 0);
    return in_time;
}

static bool run(const struct place *place, char **words, char **env, const char *tag, int seconds,
                int *status)
{
    pid_t pid = fork();
    if (pid == 0)
        become(place, words, env, tag);
    setpgid(pid, pid);
    return wait_for(pid, seconds, status);
}

static void read_text(const struct place *place, const char *file, char text[TEXT_MAX])
{
    int fd = open(join(place->folder, file), O_RDONLY);
    ssize_t bytes = read(fd, text, TEXT_MAX - 1);
    text[bytes > 0 ? bytes : 0] = 0;
    close(fd);
}

static bool run_check(const struct promise *promise, const struct place *place, int *status)
{
    char *command = expand(place, promise->check);
    char *words[] = {"/bin/sh", "-c", command, NULL};
    char *env[] = {join("PATH=/usr/bin:/bin:", getenv("PATH") ? getenv("PATH") : ""), NULL};
    return run(place, words, env, "/check", 60, status) && *status == 0;
}

static void find_places(struct place *place, const char *library)
{
    char self[PATH_MAX] = "";
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0)
        abort();
    *strrchr(self, '/') = 0;
    snprintf(place->programs, sizeof place->programs, "%.4000s/preload", self);
    const char *sources = getenv("PROMISE_SOURCES");
    snprintf(place->sources, sizeof place->sources, "%s", sources ? sources : "");
    strcpy(place->folder, "/tmp/promise-XXXXXX");
    if (!mkdtemp(place->folder) || chmod(place->folder, 0755))
        abort();
    place->library = library;
}

static void remove_folder(const struct place *place)
{
    char *words[] = {"/bin/rm", "-rf", (char *)place->folder, NULL};
    pid_t pid = fork();
    if (pid == 0) {
        execv(words[0], words);
        _exit(125);
    }
    waitpid(pid, NULL, 0);
}

struct outcome promise_run(const struct promise *promise, const char *library, const char *extra_env)
{
    struct outcome outcome = {0};
    struct place place;
    find_places(&place, library);
    char *words[WORDS_MAX], *env[WORDS_MAX];
    split(expand(&place, promise->run), words, 0);
    environment(promise, &place, extra_env, env);
    outcome.late =
        !run(&place, words, env, "/run", promise->seconds ? promise->seconds : 60, &outcome.status);
    bool skipped = WIFEXITED(outcome.status) && WEXITSTATUS(outcome.status) == SKIPPED;
    int check_status = 0;
    if (promise->check && library && !outcome.late && !skipped)
        outcome.check_failed = !run_check(promise, &place, &check_status);
    read_text(&place, "/run.out", outcome.out);
    read_text(&place, "/run.err", outcome.err);
    read_text(&place, "/check.out", outcome.check);
    size_t had = strlen(outcome.check);
    char more[TEXT_MAX];
    read_text(&place, "/check.err", more);
    snprintf(outcome.check + had, sizeof outcome.check - had, "%s", more);
    remove_folder(&place);
    return outcome;
}
