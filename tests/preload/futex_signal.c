/* SPDX-License-Identifier: MIT */
/* Promise: threads that sit in a futex, a semaphore, a condition or a read are not disturbed by the report
 * signal: no call comes back early. (Without the library a handler of our own with SA_RESTART shows what is
 * usual.) */
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include "check.h"

enum { SLEEPERS = 5, SIGNALS = 40 };
static sem_t semaphore;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static atomic_int word, awake, asleep;
static bool released;
static int ends[2];

static void sleep_semaphore(void)
{
    int result = sem_wait(&semaphore);
    expect(result == 0, "sem_wait under signals, expected 0, got errno %d", errno);
}

static void sleep_condition(void)
{
    pthread_mutex_lock(&lock);
    while (!released)
        expect_equal("pthread_cond_wait", 0, pthread_cond_wait(&condition, &lock));
    pthread_mutex_unlock(&lock);
}

static void sleep_futex(void)
{
    long result = syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
    expect(result == 0, "futex wait under signals, expected 0, got errno %d", errno);
}

static void sleep_read(void)
{
    char byte;
    ssize_t result = read(ends[0], &byte, 1);
    expect(result == 1, "read under signals, expected 1, got %zd errno %d", result, errno);
}

static void sleep_mutex(void)
{
    static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&own);
    pthread_mutex_unlock(&own);
    sleep_semaphore();
}

static void (*const sleepers[SLEEPERS])(void) = {sleep_semaphore, sleep_condition, sleep_futex, sleep_read,
                                                 sleep_mutex};

static void *sleep_as(void *number)
{
    asleep++;
    sleepers[(uintptr_t)number]();
    awake++;
    return NULL;
}

static void nothing(int number)
{
}

static void release(void)
{
    sem_post(&semaphore);
    sem_post(&semaphore);
    pthread_mutex_lock(&lock);
    released = true;
    pthread_cond_broadcast(&condition);
    pthread_mutex_unlock(&lock);
    expect(write(ends[1], "x", 1) == 1, "write to the pipe, expected 1, got errno %d", errno);
    while (awake < SLEEPERS)
        syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

int main(void)
{
    if (!library()) {
        struct sigaction action = {.sa_handler = nothing, .sa_flags = SA_RESTART};
        sigaction(SIGUSR1, &action, NULL);
    }
    sem_init(&semaphore, 0, 0);
    expect_equal("pipe", 0, pipe(ends));
    pthread_t thread[SLEEPERS];
    for (uintptr_t i = 0; i < SLEEPERS; i++)
        expect_equal("pthread_create", 0, pthread_create(&thread[i], NULL, sleep_as, (void *)i));
    while (asleep < SLEEPERS)
        usleep(1000);
    usleep(50000);
    for (int i = 0; i < SIGNALS; i++) {
        pthread_kill(thread[i % SLEEPERS], SIGUSR1);
        usleep(2000);
    }
    expect_equal("sleepers awake before the release", 0, awake);
    release();
    for (int i = 0; i < SLEEPERS; i++)
        pthread_join(thread[i], NULL);
    return passed();
}
