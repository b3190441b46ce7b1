/* SPDX-License-Identifier: MIT */
/* Promise: threads that come and go, hand each other blocks, grow and shrink what others made, never see a
 * byte of theirs changed. Each block says how long it is and from which seed its bytes come; whoever gets it
 * checks them. */
#include <pthread.h>
#include <stdatomic.h>
#include "entries.h"

enum { WORKERS = 6, LIVES = 12, STEPS = 15000, SLOTS = 2048 };

struct block {
    size_t bytes; /* of the whole */
    unsigned seed;
    unsigned char fill[];
};
static _Atomic(struct block *) slots[SLOTS];

static size_t checked(const struct block *block)
{
    size_t rest = block->bytes - sizeof *block;
    return rest < 600 ? rest : 600;
}

static void write_block(struct block *block, size_t bytes, unsigned seed)
{
    block->bytes = bytes;
    block->seed = seed;
    for (size_t i = 0; i < checked(block); i++)
        block->fill[i] = (unsigned char)(seed + i);
    ((unsigned char *)block)[bytes - 1] = (unsigned char)(seed + 7);
}

static void check_block(const struct block *block, const char *when)
{
    size_t count = checked(block);
    bool last_is_fill = count == block->bytes - sizeof *block;
    for (size_t i = 0; i + last_is_fill < count; i++)
        expect(block->fill[i] == (unsigned char)(block->seed + i), "byte %zu of %zu %s, expected %u, got %u",
               i, block->bytes, when, (unsigned char)(block->seed + i), block->fill[i]);
    unsigned char last = ((const unsigned char *)block)[block->bytes - 1];
    expect(last == (unsigned char)(block->seed + 7), "last byte of %zu %s, expected %u, got %u", block->bytes,
           when, (unsigned char)(block->seed + 7), last);
}

static size_t some_bytes(unsigned *seed)
{
    unsigned kind = next_random(seed) % 1000;
    size_t span = kind < 900 ? 1000 : kind < 980 ? 20000 : kind < 998 ? 200000 : 3000000;
    return sizeof(struct block) + 1 + next_random(seed) % span;
}

static struct block *resized(struct block *block, unsigned *seed)
{
    size_t bytes = some_bytes(seed), kept = block->bytes < bytes ? block->bytes : bytes;
    unsigned char first = (unsigned char)block->seed;
    bool had = block->bytes > sizeof *block + 1 && kept > sizeof *block;
    block = opaque(realloc(block, bytes));
    expect(block != NULL, "realloc to %zu, expected a pointer, got NULL", bytes);
    expect(!had || block->fill[0] == first, "first byte after realloc to %zu, expected %u, got %u", bytes,
           first, block->fill[0]);
    return block;
}

static void step(unsigned *seed)
{
    struct block *block = atomic_exchange(&slots[next_random(seed) % SLOTS], NULL);
    if (block)
        check_block(block, "when taken over");
    unsigned choice = next_random(seed) % 8;
    if (block && choice < 5) {
        free(block);
        return;
    }
    if (block && choice < 7) {
        block = resized(block, seed);
        write_block(block, malloc_usable_size(block), next_random(seed));
    } else if (!block) {
        const struct entry *entry = &entries[choice ? 0 : next_random(seed) % ENTRY_COUNT];
        size_t bytes = some_bytes(seed);
        block = entry->take(bytes);
        expect(block != NULL, "%s of %zu, expected a pointer, got NULL", entry->name, bytes);
        write_block(block, bytes, next_random(seed));
    }
    free(atomic_exchange(&slots[next_random(seed) % SLOTS], block));
}

static void *live(void *number)
{
    unsigned seed = (unsigned)(uintptr_t)number;
    for (int i = 0; i < STEPS; i++)
        step(&seed);
    return NULL;
}

int main(void)
{
    pthread_t thread[WORKERS];
    for (uintptr_t number = 0; number < WORKERS * LIVES; number++) {
        if (number >= WORKERS)
            pthread_join(thread[number % WORKERS], NULL);
        expect_equal("pthread_create", 0,
                     pthread_create(&thread[number % WORKERS], NULL, live, (void *)number));
    }
    for (int i = 0; i < WORKERS; i++)
        pthread_join(thread[i], NULL);
    for (int i = 0; i < SLOTS; i++) {
        if (slots[i])
            check_block(slots[i], "at the end");
        free(slots[i]);
    }
    return passed();
}
