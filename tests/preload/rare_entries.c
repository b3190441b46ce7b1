/* SPDX-License-Identifier: MIT */
/* Promise: the rarely used entries work: cfree, free_sized, free_aligned_sized, mallinfo, mallinfo2,
 * malloc_trim, mallopt, malloc_info and malloc_stats (which speaks on stderr, never on stdout). */
#include <dlfcn.h>
#include "check.h"

static void check_sized_frees(void)
{
    void (*cfree)(void *) = (void (*)(void *))dlsym(RTLD_DEFAULT, "cfree");
    void (*sized)(void *, size_t) = (void (*)(void *, size_t))dlsym(RTLD_DEFAULT, "free_sized");
    void (*aligned)(void *, size_t, size_t) =
        (void (*)(void *, size_t, size_t))dlsym(RTLD_DEFAULT, "free_aligned_sized");
    expect(!library() || (cfree && sized && aligned),
           "cfree, free_sized, free_aligned_sized, expected defined, got NULL");
    for (size_t bytes = 1; bytes < 1 << 20; bytes *= 3) {
        if (cfree)
            cfree(opaque(malloc(bytes)));
        if (sized)
            sized(opaque(malloc(bytes)), bytes);
        if (aligned)
            aligned(opaque(aligned_alloc(256, bytes)), 256, bytes);
    }
    if (sized)
        sized(opaque(NULL), 8);
    if (aligned)
        aligned(opaque(NULL), 16, 8);
}

static void check_info(void)
{
    size_t before = mallinfo2().uordblks;
    char *p = opaque(malloc(1 << 20));
    memset(p, 1, 1 << 20);
    struct mallinfo2 after = mallinfo2();
    size_t seen = after.uordblks + after.hblkhd;
    expect(seen >= before + (1 << 20) || !library(),
           "mallinfo2 in use after 1 MiB more, expected %zu or more, got %zu", before + (1 << 20), seen);
    free(p);
}

static void check_dump(void)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    expect_equal("malloc_info", 0, malloc_info(0, out));
    fclose(out);
    expect(text && strstr(text, "<malloc"), "malloc_info, expected XML with <malloc, got %.40s",
           text ? text : "nothing");
    free(text);
    errno = 0;
    expect(malloc_info(7, stderr) != 0, "malloc_info with unknown options, expected an error, got 0");
    malloc_stats();
}

int main(void)
{
    check_sized_frees();
    check_info();
    check_dump();
    expect_equal("mallopt(M_MMAP_THRESHOLD)", 1, mallopt(M_MMAP_THRESHOLD, 1 << 20));
    malloc_trim(0);
    malloc_trim(1 << 20);
    return passed();
}
