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

const struct weft_model weft__aqm_none =
    WEFT_MODEL_OF(AQM, "none", "no marking and no early drops", "tail drop; the baseline", &weft_no_params,
                  &(const struct weft_aqm_ops){.on_enqueue = none_on_enqueue, .pass = none_pass});
