/* SPDX-License-Identifier: MIT */
/*
 * signal.c - see signal.h. Exports sigaction, signal and their relatives; all numbers but ours go straight on
 * to the next definition.
 *
 * Invariants: (1) the kernel has our handler with the host's mask and its SA_RESTART and SA_ONSTACK, so that
 * what the host asked for holds for its system calls and stacks; SA_NODEFER and SA_RESETHAND are ours to
 * imitate; (2) the host sees only what it set itself; (3) SIG_DFL and SIG_IGN of the host mean: report only;
 * (4) while the host's handler runs nothing of ours is held, so it may leave by longjmp.
 * A signal that arrives while its thread reports is counted, and sent again to the thread when the report
 * is done, for the host's handler alone: the kernel then gives it its proper context.
 * Locking: `host` has a sequence count; its writer blocks all signals and holds a spin word. Readers (the
 * handler) copy until the count stands still.
 * A child of vfork shares our memory but not its signal table: its calls go to the kernel untouched.
 */
#include "signal.h"
#include "publish.h"
#include "raw.h"
#include "os.h"
#include "request.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORT  __attribute__((visibility("default")))
#define NO_OURS INT_MIN

typedef int sigaction_call(int, const struct sigaction *, struct sigaction *);
typedef void (*handler)(int);

static int ours = NO_OURS;
static struct sigaction host;  /* what the host set for our number */
static uint32_t host_sequence; /* odd while `host` changes */
static uint32_t host_writer;   /* 1: somebody changes it */

static siginfo_t deferred_info;
static uint32_t deferred; /* deliveries that wait for the host's handler */

extern int __sigaction(int, const struct sigaction *, struct sigaction *);

static int next_sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
    static sigaction_call *next;
    sigaction_call *call = __atomic_load_n(&next, __ATOMIC_RELAXED);
    if (unlikely(!call)) {
        call = (sigaction_call *)dlsym(RTLD_NEXT, "sigaction");
        call = call ? call : __sigaction;
        __atomic_store_n(&next, call, __ATOMIC_RELAXED);
    }
    return call(sig, act, old);
}

static bool has_handler(const struct sigaction *a)
{
    return a->sa_handler != SIG_DFL && a->sa_handler != SIG_IGN;
}

static void host_get(struct sigaction *out)
{
    uint32_t before, after;
    do {
        while ((before = __atomic_load_n(&host_sequence, __ATOMIC_ACQUIRE)) & 1)
            os_yield();
        *out = host;
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        after = __atomic_load_n(&host_sequence, __ATOMIC_RELAXED);
    } while (before != after);
}

static void on_signal(int sig, siginfo_t *info, void *context);

/* Gives the kernel our handler, as the host's present setting wants it called. */
static int install(const struct sigaction *a)
{
    struct sigaction k = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
    if (has_handler(a)) {
        k.sa_mask = a->sa_mask;
        k.sa_flags = SA_SIGINFO | (a->sa_flags & (SA_RESTART | SA_ONSTACK));
    }
    return next_sigaction(ours, &k, NULL);
}

/* Changes `host` from `old`; *old is what was there. */
static void host_set(const struct sigaction *a, struct sigaction *old)
{
    raw_mask before = raw_mask_set(~(raw_mask)0);
    while (__atomic_exchange_n(&host_writer, 1, __ATOMIC_ACQUIRE))
        os_yield();
    __atomic_fetch_add(&host_sequence, 1, __ATOMIC_ACQ_REL);
    *old = host;
    host = *a;
    __atomic_fetch_add(&host_sequence, 1, __ATOMIC_RELEASE);
    install(a);
    __atomic_store_n(&host_writer, 0, __ATOMIC_RELEASE);
    raw_mask_set(before);
}

static bool is_ours(int sig)
{
    return sig == ours && published && published->pid == (uint32_t)getpid();
}

static int host_action(const struct sigaction *act, struct sigaction *old)
{
    struct sigaction before;
    if (act)
        host_set(act, &before);
    else
        host_get(&before);
    if (old)
        *old = before;
    return 0;
}

/* --- the handler -------------------------------------------------------------------------------- */

static void let_in(int sig)
{
    raw_mask before = raw_mask_set(~(raw_mask)0);
    raw_mask_set(before & ~RAW_MASK(sig));
}

static void call_host(int sig, siginfo_t *info, void *context)
{
    struct sigaction a, was;
    host_get(&a);
    if (!has_handler(&a))
        return;
    if (a.sa_flags & SA_RESETHAND)
        host_set(&(struct sigaction){.sa_handler = SIG_DFL}, &was);
    if (a.sa_flags & SA_NODEFER)
        let_in(sig);
    if (a.sa_flags & SA_SIGINFO)
        a.sa_sigaction(sig, info, context);
    else
        a.sa_handler(sig);
}

