// SPDX-License-Identifier: MIT
// Promise: the heap serves before main, in thread_local and pthread_key destructors, in atexit handlers, in
// destructors after exit has begun, and other threads that go on meanwhile. The last destructor gives the
// verdict.
#include <atomic>
#include <pthread.h>
#include <string>
#include <vector>
#include "check.h"

static std::atomic<int> stages;
static std::atomic<bool> busy;

static void churn(const char *stage)
{
    std::vector<char *> taken;
    for (size_t bytes = 1; bytes < 300000; bytes = bytes * 2 + 5) {
        char *p = static_cast<char *>(malloc(bytes));
        expect(p != NULL, "malloc %s, expected a pointer, got NULL", stage);
        memset(p, 1, bytes);
        taken.push_back(p);
    }
    for (char *p : taken)
        free(p);
    stages++;
}

struct Before {
    std::string kept = std::string(5000, 'b');
    Before()
    {
        churn("before main");
    }
    ~Before()
    {
        churn("in a static destructor");
    }
};
static Before before;

struct Local {
    std::string kept = std::string(100, 't');
    ~Local()
    {
        churn("in a thread_local destructor");
    }
};
static thread_local Local local;

static pthread_key_t key;
static int rounds;

static void at_key(void *p)
{
    free(p);
    churn("in a key destructor");
    if (rounds++ < 3)
        pthread_setspecific(key, malloc(64));
}

static void *thread_main(void *)
{
    local.kept += "x";
    pthread_setspecific(key, malloc(1000));
    return strdup("handed over");
}

static void *background(void *)
{
    while (true) {
        free(malloc(77));
        free(malloc(70000));
        busy = true;
    }
    return NULL;
}

__attribute__((destructor(101))) static void at_last()
{
    for (int i = 0; i < 100; i++)
        free(opaque(malloc((size_t)i * 1000)));
    expect(stages.load() == 9, "stages passed, expected 9, got %d", stages.load());
    passed();
}

int main()
{
    pthread_key_create(&key, at_key);
    pthread_t thread;
    void *given;
    expect_equal("pthread_create", 0, pthread_create(&thread, NULL, thread_main, NULL));
    pthread_join(thread, &given);
    free(given);
    expect_equal("stages after the thread's end", 6, stages.load());
    expect_equal("pthread_create", 0, pthread_create(&thread, NULL, background, NULL));
    while (!busy)
        usleep(100);
    local.kept += "main";
    atexit([] { churn("in an atexit handler"); });
    exit(0);
}
