/* SPDX-License-Identifier: MIT */
/* Promise: when the kernel refuses memory at any call, the library neither crashes nor lies: NULL and ENOMEM
 * (or the call succeeds all the same), no block damaged, and later calls work.
 *
 * The program plays two parts. The supervisor starts the victim again and again under a seccomp filter that
 * asks it about every mmap, mprotect, mremap and madvise, and answers ENOMEM to the n-th (mode once) or to
 * all from the n-th on until the victim disarms it (mode stay), n = 1, 2, ... until a run passes untouched.
 * Mode boot counts from the exec on, but not the loader's own calls, which it survives or not as it does
 * without us; it may give up (status 127), which is fine. Argument: once, stay or boot. The supervisor runs
 * without the library. */
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include "check.h"

enum { DISARM = 0x7001, CHANNEL = 9, RUNS_MAX = 3000, LOADER_GAVE_UP = 127, TOUCHED = 100000 };

/* ---- the victim ---- */

static int install_filter(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 4, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mremap, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
    };
    struct sock_fprog program = {sizeof code / sizeof code[0], code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        return -1;
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
}

static void send_listener(int listener)
{
    char byte = 'l', control[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec part = {&byte, 1};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(header), &listener, sizeof(int));
    if (sendmsg(CHANNEL, &message, 0) != 1)
        _exit(96);
    close(listener);
}

static void arm(void)
{
    int listener = install_filter();
    if (listener < 0)
        _exit(SKIPPED);
    send_listener(listener);
}

static void expect_ok_or_enomem(const void *p, const char *what, size_t bytes)
{
    expect(p || errno == ENOMEM, "%s of %zu refused, expected ENOMEM, got errno %d", what, bytes, errno);
}

static void use(unsigned char *p, size_t bytes)
{
    if (!p)
        return;
    size_t touched = bytes < TOUCHED ? bytes : TOUCHED;
    memset(p, 0x6B, touched);
    p[bytes - 1] = 0x6B;
    errno = 0;
    unsigned char *q = opaque(realloc(p, bytes * 2));
    expect_ok_or_enomem(q, "realloc", bytes * 2);
    p = q ? q : p;
    expect(p[bytes - 1] == 0x6B, "last byte of %zu after realloc, expected 107, got %u", bytes, p[bytes - 1]);
    for (size_t i = 0; i < touched; i++)
        expect(p[i] == 0x6B, "byte %zu of %zu after realloc, expected 107, got %u", i, bytes, p[i]);
    free(p);
}

static void *churn(void *unused)
{
    static const size_t sizes[] = {24, 200, 3000, 40000, 70000, 600000, 5000000, 20000000};
    for (int i = 0; i < 8; i++) {
        errno = 0;
        unsigned char *p = opaque(malloc(sizes[i]));
        expect_ok_or_enomem(p, "malloc", sizes[i]);
        use(p, sizes[i]);
        errno = 0;
        p = opaque(calloc(1, sizes[i]));
        expect_ok_or_enomem(p, "calloc", sizes[i]);
        for (size_t k = 0; p && k < sizes[i]; k += k < TOUCHED ? 509 : TOUCHED - 1)
            expect(p[k] == 0, "byte %zu of calloc(%zu), expected 0, got %u", k, sizes[i], p[k]);
        use(p, sizes[i]);
        errno = 0;
        p = opaque(memalign(1 << 16, sizes[i]));
        expect_ok_or_enomem(p, "memalign", sizes[i]);
        use(p, sizes[i]);
    }
    return unused;
}

static void churn_in_thread(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, churn, NULL) == 0)
        pthread_join(thread, NULL);
}

static int be_victim(bool armed_from_start)
{
    if (!armed_from_start)
        arm();
    churn(NULL);
    churn_in_thread();
    usleep(1000);
    churn(NULL);
    madvise(NULL, 0, DISARM);
    for (size_t bytes = 1; bytes < 32u << 20; bytes *= 3) {
        char *p = opaque(malloc(bytes));
        expect(p != NULL, "malloc(%zu) with memory to be had again, expected a pointer, got NULL", bytes);
        p[0] = p[bytes - 1] = 1;
        free(p);
    }
    churn_in_thread();
    return 0;
}

/* ---- the supervisor ---- */

