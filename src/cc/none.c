// SPDX-License-Identifier: Apache-2.0
// No congestion control: line rate from the first packet to the last.
#include "weft/cc.h"

static size_t none_state_size(const void *conf) {
    return 0;
}

static void none_start(void *state, const void *conf, const struct weft_cc_fact *fact, struct weft_cc_act *act) {
    (void)state, (void)conf;
    act->rate_bps = fact->line_rate_bps;
}

static const char *none_check(const void *state, const void *conf, const struct weft_cc_act *act) {
    (void)state, (void)conf;
    return act->rate_bps ? NULL : "rate is 0";
}

const struct weft_model weft__cc_none = WEFT_MODEL_OF(
    CC, "none", "no congestion control: line rate always",
    "the baseline of every comparison; PFC alone protects the buffers", &weft_no_params,
    &(const struct weft_cc_ops){
        .state_size = none_state_size, .on_start = none_start, .check = none_check, .estimate = weft_cc_estimate_open});
