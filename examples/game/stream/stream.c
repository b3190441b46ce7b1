/* SPDX-License-Identifier: MIT */
/*
 * stream.c - the job table, its queue and the threads that serve it.
 *
 * 1. A job is on the queue exactly while it is STREAM_QUEUED and no thread has taken it.
 * 2. Retiring a part takes a job too, which the thread that served it gives back itself.
 * 3. stream_stop serves everything still queued before it returns.
 * Locking: lock guards the table and the queue; changed is signalled at every change of either.
 */
#include "stream/stream.h"

#include "core/count.h"

#include <pthread.h>
#include <string.h>

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    stream_job jobs[STREAM_MAX_JOBS];
    stream_job *first, **last; /* the queue */
    int num_threads, stopping;
    pthread_t threads[STREAM_MAX_THREADS];
} stream = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

RwTexture *stream_load_texture(const LevelWad *wad, int index)
{
    LevelImage *image = LevelImage_Load(wad, index);
    RwRaster *raster = RwRasterCreate(image->width, image->height);
    char name[9] = "other";
    memcpy(raster->pixels, image->pixels,
           (size_t)image->width * (size_t)image->height * sizeof *raster->pixels);
    LevelImage_Free(image);
    if (index < wad->num_textures)
        LevelNameText(wad->textures[index].name, name);
    return RwTextureCreate(raster, index, name);
}

static void stream_run(stream_job *job)
{
    if (!job->level) {
        LevelPart_Free(job->part);
        return;
    }
    job->part = LevelPart_Load(job->level, job->index);
    for (int i = 0; i < job->num_images; i++)
        job->textures[i] = stream_load_texture(job->level->wad, job->images[i]);
}

static void stream_finish_locked(stream_job *job)
{
    job->state = job->level ? STREAM_DONE : STREAM_IDLE;
    pthread_cond_broadcast(&stream.changed);
}

/* Ends when told to and the queue is empty. */
static void *stream_thread(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&stream.lock);
    for (;;) {
        while (!stream.first && !stream.stopping)
            pthread_cond_wait(&stream.changed, &stream.lock);
        stream_job *job = stream.first;
        if (!job)
            break;
        stream.first = job->next;
        if (!stream.first)
            stream.last = &stream.first;
        pthread_mutex_unlock(&stream.lock);
        stream_run(job);
        pthread_mutex_lock(&stream.lock);
        stream_finish_locked(job);
    }
    pthread_mutex_unlock(&stream.lock);
    return NULL;
}

int stream_start(int threads)
{
    stream.last = &stream.first;
    for (int i = 0; i < threads; i++) {
        if (pthread_create(&stream.threads[i], NULL, stream_thread, NULL))
            return -1;
        stream.num_threads++;
    }
    return 0;
}

void stream_stop(void)
{
    pthread_mutex_lock(&stream.lock);
    stream.stopping = 1;
    pthread_cond_broadcast(&stream.changed);
    pthread_mutex_unlock(&stream.lock);
    for (int i = 0; i < stream.num_threads; i++)
        pthread_join(stream.threads[i], NULL);
    stream.num_threads = 0;
}

/* The caller fills the job in before anyone else can see it: a taken job is not idle and not queued. */
static stream_job *stream_take(void)
{
    stream_job *job = NULL;
    pthread_mutex_lock(&stream.lock);
    while (!job) {
        for (int i = 0; i < STREAM_MAX_JOBS && !job; i++)
            if (stream.jobs[i].state == STREAM_IDLE)
                job = &stream.jobs[i];
        if (!job)
            pthread_cond_wait(&stream.changed, &stream.lock);
    }
    job->state = STREAM_QUEUED;
    pthread_mutex_unlock(&stream.lock);
    return job;
}

/* With no threads the caller serves the job itself, before anyone could look at it. */
static void stream_put(stream_job *job)
{
    if (!stream.num_threads)
        stream_run(job);
    pthread_mutex_lock(&stream.lock);
    if (stream.num_threads) {
        job->next = NULL;
        *stream.last = job;
        stream.last = &job->next;
        pthread_cond_broadcast(&stream.changed);
    } else {
        stream_finish_locked(job);
    }
    pthread_mutex_unlock(&stream.lock);
}

stream_job *stream_request(const Level *level, int index, const int *images, int num_images)
{
    stream_job *job = stream_take();
    job->level = level;
    job->index = index;
    job->num_images = num_images;
    memcpy(job->images, images, (size_t)num_images * sizeof *images);
    stream_put(job);
    return job;
}

void stream_wait(stream_job *job)
{
    pthread_mutex_lock(&stream.lock);
    while (job->state != STREAM_DONE)
        pthread_cond_wait(&stream.changed, &stream.lock);
    pthread_mutex_unlock(&stream.lock);
}

void stream_release(stream_job *job)
{
    pthread_mutex_lock(&stream.lock);
    job->state = STREAM_IDLE;
    pthread_cond_broadcast(&stream.changed);
    pthread_mutex_unlock(&stream.lock);
}

void stream_retire(LevelPart *part)
{
    stream_job *job = stream_take();
    job->level = NULL;
    job->part = part;
    stream_put(job);
}
