// SPDX-License-Identifier: Apache-2.0
// Source flow control in a switch: asks the model and keeps the least times between messages. Nothing here is touched
// while queues are below what the model watches.
#ifndef WEFT_DEVICE_SFC_H
#define WEFT_DEVICE_SFC_H

#include "weft/sfc.h"

/// What is remembered of a queue: of a flow in it, or of a source.
struct weft__sfc_note {
    uint64_t key; ///< 0: empty
    weft_time_ps time_ps;
};

struct weft__sfc {
    const struct weft_sfc_ops *ops;
    const struct weft_sfc_conf *conf;
    weft_bytes watch_bytes;
    weft_time_ps keep_ps; ///< a note as old as this says nothing any more
    struct weft__sfc_note *note;
    uint32_t notes, capacity; ///< capacity: a power of two, or 0
};

/// The flow whose packet joined a queue.
struct weft__sfc_flow {
    uint32_t queue; ///< its number in the switch, below 2^30
    uint32_t qp, src;
};

void weft__sfc_init(struct weft__sfc *sfc, const struct weft_model_conf *model);
void weft__sfc_deinit(struct weft__sfc *sfc);
/// The model's answer, and whether the intervals allow a message now; it is then taken as sent.
struct weft_sfc_act weft__sfc_judge(struct weft__sfc *sfc, const struct weft_sfc_fact *fact);
bool weft__sfc_allow(struct weft__sfc *sfc, const struct weft__sfc_flow *flow, weft_time_ps now);

#endif
