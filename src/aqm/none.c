// SPDX-License-Identifier: Apache-2.0
// No active queue management: the buffer decides alone.
#include "weft/aqm.h"

static enum weft_aqm_verdict none_on_enqueue(void *state, const void *conf, const struct weft_aqm_fact *fact,
                                             struct weft_random *random) {
    return WEFT_AQM_PASS;
}

static weft_bytes none_pass(const void *conf) {
    return UINT64_MAX;
}

static const struct weft_aqm_ops none_ops = {.on_enqueue = none_on_enqueue, .pass = none_pass};

const struct weft_model weft__aqm_none = {
    .kind = WEFT_KIND_AQM,
    .name = "none",
    .summary = "no marking and no early drops",
    .source = "tail drop; the baseline",
    .params = &weft_no_params,
    .ops = &none_ops,
};
