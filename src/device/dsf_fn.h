// SPDX-License-Identifier: Apache-2.0
// The DSF fabric node (FN). See dsf_fn.c.
#ifndef WEFT_DEVICE_DSF_FN_H
#define WEFT_DEVICE_DSF_FN_H

#include "device/dsf.h"

struct weft__fn {
    struct weft__spray spray;
    const struct weft_fabric_conf *conf;
    struct weft__lanes lanes; ///< all its ports
    uint64_t dropped;         ///< cells without room
    uint64_t marked;          ///< cells
    uint64_t unreachable;     ///< cells without a lane
};

struct weft__fn_setup {
    const struct weft_fabric_conf *conf;
    const struct weft_eligible_box *eligible;
    uint32_t ports, ins, who;
    uint64_t seed;
    struct weft_arena *arena;
};

extern const struct weft__node_ops weft__fn_ops;
/// What it counted is added to the sum.
void weft__fn_finish(const struct weft__fn *fn, struct weft_dsf_outcome *sum);
/// The caller connects its lanes. Initialises the node's timers.
struct weft__fn *weft__fn_new(const struct weft__fn_setup *setup, struct weft__node *node);

#endif