static void defer(const siginfo_t *info)
{
    struct sigaction a;
    host_get(&a);
    if (!has_handler(&a))
        return;
    deferred_info = *info;
    __atomic_fetch_add(&deferred, 1, __ATOMIC_RELAXED);
}

static bool is_deferred(const siginfo_t *info)
{
    return info->si_code == SI_QUEUE && info->si_value.sival_ptr == &deferred_info;
}

void signal_deferred(void)
{
    siginfo_t again = {.si_signo = ours, .si_code = SI_QUEUE};
    if (!__atomic_load_n(&deferred, __ATOMIC_RELAXED))
        return;
    again.si_value.sival_ptr = &deferred_info;
    again.si_pid = getpid();
    syscall(SYS_rt_tgsigqueueinfo, getpid(), os_thread_id(), ours, &again);
}

static void take_deferred(int sig, void *context)
{
    siginfo_t info = deferred_info;
    if (__atomic_fetch_sub(&deferred, 1, __ATOMIC_RELAXED) > 1)
        signal_deferred();
    call_host(sig, &info, context);
}

static void on_signal(int sig, siginfo_t *info, void *context)
{
    int saved = errno;
    if (is_deferred(info)) {
        take_deferred(sig, context);
    } else if (request_is_here()) {
        request_report(REASON_SIGNAL);
        defer(info);
    } else {
        request_report(REASON_SIGNAL);
        call_host(sig, info, context);
    }
    errno = saved;
}

void signal_boot(int number)
{
    if (number <= 0 || next_sigaction(number, NULL, &host) != 0)
        return;
    ours = number;
    published->signal = (uint32_t)number;
    install(&host);
}

/* --- what the host calls -------------------------------------------------------------------------- */

EXPORT int sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
    return unlikely(is_ours(sig)) ? host_action(act, old) : next_sigaction(sig, act, old);
}

/* Sets a plain handler of our number; what signal() and its relatives do. */
static handler host_handler(handler h, int flags)
{
    struct sigaction act = {.sa_handler = h, .sa_flags = flags}, old;
    if (h == SIG_ERR) {
        errno = EINVAL;
        return SIG_ERR;
    }
    if (!(flags & SA_NODEFER))
        sigaddset(&act.sa_mask, ours);
    host_action(&act, &old);
    return old.sa_handler;
}

#define NEXT(name, type) ((type *)dlsym(RTLD_NEXT, #name))

EXPORT handler signal(int sig, handler h)
{
    typedef handler call(int, handler);
    return is_ours(sig) ? host_handler(h, SA_RESTART) : NEXT(signal, call)(sig, h);
}

EXPORT handler bsd_signal(int sig, handler h)
{
    return signal(sig, h);
}

EXPORT handler ssignal(int sig, handler h)
{
    return signal(sig, h);
}

EXPORT handler __sysv_signal(int sig, handler h)
{
    typedef handler call(int, handler);
    return is_ours(sig) ? host_handler(h, (int)(SA_RESETHAND | SA_NODEFER))
                        : NEXT(__sysv_signal, call)(sig, h);
}

EXPORT handler sysv_signal(int sig, handler h)
{
    return __sysv_signal(sig, h);
}

static handler host_sigset(int sig, handler h)
{
    sigset_t only, before;
    struct sigaction now;
    bool hold = h == SIG_HOLD;
    sigemptyset(&only);
    sigaddset(&only, sig);
    host_get(&now);
    handler old = hold ? now.sa_handler : host_handler(h, 0);
    if (old == SIG_ERR || sigprocmask(hold ? SIG_BLOCK : SIG_UNBLOCK, &only, &before) != 0)
        return SIG_ERR;
    return sigismember(&before, sig) ? SIG_HOLD : old;
}

EXPORT handler sigset(int sig, handler h)
{
    typedef handler call(int, handler);
    return is_ours(sig) ? host_sigset(sig, h) : NEXT(sigset, call)(sig, h);
}

EXPORT int sigignore(int sig)
{
    struct sigaction act = {.sa_handler = SIG_IGN};
    return sigaction(sig, &act, NULL);
}

EXPORT int siginterrupt(int sig, int interrupt)
{
    typedef int call(int, int);
    struct sigaction a;
    if (!is_ours(sig))
        return NEXT(siginterrupt, call)(sig, interrupt);
    host_get(&a);
    a.sa_flags = interrupt ? a.sa_flags & ~SA_RESTART : a.sa_flags | SA_RESTART;
    return host_action(&a, NULL);
}
