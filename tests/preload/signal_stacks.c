/* SPDX-License-Identifier: MIT */
/* Promise: a signal handler may allocate from any number of stacks that were never seen, wherever it comes in
 * and however it is left, and the call it interrupted finds what it needs. Rules that look far out
 * (signal_stacks.conf) keep both busy with their outer frames. */
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>
#include "check.h"

enum { HANDLERS = 400, STACKS = 2000, MICROSECONDS = 5000, CALLS = 200 };
static sigjmp_buf before;
static volatile sig_atomic_t handlers, may_jump;
static unsigned handler_seed = 7;

typedef void step(int depth, uint64_t way);
static step north, east, south, west;
static step *const ways[] = {north, east, south, west};

static void leaf(uint64_t way)
{
    free(opaque(malloc(16 + way % 100)));
}

/* Each keeps a frame of its own size until the call inside has come back. */
#define STEP(name, bytes)                                                                                    \
    static void name(int depth, uint64_t way)                                                                \
    {                                                                                                        \
        char room[bytes];                                                                                    \
        opaque(room);                                                                                        \
        if (depth)                                                                                           \
            ways[way & 3](depth - 1, way >> 2);                                                              \
        else                                                                                                 \
            leaf(way);                                                                                       \
        opaque(room);                                                                                        \
    }
STEP(north, 16)
STEP(east, 16)
STEP(south, 32)
STEP(west, 48)

static void come_in(int signal)
{
    for (int i = 0; i < STACKS; i++) {
        uint64_t way = (uint64_t)next_random(&handler_seed) << 20 ^ next_random(&handler_seed);
        north(4 + (int)(way % 9), way);
    }
    handlers++;
    if (may_jump && handlers % 3 == 0)
        siglongjmp(before, 1);
}

int main(int argc, char **argv)
{
    volatile unsigned seed = 1;
    bool jumps = argc > 1 && !strcmp(argv[1], "jump");
    struct sigaction action = {.sa_handler = come_in};
    struct itimerval every = {{0, MICROSECONDS}, {0, MICROSECONDS}};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &every, NULL);
    while (handlers < HANDLERS) {
        sigsetjmp(before, 1);
        may_jump = jumps;
        for (int i = 0; i < CALLS; i++) {
            unsigned now = seed, way = next_random(&now) & 4095;
            seed = now;
            north(4 + (int)(way & 3), way * 0x123456789u);
        }
        may_jump = 0;
    }
    every = (struct itimerval){{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &every, NULL);
    return passed();
}
