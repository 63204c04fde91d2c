// SPDX-License-Identifier: Apache-2.0
// Source flow control that derives threshold and pause from what it observes at the queue, rather than from an expected
// incast degree. "SFC simulation" (Chen, Congdon, Lv, Sivakolundu; IEEE P802.1Qdw) proposes as an extension to set both
// from the detected incast severity and the buffer occupancy, and does not say how. This method is our own:
//
//   reach     = loop + flows * packet / feed     until the last packet sent before its source paused is in the queue:
//                                                a flow is told when one of its own packets arrives
//   threshold = queue + room - margin * input * reach, but not below `floor` nor above `threshold`
//   rise      = (min(feed, flows * source) - drain) * reach     0 if drain is more
//   pause     = (queue + rise - target * threshold) / drain
//
// feed: line rates of the inputs that fed the queue recently; input: the rate of the packet's own input; room: what
// that input can take before it pauses or drops, so that no input does, whichever others stop; source: the rate of a
// host, by default that of the output, because most incasts end at a port like those where they begin. If all sources
// pause, the queue rises by `rise` and then drains; when they resume its depth is target * threshold, so that it
// neither runs empty nor exceeds the threshold. With N inputs of equal rate, rise is (N - 1) * reach * rate as in the
// simulations' calculation, and with the queue at the threshold the pause lies within its range for any target between
// 0 and 1. The fixed model's numbers hold for one N.
#include "base/units.h"
#include "weft/param.h"
#include "weft/sfc.h"

struct adaptive_conf {
    struct weft_sfc_conf sfc;
    weft_bytes floor_bytes;
    weft_time_ps loop_ps, memory_ps;
    weft_rate_bps source_rate_bps;
    double margin, target;
};

static const char *adaptive_check(const void *conf, char *text, size_t size) {
    const struct adaptive_conf *c = conf;
    return weft__bytes_above("floor", c->floor_bytes, "threshold", c->sfc.threshold_bytes, text, size);
}
static const struct weft_param_table adaptive_params = WEFT_PARAM_TABLE_OF(
    "adaptive", struct adaptive_conf, .check = adaptive_check,
    WEFT_SFC_ROWS(struct adaptive_conf, sfc, "the computed threshold is never above this", "100us",
                  "the computed pause is never longer than this (assumed)"),
    WEFT_BYTES(struct adaptive_conf, floor_bytes, "floor", "50KB", "0B", "1TB",
               "the computed threshold is never below this (assumed)"),
    WEFT_TIME(struct adaptive_conf, loop_ps, "loop", "2.4us", "0ns", "1s",
              "from a message to the end of its effect at the queue: links and switches there and back (two layers of "
              "the simulations of IEEE P802.1Qdw; see weft plan sfc)"),
    WEFT_TIME(struct adaptive_conf, memory_ps, "memory", "10us", "1ns", "1s",
              "sources that fed the queue within this time count (assumed)"),
    WEFT_RATE(struct adaptive_conf, source_rate_bps, "source_rate", "0bps", "0bps", "100Tbps",
              "rate at which a flow can send; 0bps: that of the output (assumed)"),
    WEFT_REAL(struct adaptive_conf, margin, "margin", "1.25", "0", "100",
              "headroom kept, as a multiple of the computed one (assumed)"),
    WEFT_REAL(struct adaptive_conf, target, "target", "0.5", "0", "1",
              "depth that a pause leaves, as a fraction of the threshold (assumed)"));

static weft_bytes adaptive_watch(const void *conf) {
    return ((const struct adaptive_conf *)conf)->floor_bytes;
}

static weft_time_ps adaptive_memory(const void *conf) {
    return ((const struct adaptive_conf *)conf)->memory_ps;
}

static double bytes_a_ps(weft_rate_bps rate) {
    return (double)rate / (8.0 * (double)WEFT_PS_PER_S);
}

/// The rate at which the queue can be filled, in bytes per picosecond.
static double calc_feed(const struct adaptive_conf *c, const struct weft_sfc_fact *fact) {
    double source = bytes_a_ps(c->source_rate_bps ? c->source_rate_bps : fact->output_rate_bps);
    double inputs = bytes_a_ps(fact->feed_rate_bps), sources = fact->flows * source;
    return inputs < sources ? inputs : sources;
}

static double calc_reach_ps(const struct adaptive_conf *c, const struct weft_sfc_fact *fact) {
    double frames =
        fact->feed_rate_bps ? (double)fact->flows * fact->packet_bytes / bytes_a_ps(fact->feed_rate_bps) : 0;
    return (double)c->loop_ps + frames;
}

static double calc_threshold(const struct adaptive_conf *c, const struct weft_sfc_fact *fact, double reach_ps) {
    double headroom = c->margin * bytes_a_ps(fact->input_rate_bps) * reach_ps;
    double limit = (double)fact->queue_bytes + (double)fact->room_bytes - headroom;
    if (limit < (double)c->floor_bytes) limit = (double)c->floor_bytes;
    return limit < (double)c->sfc.threshold_bytes ? limit : (double)c->sfc.threshold_bytes;
}

static void adaptive_on_packet(const void *conf, const struct weft_sfc_fact *fact, struct weft_sfc_act *act) {
    const struct adaptive_conf *c = conf;
    double reach_ps = calc_reach_ps(c, fact), threshold = calc_threshold(c, fact, reach_ps);
    if ((double)fact->queue_bytes <= threshold) return;
    double drain = bytes_a_ps(fact->drain_rate_bps), feed = calc_feed(c, fact);
    double rise = feed > drain ? (feed - drain) * reach_ps : 0;
    double pause_ps = ((double)fact->queue_bytes + rise - c->target * threshold) / drain;
    act->signal = true;
    act->pause_ps = pause_ps < (double)c->sfc.pause_ps ? (weft_time_ps)pause_ps : c->sfc.pause_ps;
    if (!act->pause_ps) act->pause_ps = 1;
}

const struct weft_model weft__sfc_adaptive = WEFT_MODEL_OF(
    SFC, "adaptive", "threshold and pause from the incast and the occupancy that the switch sees",
    "ours; the extension that IEEE P802.1Qdw, \"SFC simulation\", proposes without saying how", &adaptive_params,
    &(const struct weft_sfc_ops){.watch = adaptive_watch, .on_packet = adaptive_on_packet, .memory = adaptive_memory});
