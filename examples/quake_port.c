/* SPDX-License-Identifier: MIT */
/*
 * quake_port.c - a piece of engine written against Quake's names alone, over quake_hunk_shim.h: it loads
 * models into the hunk, sounds into the cache, changes the level by going back to a mark, and says what it
 * sees. The test suite compares the output. cc quake_port.c $(pkg-config --cflags --libs poolmem) -o
 * quake_port
 */
#define QUAKE_SHIM_CACHE (1 << 20)
#define QUAKE_HUNK_SHIM_IMPLEMENTATION
#include "quake_hunk_shim.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

static jmp_buf host_error;
static char host_message[128];

void Sys_Error(const char *error, ...)
{
    va_list args;
    va_start(args, error);
    vsnprintf(host_message, sizeof host_message, error, args);
    va_end(args);
    longjmp(host_error, 1);
}

static int is_zero(const char *p, int n)
{
    while (n-- > 0)
        if (*p++)
            return 0;
    return 1;
}

static void load_level(int models)
{
    for (int i = 0; i < models; i++) {
        char *model = Hunk_AllocName(10000 + i, "progs/pl");
        if (!is_zero(model, 10000 + i))
            printf("model %d is not zeroed\n", i);
        memset(model, 0xdd, (size_t)(10000 + i));
    }
    char *file = Hunk_TempAlloc(50000);
    memset(file, 1, 50000);
    memset(Hunk_HighAllocName(64000, "video"), 2, 64000); /* drops the temporary block */
    Hunk_Check();
}

static void play_sounds(void)
{
    static cache_user_t sounds[40];
    int resident = 0, reloads = 0, left = 0;
    for (int step = 0; step < 200; step++) {
        cache_user_t *s = &sounds[step * 7 % 40];
        if (!Cache_Check(s)) {
            memset(Cache_Alloc(s, 60000, "sound/x.wav"), step, 60000);
            reloads++;
        }
    }
    for (int i = 0; i < 40; i++)
        resident += sounds[i].data != NULL;
    printf("cache: %s, some were loaded again: %s\n",
           resident > 5 && resident < 20 ? "a part is resident" : "wrong", reloads > 40 ? "yes" : "no");
    cache_user_t one = {0};
    Cache_Alloc(&one, 100, "one");
    Cache_Free(&one);
    printf("freed: %s\n", one.data ? "no" : "yes");
    Cache_Flush();
    for (int i = 0; i < 40; i++)
        left += sounds[i].data != NULL;
    printf("flushed: %s\n", left ? "no" : "yes");
}

static void misuse(void)
{
    if (!setjmp(host_error))
        Hunk_AllocName(-1, "bad");
    printf("error: %s\n", host_message);
    if (!setjmp(host_error))
        Hunk_AllocName(0x7fffffff, "huge");
    printf("error: %s\n", host_message);
    if (!setjmp(host_error))
        Hunk_FreeToLowMark(Hunk_LowMark() + 16);
    printf("error: %s\n", host_message);
    if (!setjmp(host_error))
        Z_Free(NULL);
    printf("error: %s\n", host_message);
}

int main(void)
{
    if (setjmp(host_error)) {
        printf("%s\n", host_message);
        return 1;
    }
    Memory_Init(NULL, 0);
    Hunk_AllocName(1000, "host");
    int base = Hunk_LowMark();
    printf("base %d\n", base);
    for (int level = 0; level < 3; level++) {
        load_level(5 + level);
        printf("level %d: low %d high %d\n", level, Hunk_LowMark(), Hunk_HighMark());
        Hunk_FreeToLowMark(base);
        Hunk_FreeToHighMark(0);
    }
    load_level(2);
    Hunk_Print(1);
    char *cvar = Z_Malloc(20);
    printf("zone: %s\n", is_zero(cvar, 20) ? "zeroed" : "not zeroed");
    Z_Free(Z_TagMalloc(10, 1));
    Z_Free(cvar);
    Z_CheckHeap();
    play_sounds();
    misuse();
    return 0;
}
