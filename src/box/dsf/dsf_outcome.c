// SPDX-License-Identifier: Apache-2.0
// The outcome of the boxes of a DSF.
#include "base/digest.h"
#include "box/dsf/dsf_net.h"

void *weft__dsf_outcome_new(struct weft_outcome *outcome, const struct weft_topology *t) {
    struct weft_dsf_outcome *o = weft_arena_alloc(outcome->arena, 1, sizeof *o);
    o->seen = weft_arena_alloc(outcome->arena, 1, sizeof *o->seen);
    return o;
}

uint64_t weft__dsf_outcome_mix(uint64_t digest, const void *part) {
    const struct weft_dsf_outcome *dsf = part;
#define X(field, type, help) digest = weft__digest_mix(digest, dsf->field);
    WEFT_DSF_ALWAYS(X)
    WEFT_DSF_WATERMARKS(X)
#undef X
#define X(field, type, help)                                                                                           \
    digest = weft__digest_mix_used(digest, offsetof(struct weft_dsf_outcome, field), dsf->field);
    WEFT_DSF_OPTIONS(X)
#undef X
#define X(field, type, unit, help) digest = weft__digest_mix_histogram(digest, &dsf->seen->field);
    WEFT_DSF_HISTOGRAMS(X)
#undef X
    return digest;
}
