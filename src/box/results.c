// SPDX-License-Identifier: Apache-2.0
#include "box/results.h"

#include <assert.h>

#include "box/box.h"

static const struct weft__box_results *results_of(uint32_t kind) {
    return weft__box_of_kind(kind)->results;
}

const struct weft__box_results *weft__box_results_of(uint32_t kind) {
    assert(kind < WEFT_BOXES);
    const struct weft__box_results *own = results_of(kind);
    for (uint32_t before = 0; before < kind; before++)
        if (results_of(before) == own) return NULL;
    return own;
}

void weft__box_results_make(struct weft_outcome *outcome, const struct weft_topology *t) {
    for (uint32_t n = 0; n < t->nodes; n++) {
        const struct weft__box_results *results = results_of(t->node[n].box);
        if (!results || outcome->part[t->node[n].box]) continue;
        void *part = results->make(outcome, t);
        assert(part);
        for (uint32_t kind = 0; kind < WEFT_BOXES; kind++)
            if (results_of(kind) == results) outcome->part[kind] = part;
    }
}
