// SPDX-License-Identifier: Apache-2.0
#include "link/measure.h"

#include <string.h>

#include "weft/memory.h"

enum { LINE_BYTES = 64 };

/// On its own cache line because other workers write other ones.
union samples {
    struct weft__samples samples;
    char line[LINE_BYTES];
};

void weft__samples_init(struct weft__engine *e, struct weft__film *film) {
    for (uint32_t k = 0; k < e->conf.workers; k++) {
        assert(!e->worker[k].notes);
        struct weft__samples *s = e->worker[k].notes = weft_memory_new(WEFT_MEMORY_SERIES, 1, sizeof(union samples));
        s->film = film->sampling.most ? film : NULL;
    }
}

void weft__samples_deinit(struct weft__engine *e) {
    for (uint32_t k = 0; k < e->conf.workers; k++) {
        struct weft__samples *s = e->worker[k].notes;
        weft_memory_free(WEFT_MEMORY_SERIES, s->sample, s->capacity * sizeof *s->sample);
        weft_memory_free(WEFT_MEMORY_SERIES, s, sizeof(union samples));
        e->worker[k].notes = NULL;
    }
}

void weft__film_thin(struct weft__film *film, uint32_t port, uint8_t doublings) {
    uint32_t most = film->sampling.most;
    struct weft_film_step *step = &film->step[(size_t)port * most];
    for (; film->doublings[port] < doublings; film->doublings[port]++) {
        for (uint32_t k = 1; k < most / 2; k++)
            step[k] = step[2 * k];
        memset(step + most / 2, 0, most / 2 * sizeof *step);
    }
}

static void add_step(struct weft__film *film, const struct weft_sample *sample) {
    uint8_t doublings = weft__sampling_doublings(&film->sampling, sample->time_ps);
    weft__film_thin(film, sample->port, doublings);
    uint64_t at = sample->time_ps / (film->sampling.interval_ps << doublings);
    struct weft_film_step *step = &film->step[(uint64_t)sample->port * film->sampling.most + at];
    weft_bytes queue = step->queue_bytes + sample->queue_bytes;
    step->tx_bytes += sample->tx_bytes;
    step->queue_bytes = queue < UINT32_MAX ? (uint32_t)queue : UINT32_MAX;
    step->paused = (uint16_t)(step->paused + sample->paused);
    if (sample->credit_permille > step->credit_permille) step->credit_permille = sample->credit_permille;
}

void weft__sample_add(struct weft__worker *w, const struct weft_sample *sample) {
    struct weft__samples *s = w->notes;
    if (s->film) {
        add_step(s->film, sample);
        return;
    }
    if (s->n == s->capacity) {
        uint64_t capacity = s->capacity ? s->capacity * 2 : 1024;
        s->sample = weft_memory_resize(WEFT_MEMORY_SERIES, s->sample, s->capacity * sizeof *s->sample,
                                       capacity * sizeof *s->sample);
        s->capacity = capacity;
    }
    s->sample[s->n++] = *sample;
}
