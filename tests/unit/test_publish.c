/* SPDX-License-Identifier: MIT */
/*
 * test_publish.c - the published mapping: its rows are kept once, its limits cost detail and nothing else,
 * and a forked child goes on in a mapping of its own. Each test is a process of its own.
 */
#include "../../interpose/publish.h"
#include "os.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void setup(void)
{
    publish_create();
    publish_pool(0, "Global", 0, POOL_HEAP, OVER_WARN, 0);
    publish_pool(1, "System", 0, POOL_HEAP, OVER_WARN, 0);
}

TestSuite(publish, .init = setup);

/* Return addresses that stand in known objects. */
static tally_stock stock;
static const uintptr_t pcs[3] = {(uintptr_t)lfind + 5, (uintptr_t)fopen + 5, (uintptr_t)setup + 5};

static int descriptor(void)
{
    char path[64], target[64];
    for (int fd = 0; fd < 1024; fd++) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        ssize_t n = readlink(path, target, sizeof target - 1);
        target[n > 0 ? n : 0] = 0;
        if (strncmp(target, "/memfd:poolmem", 14) == 0)
            return fd;
    }
    return -1;
}

Test(publish, header_is_whole)
{
    cr_assert_eq(memcmp(published->magic, STATS_MAGIC, 8), 0);
    cr_assert_eq(published->pid, (uint32_t)getpid());
    cr_assert_eq(published->site_count, STATS_POOLS);
    publish_pool(7, "Seventh", 0, POOL_HEAP, OVER_WARN, 0);
    cr_assert_eq(stats_sites(published)[7].pool, 7, "its base site");
    cr_assert_eq(published->address, (uintptr_t)published);
    cr_assert_leq(published->tallies_at + published->tally_max * sizeof(stats_tally), published->bytes);
    cr_assert_str_eq(stats_string(published, 0), "");
    cr_assert(published->exe[0] == '/');
    cr_assert_str_eq(published->program, strrchr(published->exe, '/') + 1);
}

Test(publish, file_is_out_of_the_way_and_sealed)
{
    int fd = descriptor();
    cr_assert_geq(fd, 500);
    cr_assert(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    cr_assert_neq(ftruncate(fd, 0), 0);
    cr_assert_neq(ftruncate(fd, 1 << 30), 0);
    cr_assert_eq(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), MAP_FAILED);
    cr_assert_neq(mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0), MAP_FAILED);
}

Test(publish, site_is_kept_once)
{
    uint32_t site = publish_site(1, pcs, 3);
    cr_assert_geq(site, STATS_POOLS);
    cr_assert_eq(publish_site(1, pcs, 3), site);
    cr_assert_neq(publish_site(1, pcs, 2), site);
    cr_assert_neq(publish_site(0, pcs, 3), site);
    cr_assert_eq(published->frame_count, 3);
    publish_forget();
    cr_assert_eq(publish_site(1, pcs, 3), site, "found again after objects have changed");
    cr_assert_eq(published->frame_count, 3);
}

Test(publish, site_without_frames_is_the_base_site)
{
    cr_assert_eq(publish_site(1, pcs, 0), 1);
}

Test(publish, frames_are_named)
{
    uint32_t site = publish_site(1, pcs, 3);
    const stats_frame *f = &stats_frames(published)[stats_sites(published)[site].frames[0]];
    cr_assert_str_eq(stats_string(published, f->symbol), "lfind");
    cr_assert_eq(f->symbol_offset, 5);
    cr_assert_eq(f->address, pcs[0]);
    const char *module = stats_string(published, stats_modules(published)[f->module].path);
    cr_assert_not_null(strstr(module, "libc.so"), "module is %s", module);
}

Test(publish, deep_stack_keeps_its_deciding_frame)
{
    uintptr_t deep[STATS_SITE_FRAMES + 8];
    for (unsigned i = 0; i < STATS_SITE_FRAMES + 8; i++)
        deep[i] = (uintptr_t)lfind + 5 + i;
    const stats_site *s = &stats_sites(published)[publish_site(0, deep, STATS_SITE_FRAMES + 8)];
    cr_assert_eq(s->frame_count, STATS_SITE_FRAMES);
    cr_assert_eq(stats_frames(published)[s->frames[0]].address, deep[0]);
    cr_assert_eq(stats_frames(published)[s->frames[STATS_SITE_FRAMES - 1]].address,
                 deep[STATS_SITE_FRAMES + 7]);
}

/* Threads that count in one cache line wait for each other at every call. */
Test(publish, threads_count_in_lines_of_their_own)
{
    tally_stock one = {0}, other = {0};
    for (uint32_t i = 0; i < 20; i++) {
        uintptr_t a = (uintptr_t)publish_tally(&one, i), b = (uintptr_t)publish_tally(&other, i);
        cr_assert_neq(a / 128, b / 128);
        cr_assert_eq(((stats_tally *)a)->site, i);
    }
}

