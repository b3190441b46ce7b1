/* SPDX-License-Identifier: MIT */
/*
 * core.c - every call of poolmem.h that needs the process's pools: what it gives, and what misuse of it
 * gives. One program, run linked and preloaded; each failed check is a line, the exit status tells whether
 * there was any.
 */
#include <poolmem.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int checks, failures;

#define CHECK(e)                                                                                             \
    do {                                                                                                     \
        checks++;                                                                                            \
        if (!(e)) {                                                                                          \
            failures++;                                                                                      \
            printf("core.c:%d: %s\n", __LINE__, #e);                                                         \
        }                                                                                                    \
    } while (0)

static volatile size_t huge = SIZE_MAX / 2; /* the compiler need not warn of what is meant */

static poolmem_pool *make(const char *name, poolmem_kind kind, size_t size)
{
    poolmem_options o = {.size = size};
    poolmem_pool *p = poolmem_pool_create(name, NULL, kind, &o);
    CHECK(p != NULL);
    return p;
}

static poolmem_stats stats_of(poolmem_pool *p)
{
    poolmem_stats s;
    memset(&s, 0xee, sizeof s);
    CHECK(poolmem_pool_stats(p, &s) == POOLMEM_OK);
    return s;
}

static void names_and_tree(void)
{
    char long_name[65];
    memset(long_name, 'n', 64);
    long_name[64] = 0;
    poolmem_pool *a = make("Tree", POOLMEM_HEAP, 0);
    poolmem_pool *b = poolmem_pool_create("Branch", a, POOLMEM_HEAP, NULL);
    CHECK(poolmem_pool_find("Tree") == a);
    CHECK(poolmem_pool_find("tree") == NULL);
    CHECK(poolmem_pool_find(NULL) == NULL);
    CHECK(poolmem_pool_parent(b) == a);
    CHECK(poolmem_pool_parent(a) == poolmem_pool_find("Global"));
    CHECK(poolmem_pool_parent(poolmem_pool_find("Global")) == NULL);
    CHECK(poolmem_pool_parent(NULL) == NULL);
    CHECK(strcmp(poolmem_pool_name(b), "Branch") == 0);
    CHECK(strcmp(poolmem_pool_name(NULL), "") == 0);
    CHECK(poolmem_pool_kind(b) == POOLMEM_HEAP);
    CHECK(poolmem_pool_create("Branch", a, POOLMEM_HEAP, NULL) == b);
    errno = 0;
    CHECK(poolmem_pool_create("Branch", NULL, POOLMEM_HEAP, NULL) == NULL && errno == EEXIST);
    CHECK(poolmem_pool_create("Branch", a, POOLMEM_ARENA, &(poolmem_options){.size = 100}) == NULL);
    errno = 0;
    CHECK(poolmem_pool_create("", NULL, POOLMEM_HEAP, NULL) == NULL && errno == EINVAL);
    CHECK(poolmem_pool_create(NULL, NULL, POOLMEM_HEAP, NULL) == NULL);
    CHECK(poolmem_pool_create(long_name, NULL, POOLMEM_HEAP, NULL) == NULL);
    CHECK(poolmem_pool_create("No Size", NULL, POOLMEM_ARENA, NULL) == NULL);
    CHECK(poolmem_pool_create("No Size", NULL, POOLMEM_RETAIL, NULL) == NULL);
    CHECK(poolmem_pool_create("No Kind", NULL, (poolmem_kind)9, NULL) == NULL);
    long_name[63] = 0;
    poolmem_pool *longest = make(long_name, POOLMEM_HEAP, 0);
    CHECK(strcmp(poolmem_pool_name(longest), long_name) == 0);
    CHECK(poolmem_pool_destroy(longest) == POOLMEM_OK);
    CHECK(poolmem_pool_find(long_name) == NULL);
    CHECK(poolmem_pool_destroy(a) == POOLMEM_BUSY); /* it has a child */
    CHECK(poolmem_pool_destroy(b) == POOLMEM_OK);
    CHECK(poolmem_pool_destroy(a) == POOLMEM_OK);
    CHECK(poolmem_pool_destroy(NULL) == POOLMEM_INVALID);
    CHECK(poolmem_pool_destroy(poolmem_pool_find("Global")) == POOLMEM_UNSUPPORTED);
}

static void expect_stale(poolmem_pool *p)
{
    poolmem_stats s;
    CHECK(poolmem_pool_push(p) == POOLMEM_STALE);
    CHECK(poolmem_pool_current() == poolmem_pool_find("Global"));
    CHECK(poolmem_pool_destroy(p) == POOLMEM_STALE);
    CHECK(poolmem_pool_set_limit(p, 1 << 20, POOLMEM_OVER_FAIL) == POOLMEM_STALE);
    CHECK(poolmem_pool_set_option(p, POOLMEM_STRICT, 1) == POOLMEM_STALE);
    CHECK(poolmem_pool_check(p) == POOLMEM_STALE);
    CHECK(poolmem_pool_stats(p, &s) == POOLMEM_STALE && poolmem_leaks(p) == 0);
    CHECK(poolmem_pool_largest_free(p) == 0);
    errno = 0;
    CHECK(poolmem_alloc(p, 100) == NULL && errno == EINVAL);
    errno = 0;
    CHECK(poolmem_calloc(p, 2, 50) == NULL && errno == EINVAL);
    CHECK(poolmem_alloc_aligned(p, 100, 64) == NULL && poolmem_realloc(p, NULL, 100) == NULL);
    errno = 0;
    CHECK(poolmem_pool_create("Below", p, POOLMEM_HEAP, NULL) == NULL && errno == EINVAL);
    CHECK(poolmem_arena_alloc(p, 10) == NULL && poolmem_arena_reset(p) == POOLMEM_UNSUPPORTED);
    CHECK(poolmem_hunk_temp_alloc(p, 10) == NULL && poolmem_handles_create(p, 10, 0) == NULL);
}

/* A destroyed pool of any kind refuses what is asked by its old pointer; one made again serves. */
static void destroyed(void)
{
    for (int kind = POOLMEM_HEAP; kind <= POOLMEM_HUNK; kind++) {
        poolmem_pool *p = make("Destroyed", (poolmem_kind)kind, 1 << 20);
        CHECK(poolmem_pool_destroy(p) == POOLMEM_OK);
        expect_stale(p);
        p = make("Destroyed", (poolmem_kind)kind, 1 << 20);
        void *block = poolmem_alloc(p, 100);
        CHECK(block != NULL && poolmem_pool_of(block) == p && poolmem_pool_push(p) == POOLMEM_OK);
        CHECK(poolmem_pool_pop(p) == POOLMEM_OK);
        poolmem_free(block);
        CHECK(poolmem_pool_destroy(p) == POOLMEM_OK);
    }
}

static void walking(void)
{
    poolmem_pool *outer = make("Outer", POOLMEM_HEAP, 0);
    poolmem_pool *inner = poolmem_pool_create("Inner", outer, POOLMEM_HEAP, NULL);
    int at = 0, outer_at = 0, inner_at = 0;
    for (poolmem_pool *p = poolmem_pool_next(NULL); p && at < 1000; p = poolmem_pool_next(p)) {
        at++;
        outer_at = p == outer ? at : outer_at;
        inner_at = p == inner ? at : inner_at;
    }
    CHECK(poolmem_pool_next(NULL) == poolmem_pool_find("Global"));
    CHECK(outer_at && inner_at > outer_at && at < 1000);
    CHECK(poolmem_pool_destroy(inner) == POOLMEM_OK && poolmem_pool_destroy(outer) == POOLMEM_OK);
}

static void stack(void)
{
    poolmem_pool *a = make("Stack A", POOLMEM_HEAP, 0), *b = make("Stack B", POOLMEM_HEAP, 0);
    CHECK(poolmem_pool_current() == poolmem_pool_find("Global"));
    CHECK(poolmem_pool_pop(NULL) == POOLMEM_EMPTY);
    CHECK(poolmem_pool_push(NULL) == POOLMEM_INVALID);
    CHECK(poolmem_pool_push(a) == POOLMEM_OK && poolmem_pool_push(b) == POOLMEM_OK);
    CHECK(poolmem_pool_current() == b);
    void *p = malloc(100);
    CHECK(poolmem_pool_of(p) == b);
    void *q = poolmem_alloc(NULL, 100);
    CHECK(poolmem_pool_of(q) == b);
    CHECK(poolmem_pool_pop(a) == POOLMEM_MISMATCH && poolmem_pool_current() == b);
    CHECK(poolmem_pool_destroy(b) == POOLMEM_BUSY);
    CHECK(poolmem_pool_pop(b) == POOLMEM_OK && poolmem_pool_current() == a);
    p = realloc(p, 5000);
    CHECK(poolmem_pool_of(p) == b); /* stays in its own pool */
    free(p);
    poolmem_free(q);
    CHECK(poolmem_pool_pop(NULL) == POOLMEM_OK);
    int pushed = 0;
    while (pushed < 1000 && poolmem_pool_push(a) == POOLMEM_OK)
        pushed++;
    CHECK(pushed >= 16 && pushed < 1000);
    CHECK(poolmem_pool_push(a) == POOLMEM_FULL);
    while (pushed--)
        CHECK(poolmem_pool_pop(a) == POOLMEM_OK);
    CHECK(poolmem_pool_pop(a) == POOLMEM_EMPTY);
    CHECK(poolmem_pool_destroy(a) == POOLMEM_OK && poolmem_pool_destroy(b) == POOLMEM_OK);
}

static void memory(poolmem_kind kind, const char *name)
{
    poolmem_pool *p = make(name, kind, kind == POOLMEM_HEAP ? 0 : 1 << 20);
    char *a = poolmem_alloc(p, 100), *z = poolmem_calloc(p, 10, 10), *w = poolmem_alloc_aligned(p, 50, 16);
    CHECK(a && z && w && (uintptr_t)w % 16 == 0);
    CHECK(poolmem_pool_of(a) == p && poolmem_pool_of(z) == p);
    CHECK(poolmem_pool_of_range(a, 100) == p);
    for (int i = 0; i < 100; i++)
        CHECK(z[i] == 0);
    memset(a, 5, 100);
    errno = 0;
    CHECK(poolmem_calloc(p, huge, 3) == NULL && errno == ENOMEM);
    errno = 0;
    CHECK(poolmem_alloc(p, huge * 2) == NULL && errno == ENOMEM);
    errno = 0;
    CHECK(poolmem_alloc_aligned(p, 10, 3) == NULL && errno == EINVAL);
    if (kind != POOLMEM_HEAP) {
        errno = 0;
        CHECK(poolmem_alloc(p, 2 << 20) == NULL && errno == ENOMEM);
    }
    char *b = kind == POOLMEM_CLUMP ? NULL : poolmem_realloc(p, a, 3000); /* clumps cannot */
    if (b) {
        CHECK(b[0] == 5 && b[99] == 5 && poolmem_pool_of(b) == p);
        a = b;
    }
    CHECK(kind == POOLMEM_CLUMP || b);
    errno = 0;
    CHECK(poolmem_realloc(p, a, huge) == NULL && errno == ENOMEM && a[99] == 5);
    poolmem_stats s = stats_of(p);
    CHECK(s.live_blocks >= 3 && s.allocs >= 3 && s.live_bytes >= 250);
    CHECK(poolmem_pool_check(p) == POOLMEM_OK);
    poolmem_free(a);
    poolmem_free(z);
    poolmem_free(w);
    poolmem_free(NULL);
    CHECK(poolmem_pool_check(p) == POOLMEM_OK);
    if (kind == POOLMEM_ARENA)
        CHECK(poolmem_arena_reset(p) == POOLMEM_OK);
    if (kind == POOLMEM_HUNK)
        CHECK(poolmem_hunk_free_to_mark(p, POOLMEM_LOW, 0) == POOLMEM_OK);
    CHECK(stats_of(p).live_blocks == 0);
    CHECK(poolmem_pool_destroy(p) == POOLMEM_OK);
    CHECK(poolmem_pool_find(name) == NULL);
}

static void ownership(void)
{
    static char own[64];
    poolmem_pool *p = make("Owner", POOLMEM_HEAP, 0);
    char *a = poolmem_alloc(p, 1000);
    CHECK(poolmem_pool_of(a + 10) == NULL || poolmem_pool_of(a + 10) == p);
    CHECK(poolmem_pool_of(own) == NULL);
    CHECK(poolmem_pool_of(NULL) == NULL);
    CHECK(poolmem_pool_of_range(NULL, 1) == NULL);
    CHECK(poolmem_pool_of_range(own, sizeof own) == NULL);
    CHECK(poolmem_pool_of_range(a, SIZE_MAX) == NULL);
    CHECK(poolmem_size(a) >= 1000);
    CHECK(poolmem_size(NULL) == 0 && poolmem_size(own) == 0);
    CHECK(poolmem_pool_destroy(p) == POOLMEM_BUSY);
    free(a); /* free() finds the owner too */
    CHECK(poolmem_pool_destroy(p) == POOLMEM_OK);
}

static void limits(void)
{
    poolmem_options o = {.limit = 1 << 20, .over = POOLMEM_OVER_FAIL};
    poolmem_pool *p = poolmem_pool_create("Limited", NULL, POOLMEM_HEAP, &o);
    errno = 0;
    CHECK(poolmem_alloc(p, 4 << 20) == NULL && errno == ENOMEM);
    CHECK(stats_of(p).over_limit >= 1 && stats_of(p).failed >= 1);
    CHECK(stats_of(p).limit_bytes == 1 << 20);
    CHECK(poolmem_pool_set_limit(p, 8 << 20, POOLMEM_OVER_FAIL) == POOLMEM_OK);
    void *a = poolmem_alloc(p, 4 << 20);
    CHECK(a != NULL);
    CHECK(poolmem_pool_set_limit(p, 1, (poolmem_over)77) == POOLMEM_INVALID);
    CHECK(poolmem_pool_set_limit(NULL, 1, POOLMEM_OVER_FAIL) == POOLMEM_INVALID);
    poolmem_free(a);
    CHECK(poolmem_pool_destroy(p) == POOLMEM_OK);
}

static int file_has(const char *path, const char *text)
{
    static char content[1 << 20];
    int fd = open(path, O_RDONLY);
    ssize_t n = fd >= 0 ? read(fd, content, sizeof content - 1) : -1;
    if (fd >= 0)
        close(fd);
    content[n < 0 ? 0 : n] = 0;
    return strstr(content, text) != NULL;
}

static void reports(void)
{
    char folder[] = "/tmp/poolmem-api-XXXXXX", path[64];
    CHECK(mkdtemp(folder) != NULL);
    poolmem_pool *p = make("Reported", POOLMEM_HEAP, 0);
    CHECK(poolmem_mark("level 3 loaded") == POOLMEM_OK);
    void *a = poolmem_alloc(p, 12345);
    CHECK(poolmem_leaks(p) == 1);
    CHECK(poolmem_leaks(NULL) == 0);
    snprintf(path, sizeof path, "%s/r.json", folder);
    CHECK(poolmem_report(path, POOLMEM_FORMAT_AUTO) == POOLMEM_OK);
    CHECK(file_has(path, "\"schema\": 1") || file_has(path, "\"schema\":1"));
    CHECK(file_has(path, "Reported"));
    CHECK(file_has(path, "\"sequence\": 1,"));                      /* figures and marks take no number */
    CHECK(poolmem_report(path, POOLMEM_FORMAT_TEXT) == POOLMEM_OK); /* made anew */
    CHECK(file_has(path, "Reported") && !file_has(path, "\"schema\""));
    CHECK(file_has(path, "level 3 loaded"));
    CHECK(poolmem_mark(NULL) == POOLMEM_OK);
    CHECK(poolmem_report(path, POOLMEM_FORMAT_TEXT) == POOLMEM_OK && !file_has(path, "level 3 loaded"));
    int fd = open(path, O_WRONLY | O_TRUNC);
    CHECK(poolmem_report_fd(fd, POOLMEM_FORMAT_FOLDED) == POOLMEM_OK && file_has(path, "Reported"));
    close(fd);
    CHECK(poolmem_report_fd(-1, POOLMEM_FORMAT_TEXT) == POOLMEM_IO);
    CHECK(poolmem_report("/nowhere/at/all.txt", POOLMEM_FORMAT_AUTO) == POOLMEM_IO);
    CHECK(poolmem_report(path, POOLMEM_FORMAT_TEXT) == POOLMEM_OK && file_has(path, ", report 5 (request)"));
    unlink(path);
    rmdir(folder);
    poolmem_free(a);
    CHECK(poolmem_leaks(p) == 0);
    CHECK(poolmem_pool_destroy(p) == POOLMEM_OK);
    CHECK(poolmem_pool_stats(NULL, NULL) == POOLMEM_INVALID);
    CHECK(poolmem_pool_check(NULL) == POOLMEM_INVALID);
}

static void engine_kinds(void)
{
    poolmem_options o = {.size = 4096, .flags = POOLMEM_GROW};
    poolmem_pool *grows = poolmem_pool_create("Grows", NULL, POOLMEM_ARENA, &o);
    for (int i = 0; i < 100; i++)
        CHECK(poolmem_arena_alloc(grows, 1000) != NULL);
    CHECK(poolmem_arena_used(grows) >= 100000);
    CHECK(poolmem_pool_destroy(grows) == POOLMEM_OK);
    poolmem_pool *fixed = make("Fixed", POOLMEM_ARENA, 4096);
    poolmem_pool *within =
        poolmem_pool_create("Within", fixed, POOLMEM_ARENA, &(poolmem_options){.size = 1000});
    CHECK(within && poolmem_pool_of(poolmem_arena_alloc(within, 10)) == within);
    CHECK(poolmem_arena_alloc(fixed, 4000) == NULL);
    CHECK(poolmem_pool_destroy(fixed) == POOLMEM_BUSY);
    CHECK(poolmem_pool_destroy(within) == POOLMEM_OK);
    CHECK(poolmem_pool_destroy(fixed) == POOLMEM_OK);
    o = (poolmem_options){.size = 1 << 20, .high_size = 1 << 16};
    poolmem_pool *h = poolmem_pool_create("Small Hunk", NULL, POOLMEM_HUNK, &o);
    CHECK(poolmem_hunk_alloc(h, POOLMEM_HIGH, (1 << 16) - 16, "all") != NULL);
    CHECK(poolmem_hunk_alloc(h, POOLMEM_HIGH, 1, "more") == NULL);
    void *low = poolmem_hunk_alloc(h, POOLMEM_LOW, 100, "low");
    CHECK(poolmem_pool_of(low) == h);
    CHECK(poolmem_pool_destroy(h) == POOLMEM_OK);
    CHECK(poolmem_pool_create("Too Large", NULL, POOLMEM_ARENA, &(poolmem_options){.size = SIZE_MAX / 4}) ==
          NULL);
    CHECK(poolmem_pool_find("Too Large") == NULL);
}

static void keep_line(poolmem_level level, const char *line, void *arg)
{
    if (level == POOLMEM_WARNING)
        snprintf(arg, 100, "%s", line);
}

/* What malloc gives while an arena or a hunk is on top is found by free and realloc, in every chunk. */
static void pushed(poolmem_kind kind, size_t size, unsigned flags)
{
    poolmem_options o = {.size = size, .flags = flags};
    poolmem_pool *p = poolmem_pool_create("Pushed", NULL, kind, &o);
    int wrong = 0;
    CHECK(poolmem_pool_push(p) == POOLMEM_OK);
    for (int i = 1; i < 100; i++) {
        unsigned char *a = malloc((size_t)i);
        memset(a, i, (size_t)i);
        unsigned char *b = realloc(a, (size_t)i * 2);
        wrong += !b || (uintptr_t)b % 16 || poolmem_pool_of(b) != p || b[0] != i || b[i - 1] != i;
        free(b);
    }
    CHECK(poolmem_pool_pop(p) == POOLMEM_OK);
    CHECK(wrong == 0);
    CHECK(poolmem_pool_check(p) == POOLMEM_OK);
    CHECK(kind == POOLMEM_HUNK || poolmem_arena_reset(p) == POOLMEM_OK);
    CHECK(poolmem_pool_destroy(p) == POOLMEM_OK);
}

static void messages(void)
{
    char line[100] = "";
    poolmem_pool *p = make("Speaks", POOLMEM_ARENA, 2048);
    poolmem_set_message_hook(keep_line, line);
    CHECK(poolmem_arena_alloc(p, 4000) == NULL);
    CHECK(strcmp(line, "arena full: 0 of 2048 bytes used, asked for 4000 more") == 0);
    poolmem_set_message_hook(NULL, NULL);
    CHECK(poolmem_pool_destroy(p) == POOLMEM_OK);
}

/* Names are used again: tables do not fill up. */
static void making_and_ending(void)
{
    for (int i = 0; i < 2000; i++) {
        poolmem_options o = {.size = 4096};
        poolmem_pool *p = poolmem_pool_create("Again", NULL, i % 2 ? POOLMEM_ARENA : POOLMEM_HEAP, &o);
        if (!p || poolmem_pool_destroy(p) != POOLMEM_OK) {
            CHECK(!"a pool can be made and destroyed any number of times");
            return;
        }
    }
}

/* A pool of fixed size lives in its parent's memory, but nothing of it was ever live there. */
static void home_is_no_peak(void)
{
    poolmem_pool *home = make("Home", POOLMEM_HEAP, 0);
    poolmem_pool *arena =
        poolmem_pool_create("Lodger", home, POOLMEM_ARENA, &(poolmem_options){.size = 8 << 20});
    CHECK(arena && stats_of(home).peak_bytes == 0 && stats_of(home).live_bytes == 0);
    CHECK(poolmem_alloc(arena, 1000) && stats_of(arena).peak_bytes >= 1000);
    CHECK(poolmem_pool_destroy(arena) == POOLMEM_OK && poolmem_pool_destroy(home) == POOLMEM_OK);
}

static void *in_thread(void *shared)
{
    char name[32];
    snprintf(name, sizeof name, "Thread %lx", (unsigned long)pthread_self() & 0xffff);
    poolmem_pool *own = poolmem_pool_create(name, NULL, POOLMEM_HEAP, NULL);
    for (int i = 0; i < 2000; i++) {
        poolmem_pool_push(own);
        void *a = malloc(64), *b = poolmem_alloc(shared, 64);
        poolmem_pool_pop(own);
        if (poolmem_pool_of(a) != own || poolmem_pool_of(b) != shared)
            return "a block in the wrong pool";
        free(a);
        poolmem_free(b);
    }
    return NULL;
}

static void threads(void)
{
    pthread_t t[4];
    poolmem_pool *shared = make("Shared", POOLMEM_HEAP, 0);
    for (int i = 0; i < 4; i++)
        pthread_create(&t[i], NULL, in_thread, shared);
    for (int i = 0; i < 4; i++) {
        void *said = "";
        pthread_join(t[i], &said);
        CHECK(said == NULL);
    }
    CHECK(stats_of(shared).live_blocks == 0);
}

int main(void)
{
    home_is_no_peak();
    CHECK(poolmem_present() == 1);
    CHECK(strchr(poolmem_version(), '.') != NULL);
    names_and_tree();
    destroyed();
    walking();
    stack();
    memory(POOLMEM_HEAP, "Memory heap");
    memory(POOLMEM_RETAIL, "Memory retail");
    memory(POOLMEM_CLUMP, "Memory clump");
    memory(POOLMEM_ARENA, "Memory arena");
    memory(POOLMEM_HUNK, "Memory hunk");
    ownership();
    limits();
    reports();
    engine_kinds();
    pushed(POOLMEM_ARENA, 30000, 0);
    pushed(POOLMEM_ARENA, 1 << 20, 0);
    pushed(POOLMEM_ARENA, 4096, POOLMEM_GROW);
    pushed(POOLMEM_HUNK, 1 << 20, 0);
    messages();
    making_and_ending();
    threads();
    printf("%d checks, %d failed\n", checks, failures);
    return failures != 0;
}
