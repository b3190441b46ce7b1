/* SPDX-License-Identifier: MIT */
/*
 * absent.c - poolmem.h without the library: memory is malloc's, push and pop do nothing, and what needs the
 * library says so instead of crashing. Built header-only, also with the sanitizers; each failed check is a
 * line.
 */
#include <poolmem.h>

#include <stdio.h>
#include <string.h>

static int failures;

#define CHECK(e)                                                                                             \
    do {                                                                                                     \
        if (!(e)) {                                                                                          \
            failures++;                                                                                      \
            printf("absent.c:%d: %s\n", __LINE__, #e);                                                       \
        }                                                                                                    \
    } while (0)

static volatile size_t huge = (size_t)-1, none = 0;

static void memory(void)
{
    poolmem_pool *p = poolmem_pool_create("Audio", NULL, POOLMEM_HEAP, NULL);
    CHECK(p == NULL && poolmem_pool_find("Global") == NULL && poolmem_pool_current() == NULL);
    CHECK(poolmem_pool_push(p) == POOLMEM_OK && poolmem_pool_pop(p) == POOLMEM_OK);
    char *a = poolmem_alloc(p, 100), *z = poolmem_calloc(p, 10, 10), *w = poolmem_alloc_aligned(p, 10, 256);
    CHECK(a && z && w && (size_t)w % 256 == 0 && z[99] == 0);
    memset(a, 1, 100);
    a = poolmem_realloc(p, a, 5000);
    CHECK(a && a[99] == 1);
    CHECK(poolmem_alloc_aligned(p, huge, 16) == NULL && poolmem_alloc_aligned(p, 10, none) == NULL);
    CHECK(poolmem_calloc(p, huge / 2, 3) == NULL);
    poolmem_free(a);
    poolmem_free(z);
    poolmem_free(w);
    poolmem_free(NULL);
    void *l = poolmem_lua_alloc(p, NULL, 0, 10);
    l = poolmem_lua_alloc(p, l, 10, 100);
    CHECK(l && poolmem_lua_alloc(p, l, 100, 0) == NULL);
}

static void questions(void)
{
    poolmem_stats s;
    CHECK(!poolmem_present() && !strcmp(poolmem_version(), "") && !strcmp(poolmem_pool_name(NULL), ""));
    CHECK(poolmem_pool_next(NULL) == NULL && poolmem_pool_parent(NULL) == NULL &&
          poolmem_pool_of(&s) == NULL);
    CHECK(poolmem_pool_of_range(&s, 1) == NULL && poolmem_pool_kind(NULL) == POOLMEM_HEAP);
    CHECK(poolmem_pool_stats(NULL, &s) == POOLMEM_ABSENT && poolmem_pool_check(NULL) == POOLMEM_OK);
    CHECK(poolmem_pool_set_limit(NULL, 1, POOLMEM_OVER_FAIL) == POOLMEM_ABSENT);
    CHECK(poolmem_pool_set_option(NULL, POOLMEM_STRICT, 1) == POOLMEM_OK &&
          poolmem_pool_largest_free(NULL) == 0);
    CHECK(poolmem_size(&s) == 0 && poolmem_leaks(NULL) == 0 && poolmem_mark("x") == POOLMEM_OK);
    CHECK(poolmem_report(NULL, POOLMEM_FORMAT_TEXT) == POOLMEM_ABSENT);
    CHECK(poolmem_report_fd(1, POOLMEM_FORMAT_TEXT) == POOLMEM_ABSENT);
    CHECK(poolmem_pool_destroy(NULL) == POOLMEM_OK);
    poolmem_set_message_hook(NULL, NULL);
}

static void engine(void)
{
    poolmem_arena_point point;
    poolmem_frames frames = {{NULL, NULL}, 0};
    poolmem_handle h;
    const void *data;
    size_t n;
    CHECK(poolmem_arena_alloc(NULL, 10) == NULL && poolmem_arena_alloc_aligned(NULL, 10, 64) == NULL);
    CHECK(poolmem_arena_mark(NULL, &point) == POOLMEM_ABSENT && poolmem_arena_reset(NULL) == POOLMEM_ABSENT);
    CHECK(poolmem_arena_format(NULL, "%d", 1) == NULL && poolmem_arena_strdup(NULL, "x") == NULL);
    CHECK(poolmem_arena_used(NULL) == 0 && poolmem_arena_peak(NULL) == 0 &&
          poolmem_frame_begin(&frames) == NULL);
    CHECK(poolmem_hunk_alloc(NULL, POOLMEM_LOW, 10, "x") == NULL &&
          poolmem_hunk_mark(NULL, POOLMEM_LOW) == 0);
    CHECK(poolmem_hunk_free_to_mark(NULL, POOLMEM_LOW, 0) == POOLMEM_ABSENT);
    CHECK(poolmem_hunk_temp_alloc(NULL, 1) == NULL && poolmem_hunk_list(NULL, NULL, 0) == 0);
    poolmem_hunk_temp_free(NULL);
    poolmem_handles *t = poolmem_handles_create(NULL, 0, 0);
    poolmem_resources *r = poolmem_resources_create(t, NULL);
    CHECK(t == NULL && r == NULL);
    CHECK(poolmem_handle_alloc(t, 1, 0, 0, &h) == POOLMEM_ABSENT &&
          poolmem_handle_free(t, 1) == POOLMEM_ABSENT);
    CHECK(poolmem_handles_compact(t, 0) == 0 && poolmem_handles_check(t) == POOLMEM_OK);
    CHECK(poolmem_resources_mount(r, "x") == POOLMEM_ABSENT &&
          poolmem_resource_access(r, "x", &h) == POOLMEM_ABSENT);
    CHECK(poolmem_resource_read(r, "x", &data, &n) == POOLMEM_ABSENT);
    poolmem_resources_destroy(r);
    poolmem_handles_destroy(t);
    CHECK(!strcmp(poolmem_status_text(POOLMEM_ABSENT), "the library is absent"));
}

int main(void)
{
    memory();
    questions();
    engine();
    printf("%s\n", failures ? "failed" : "all passed");
    return failures != 0;
}