Test(publish, full_tables_cost_detail_only)
{
    published->site_max = STATS_POOLS + 1;
    cr_assert_eq(publish_site(1, pcs, 1), STATS_POOLS);
    cr_assert_eq(publish_site(1, pcs, 2), 1);
    cr_assert_eq(published->sites_lost, 1);
    published->frame_max = published->frame_count;
    cr_assert_eq(publish_site(1, pcs, 3), 1);
    published->tally_max = 2;
    cr_assert_not_null(publish_tally(&stock, 0));
    cr_assert_not_null(publish_tally(&stock, 1));
    cr_assert_null(publish_tally(&stock, 1));
    cr_assert_eq(published->tallies_lost, 1);
    cr_assert_eq(published->tally_count, 2);
}

Test(publish, string_is_kept_once)
{
    uint32_t a, b, c;
    const char *text = publish_string("a name", &a);
    cr_assert_str_eq(text, "a name");
    cr_assert_eq(publish_string("a name", &b), text);
    cr_assert_eq(a, b);
    publish_string("another", &c);
    cr_assert_neq(a, c);
    published->string_max = published->string_bytes + 4;
    cr_assert_str_eq(publish_string("too long now", &c), "");
    cr_assert_eq(c, 0);
}

Test(publish, pool_takes_new_settings)
{
    publish_pool(1, "System", 0, POOL_HEAP, OVER_FAIL, 4096);
    cr_assert_eq(published->pool_count, 2);
    cr_assert_eq(stats_pools(published)[1].limit, 4096);
    publish_pool(STATS_POOLS, "beyond", 0, POOL_HEAP, OVER_WARN, 0);
    cr_assert_eq(published->pool_count, 2);
}

/* A child's exit status: 0 when every condition held. */
static void in_child(bool (*holds)(void))
{
    int status;
    publish_fork_prepare();
    stats_tally *mine = stats_tallies(published);
    pid_t pid = fork();
    if (pid == 0) {
        usleep(20000); /* the parent counts on */
        publish_fork_child();
        _exit(holds() ? 0 : 1);
    }
    mine->allocs += 1000;
    publish_fork_parent();
    waitpid(pid, &status, 0);
    cr_assert_eq(status, 0);
}

static bool child_goes_on(void)
{
    stats_tally *t = stats_tallies(published);
    bool same = t->allocs == 5 && t->site == 1 && published->pid == (uint32_t)getpid() &&
                strcmp(stats_pools(published)[1].name, "System") == 0;
    t->allocs += 7;
    return same && publish_site(1, pcs, 3) == STATS_POOLS;
}

Test(publish, child_of_a_fork_goes_on_by_itself)
{
    stats_tally *t = publish_tally(&stock, 1);
    t->allocs = 5;
    cr_assert_eq(publish_site(1, pcs, 3), STATS_POOLS);
    in_child(child_goes_on);
    cr_assert_eq(t->allocs, 1005, "nothing of the child shows in the parent");
    cr_assert_eq(published->pid, (uint32_t)getpid());
}

static bool child_keeps_strangers(void)
{
    return fcntl(700, F_GETFD) >= 0 && child_goes_on();
}

Test(publish, child_leaves_a_reused_descriptor_alone)
{
    stats_tally *t = publish_tally(&stock, 1);
    t->allocs = 5;
    publish_site(1, pcs, 3);
    int fd = descriptor();
    close(fd);
    cr_assert_eq(dup2(2, fd), fd);
    cr_assert_eq(dup2(fd, 700), 700);
    in_child(child_keeps_strangers);
}

static void limit_files(void)
{
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){1 << 20, RLIM_INFINITY});
}

Test(publish_limits, no_signal_from_a_file_size_limit, .init = limit_files)
{
    setup();
    cr_assert_eq(descriptor(), -1);
    cr_assert_lt(published->site_max, STATS_SITES);
    cr_assert_geq(publish_site(1, pcs, 3), STATS_POOLS);
    publish_fork_prepare();
    publish_fork_child();
}

Test(publish_limits, descriptor_is_closed_when_it_would_be_in_the_way)
{
    setrlimit(RLIMIT_NOFILE, &(struct rlimit){256, 256});
    setup();
    cr_assert_eq(descriptor(), -1);
    cr_assert_eq(published->site_max, STATS_SITES);
}

static bool no_memory(void)
{
    return false;
}

Test(publish_limits, static_area_serves_when_nothing_can_be_mapped)
{
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){1 << 20, RLIM_INFINITY});
    os_fault_hook = no_memory;
    setup();
    cr_assert_eq(published->site_max, STATS_POOLS);
    cr_assert_eq(publish_site(1, pcs, 3), 1);
    cr_assert_not_null(publish_tally(&stock, 1));
    os_fault_hook = NULL;
}
