/* SPDX-License-Identifier: MIT */
/*
 * audio.c - the mixer: sounds decoded from the WAD and kept while in use, voices, one mix buffer a frame.
 *
 * 1. packets[n % AUDIO_RING] belongs to the main thread while n >= mixed + AUDIO_RING or n == posted, and to
 * the mixer while mixed <= n < posted.
 * 2. A sound unused for SOUND_KEEP frames is freed; playing it again decodes it again.
 * Locking: lock guards posted, mixed, stopping; everything else has one owner, by 1.
 * Memory: the subsystem Audio, which no built-in rule knows: a game has such subsystems too.
 */
#include "audio/audio.h"

#include "core/count.h"
#include "core/hash.h"

#include <pthread.h>
#include <string.h>

enum {
    AUDIO_RING = 8,
    AUDIO_LATENCY = 4,
    SAMPLES_A_FRAME = 735, /* 44,100 Hz at 60 frames a second */
    SOUND_KEEP = 60,       /* frames */
    SOUND_HEADER = 8,      /* bytes: format, rate, length */
    SOUND_MAX_LUMPS = 256
};

typedef struct audio_sound {
    struct audio_sound *next;
    int lump, num_samples;
    long used; /* frame of the last start */
    int16_t samples[];
} audio_sound;

typedef struct audio_voice {
    struct audio_voice *next;
    const audio_sound *sound;
    uint32_t at; /* sample, 16.16 fixed point */
    int left, right;
} audio_voice;

typedef struct audio_packet {
    int number;
    int sounds[AUDIO_MAX_STARTS];
    uint64_t hash; /* of the mix, up to and with this frame */
} audio_packet;

/* Which thread owns what: see 1. What has no remark is written before the thread starts. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    int threaded, stopping;
    long posted; /* frames; main thread */
    long mixed;  /* frames; mixer */
    audio_packet packets[AUDIO_RING];
    const LevelWad *wad;
    int lumps[SOUND_MAX_LUMPS], num_lumps;
    audio_sound *sounds; /* mixer */
    audio_voice *voices; /* mixer */
    uint64_t hash;       /* mixer */
} audio = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

/* Eight bits unsigned in the file, sixteen signed in memory. */
static audio_sound *audio_decode(int lump)
{
    uint32_t size = audio.wad->lumps[lump].size - SOUND_HEADER;
    uint8_t *raw = game_malloc(SUB_AUDIO, size);
    if (LevelWad_Read(audio.wad, lump, SOUND_HEADER, raw, size))
        memset(raw, 128, size);
    audio_sound *s = game_malloc(SUB_AUDIO, sizeof *s + size * sizeof s->samples[0]);
    s->lump = lump;
    s->num_samples = (int)size;
    for (uint32_t i = 0; i < size; i++)
        s->samples[i] = (int16_t)((raw[i] - 128) * 256);
    game_free(SUB_AUDIO, raw);
    s->next = audio.sounds;
    audio.sounds = s;
    return s;
}

static audio_sound *audio_find(int lump)
{
    for (audio_sound *s = audio.sounds; s; s = s->next)
        if (s->lump == lump)
            return s;
    return audio_decode(lump);
}

static void audio_start_voice(int number, long frame)
{
    if (!audio.num_lumps)
        return;
    audio_sound *s = audio_find(audio.lumps[number % audio.num_lumps]);
    audio_voice *v = game_malloc(SUB_AUDIO, sizeof *v);
    s->used = frame;
    *v = (audio_voice){audio.voices, s, 0, 64 + number % 128, 192 - number % 128};
    audio.voices = v;
}

/* 11,025 Hz in, 44,100 Hz out. Returns 0 when the voice has come to its end. */
static int audio_mix_voice(audio_voice *v, int32_t *mix)
{
    for (int i = 0; i < SAMPLES_A_FRAME; i++, v->at += 1 << 14) {
        uint32_t at = v->at >> 16;
        if (at >= (uint32_t)v->sound->num_samples)
            return 0;
        mix[2 * i] += v->sound->samples[at] * v->left >> 8;
        mix[2 * i + 1] += v->sound->samples[at] * v->right >> 8;
    }
    return 1;
}

