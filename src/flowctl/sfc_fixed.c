// SPDX-License-Identifier: Apache-2.0
// Source flow control with a fixed threshold and a fixed pause, as in the simulations of IEEE P802.1Qdw: L. Chen, P.
// Congdon, L. Lv, R. Sivakolundu, "SFC simulation". A packet that finds the queue above the threshold makes the switch
// tell its source to pause for the given time. The source also derives the numbers from delays, rates and incast
// degree: threshold + (N - 1) * round trip * rate below the level at which PFC pauses, and
// (N - 1) * round trip < pause < (N - 1) * round trip + threshold / rate. With virtual output queues it is per input.
#include "weft/param.h"
#include "weft/sfc.h"

struct fixed_conf {
    struct weft_sfc_conf sfc;
    uint64_t inputs;
};

static const struct weft_param_table fixed_params = WEFT_PARAM_TABLE_OF(
    "fixed", struct fixed_conf, WEFT_PARAM_UNCHECKED,
    WEFT_SFC_ROWS(
        struct fixed_conf, sfc, "a packet that finds more than this in its queue causes a message", "6us",
        "time that the source is told to pause (assumed; the simulations of IEEE P802.1Qdw take 6us to 20us)"),
    WEFT_UINT(
        struct fixed_conf, inputs, "inputs", "1", "1", "65536",
        "inputs that share the threshold: of virtual output queues, which hold packets of one input each, each queue "
        "has this part of it"));

static weft_bytes fixed_watch(const void *conf) {
    const struct fixed_conf *c = conf;
    return c->sfc.threshold_bytes / c->inputs;
}

static void fixed_on_packet(const void *conf, const struct weft_sfc_fact *fact, struct weft_sfc_act *act) {
    const struct fixed_conf *c = conf;
    act->signal = fact->queue_bytes > fixed_watch(conf);
    act->pause_ps = c->sfc.pause_ps;
}

const struct weft_model weft__sfc_fixed =
    WEFT_MODEL_OF(SFC, "fixed", "a fixed pause for the source of a packet that finds its queue above a fixed threshold",
                  "IEEE P802.1Qdw, \"SFC simulation\" (Chen, Congdon, Lv, Sivakolundu)", &fixed_params,
                  &(const struct weft_sfc_ops){.watch = fixed_watch, .on_packet = fixed_on_packet, .fixed = true});
