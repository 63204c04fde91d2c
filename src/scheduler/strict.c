// SPDX-License-Identifier: Apache-2.0
// Strict priority, IEEE 802.1Q clause 8.6.8.1: always the highest priority that can send.
#include "weft/scheduler.h"

static uint32_t strict_pick(struct weft_scheduler_state *state, const void *conf, uint8_t mask) {
    return 31u - (uint32_t)__builtin_clz(mask);
}

const struct weft_model weft__scheduler_strict =
    WEFT_MODEL_OF(SCHEDULER, "strict", "the highest priority first", "IEEE 802.1Q clause 8.6.8.1", &weft_no_params,
                  &(const struct weft_scheduler_ops){.pick = strict_pick});
