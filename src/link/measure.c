// SPDX-License-Identifier: Apache-2.0
#include "link/measure.h"

#include "weft/memory.h"

enum { LINE_BYTES = 64 };

/// On its own cache line because other workers write other ones.
union samples {
    struct weft__samples samples;
    char line[LINE_BYTES];
};

void weft__samples_init(struct weft__engine *e) {
    for (uint32_t k = 0; k < e->conf.workers; k++) {
        assert(!e->worker[k].notes);
        e->worker[k].notes = weft_memory_new(WEFT_MEMORY_SERIES, 1, sizeof(union samples));
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

void weft__sample_add(struct weft__worker *w, const struct weft_sample *sample) {
    struct weft__samples *s = w->notes;
    if (s->n == s->capacity) {
        uint64_t capacity = s->capacity ? s->capacity * 2 : 1024;
        s->sample = weft_memory_resize(WEFT_MEMORY_SERIES, s->sample, s->capacity * sizeof *s->sample,
                                       capacity * sizeof *s->sample);
        s->capacity = capacity;
    }
    s->sample[s->n++] = *sample;
}
