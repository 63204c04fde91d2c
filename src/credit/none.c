// SPDX-License-Identifier: Apache-2.0
// Links without credit: frames are sent without regard to room, unless PFC pauses them.
#include "weft/credit.h"

static uint8_t none_priorities(const void *conf) {
    return 0;
}

static uint32_t none_unit(const void *conf) {
    return 1;
}

static weft_bytes none_grant(const void *conf, const struct weft_credit_fact *fact) {
    return fact->frame_bytes;
}

const struct weft_model weft__credit_none = WEFT_MODEL_OF(
    CREDIT, "none", "frames are sent without credit", "IEEE 802.3; the baseline", &weft_no_params,
    &(const struct weft_credit_ops){.priorities = none_priorities, .unit = none_unit, .grant = none_grant});
