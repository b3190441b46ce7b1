/* SPDX-License-Identifier: MIT */
/*
 * request.c - see request.h. Requests are counted by reason; whoever finds nobody reporting reports until
 * the counts are zero, on a stack of our own, because the host's may have 16 KiB.
 *
 * Invariants: (1) every request is followed by one whole report; (2) one thread reports at a time, `reporter`
 * is its kernel thread id; (3) while it does, every signal but ours and those of faults is blocked, so that
 * no handler of the host can leave by longjmp; (4) no lock of the allocator is taken. Locking: `reporter`, by
 * compare and swap, never waited for but at exit.
 */
#include "request.h"
#include "fatal.h"
#include "fmt.h"
#include "os.h"
#include "output.h"
#include "pools.h"
#include "onstack.h"
#include "publish.h"
#include "raw.h"
#include "signal.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define STACK_BYTES  KIB(256)
#define OUTPUT_BYTES MIB(1) /* reports up to this size are one write */
#define PATIENCE     2000   /* times 1 ms that an exiting thread waits for another's report */

static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};

static uint32_t pending[REASON_COUNT];
static int reporter; /* 0: nobody */
static bool forked;  /* this process is a child of fork */
static char *memory; /* guard page, stack, report, output */
static char target[OUTPUT_PATH] = "stderr";
static raw_mask faults_mask, kept_open; /* signals a reporting thread takes: faults; and with ours */

static size_t memory_bytes(void)
{
    return OS_PAGE + STACK_BYTES + round_up(report_bytes(), OS_PAGE) + OUTPUT_BYTES;
}

static char *report_memory(void)
{
    return memory + OS_PAGE + STACK_BYTES;
}

static bool map_memory(void)
{
    if (memory)
        return true;
    memory = os_map(memory_bytes());
    if (memory)
        os_decommit(memory, OS_PAGE);
    return memory != NULL;
}

static void set_target(const char *to)
{
    char here[OUTPUT_PATH];
    bool relative = strcmp(to, "stderr") != 0 && *to != '/';
    if (!relative || !getcwd(here, sizeof here))
        here[0] = 0;
    size_t n = fmt_text(target, sizeof target, "%s%s%s", here, *here ? "/" : "", to);
    if (n >= sizeof target) {
        message(MESSAGE_MISUSE, "POOLMEM_STATS: name too long: reports go to stderr");
        strcpy(target, "stderr");
    }
}

void request_boot(const char *to, int signal)
{
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        faults_mask |= RAW_MASK(faults[i]);
    kept_open = faults_mask | (signal > 0 ? RAW_MASK(signal) : 0);
    set_target(to);
    map_memory();
}

/* What only the process itself can do before one looks at its figures. */
static void bring_up_to_date(void)
{
    for (uint32_t id = 0; id < pools_count(); id++) {
        pool *p = pools_get(id);
        if (p->kind != POOL_HEAP)
            pool_republish(p);
    }
}

void request_keep_peaks(const report *r)
{
    for (uint32_t id = 0; id < r->pool_count; id++)
        atomic_raise(&stats_pools(published)[id].peak_bytes, r->pools[id].stats.peak_bytes);
}

void request_source(report_source *s, report_reason why)
{
    bring_up_to_date();
    *s = (report_source){
        .header = published,
        .bytes = published->bytes,
        .figures = heap_figures_read,
        .reason = why,
        .pid = (uint32_t)getpid(),
        .sequence = __atomic_load_n(&published->sequence, __ATOMIC_RELAXED),
        .now_ns = os_time_ns(),
        .rss_bytes = raw_resident_bytes(),
    };
}

uint32_t request_number(void)
{
    return __atomic_add_fetch(&published->sequence, 1, __ATOMIC_RELAXED);
}

void request_number_back(uint32_t number)
{
    __atomic_compare_exchange_n(&published->sequence, &number, number - 1, false, __ATOMIC_RELAXED,
                                __ATOMIC_RELAXED);
}