static void audio_mix_voices(int32_t *mix, long frame)
{
    for (audio_voice **link = &audio.voices; *link;) {
        audio_voice *v = *link;
        if (audio_mix_voice(v, mix)) {
            ((audio_sound *)v->sound)->used = frame;
            link = &v->next;
            continue;
        }
        *link = v->next;
        game_free(SUB_AUDIO, v);
    }
}

/* Sounds last used before a frame; one that a voice plays was used in this very frame. */
static void audio_forget(long before)
{
    for (audio_sound **link = &audio.sounds; *link;) {
        audio_sound *s = *link;
        if (s->used >= before) {
            link = &s->next;
            continue;
        }
        *link = s->next;
        game_free(SUB_AUDIO, s);
    }
}

static void audio_mix(audio_packet *p, long frame)
{
    size_t bytes = SAMPLES_A_FRAME * 2 * sizeof(int32_t);
    int32_t *mix = game_calloc(SUB_AUDIO, SAMPLES_A_FRAME * 2, sizeof *mix);
    for (int i = 0; i < p->number; i++)
        audio_start_voice(p->sounds[i], frame);
    audio_mix_voices(mix, frame);
    audio_forget(frame - SOUND_KEEP);
    audio.hash = p->hash = hash_bytes(audio.hash, mix, bytes);
    game_free(SUB_AUDIO, mix);
}

static void *audio_thread(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&audio.lock);
    for (;;) {
        while (audio.mixed == audio.posted && !audio.stopping)
            pthread_cond_wait(&audio.changed, &audio.lock);
        if (audio.mixed == audio.posted)
            break;
        long frame = audio.mixed;
        pthread_mutex_unlock(&audio.lock);
        audio_mix(&audio.packets[frame % AUDIO_RING], frame);
        pthread_mutex_lock(&audio.lock);
        audio.mixed = frame + 1;
        pthread_cond_broadcast(&audio.changed);
    }
    pthread_mutex_unlock(&audio.lock);
    return NULL;
}

static void audio_find_lumps(void)
{
    for (int i = 0; i < audio.wad->num_lumps && audio.num_lumps < SOUND_MAX_LUMPS; i++)
        if (!memcmp(&audio.wad->lumps[i].name, "DS", 2) && audio.wad->lumps[i].size > SOUND_HEADER)
            audio.lumps[audio.num_lumps++] = i;
}

int audio_start(const LevelWad *wad, int threaded)
{
    audio.wad = wad;
    audio.threaded = threaded;
    audio.hash = 1;
    audio_find_lumps();
    return threaded ? pthread_create(&audio.thread, NULL, audio_thread, NULL) : 0;
}

/* Waits until a frame is mixed; with no thread it is already. */
static uint64_t audio_collect(long frame)
{
    if (frame < 0)
        return 0;
    pthread_mutex_lock(&audio.lock);
    while (audio.mixed <= frame)
        pthread_cond_wait(&audio.changed, &audio.lock);
    pthread_mutex_unlock(&audio.lock);
    return audio.packets[frame % AUDIO_RING].hash;
}

uint64_t audio_frame(const int *sounds, int number)
{
    long frame = audio.posted;
    uint64_t hash = audio_collect(frame - AUDIO_LATENCY);
    audio_packet *p = &audio.packets[frame % AUDIO_RING];
    p->number = number < AUDIO_MAX_STARTS ? number : AUDIO_MAX_STARTS;
    memcpy(p->sounds, sounds, (size_t)p->number * sizeof *sounds);
    if (!audio.threaded)
        audio_mix(p, frame);
    pthread_mutex_lock(&audio.lock);
    audio.posted++;
    audio.mixed += !audio.threaded;
    pthread_cond_broadcast(&audio.changed);
    pthread_mutex_unlock(&audio.lock);
    return hash;
}

uint64_t audio_stop(void)
{
    pthread_mutex_lock(&audio.lock);
    audio.stopping = 1;
    pthread_cond_broadcast(&audio.changed);
    pthread_mutex_unlock(&audio.lock);
    if (audio.threaded)
        pthread_join(audio.thread, NULL);
    while (audio.voices) {
        audio_voice *v = audio.voices;
        audio.voices = v->next;
        game_free(SUB_AUDIO, v);
    }
    /* Later than any frame: nothing is kept. */
    audio_forget(audio.posted + 1);
    return audio.hash;
}
