// SPDX-License-Identifier: Apache-2.0
// Flows that start when others are done. A flow that is acknowledged, or delivered, activates triggers; a trigger
// starts flows. Source of the three kinds: htsim (Broadcom/csg-htsim, sim/trigger.cpp): oneshot, multishot, barrier.
//
// An activation takes `delay_ps` from the host where it happens to the host whose flow starts, also if that is the same
// one: half of it to the host of the trigger's first flow, which counts, and the rest from there. Of activations at the
// same time the one from the host with the lower number counts first. A host that has two of them to tell at one time
// tells the second 1 ps later.
#pragma once

#include "weft/types.h"

enum weft_trigger_kind {
    WEFT_TRIGGER_ONCE, ///< its activation starts all flows
    WEFT_TRIGGER_NEXT, ///< each activation starts the next flow; those beyond the last do nothing
    WEFT_TRIGGER_ALL,  ///< the last of `count` activations starts all flows
};
#define WEFT_TRIGGER_DELAY_MIN_PS 2
#define WEFT_TRIGGER_HOSTS_MAX 32749u ///< of a topology with triggers

struct weft_trigger {
    enum weft_trigger_kind kind;
    uint32_t count;        ///< of ALL; else 1
    uint32_t flows, *flow; ///< of the workload; for ONCE and ALL by the host that starts them
    weft_time_ps delay_ps; ///< at least WEFT_TRIGGER_DELAY_MIN_PS
};

struct weft_activation {
    uint32_t flow, trigger;
    bool delivered; ///< by its last byte at the receiver; else by its last acknowledgement at the sender
};
