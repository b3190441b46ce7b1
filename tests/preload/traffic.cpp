// SPDX-License-Identifier: MIT
// A program that always makes the same calls, through every entry and from several threads, for comparing the
// report with an independent count (lib/count_preload.c). It leaks some, so that live blocks are not 0.
#include <pthread.h>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>
#include "entries.h"

enum { THREADS = 4, ROUNDS = 300 };

static void use_entries(unsigned seed)
{
    for (int round = 0; round < ROUNDS; round++) {
        for (const entry &e : entries) {
            size_t bytes = next_random(&seed) % (round % 50 ? 3000 : 300000);
            void *p = opaque(e.take(bytes));
            expect(p != NULL, "%s of %zu, expected a pointer, got NULL", e.name, bytes);
            if (round % 3 == 0)
                p = opaque(realloc(p, bytes / 2 + 1));
            if (round % 7 == 0)
                p = opaque(reallocarray(p, 3, bytes + 1));
            if (round % 60 == 59)
                continue; // leaked
            if (round % 11 == 0)
                p = opaque(realloc(p, 0));
            free(p);
        }
    }
}

static void use_refusals()
{
    for (const entry &e : entries)
        if (!strstr(e.name, "aligned") || library())
            expect(!opaque(e.take(opaque_size(SIZE_MAX / 2 + 2))),
                   "%s of too much, expected NULL, got a pointer", e.name);
    void *p = opaque(malloc(50));
    expect(!opaque(realloc(p, opaque_size(SIZE_MAX / 2 + 2))),
           "realloc to too much, expected NULL, got a pointer");
    free(p);
    free(opaque(NULL));
}

static void use_library()
{
    std::map<std::string, std::vector<std::string>> tree;
    for (int i = 0; i < 3000; i++)
        tree["key " + std::to_string(i % 100)].push_back(std::string((size_t)i % 70, 's'));
    struct alignas(64) Wide {
        char bytes[192];
    };
    std::vector<std::unique_ptr<Wide>> wides;
    for (int i = 0; i < 300; i++)
        wides.emplace_back(new Wide);
    char *line = NULL;
    size_t room = 0;
    FILE *file = fopen("/proc/self/maps", "r");
    while (getline(&line, &room, file) > 0)
        free(strdup(line));
    fclose(file);
    free(line);
}

int main()
{
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < THREADS; i++)
        threads.emplace_back(use_entries, i);
    for (auto &thread : threads)
        thread.join();
    use_entries(99);
    use_refusals();
    use_library();
    return passed();
}
