/* SPDX-License-Identifier: MIT */
/* test_resource.c - resources: loading and hooks, cache and registry, coherence, purging, room in a real
 * retail heap. */
#include "archives.h"
#include "fault.h"
#include "resource.h"
#include "said.h"
#include "seeded.h"

enum { NAMES = 40 };

static packed lib;
static archive_index ix;
static handle_table handles;
static resource_manager rm;

/* A library of FILE00.SH ... FILE39.SH, file i having 100 + i bytes of value i. */
static void mount_files(void)
{
    static char names[NAMES][24], data[NAMES][200];
    packed_file files[NAMES];
    for (int i = 0; i < NAMES; i++) {
        snprintf(names[i], sizeof names[i], "FILE%02d.SH", i);
        memset(data[i], i, sizeof data[i]);
        files[i] = (packed_file){names[i], data[i], (size_t)(100 + i)};
    }
    pack_lib(&lib, files, NAMES);
    index_init(&ix, 0);
    cr_assert_eq(index_mount_memory(&ix, lib.bytes, lib.size, "lib"), POOL_OK);
}

static void start(const resource_options *with, pool *memory)
{
    resource_options o = with ? *with : (resource_options){0};
    memset(&rm, 0, sizeof rm);
    memset(&handles, 0, sizeof handles);
    cr_assert_eq(handle_init(&handles, &(handle_options){.compact = true, .pool = memory}), POOL_OK);
    o.handles = &handles;
    o.index = &ix;
    cr_assert_eq(resource_init(&rm, &o), POOL_OK);
}

static void stop(void)
{
    resource_destroy(&rm);
    cr_assert_eq(handles.stats.handles, 0, "nothing is lost");
    handle_destroy(&handles);
}

static void set_up(void)
{
    mount_files();
    said_start();
}

static void tear_down(void)
{
    index_close(&ix);
}

TestSuite(resource, .init = set_up, .fini = tear_down);

static void sound(void)
{
    said_start();
    cr_assert(resource_check(&rm), "%s", said_last);
    cr_assert(handle_check(&handles), "%s", said_last);
}

static const char *file(int i)
{
    static char names[4][24];
    static int turn;
    char *name = names[turn = (turn + 1) % 4];
    snprintf(name, sizeof names[0], "file%02d.sh", i);
    return name;
}

static handle expect_access(int i)
{
    handle h;
    const void *p;
    cr_assert_eq(resource_access(&rm, file(i), &h), POOL_OK);
    cr_assert_eq(handle_read(&handles, h, &p), POOL_OK);
    for (int k = 0; k < 100 + i; k++)
        cr_assert_eq(((const char *)p)[k], i);
    sound();
    return h;
}

Test(resource, access_loads_once_and_finds_afterwards)
{
    handle h;
    start(NULL, NULL);
    cr_assert_eq(resource_find(&rm, file(3), &h), POOL_NOT_FOUND);
    handle first = expect_access(3);
    cr_assert_eq(expect_access(3), first);
    cr_assert_eq(resource_find(&rm, "FILE03.SH", &h), POOL_OK);
    cr_assert_eq(h, first);
    cr_assert_eq(rm.stats.loads, 1);
    cr_assert_eq(rm.stats.cache_hits, 2);
    cr_assert_eq(resource_access(&rm, "none.sh", &h), POOL_NOT_FOUND);
    cr_assert_eq(h, 0);
    cr_assert_eq(resource_access(&rm, "", &h), POOL_NOT_FOUND);
    cr_assert_eq(rm.stats.failures, 2);
    stop();
}

Test(resource, init_refuses)
{
    resource_manager none = {0};
    cr_assert_eq(resource_init(&none, NULL), POOL_INVALID);
    cr_assert_eq(resource_init(&none, &(resource_options){0}), POOL_INVALID);
    resource_destroy(&none);
    start(NULL, NULL);
    cr_assert_eq(resource_init(&rm, &rm.options), POOL_EXISTS);
    cr_assert_eq(rm.options.slots, 1400);
    cr_assert_eq(rm.options.cache, 20);
    stop();
}

/* --- hooks
 * ---------------------------------------------------------------------------------------------------- */

static char journal[256];
static pool_status hook_result[RESOURCE_WHENS];
static const char *nested;

