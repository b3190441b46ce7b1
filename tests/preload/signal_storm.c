/* SPDX-License-Identifier: MIT */
/* Promise: 1,000 report signals while 8 threads allocate give 1,000 whole reports (a file each, checked
 * afterwards), and every thread computes what it computed before. The next signal is sent when the report
 * before is in place, because equal signals that wait are one; every other one goes to a worker by name. */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include "check.h"

enum { WORKERS = 8, SIGNALS = 1000, SLOTS = 128, STEPS = 20000 };
static atomic_bool stop;
static atomic_int worker_tid[WORKERS];
static atomic_ulong laps;

static unsigned long compute(unsigned seed)
{
    unsigned char *slots[SLOTS] = {0};
    unsigned long sum = 0;
    for (int step = 0; step < STEPS; step++) {
        unsigned slot = next_random(&seed) % SLOTS;
        if (slots[slot]) {
            sum = sum * 31 + slots[slot][0] + slots[slot][7];
            free(slots[slot]);
        }
        size_t bytes = 8 + next_random(&seed) % (step % 500 ? 700 : 150000);
        slots[slot] = opaque(step % 3 ? malloc(bytes) : calloc(1, bytes));
        memset(slots[slot], step, bytes);
    }
    for (int slot = 0; slot < SLOTS; slot++)
        free(slots[slot]);
    return sum;
}

static void *work(void *number)
{
    unsigned seed = 1 + (unsigned)(uintptr_t)number;
    unsigned long first = compute(seed);
    worker_tid[seed - 1] = (int)syscall(SYS_gettid);
    while (!stop) {
        unsigned long again = compute(seed);
        expect(again == first, "result of a worker under signals, expected %lx, got %lx", first, again);
        laps++;
    }
    return NULL;
}

/* how many reports of ours came into place in one batch of events */
static int reports_in(const char *events, ssize_t bytes)
{
    int count = 0;
    for (const char *at = events; at < events + bytes;) {
        const struct inotify_event *event = (const void *)at;
        count += event->len && !strncmp(event->name, "storm-", 6) && strstr(event->name, ".json") &&
                 !strcmp(strstr(event->name, ".json"), ".json");
        at += sizeof *event + event->len;
    }
    return count;
}

static void wait_report(int watch, int number)
{
    char events[4096] __attribute__((aligned(8)));
    struct pollfd poller = {.fd = watch, .events = POLLIN};
    int seen = 0;
    while (!seen) {
        int ready = poll(&poller, 1, 20000);
        if (ready < 0 && errno == EINTR)
            continue;
        expect(ready == 1, "report %d, expected within 20 s, got none", number);
        ssize_t bytes = read(watch, events, sizeof events);
        seen = reports_in(events, bytes);
    }
    expect(seen == 1, "reports after signal %d, expected 1, got %d", number, seen);
}

static void send(int number)
{
    if (number % 2)
        kill(getpid(), SIGUSR1);
    else
        syscall(SYS_tgkill, getpid(), worker_tid[number / 2 % WORKERS], SIGUSR1);
}

int main(void)
{
    if (!library())
        skip("nobody takes the signal");
    int watch = inotify_init1(IN_CLOEXEC);
    expect(inotify_add_watch(watch, ".", IN_CLOSE_WRITE | IN_MOVED_TO) >= 0,
           "inotify, expected a watch, got %d", errno);
    pthread_t worker[WORKERS];
    for (uintptr_t i = 0; i < WORKERS; i++)
        expect_equal("pthread_create", 0, pthread_create(&worker[i], NULL, work, (void *)i));
    for (int i = 0; i < WORKERS; i++)
        while (!worker_tid[i])
            usleep(1000);
    for (int i = 0; i < SIGNALS; i++) {
        send(i);
        wait_report(watch, i);
    }
    stop = true;
    for (int i = 0; i < WORKERS; i++)
        pthread_join(worker[i], NULL);
    expect(laps > 0, "laps of the workers, expected some, got 0");
    return passed();
}
