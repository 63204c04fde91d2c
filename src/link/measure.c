// SPDX-License-Identifier: Apache-2.0
#include "link/measure.h"

#include "weft/memory.h"

enum { LINE_BYTES = 64 };

/// On its own cache line because other workers write other ones.
union samples {
    struct weft__samples samples;
    char line[LINE_BYTES];
};

void weft__samples_init(struct weft__engine *e, const struct weft__sampling *sampling) {
    for (uint32_t k = 0; k < e->conf.workers; k++) {
        assert(!e->worker[k].notes);
        struct weft__samples *s = e->worker[k].notes = weft_memory_new(WEFT_MEMORY_SERIES, 1, sizeof(union samples));
        s->sampling = *sampling;
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

void weft__samples_thin(struct weft__samples *s, weft_time_ps now) {
    weft_time_ps interval = weft__sampling_interval(&s->sampling, now);
    uint64_t kept = 0;
    for (uint64_t i = 0; i < s->n; i++)
        if (s->sample[i].time_ps % interval == 0) s->sample[kept++] = s->sample[i];
    s->n = kept;
}

void weft__sample_add(struct weft__worker *w, const struct weft_sample *sample) {
    struct weft__samples *s = w->notes;
    bool full = s->n == s->capacity;
    if (full && s->sampling.most) weft__samples_thin(s, w->now_ps);
    if (full && s->n >= s->capacity - s->capacity / 4) { // thinning alone would come again too soon
        uint64_t capacity = s->capacity ? s->capacity * 2 : 1024;
        s->sample = weft_memory_resize(WEFT_MEMORY_SERIES, s->sample, s->capacity * sizeof *s->sample,
                                       capacity * sizeof *s->sample);
        s->capacity = capacity;
    }
    s->sample[s->n++] = *sample;
}