static pool_status note(const char *what, const char *name, enum resource_when when)
{
    strncat(journal, what, sizeof journal - strlen(journal) - 1);
    strncat(journal, name, sizeof journal - strlen(journal) - 1);
    return hook_result[when];
}

static pool_status on_load(resource_manager *m, const char *name, handle *h, void *arg)
{
    handle other;
    if (nested && archive_name_compare(name, nested))
        cr_assert_eq(resource_access(m, nested, &other), POOL_OK);
    return note(" L:", name, RESOURCE_LOAD);
}

static pool_status on_setup(resource_manager *m, const char *name, handle *h, void *arg)
{
    return note(" S:", name, RESOURCE_SETUP);
}

static pool_status on_free(resource_manager *m, const char *name, handle *h, void *arg)
{
    const void *p;
    if (handle_read(m->options.handles, *h, &p) == POOL_EMPTY)
        return note(" f:", name, RESOURCE_FREE);
    cr_assert_not_null(p, "the memory is still there");
    return note(" F:", name, RESOURCE_FREE);
}

static void add_hooks(void)
{
    journal[0] = 0;
    nested = NULL;
    memset(hook_result, 0, sizeof hook_result);
    cr_assert_eq(resource_set_hook(&rm, "SH_Load", on_load, NULL), POOL_OK);
    cr_assert_eq(resource_set_hook(&rm, "sh_setup", on_setup, NULL), POOL_OK);
    cr_assert_eq(resource_set_hook(&rm, "SH_Free", on_free, NULL), POOL_OK);
}

static void expect_journal(const char *want)
{
    cr_assert_str_eq(journal, want, "want '%s', got '%s'", want, journal);
    journal[0] = 0;
}

Test(resource, hooks_run_in_their_order)
{
    start(NULL, NULL);
    add_hooks();
    expect_access(1);
    expect_journal(" L:file01.sh S:FILE01.SH");
    expect_access(1);
    expect_journal("");
    cr_assert_eq(resource_free(&rm, "File01.SH"), POOL_OK);
    expect_journal(" F:FILE01.SH");
    cr_assert_eq(resource_free(&rm, "File01.SH"), POOL_NOT_FOUND);
    cr_assert_eq(resource_set_hook(&rm, "SH_Free", NULL, NULL), POOL_OK);
    cr_assert_eq(resource_set_hook(&rm, "_Load", on_load, NULL), POOL_INVALID);
    cr_assert_eq(resource_set_hook(&rm, "SHLoad", on_load, NULL), POOL_INVALID);
    cr_assert_eq(resource_set_hook(&rm, "SH_Lod", on_load, NULL), POOL_INVALID);
    cr_assert_eq(resource_set_hook(&rm, "TWELVELETTER_Load", on_load, NULL), POOL_INVALID);
    char name[] = "A00_Load";
    for (int i = 1; i < RESOURCE_TYPES; i++) {
        name[1] = (char)('0' + i / 10);
        name[2] = (char)('0' + i % 10);
        cr_assert_eq(resource_set_hook(&rm, name, on_load, NULL), POOL_OK);
    }
    cr_assert_eq(resource_set_hook(&rm, "B00_Load", on_load, NULL), POOL_FULL);
    stop();
}

Test(resource, a_failing_hook_leaves_nothing)
{
    handle h;
    start(NULL, NULL);
    add_hooks();
    hook_result[RESOURCE_LOAD] = POOL_CORRUPT;
    cr_assert_eq(resource_access(&rm, file(1), &h), POOL_CORRUPT);
    expect_journal(" L:file01.sh");
    cr_assert_eq(handles.stats.handles, 0);
    sound();
    hook_result[RESOURCE_LOAD] = POOL_OK;
    hook_result[RESOURCE_SETUP] = POOL_IO;
    cr_assert_eq(resource_access(&rm, file(1), &h), POOL_IO);
    expect_journal(" L:file01.sh S:FILE01.SH F:FILE01.SH");
    cr_assert_eq(rm.stats.resources, 0);
    sound();
    stop();
}

Test(resource, hooks_may_load_others)
{
    start(&(resource_options){.slots = 2}, NULL);
    add_hooks();
    nested = "FILE09.SH";
    expect_access(1);
    expect_journal(" L:FILE09.SH S:FILE09.SH L:file01.sh S:FILE01.SH");
    stop();
}