static void not_written(uint32_t number)
{
    request_number_back(number);
    __atomic_fetch_add(&published->unwritten, 1, __ATOMIC_RELEASE);
}

/* Where the end of every child of fork would fail, it is enough that the first process says so. */
static void write_one(report_reason why)
{
    report_source s;
    request_source(&s, why);
    s.sequence = request_number();
    s.quiet = forked && why == REASON_EXIT;
    report *r = report_take(&s, report_memory());
    if (r)
        request_keep_peaks(r);
    char *out = report_memory() + round_up(report_bytes(), OS_PAGE), path[OUTPUT_PATH];
    if (!r || !output_report(r, target, out, OUTPUT_BYTES, path))
        return not_written(s.sequence);
    fmt_text(published->report_path, sizeof published->report_path, "%s", path);
    __atomic_fetch_add(&published->reported, 1, __ATOMIC_RELEASE);
}

static bool take_request(report_reason why)
{
    uint32_t n = __atomic_load_n(&pending[why], __ATOMIC_ACQUIRE);
    while (n)
        if (__atomic_compare_exchange_n(&pending[why], &n, n - 1, true, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            return true;
    return false;
}

static bool any_pending(void)
{
    uint32_t n = 0;
    for (int why = 0; why < REASON_COUNT; why++)
        n |= __atomic_load_n(&pending[why], __ATOMIC_ACQUIRE);
    return n != 0;
}

/*
 * On the private stack our own signal is let in again: it only counts (request_is_here), so none is lost
 * while a report is written. The alternate stack is off meanwhile: the interrupted handler may stand on it,
 * and the kernel would start the next one at its top.
 */
static bool let_signal_in(stack_t *alternate)
{
    stack_t none = {.ss_flags = SS_DISABLE};
    if (sigaltstack(&none, alternate) != 0)
        return false;
    raw_mask_set(~kept_open);
    return true;
}

static void serve_counts(void)
{
    for (int why = 0; why < REASON_COUNT; why++)
        while (take_request((report_reason)why))
            write_one((report_reason)why);
}

static void serve(void *arg)
{
    stack_t alternate;
    bool open = let_signal_in(&alternate);
    serve_counts();
    raw_mask_set(~faults_mask);
    if (open)
        sigaltstack(&alternate, NULL);
    os_purge(report_memory(), memory_bytes() - OS_PAGE - STACK_BYTES);
}

static bool claim(int tid)
{
    int nobody = 0;
    return __atomic_compare_exchange_n(&reporter, &nobody, tid, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static void report_all(int tid)
{
    while (any_pending() && claim(tid)) {
        if (map_memory())
            onstack_call(serve, NULL, report_memory());
        else
            memset(pending, 0, sizeof pending);
        __atomic_store_n(&reporter, 0, __ATOMIC_RELEASE);
    }
}

/* Another thread writes ours; at exit it must not be cut off. */
static void wait_for_reporter(void)
{
    for (int i = 0; i < PATIENCE && (any_pending() || __atomic_load_n(&reporter, __ATOMIC_ACQUIRE)); i++)
        raw_sleep_ms(1);
}

bool request_is_here(void)
{
    return __atomic_load_n(&reporter, __ATOMIC_RELAXED) == os_thread_id();
}

void request_report(report_reason why)
{
    raw_guard guard;
    int saved = errno, tid = os_thread_id();
    if (!published)
        return;
    __atomic_fetch_add(&pending[why], 1, __ATOMIC_ACQ_REL);
    if (__atomic_load_n(&reporter, __ATOMIC_RELAXED) == tid)
        return;
    raw_guard_begin(&guard, ~faults_mask);
    report_all(tid);
    raw_guard_end(&guard);
    if (why == REASON_EXIT)
        wait_for_reporter();
    signal_deferred();
    errno = saved;
}

void request_fork_child(void)
{
    memset(pending, 0, sizeof pending);
    reporter = 0;
    forked = true;
}
