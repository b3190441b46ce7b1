/* SPDX-License-Identifier: MIT */
/* test_api.c - the calls of poolmem.h that are in libpool.a: arenas, hunks, handles, resources, through the
 * public names. */
#define POOLMEM_LINKED 1
#include "arena.h"
#include "archives.h"
#include "fault.h"
#include "hunk.h"
#include "poolmem.h"
#include "retail.h"
#include "said.h"
#include "scratch.h"

TestSuite(api, .init = scratch_make, .fini = scratch_remove);

static poolmem_pool *public_pool(pool *p)
{
    p->flags |= POOL_SHARED;
    return (poolmem_pool *)p;
}

Test(api, arena)
{
    arena a = {0};
    arena_init(&a, 4096, NULL);
    poolmem_pool *p = public_pool(&a.pool);
    poolmem_arena_point mark;
    cr_assert_not_null(poolmem_arena_alloc(p, 100));
    cr_assert_eq(poolmem_arena_mark(p, &mark), POOLMEM_OK);
    cr_assert_str_eq(poolmem_arena_format(p, "%s %d", "frame", 7), "frame 7");
    cr_assert_str_eq(poolmem_arena_strdup(p, "copy"), "copy");
    cr_assert_eq((uintptr_t)poolmem_arena_alloc_aligned(p, 10, 256) % 256, 0);
    cr_assert_null(poolmem_arena_alloc_aligned(p, 10, 7));
    cr_assert_null(poolmem_arena_alloc(p, SIZE_MAX));
    cr_assert_null(poolmem_arena_alloc(p, 5000));
    cr_assert_eq(poolmem_arena_restore(p, &mark), POOLMEM_OK);
    cr_assert_eq(poolmem_arena_used(p), 100);
    cr_assert_gt(poolmem_arena_peak(p), 100);
    cr_assert_eq(poolmem_arena_reset(p), POOLMEM_OK);
    cr_assert_eq(poolmem_arena_restore(p, &mark), POOLMEM_INVALID);
    cr_assert_eq(poolmem_pool_set_option(p, POOLMEM_STRICT, 1), POOLMEM_OK);
    cr_assert_eq(poolmem_pool_set_option(NULL, POOLMEM_STRICT, 1), POOLMEM_INVALID);
    cr_assert_eq(poolmem_pool_largest_free(p), 4096);
    cr_assert_eq(poolmem_pool_largest_free(NULL), 0);
    cr_assert_str_eq(poolmem_status_text(POOLMEM_STALE), "stale handle");
    cr_assert_str_eq(poolmem_status_text(POOLMEM_ABSENT), "the library is absent");
    arena_free(&a);
}

Test(api, frames)
{
    arena a = {0}, b = {0};
    arena_init(&a, 256, NULL);
    arena_init(&b, 256, NULL);
    poolmem_frames f = {{public_pool(&a.pool), public_pool(&b.pool)}, 0};
    const char *one = poolmem_arena_strdup(poolmem_frame_begin(&f), "one");
    const char *two = poolmem_arena_strdup(poolmem_frame_begin(&f), "two");
    cr_assert_str_eq(one, "one");
    cr_assert_eq(poolmem_arena_strdup(poolmem_frame_begin(&f), "three"), one);
    cr_assert_str_eq(two, "two");
    arena_free(&a);
    arena_free(&b);
}

Test(api, hunk)
{
    hunk h = {0};
    hunk_init(&h, NULL);
    poolmem_pool *p = public_pool(&h.pool);
    poolmem_hunk_row rows[4];
    cr_assert_not_null(poolmem_hunk_alloc(p, POOLMEM_LOW, 10, "model"));
    size_t mark = poolmem_hunk_mark(p, POOLMEM_LOW);
    cr_assert_eq(mark, 32);
    cr_assert_not_null(poolmem_hunk_alloc(p, POOLMEM_LOW, 10, "sound"));
    cr_assert_not_null(poolmem_hunk_alloc(p, POOLMEM_HIGH, 10, NULL));
    cr_assert_eq(poolmem_hunk_list(p, rows, 4), 3);
    cr_assert_str_eq(rows[1].name, "sound");
    cr_assert_eq(poolmem_hunk_free_to_mark(p, POOLMEM_LOW, mark), POOLMEM_OK);
    cr_assert_eq(poolmem_hunk_free_to_mark(p, POOLMEM_LOW, 1000), POOLMEM_INVALID);
    cr_assert_eq(poolmem_hunk_free_to_mark(p, POOLMEM_LOW, SIZE_MAX), POOLMEM_INVALID);
    cr_assert_not_null(poolmem_hunk_temp_alloc(p, 100));
    poolmem_hunk_temp_free(p);
    cr_assert_null(h.temp);
    cr_assert_null(poolmem_hunk_alloc(p, (poolmem_side)7, 10, NULL));
    cr_assert_null(poolmem_hunk_alloc(p, POOLMEM_LOW, SIZE_MAX, NULL));
    hunk_free(&h);
}