struct run {
    int from;  /* the number of the first call refused, counted from 1 */
    bool stay; /* and all after it */
    bool spare_loader;
    int calls, hits; /* seen, refused */
    bool disarmed;
};

static int receive_listener(int channel)
{
    char byte, control[CMSG_SPACE(sizeof(int))];
    struct iovec part = {&byte, 1};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    if (recvmsg(channel, &message, MSG_CMSG_CLOEXEC) != 1 || !CMSG_FIRSTHDR(&message))
        return -1;
    int listener;
    memcpy(&listener, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(int));
    return listener;
}

/* whether the call comes out of the loader's own text */
static bool from_loader(unsigned pid, unsigned long at)
{
    char path[32], line[512];
    bool found = false;
    snprintf(path, sizeof path, "/proc/%u/maps", pid);
    FILE *maps = fopen(path, "re");
    while (maps && !found && fgets(line, sizeof line, maps)) {
        unsigned long from, to;
        found =
            strstr(line, "/ld-linux") && sscanf(line, "%lx-%lx", &from, &to) == 2 && at >= from && at < to;
    }
    if (maps)
        fclose(maps);
    return found;
}

static bool refuses(struct run *run, const struct seccomp_notif *asked)
{
    const struct seccomp_data *call = &asked->data;
    if (call->nr == SYS_madvise && call->args[2] == DISARM)
        run->disarmed = true;
    if (run->disarmed || (run->spare_loader && from_loader(asked->pid, call->instruction_pointer)))
        return false;
    run->calls++;
    bool hit = run->stay ? run->calls >= run->from : run->calls == run->from;
    run->hits += hit;
    return hit;
}

static void answer(struct run *run, int listener)
{
    struct seccomp_notif asked;
    struct seccomp_notif_resp reply;
    memset(&asked, 0, sizeof asked);
    memset(&reply, 0, sizeof reply);
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &asked))
        return;
    reply.id = asked.id;
    if (refuses(run, &asked))
        reply.error = -ENOMEM;
    else
        reply.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &reply);
}

static void supervise(struct run *run, int listener)
{
    struct pollfd poller = {.fd = listener, .events = POLLIN};
    for (;;) {
        expect(poll(&poller, 1, 30000) == 1, "the victim with call %d refused, expected to go on, got stuck",
               run->from);
        if (poller.revents & POLLIN)
            answer(run, listener);
        else
            return;
    }
}

__attribute__((noreturn)) static void start_victim(int channel, bool at_boot)
{
    dup2(channel, CHANNEL);
    if (library())
        setenv("LD_PRELOAD", library(), 1);
    if (at_boot)
        arm();
    execl("/proc/self/exe", "map_failures", at_boot ? "victim-boot" : "victim", (char *)NULL);
    _exit(at_boot ? LOADER_GAVE_UP : 97);
}

static int run_victim(struct run *run, bool at_boot)
{
    int ends[2];
    expect_equal("socketpair", 0, socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends));
    pid_t pid = fork();
    if (pid == 0)
        start_victim(ends[1], at_boot);
    close(ends[1]);
    int listener = receive_listener(ends[0]);
    close(ends[0]);
    if (listener >= 0) {
        supervise(run, listener);
        close(listener);
    }
    int status;
    waitpid(pid, &status, 0);
    return status;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "once";
    if (!strncmp(mode, "victim", 6))
        return be_victim(!strcmp(mode, "victim-boot"));
    bool at_boot = !strcmp(mode, "boot");
    for (int n = 1; n < RUNS_MAX; n++) {
        struct run run = {.from = n, .stay = !strcmp(mode, "stay"), .spare_loader = at_boot};
        int status = run_victim(&run, at_boot);
        if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED)
            skip("no seccomp user notification here");
        bool gave_up = at_boot && WIFEXITED(status) && WEXITSTATUS(status) == LOADER_GAVE_UP;
        expect(status == 0 || gave_up, "%s: call %d of %d refused, expected status 0, got 0x%x", mode, n,
               run.calls, status);
        if (!run.hits) {
            print(STDERR_FILENO, "%s: %d calls refused one after the other", mode, n - 1);
            return passed();
        }
    }
    fail("runs, expected to end below %d, got no untouched one", RUNS_MAX);
}
