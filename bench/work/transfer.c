/* SPDX-License-Identifier: MIT */
/*
 * transfer.c - blocks made by some threads and freed by others, in the manner of `xmalloc-test`.
 *
 * Producers fill batches of blocks and put them into a bounded queue; consumers take batches and free them.
 * No consumer ever allocates and no producer ever frees, so every free is remote. Variants: as many of each;
 * one producer for three consumers; and a ring, where each thread frees what its neighbour made.
 */
#include "work.h"

#define BATCH 120
#define ROOM  64

typedef struct batch {
    void *block[BATCH];
} batch;

typedef struct queue {
    pthread_mutex_t lock;
    pthread_cond_t grown, shrunk;
    batch *item[ROOM];
    unsigned head, n, producers_left;
    unsigned producers;
    uint64_t batches; /* by each producer */
} queue;

static queue queue_create(unsigned producers, uint64_t batches)
{
    return (queue){.lock = PTHREAD_MUTEX_INITIALIZER,
                   .grown = PTHREAD_COND_INITIALIZER,
                   .shrunk = PTHREAD_COND_INITIALIZER,
                   .producers_left = producers,
                   .producers = producers,
                   .batches = batches};
}

static void queue_put(queue *q, batch *b)
{
    pthread_mutex_lock(&q->lock);
    while (q->n == ROOM)
        pthread_cond_wait(&q->shrunk, &q->lock);
    q->item[(q->head + q->n++) % ROOM] = b;
    pthread_cond_signal(&q->grown);
    pthread_mutex_unlock(&q->lock);
}

/* The oldest batch; NULL once all producers are done and nothing is left. */
static batch *queue_take(queue *q)
{
    batch *b = NULL;
    pthread_mutex_lock(&q->lock);
    while (!q->n && q->producers_left)
        pthread_cond_wait(&q->grown, &q->lock);
    if (q->n) {
        b = q->item[q->head];
        q->head = (q->head + 1) % ROOM;
        q->n--;
        pthread_cond_signal(&q->shrunk);
    }
    pthread_mutex_unlock(&q->lock);
    return b;
}

static void queue_leave(queue *q)
{
    pthread_mutex_lock(&q->lock);
    q->producers_left--;
    pthread_cond_broadcast(&q->grown);
    pthread_mutex_unlock(&q->lock);
}

static batch *batch_fill(uint64_t *rng, uint64_t stamp)
{
    batch *b = must_malloc(sizeof *b);
    for (unsigned i = 0; i < BATCH; i++) {
        uint64_t r = rng_next(rng);
        b->block[i] = stamped_alloc(16 << (r >> 62) | ((r >> 32 & 0xf) << 3), stamp + i);
    }
    return b;
}

static uint64_t batch_free(batch *b)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < BATCH; i++)
        sum += stamped_free(b->block[i]);
    free(b);
    return sum;
}

static uint64_t transfer_main(unsigned number, void *shared)
{
    queue *q = shared;
    uint64_t rng = rng_seed(number), sum = 0;
    if (number < q->producers) {
        for (uint64_t i = 0; i < q->batches; i++)
            queue_put(q, batch_fill(&rng, i));
        queue_leave(q);
        return 0;
    }
    for (batch *b = queue_take(q); b; b = queue_take(q))
        sum += batch_free(b);
    return sum;
}

static work_result transfer(const work_args *a, unsigned producers, unsigned consumers)
{
    queue q = queue_create(producers, work_count(a, 80e3 / producers));
    uint64_t sum = threads_run(producers + consumers, transfer_main, &q);
    return (work_result){q.batches * producers * BATCH, sum, 0};
}

static work_result run_xmalloc(const work_args *a)
{
    unsigned half = a->threads > 1 ? a->threads / 2 : 2;
    return transfer(a, half, half);
}
static work_result run_asymmetric(const work_args *a)
{
    return transfer(a, 1, a->threads > 1 ? a->threads - 1 : 3);
}

/* A ring of queues; thread n fills its own and empties the one before it. */
typedef struct ring {
    unsigned threads;
    uint64_t batches;
    queue queue[64];
} ring;

static uint64_t ring_main(unsigned number, void *shared)
{
    ring *r = shared;
    uint64_t rng = rng_seed(number + 7), sum = 0;
    queue *before = &r->queue[(number + r->threads - 1) % r->threads];
    for (uint64_t i = 0; i < r->batches; i++) {
        queue_put(&r->queue[number], batch_fill(&rng, i));
        sum += batch_free(queue_take(before));
    }
    return sum;
}

static work_result run_ring(const work_args *a)
{
    static ring r;
    r.threads = a->threads ? a->threads : 4;
    r.batches = work_count(a, 150e3 / r.threads);
    for (unsigned t = 0; t < r.threads; t++)
        r.queue[t] = queue_create(1, 0);
    uint64_t sum = threads_run(r.threads, ring_main, &r);
    return (work_result){r.batches * r.threads * BATCH, sum, 0};
}

const work work_table[] = {
    {"xmalloc", run_xmalloc}, {"xmalloc-asym", run_asymmetric}, {"ring", run_ring}, {NULL, NULL}};