Test(api, a_call_for_another_kind_is_refused)
{
    arena a = {0};
    hunk h = {0};
    poolmem_arena_point mark = {0};
    arena_init(&a, 256, NULL);
    hunk_init(&h, NULL);
    poolmem_pool *not_hunk[] = {public_pool(&a.pool), NULL}, *not_arena[] = {public_pool(&h.pool), NULL};
    for (int i = 0; i < 2; i++) {
        poolmem_pool *p = not_arena[i];
        cr_assert_null(poolmem_arena_alloc(p, 8));
        cr_assert_null(poolmem_arena_strdup(p, "x"));
        cr_assert_null(poolmem_arena_format(p, "x"));
        cr_assert_eq(poolmem_arena_mark(p, &mark), POOLMEM_UNSUPPORTED);
        cr_assert_eq(poolmem_arena_restore(p, &mark), POOLMEM_UNSUPPORTED);
        cr_assert_eq(poolmem_arena_reset(p), POOLMEM_UNSUPPORTED);
        cr_assert_eq(poolmem_arena_used(p), 0);
        p = not_hunk[i];
        cr_assert_null(poolmem_hunk_alloc(p, POOLMEM_LOW, 8, "x"));
        cr_assert_null(poolmem_hunk_temp_alloc(p, 8));
        poolmem_hunk_temp_free(p);
        cr_assert_eq(poolmem_hunk_mark(p, POOLMEM_LOW), 0);
        cr_assert_eq(poolmem_hunk_free_to_mark(p, POOLMEM_LOW, 0), POOLMEM_UNSUPPORTED);
        cr_assert_eq(poolmem_hunk_list(p, NULL, 0), 0);
    }
    arena_free(&a);
    hunk_free(&h);
}

static void count_purges(void *arg, poolmem_handle h, int purged)
{
    *(int *)arg += purged ? 100 : 1;
}

Test(api, handles)
{
    int heard = 0;
    poolmem_handle h, file;
    void *w;
    const void *r;
    size_t n;
    uint32_t flags;
    poolmem_handles *t = poolmem_handles_create(NULL, 0, 1);
    poolmem_handles_set_hook(t, count_purges, &heard);
    cr_assert_eq(poolmem_handle_alloc(t, 64, 3, POOLMEM_HANDLE_PURGEABLE, &h), POOLMEM_OK);
    cr_assert_eq(poolmem_handle_write(t, h, &w), POOLMEM_OK);
    cr_assert_eq(poolmem_handle_edit(t, h, &w), POOLMEM_OK);
    cr_assert_eq(poolmem_handle_lock(t, h), POOLMEM_OK);
    cr_assert_eq(poolmem_handles_compact(t, 0), 0);
    cr_assert_eq(poolmem_handle_unlock(t, h), POOLMEM_OK);
    cr_assert_eq(poolmem_handles_compact(t, 0), 64);
    cr_assert_eq(poolmem_handle_read(t, h, &r), POOLMEM_EMPTY);
    cr_assert_eq(poolmem_handle_flags(t, h, &flags), POOLMEM_OK);
    cr_assert_eq(flags, POOLMEM_HANDLE_PURGEABLE | POOLMEM_HANDLE_PURGED);
    cr_assert_eq(poolmem_handle_use(t, h, 0), POOLMEM_OK);
    cr_assert_eq(poolmem_handle_map(t, scratch_file("f", "abc", 3), 0, 0, POOLMEM_MAP_READ, 3, &file),
                 POOLMEM_OK);
    cr_assert_eq(poolmem_handle_map(t, scratch_path("f"), 0, 0, (poolmem_map)9, 3, &file), POOLMEM_INVALID);
    cr_assert_eq(poolmem_handle_size(t, file, &n), POOLMEM_OK);
    cr_assert_eq(n, 3);
    cr_assert_eq(poolmem_handles_check(t), POOLMEM_OK);
    cr_assert_eq(poolmem_handle_free_id(t, 3, &n), POOLMEM_OK);
    cr_assert_eq(n, 2);
    cr_assert_eq(heard, 102);
    cr_assert_eq(poolmem_handle_free(t, h), POOLMEM_STALE);
    cr_assert_eq(poolmem_handle_free(NULL, h), POOLMEM_STALE);
    poolmem_handles_destroy(t);
    poolmem_handles_destroy(NULL);
}