static pool_status load_itself(resource_manager *m, const char *name, handle *h, void *arg)
{
    handle other;
    return resource_access(m, name, &other);
}

Test(resource, a_hook_that_needs_itself_ends)
{
    handle h;
    start(NULL, NULL);
    resource_set_hook(&rm, "SH_Load", load_itself, NULL);
    cr_assert_eq(resource_access(&rm, file(1), &h), POOL_FULL);
    cr_assert_eq(handles.stats.handles, 0);
    sound();
    stop();
}

static pool_status replace(resource_manager *m, const char *name, handle *h, void *arg)
{
    void *p;
    handle_free(m->options.handles, *h);
    pool_status s = handle_alloc(m->options.handles, 5000, 0, 0, h);
    if (s == POOL_OK && handle_edit(m->options.handles, *h, &p) == POOL_OK)
        strcpy(p, "decoded");
    return s;
}

Test(resource, load_may_put_another_handle)
{
    handle h;
    const void *p;
    start(NULL, NULL);
    resource_set_hook(&rm, "SH_Load", replace, NULL);
    cr_assert_eq(resource_access(&rm, file(1), &h), POOL_OK);
    handle_read(&handles, h, &p);
    cr_assert_str_eq(p, "decoded");
    cr_assert_eq(handles.stats.handles, 1);
    sound();
    stop();
}

/* --- the cache
 * --------------------------------------------------------------------------------------------------- */

static int in_cache(int i)
{
    for (uint32_t k = 0; k < rm.cached; k++)
        if (!archive_name_compare(rm.slots[rm.cache[k] - 1].name, file(i)))
            return (int)k;
    return -1;
}

Test(resource, cache_keeps_the_twenty_used_last)
{
    start(NULL, NULL);
    for (int i = 0; i < 20; i++)
        expect_access(i);
    cr_assert_eq(in_cache(0), 19);
    expect_access(0);
    cr_assert_eq(in_cache(0), 0, "a second access moves it to the front");
    expect_access(20);
    cr_assert_eq(in_cache(1), -1, "now the oldest one is out");
    cr_assert_eq(in_cache(0), 1);
    cr_assert_eq(rm.stats.resources, 21, "without a shortcut, but not without memory");
    uint64_t loads = rm.stats.loads;
    expect_access(1);
    cr_assert_eq(rm.stats.loads, loads);
    cr_assert_eq(rm.stats.registry_hits, 1);
    stop();
}

Test(resource, cache_may_own)
{
    handle h;
    start(&(resource_options){.cache = 3, .cache_owns = true}, NULL);
    expect_access(0);
    resource_hold(&rm, file(1), &h);
    for (int i = 2; i < 6; i++)
        expect_access(i);
    cr_assert_eq(rm.stats.resources, 4);
    cr_assert_eq(resource_find(&rm, file(0), &h), POOL_NOT_FOUND);
    cr_assert_eq(resource_find(&rm, file(1), &h), POOL_OK);
    sound();
    stop();
}

/* --- coherence
 * ----------------------------------------------------------------------------------------------------- */

Test(resource, freeing_a_handle_behind_its_back_loads_again_once)
{
    start(NULL, NULL);
    add_hooks();
    handle h = expect_access(5);
    journal[0] = 0;
    handle_free(&handles, h);
    expect_journal(" F:FILE05.SH");
    cr_assert_eq(in_cache(5), -1);
    cr_assert_eq(rm.stats.resources, 0);
    cr_assert_neq(expect_access(5), h);
    expect_access(5);
    cr_assert_eq(rm.stats.loads, 2);
    handle unknown;
    handle_alloc(&handles, 10, 0, 0, &unknown);
    handle_free(&handles, unknown);
    cr_assert_eq(rm.stats.resources, 1, "what it does not know is nothing to it");
    stop();
}

Test(resource, freeing_an_id_forgets_all_of_it)
{
    handle h;
    size_t freed;
    start(NULL, NULL);
    expect_access(9);
    rm.id = 77;
    for (int i = 0; i < 3; i++)
        expect_access(i);
    resource_hold(&rm, file(1), &h);
    cr_assert_eq(handle_free_id(&handles, 77, &freed), POOL_OK);
    cr_assert_eq(freed, 3);
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(in_cache(i), -1);
        cr_assert_eq(resource_find(&rm, file(i), &h), POOL_NOT_FOUND);
    }
    cr_assert_eq(rm.stats.resources, 1);
    cr_assert_eq(rm.stats.held, 0);
    sound();
    stop();
}

