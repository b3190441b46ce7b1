/* SPDX-License-Identifier: MIT */
/* Promise: the library lives within a seccomp allow-list made for a plain malloc program. After the filter is
 * set every system call outside the list kills the process. The list: read write close lseek fstat
 * newfstatat, mmap munmap mprotect mremap madvise brk, futex sched_yield set_robust_list rseq clone clone3
 * exit exit_group gettid getpid tgkill restart_syscall, rt_sigaction rt_sigprocmask rt_sigreturn sigaltstack,
 * clock_gettime clock_nanosleep nanosleep getrandom. (No prctl, no open, no memfd_create, no sysinfo.) */
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include "check.h"

static const int allowed[] = {SYS_read,         SYS_write,          SYS_close,
                              SYS_lseek,        SYS_fstat,          SYS_newfstatat,
                              SYS_mmap,         SYS_munmap,         SYS_mprotect,
                              SYS_mremap,       SYS_madvise,        SYS_brk,
                              SYS_futex,        SYS_sched_yield,    SYS_set_robust_list,
                              SYS_rseq,         SYS_clone,          SYS_clone3,
                              SYS_exit,         SYS_exit_group,     SYS_gettid,
                              SYS_getpid,       SYS_tgkill,         SYS_restart_syscall,
                              SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn,
                              SYS_sigaltstack,  SYS_clock_gettime,  SYS_clock_nanosleep,
                              SYS_nanosleep,    SYS_getrandom};
enum { ALLOWED = sizeof allowed / sizeof allowed[0] };

static void confine(bool by_prctl)
{
    static struct sock_filter code[ALLOWED + 3];
    code[0] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (int i = 0; i < ALLOWED; i++)
        code[i + 1] =
            (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)allowed[i], ALLOWED - i, 0);
    code[ALLOWED + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    code[ALLOWED + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {ALLOWED + 3, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        skip("no seccomp filters here");
    if (by_prctl ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)
                 : syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program))
        skip("no seccomp filters here");
}

static void *churn(void *unused)
{
    for (int round = 0; round < 20; round++) {
        for (size_t bytes = 1; bytes < 32u << 20; bytes = bytes * 3 + 1) {
            char *p = opaque(malloc(bytes));
            expect(p != NULL, "malloc(%zu) confined, expected a pointer, got NULL", bytes);
            p[0] = p[bytes - 1] = 1;
            p = opaque(realloc(p, bytes * 2));
            free(p);
            free(opaque(aligned_alloc(4096, bytes)));
        }
    }
    return unused;
}

int main(int argc, char **argv)
{
    free(opaque(malloc(1)));
    confine(argc > 1);
    churn(NULL);
    for (int i = 0; i < 8; i++) {
        pthread_t thread;
        expect_equal("pthread_create", 0, pthread_create(&thread, NULL, churn, NULL));
        pthread_join(thread, NULL);
    }
    usleep(1100000); /* past the decay, so that memory is given back under the filter too */
    churn(NULL);
    return passed();
}