static poolmem_status parse(poolmem_resources *r, const char *name, poolmem_handle *h, void *arg)
{
    poolmem_handle other;
    ++*(int *)arg;
    return strcmp(name, "b.pt") ? POOLMEM_OK : poolmem_resource_access(r, "A.SH", &other); /* calls back */
}

static void note_collision(void *arg, const char *name, const char *found_in, const char *hidden_in)
{
    snprintf(arg, 100, "%s: %s hides %s", name, found_in, hidden_in);
}

Test(api, resources)
{
    static packed lib;
    const packed_file files[] = {{"A.SH", "shape", 5}, {"B.PT", "part", 4}};
    int calls = 0;
    const void *data;
    size_t n;
    char said[100] = "";
    poolmem_handle h;
    poolmem_resource_stats s;
    pack_lib(&lib, files, 2);
    scratch_file("fa_1.lib", lib.bytes, lib.size);
    scratch_file("fa_2.lib", lib.bytes, lib.size);
    poolmem_handles *t = poolmem_handles_create(NULL, 0, 0);
    poolmem_resources *r = poolmem_resources_create(t, NULL);
    cr_assert_eq(poolmem_resources_mount_all(r, scratch_folder), POOLMEM_OK);
    cr_assert_eq(poolmem_resources_mount(r, scratch_path("none")), POOLMEM_IO);
    cr_assert_eq(poolmem_resources_mount_route(r, scratch_folder, "XX"), POOLMEM_OK);
    poolmem_resources_collisions(r, note_collision, said);
    cr_assert_str_eq(said, "A.SH: fa_2.lib hides fa_1.lib");
    for (int i = 0; i < 500; i++)
        cr_assert_eq(poolmem_resources_set_hook(r, "PT_Load", parse, &calls), POOLMEM_OK);
    cr_assert_eq(poolmem_resources_set_hook(r, "nothing", parse, &calls), POOLMEM_INVALID);
    poolmem_resources_set_id(r, 5);
    cr_assert_eq(poolmem_resource_read(r, "b.pt", &data, &n), POOLMEM_OK);
    cr_assert_eq(memcmp(data, "part", n), 0);
    cr_assert_eq(calls, 1);
    cr_assert_eq(poolmem_resource_find(r, "a.sh", &h), POOLMEM_OK, "loaded by the hook");
    cr_assert_eq(poolmem_resource_hold(r, "a.sh", &h), POOLMEM_OK);
    cr_assert_eq(poolmem_resources_evict(r), POOLMEM_OK);
    cr_assert_eq(poolmem_resources_evict(r), POOLMEM_EMPTY);
    cr_assert_eq(poolmem_resource_release(r, "a.sh"), POOLMEM_OK);
    cr_assert_eq(poolmem_resource_free(r, "a.sh"), POOLMEM_OK);
    cr_assert_eq(poolmem_resources_make_room(r, 1), POOLMEM_UNSUPPORTED);
    cr_assert_eq(poolmem_resource_read(r, "none", &data, &n), POOLMEM_NOT_FOUND);
    cr_assert_null(data);
    poolmem_handle_alloc(t, 10, 0, 0, &h);
    cr_assert_eq(poolmem_resource_add(r, "mine", h), POOLMEM_OK);
    cr_assert_eq(poolmem_resource_access(r, "MINE", &h), POOLMEM_OK);
    cr_assert_eq(poolmem_resources_stats(r, &s), POOLMEM_OK);
    cr_assert_eq(s.loads, 2);
    cr_assert_eq(s.collisions, 2);
    cr_assert_eq(s.names, 4);
    cr_assert_eq(poolmem_resources_check(r), POOLMEM_OK);
    cr_assert_eq(poolmem_resources_stats(NULL, &s), POOLMEM_NOT_FOUND);
    poolmem_resources_destroy(r);
    poolmem_resources_destroy(NULL);
    cr_assert_null(poolmem_resources_create(NULL, NULL));
    poolmem_handles_destroy(t);
}