Test(resource, what_is_purged_is_loaded_again)
{
    handle h;
    uint32_t flags;
    start(&(resource_options){.purgeable = true}, NULL);
    add_hooks();
    handle first = expect_access(4);
    resource_hold(&rm, file(6), &h);
    cr_assert_eq(handle_compact(&handles, 0), 104);
    cr_assert(handle_is_purged(&handles, first));
    journal[0] = 0;
    cr_assert_eq(resource_find(&rm, file(4), &h), POOL_NOT_FOUND, "a miss");
    expect_journal(" f:FILE04.SH");
    cr_assert_eq(handle_flags(&handles, first, &flags), POOL_STALE, "the husk is freed");
    expect_access(4);
    cr_assert_eq(rm.stats.reloads, 1);
    cr_assert_eq(rm.stats.loads, 3);
    stop();
}

static pool_status purge_at_once(resource_manager *m, const char *name, handle *h, void *arg)
{
    ++*(int *)arg;
    return handle_use(m->options.handles, *h, HANDLE_PURGED);
}

Test(resource, reloading_gives_up_after_two_tries)
{
    handle h;
    int loads = 0;
    start(NULL, NULL);
    resource_set_hook(&rm, "SH_Load", purge_at_once, &loads);
    cr_assert_eq(resource_access(&rm, file(1), &h), POOL_EMPTY);
    cr_assert_eq(loads, 2);
    cr_assert_eq(handles.stats.handles, 0);
    sound();
    stop();
}

Test(resource, entries_of_the_caller_are_not_reloaded)
{
    handle h, found;
    const void *p;
    start(NULL, NULL);
    handle_alloc(&handles, 10, 0, HANDLE_PURGEABLE, &h);
    cr_assert_eq(resource_add(&rm, "mine.xx", h, 0), POOL_OK);
    cr_assert_eq(resource_add(&rm, "MINE.XX", h, 0), POOL_EXISTS);
    cr_assert_eq(resource_add(&rm, "other", h, 0), POOL_EXISTS);
    cr_assert_eq(resource_add(&rm, "", h, 0), POOL_INVALID);
    cr_assert_eq(resource_add(&rm, "stale", 12345, 0), POOL_STALE);
    handle_compact(&handles, 0);
    cr_assert_eq(resource_access(&rm, "mine.xx", &found), POOL_OK);
    cr_assert_eq(found, h);
    cr_assert_eq(handle_read(&handles, h, &p), POOL_EMPTY);
    sound();
    stop();
}

/* --- slots, holds, room
 * ------------------------------------------------------------------------------------------------ */

Test(resource, a_full_registry_evicts_what_nobody_holds)
{
    handle h;
    start(&(resource_options){.slots = 3}, NULL);
    for (int i = 0; i < 3; i++)
        resource_hold(&rm, file(i), &h);
    cr_assert_eq(resource_access(&rm, file(3), &h), POOL_FULL);
    cr_assert_eq(handles.stats.handles, 3);
    cr_assert_eq(resource_release(&rm, file(1)), POOL_OK);
    cr_assert_eq(resource_release(&rm, file(1)), POOL_EMPTY);
    cr_assert_eq(resource_release(&rm, file(7)), POOL_NOT_FOUND);
    expect_access(3);
    cr_assert_eq(resource_find(&rm, file(1), &h), POOL_NOT_FOUND);
    cr_assert_eq(resource_find(&rm, file(0), &h), POOL_OK);
    cr_assert_eq(rm.stats.evictions, 1);
    cr_assert_eq(resource_make_room(&rm, 10), POOL_UNSUPPORTED);
    stop();
}

Test(resource, holds_nest)
{
    handle h;
    start(NULL, NULL);
    for (int i = 0; i < 3; i++)
        cr_assert_eq(resource_hold(&rm, file(2), &h), POOL_OK);
    cr_assert_eq(rm.stats.held, 1);
    for (int i = 0; i < 3; i++) {
        cr_assert_not(resource_evict(&rm));
        resource_release(&rm, file(2));
    }
    cr_assert_eq(rm.stats.held, 0);
    cr_assert(resource_evict(&rm));
    cr_assert_not(resource_evict(&rm));
    stop();
}

