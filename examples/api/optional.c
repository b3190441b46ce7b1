/* SPDX-License-Identifier: MIT */
/*
 * optional.c - the header-only way: the same program with and without the library. Nothing is linked; under
 * LD_PRELOAD=libpoolmem.so its pools are the process's own, without it push does nothing and alloc is malloc.
 *   cc -I../../include optional.c -o optional && ./optional && LD_PRELOAD=libpoolmem.so ./optional
 */
#include <poolmem.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    poolmem_pool *audio = poolmem_pool_create("Audio", NULL, POOLMEM_HEAP, NULL);
    char *voice = poolmem_alloc(audio, 1000);
    poolmem_pool_push(audio);
    char *pushed = malloc(2000); /* what no rule claims goes to the top of the stack */
    poolmem_pool_pop(audio);
    memset(voice, 1, 1000);
    memset(pushed, 1, 2000);
    voice = poolmem_realloc(audio, voice, 4000);
    if (poolmem_present()) {
        poolmem_stats s;
        poolmem_pool_stats(audio, &s);
        printf("with poolmem %s: %s holds %llu blocks, the voice is of %s, the malloc of %s\n",
               poolmem_version(), poolmem_pool_name(audio), (unsigned long long)s.live_blocks,
               poolmem_pool_name(poolmem_pool_of(voice)), poolmem_pool_name(poolmem_pool_of(pushed)));
    } else {
        printf("without poolmem\n");
    }
    poolmem_free(voice);
    free(pushed);
    return 0;
}
