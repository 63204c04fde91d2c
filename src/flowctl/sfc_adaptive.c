// SPDX-License-Identifier: Apache-2.0
// Source flow control that takes threshold and pause from what it sees at the queue, rather than from a plan for an
// incast degree that somebody expected. "SFC simulation" (Chen, Congdon, Lv, Sivakolundu; IEEE P802.1Qdw) proposes as
// an extension to set both from the detected incast severity and the buffer occupancy, and does not say how. This is
// ours:
//
//   growth    = feed - drain            feed: line rates of the inputs that fed the queue lately; 0 if drain is more
//   reach     = loop + flows * packet / feed     until the last packet sent before its source paused is in the queue:
//                                                a flow is told when a packet of its own comes
//   headroom  = growth * reach
//   threshold = queue + room - margin * headroom, but not below `floor` nor above `threshold`
//   pause     = (queue + headroom - target * threshold) / drain
//
// queue + room is the depth at which inputs begin to pause or drop. If all sources pause, the queue rises by the
// headroom at most and then drains; when they are back its depth is target * threshold, so that it neither runs empty
// nor is above the threshold. With equal rates growth is (N - 1) * rate for N inputs, and with the queue at the
// threshold the pause lies within the range of the simulations' calculation for any target between 0 and 1; the fixed
// model's numbers hold for one N.
#include <stdio.h>

#include "weft/sfc.h"

struct adaptive_conf {
    struct weft_sfc_conf sfc;
    weft_bytes floor_bytes;
    weft_time_ps loop_ps, memory_ps;
    double margin, target;
};

static const struct weft_param adaptive_rows[] = {
    WEFT_SFC_ROWS(struct adaptive_conf, sfc, "the computed threshold is never above this", "100us",
                  "the computed pause is never longer than this (assumed)"),
    WEFT_BYTES(struct adaptive_conf, floor_bytes, "floor", "50KB", "0B", "1TB",
               "the computed threshold is never below this (assumed)"),
    WEFT_TIME(struct adaptive_conf, loop_ps, "loop", "2.4us", "0ns", "1s",
              "from a message to the end of its effect at the queue: links and switches there and back (two layers of "
              "the simulations of IEEE P802.1Qdw; see weft plan sfc)"),
    WEFT_TIME(struct adaptive_conf, memory_ps, "memory", "10us", "1ns", "1s",
              "what has fed the queue within this time still counts (assumed)"),
    WEFT_REAL(struct adaptive_conf, margin, "margin", "1.25", "0", "100",
              "headroom kept, as a multiple of the computed one (assumed)"),
    WEFT_REAL(struct adaptive_conf, target, "target", "0.5", "0", "1",
              "depth that a pause leaves, as a part of the threshold (assumed)"),
};

static const char *adaptive_check(const void *conf, char *text, size_t size) {
    const struct adaptive_conf *c = conf;
    if (c->floor_bytes <= c->sfc.threshold_bytes) return NULL;
    snprintf(text, size, "floor (%llu B) is above threshold (%llu B)", (unsigned long long)c->floor_bytes,
             (unsigned long long)c->sfc.threshold_bytes);
    return text;
}
static const struct weft_param_table adaptive_params =
    WEFT_PARAM_TABLE_CHECKED("adaptive", struct adaptive_conf, adaptive_rows, adaptive_check);

static weft_bytes adaptive_watch(const void *conf) {
    return ((const struct adaptive_conf *)conf)->floor_bytes;
}

static weft_time_ps adaptive_memory(const void *conf) {
    return ((const struct adaptive_conf *)conf)->memory_ps;
}

/// Bytes by which the queue still rises if every source is told now.
static double calc_headroom(const struct adaptive_conf *c, const struct weft_sfc_fact *fact) {
    if (fact->feed_rate_bps <= fact->drain_rate_bps) return 0;
    double feed = (double)fact->feed_rate_bps / 8e12, drain = (double)fact->drain_rate_bps / 8e12; // bytes a ps
    double reach = (double)c->loop_ps + (double)fact->flows * fact->packet_bytes / feed;
    return (feed - drain) * reach;
}

static double calc_threshold(const struct adaptive_conf *c, const struct weft_sfc_fact *fact, double headroom) {
    double limit = (double)fact->queue_bytes + (double)fact->room_bytes - c->margin * headroom;
    if (limit < (double)c->floor_bytes) limit = (double)c->floor_bytes;
    return limit < (double)c->sfc.threshold_bytes ? limit : (double)c->sfc.threshold_bytes;
}

static void adaptive_on_packet(const void *conf, const struct weft_sfc_fact *fact, struct weft_sfc_act *act) {
    const struct adaptive_conf *c = conf;
    double headroom = calc_headroom(c, fact), threshold = calc_threshold(c, fact, headroom);
    if ((double)fact->queue_bytes <= threshold) return;
    double excess = (double)fact->queue_bytes + headroom - c->target * threshold;
    double pause = excess * 8e12 / (double)fact->drain_rate_bps;
    act->signal = true;
    act->pause_ps = pause < (double)c->sfc.pause_ps ? (weft_time_ps)pause : c->sfc.pause_ps;
    if (!act->pause_ps) act->pause_ps = 1;
}

static const struct weft_sfc_ops adaptive_ops = {
    .watch = adaptive_watch, .on_packet = adaptive_on_packet, .memory = adaptive_memory};

const struct weft_model weft__sfc_adaptive = {
    .kind = WEFT_KIND_SFC,
    .name = "adaptive",
    .summary = "threshold and pause from the incast and the occupancy that the switch sees",
    .source = "ours; the extension that IEEE P802.1Qdw, \"SFC simulation\", proposes without saying how",
    .params = &adaptive_params,
    .ops = &adaptive_ops,
};
