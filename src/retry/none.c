// SPDX-License-Identifier: Apache-2.0
// Frames with bit errors are lost; only the transport may recover them.
#include "weft/retry.h"

static weft_time_ps none_wait(const void *conf, const struct weft_retry_fact *fact) {
    return WEFT_TIME_NEVER;
}

const struct weft_model weft__retry_none =
    WEFT_MODEL_OF(RETRY, "none", "frames with bit errors are lost", "IEEE 802.3; the baseline", &weft_no_params,
                  &(const struct weft_retry_ops){.wait = none_wait});