/* A retail heap of a few blocks: real fragmentation decides, not a counter. */
static char sector_block[64 * 1024] __attribute__((aligned(1024)));

Test(resource, room_is_made_in_a_retail_heap)
{
    retail_pool sector;
    cr_assert_eq(retail_init_in_place(&sector, NULL, sector_block, 8 * 1024, "Sector"), POOL_OK);
    start(&(resource_options){.room = &sector.base}, &sector.base);
    for (int i = 0; i < NAMES; i++) {
        expect_access(i);
        cr_assert(pool_check(&sector.base));
    }
    cr_assert_gt(rm.stats.evictions, 0);
    size_t room = pool_largest_free(&sector.base);
    cr_assert_eq(resource_make_room(&rm, room + 1), POOL_OK);
    cr_assert_geq(pool_largest_free(&sector.base), room + 1);
    handle h;
    uint64_t kept = 0;
    for (int i = 0; i < NAMES && resource_hold(&rm, file(i), &h) == POOL_OK; i++)
        kept++;
    cr_assert_eq(resource_make_room(&rm, 6000), POOL_NOMEM);
    cr_assert_eq(rm.stats.resources, kept, "what is held stays");
    sound();
    stop();
    cr_assert_eq(pool_free_bytes(&sector.base), sector.heap.usable);
}

Test(resource, damaged_files_give_the_archives_error)
{
    handle h;
    start(NULL, NULL);
    ix.archives[0].size = 800; /* as if the file had been cut */
    said_start();
    cr_assert_eq(resource_access(&rm, file(30), &h), POOL_IO);
    cr_assert_eq(handles.stats.handles, 0);
    sound();
    stop();
}

Test(resource, check_finds_damage)
{
    start(NULL, NULL);
    expect_access(1);
    rm.slots[0].name[4] = 'X';
    said_start();
    cr_assert_not(resource_check(&rm));
    said_expect("resource slot 0: not found by its name");
    rm.slots[0].name[4] = '0';
    rm.cached = 2;
    rm.cache[1] = rm.cache[0];
    cr_assert_not(resource_check(&rm));
    said_expect("resource slot 0: twice in the cache");
    rm.cached = 1;
    sound();
    stop();
}

Test(resource, random_runs_keep_every_invariant)
{
    uint64_t seed = seeded_first("resource");
    uint32_t holds[NAMES] = {0};
    handle h;
    start(&(resource_options){.slots = 16, .cache = 5, .purgeable = true}, NULL);
    for (int step = 0; step < 5000; step++) {
        int i = (int)seeded_below(&seed, NAMES);
        uint32_t what = seeded_below(&seed, 20);
        if (what < 12) {
            pool_status s = resource_access(&rm, file(i), &h);
            cr_assert(s == POOL_OK || s == POOL_FULL);
        } else if (what < 14) {
            holds[i] += resource_hold(&rm, file(i), &h) == POOL_OK;
        } else if (what < 17) {
            pool_status s = resource_release(&rm, file(i));
            cr_assert(holds[i] ? s == POOL_OK : s != POOL_OK);
            holds[i] -= holds[i] > 0;
        } else if (what == 17) {
            handle_compact(&handles, 300);
        } else if (what == 18 && resource_find(&rm, file(i), &h) == POOL_OK) {
            handle_free(&handles, h);
            holds[i] = 0;
        } else if (what == 19 && resource_free(&rm, file(i)) == POOL_OK) {
            holds[i] = 0;
        }
        sound();
    }
    stop();
}

Test(resource, every_failed_request_leaves_all_sound)
{
    bool met = true;
    for (long n = 1; met; n++) {
        handle h;
        memset(&rm, 0, sizeof rm);
        memset(&handles, 0, sizeof handles);
        fault_arm(n);
        bool made = handle_init(&handles, NULL) == POOL_OK &&
                    resource_init(&rm, &(resource_options){.handles = &handles, .index = &ix}) == POOL_OK;
        for (int i = 0; made && i < 3; i++) {
            pool_status s = resource_access(&rm, file(i), &h);
            cr_assert(s == POOL_OK || s == POOL_NOMEM);
            sound();
        }
        met = fault_disarm();
        resource_destroy(&rm);
        cr_assert_eq(handles.stats.handles, 0);
        handle_destroy(&handles);
    }
}