Test(api, missing_arguments_are_refused)
{
    poolmem_handle h;
    size_t n;
    poolmem_handles *t = poolmem_handles_create(NULL, 0, 0);
    poolmem_resources *r = poolmem_resources_create(t, NULL);
    cr_assert_eq(poolmem_handle_alloc(t, 8, 0, 0, NULL), POOLMEM_INVALID);
    cr_assert_eq(poolmem_handle_map(t, NULL, 0, 0, POOLMEM_MAP_READ, 0, &h), POOLMEM_INVALID);
    cr_assert_eq(poolmem_handle_alloc(t, 8, 0, 0, &h), POOLMEM_OK);
    cr_assert_eq(poolmem_handle_read(t, h, NULL), POOLMEM_INVALID);
    cr_assert_eq(poolmem_handle_write(t, h, NULL), POOLMEM_INVALID);
    cr_assert_eq(poolmem_handle_edit(t, h, NULL), POOLMEM_INVALID);
    cr_assert_eq(poolmem_handle_size(t, h, NULL), POOLMEM_INVALID);
    cr_assert_eq(poolmem_handle_flags(t, h, NULL), POOLMEM_INVALID);
    cr_assert_eq(poolmem_handle_alloc(NULL, 8, 0, 0, &h), POOLMEM_STALE);
    cr_assert_eq(poolmem_handles_compact(NULL, 0), 0);
    poolmem_handles_set_hook(NULL, count_purges, NULL);
    cr_assert_eq(poolmem_resource_access(r, NULL, &h), POOLMEM_INVALID);
    cr_assert_eq(poolmem_resource_access(r, "x", NULL), POOLMEM_INVALID);
    cr_assert_eq(poolmem_resource_read(r, "x", NULL, &n), POOLMEM_INVALID);
    cr_assert_eq(poolmem_resource_find(r, NULL, &h), POOLMEM_INVALID);
    cr_assert_eq(poolmem_resource_hold(r, NULL, &h), POOLMEM_INVALID);
    cr_assert_eq(poolmem_resource_add(r, NULL, h), POOLMEM_INVALID);
    cr_assert_eq(poolmem_resource_release(r, NULL), POOLMEM_INVALID);
    cr_assert_eq(poolmem_resource_free(r, NULL), POOLMEM_INVALID);
    cr_assert_eq(poolmem_resources_mount(r, NULL), POOLMEM_INVALID);
    cr_assert_eq(poolmem_resources_mount_all(r, NULL), POOLMEM_INVALID);
    cr_assert_eq(poolmem_resources_mount_route(r, "x", NULL), POOLMEM_INVALID);
    cr_assert_eq(poolmem_resources_set_hook(r, NULL, parse, NULL), POOLMEM_INVALID);
    cr_assert_eq(poolmem_resources_stats(r, NULL), POOLMEM_INVALID);
    poolmem_resources_collisions(r, NULL, NULL);
    poolmem_resources_destroy(r);
    poolmem_handles_destroy(t);
    arena a = {0};
    arena_init(&a, 256, NULL);
    cr_assert_eq(poolmem_arena_mark(public_pool(&a.pool), NULL), POOLMEM_INVALID);
    cr_assert_eq(poolmem_arena_restore(public_pool(&a.pool), NULL), POOLMEM_INVALID);
    cr_assert_null(poolmem_arena_strdup(public_pool(&a.pool), NULL));
    arena_free(&a);
}

Test(api, every_failed_request_of_creation_leaves_nothing)
{
    bool met = true;
    for (long n = 1; met; n++) {
        poolmem_handle h;
        fault_arm(n);
        poolmem_handles *t = poolmem_handles_create(NULL, 100, 1);
        poolmem_resources *r = poolmem_resources_create(t, NULL);
        if (t)
            poolmem_handle_alloc(t, 100, 1, 0, &h);
        if (r)
            cr_assert_eq(poolmem_resources_check(r), POOLMEM_OK);
        poolmem_resources_destroy(r);
        poolmem_handles_destroy(t);
        met = fault_disarm();
    }
}

static void keep_line(poolmem_level level, const char *line, void *arg)
{
    snprintf(arg, 100, "%d %s", (int)level, line);
}

Test(api, messages_go_where_the_program_wants_them)
{
    char line[100] = "", second[100] = "";
    arena a = {0};
    said_start();
    arena_init(&a, 32, NULL);
    poolmem_set_message_hook(keep_line, line);
    cr_assert_null(poolmem_arena_alloc(public_pool(&a.pool), 40));
    cr_assert_str_eq(line, "1 arena full: 0 of 32 bytes used, asked for 40 more");
    poolmem_set_message_hook(keep_line, second);
    cr_assert_null(poolmem_arena_alloc(public_pool(&a.pool), 41));
    cr_assert_str_eq(second, "1 arena full: 0 of 32 bytes used, asked for 41 more");
    cr_assert_eq(said_lines, 0);
    poolmem_set_message_hook(NULL, NULL);
    cr_assert_null(poolmem_arena_alloc(public_pool(&a.pool), 42));
    said_expect("arena full: 0 of 32 bytes used, asked for 42 more");
    arena_free(&a);
}
