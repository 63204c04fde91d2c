// SPDX-License-Identifier: Apache-2.0
// No source flow control.
#include "weft/param.h"
#include "weft/sfc.h"

static const struct weft_param_table none_params = {.name = "none", .conf_size = sizeof(struct weft_sfc_conf)};

static weft_bytes none_watch(const void *conf) {
    return UINT64_MAX;
}

static void none_on_packet(const void *conf, const struct weft_sfc_fact *fact, struct weft_sfc_act *act) {}

const struct weft_model weft__sfc_none =
    WEFT_MODEL_OF(SFC, "none", "no source flow control", "the baseline", &none_params,
                  &(const struct weft_sfc_ops){.watch = none_watch, .on_packet = none_on_packet});
