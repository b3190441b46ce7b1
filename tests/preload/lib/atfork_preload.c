/* SPDX-License-Identifier: MIT */
/* A preload whose fork handlers allocate, registered before ours: the one before fork runs when poolmem has
 * taken its locks already. */
#include <pthread.h>
#include <stdlib.h>

static void *volatile kept;

static void renew(void)
{
    free(kept);
    kept = malloc(77);
}

__attribute__((constructor)) static void watch(void)
{
    pthread_atfork(renew, renew, renew);
}
