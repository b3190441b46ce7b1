/* SPDX-License-Identifier: MIT */
/*
 * launch.c - starts one program under one preload and writes what it cost as one JSON line.
 *
 *   launch -o FILE [-p PRELOAD] [-e VAR=VALUE]... [-t SECONDS] -- CMD ARGS...
 *
 * Why not from Python: Linux seeds a process's peak RSS with that of the image it was exec'd from, and a
 * vfork shares its parent's. So the parent has to be smaller than anything that is measured: this program
 * is static and stays below 1 MB. Only the child sees the preload and the variables.
 *
 * The child's figures come from wait4 and so include every descendant it waited for: times and faults
 * summed, RSS as the largest of them. `preloaded` says whether the library was seen in /proc/PID/maps.
 * Exit status: 0 when the line was written, 2 for a usage error; CMD's own status is in the line.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_SET    32
#define POLLS      400           /* looks at maps before giving up */
#define POLL_NS    500000        /* time between two looks */
#define NS_PER_SEC 1000000000ull /* for time in ns */

typedef struct job {
    const char *out;          /* file that receives the line */
    const char *preload;      /* library, or NULL */
    const char *set[MAX_SET]; /* VAR=VALUE strings for the child */
    int sets;
    unsigned timeout; /* seconds, 0 = none */
    char **command;
} job;

extern char **environ;
static volatile pid_t child; /* for the alarm handler */
static volatile sig_atomic_t timed_out;

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * NS_PER_SEC + (uint64_t)t.tv_nsec;
}

static void on_alarm(int sig)
{
    (void)sig;
    timed_out = 1;
    if (child > 0)
        kill(-child, SIGKILL);
}

static void usage(void)
{
    fputs("launch: usage: launch -o FILE [-p PRELOAD] [-e VAR=VALUE]... [-t SECONDS] -- CMD ARGS...\n",
          stderr);
    exit(2);
}

static job job_parse(int argc, char **argv)
{
    job j = {0};
    int c;
    while ((c = getopt(argc, argv, "+o:p:e:t:")) != -1) {
        if (c == 'o')
            j.out = optarg;
        else if (c == 'p')
            j.preload = optarg;
        else if (c == 'e' && j.sets < MAX_SET && strchr(optarg, '='))
            j.set[j.sets++] = optarg;
        else if (c == 't')
            j.timeout = (unsigned)atoi(optarg);
        else
            usage();
    }
    j.command = argv + optind;
    if (!j.out || !*j.command)
        usage();
    return j;
}

/* True if `entry` (VAR=VALUE of the old environment) is replaced by one of the job's. */
static bool is_replaced(const job *j, const char *entry)
{
    size_t n = strcspn(entry, "=") + 1;
    if (strncmp(entry, "LD_PRELOAD=", n) == 0)
        return true;
    for (int i = 0; i < j->sets; i++)
        if (strncmp(entry, j->set[i], n) == 0)
            return true;
    return false;
}

static char **environ_make(const job *j)
{
    int n = 0;
    while (environ[n])
        n++;
    char **env = calloc((size_t)n + MAX_SET + 2, sizeof *env);
    char **to = env;
    if (!env)
        exit(1);
    for (int i = 0; i < n; i++)
        if (!is_replaced(j, environ[i]))
            *to++ = environ[i];
    for (int i = 0; i < j->sets; i++)
        *to++ = (char *)j->set[i];
    if (j->preload && asprintf(to, "LD_PRELOAD=%s", j->preload) < 0)
        exit(1);
    return env;
}

static bool maps_contain(pid_t pid, const char *path)
{
    char name[64], line[4096];
    bool found = false;
    snprintf(name, sizeof name, "/proc/%d/maps", (int)pid);
    FILE *f = fopen(name, "re");
    while (f && !found && fgets(line, sizeof line, f))
        found = strstr(line, path) != NULL;
    if (f)
        fclose(f);
    return found;
}

/* Looks until the library shows up in the child's maps, the child ends, or patience does. */
static bool preload_wait(pid_t pid, const char *preload)
{
    char real[4096];
    if (!preload || !realpath(preload, real))
        return false;
    for (int i = 0; i < POLLS; i++) {
        siginfo_t info = {0};
        if (maps_contain(pid, real))
            return true;
        if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid)
            return false;
        nanosleep(&(struct timespec){.tv_nsec = POLL_NS}, NULL);
    }
    return false;
}

static pid_t child_start(const job *j, char **env)
{
    pid_t pid = vfork();
    if (pid == 0) {
        setpgid(0, 0);
        execvpe(j->command[0], j->command, env);
        _exit(127);
    }
    return pid;
}

static uint64_t micros(struct timeval t)
{
    return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_usec;
}

static int line_write(const job *j, int status, uint64_t wall, bool seen, const struct rusage *u)
{
    FILE *f = fopen(j->out, "we");
    if (!f) {
        fprintf(stderr, "launch: %s: %s\n", j->out, strerror(errno));
        return 1;
    }
    fprintf(
        f,
        "{\"status\": %d, \"signal\": %d, \"timed_out\": %s, \"preloaded\": %s, \"wall_ns\": %llu, "
        "\"user_us\": %llu, \"sys_us\": %llu, \"rss_kb\": %ld, \"minor_faults\": %ld, \"major_faults\": %ld, "
        "\"switches\": %ld, \"preempted\": %ld}\n",
        WIFEXITED(status) ? WEXITSTATUS(status) : -1, WIFSIGNALED(status) ? WTERMSIG(status) : 0,
        timed_out ? "true" : "false", seen ? "true" : "false", (unsigned long long)wall,
        (unsigned long long)micros(u->ru_utime), (unsigned long long)micros(u->ru_stime), u->ru_maxrss,
        u->ru_minflt, u->ru_majflt, u->ru_nvcsw, u->ru_nivcsw);
    return fclose(f) ? 1 : 0;
}

int main(int argc, char **argv)
{
    job j = job_parse(argc, argv);
    char **env = environ_make(&j);
    struct rusage used;
    int status;
    signal(SIGALRM, on_alarm);
    uint64_t start = now_ns();
    child = child_start(&j, env);
    if (child < 0) {
        perror("launch: vfork");
        return 1;
    }
    alarm(j.timeout);
    bool seen = preload_wait(child, j.preload);
    while (wait4(child, &status, 0, &used) < 0 && errno == EINTR)
        ;
    return line_write(&j, status, now_ns() - start, seen, &used);
}
