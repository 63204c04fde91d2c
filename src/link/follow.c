// SPDX-License-Identifier: Apache-2.0
#include "link/follow.h"

#include "weft/memory.h"

void weft__follow_add(struct weft__follow *f, const struct weft_followed *one) {
    if (f->n == f->capacity) {
        uint64_t capacity = f->capacity ? f->capacity * 2 : 64;
        f->followed = weft_memory_resize(WEFT_MEMORY_SERIES, f->followed, f->capacity * sizeof *f->followed,
                                         capacity * sizeof *f->followed);
        f->capacity = capacity;
    }
    f->followed[f->n] = *one;
    f->followed[f->n++].port = f->port;
}

void weft__follow_release(struct weft__follow *f) {
    weft_memory_free(WEFT_MEMORY_SERIES, f->followed, f->capacity * sizeof *f->followed);
    f->followed = NULL;
    f->n = f->capacity = 0;
}
