// SPDX-License-Identifier: Apache-2.0
// Frames with bit errors are lost; only the transport may recover them.
#include "weft/retry.h"

struct none_conf {
    uint8_t unused;
};
static const struct weft_param_table params = {.name = "none", .conf_size = sizeof(struct none_conf)};

static weft_time_ps none_wait(const void *conf, const struct weft_retry_fact *fact) {
    return WEFT_TIME_NEVER;
}

static const struct weft_retry_ops ops = {.wait = none_wait};

const struct weft_model weft__retry_none = {
    .kind = WEFT_KIND_RETRY,
    .name = "none",
    .summary = "frames with bit errors are lost",
    .source = "IEEE 802.3; the baseline",
    .params = &params,
    .ops = &ops,
};
