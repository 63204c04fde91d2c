// SPDX-License-Identifier: Apache-2.0
// Packet trimming: a data packet for which an egress queue has no room loses its payload, and its header continues in
// the control queue, so that the receiver learns at once what is missing. ECN marks as in WRED, linearly between two
// depths.
//
// Sources: M. Handley et al., "Re-architecting datacenter networks and stacks for low latency and high performance"
// (NDP), SIGCOMM 2017, section 3.2; UE specification 1.0 (trimming, with a DSCP for trimmed packets); thresholds of 0.2
// and 0.8 BDP in a queue of 1 BDP, 64 B, and marks on departing packets as in uet-htsim. Differences: the arriving
// packet is trimmed, never the last waiting one (uet-htsim tosses a coin); the scheduler decides whether the control
// queue has strict priority.
#include "aqm/mark_at.h"
#include "base/units.h"
#include "weft/param.h"

/// Frames are no longer than this: the largest host.mtu, and headers.
enum { FRAME_MAX = 10240 + 512 };

struct trim_conf {
    weft_bytes min_bytes, max_bytes, depth_bytes, room_bytes;
    uint64_t size, priority, dscp;
    uint32_t mark_at;
};

static const char *conf_check(const void *conf, char *text, size_t size) {
    const struct trim_conf *c = conf;
    const char *wrong = weft__bytes_above("min", c->min_bytes, "max", c->max_bytes, text, size);
    return wrong ? wrong : weft__bytes_above("max", c->max_bytes, "depth", c->depth_bytes, text, size);
}
static const struct weft_param_table params = WEFT_PARAM_TABLE_OF(
    "trim", struct trim_conf, .check = conf_check,
    WEFT_BYTES(struct trim_conf, min_bytes, "min", "35KB", "0B", "1TB",
               "no marks at or below this depth (uet-htsim: 0.2 BDP, of 14us at 100G here)"),
    WEFT_BYTES(struct trim_conf, max_bytes, "max", "140KB", "0B", "1TB",
               "every packet is marked above this depth (uet-htsim: 0.8 BDP)"),
    WEFT_BYTES(struct trim_conf, depth_bytes, "depth", "175KB", "0B", "1TB",
               "a packet that would make the queue longer is trimmed (uet-htsim: 1 BDP)"),
    WEFT_UINT(struct trim_conf, size, "size", "64", "64", "1500", "size of a trimmed frame (uet-htsim)"),
    WEFT_UINT(struct trim_conf, priority, "priority", "6", "0", "7", "priority of trimmed frames (assumed)"),
    WEFT_UINT(struct trim_conf, dscp, "dscp", "50", "0", "63",
              "code point of trimmed frames, by which the next switches classify (assumed)"),
    WEFT_BYTES(
        struct trim_conf, room_bytes, "room", "1TB", "64B", "1TB",
        "room in the queue of that priority: trimmed frames beyond it are dropped (uet-htsim: twice the depth); the "
        "default is never"),
    WEFT__MARK_AT_ROW(struct trim_conf, "departure"));

static bool draw_trim(const struct trim_conf *c, weft_bytes q, struct weft_random *random) {
    if (q <= c->min_bytes) return false;
    if (q > c->max_bytes) return true;
    return weft_random_unit(random) * (double)(c->max_bytes - c->min_bytes) < (double)(q - c->min_bytes);
}

static enum weft_aqm_verdict trim_on_enqueue(void *state, const void *conf, const struct weft_aqm_fact *fact,
                                             struct weft_random *random) {
    const struct trim_conf *c = conf;
    if (fact->queue_bytes && fact->queue_bytes + fact->bytes > c->depth_bytes) return WEFT_AQM_TRIM;
    if (c->mark_at == WEFT__MARK_AT_DEPARTURE || !fact->ecn_capable) return WEFT_AQM_PASS;
    return draw_trim(c, fact->queue_bytes, random) ? WEFT_AQM_MARK : WEFT_AQM_PASS;
}

static weft_bytes trim_pass(const void *conf) {
    const struct trim_conf *c = conf;
    weft_bytes room = c->depth_bytes > FRAME_MAX ? c->depth_bytes - FRAME_MAX : 0;
    return c->mark_at == WEFT__MARK_AT_ARRIVAL && c->min_bytes < room ? c->min_bytes : room;
}

static void trim_thresholds(const void *conf, weft_bytes ret_threshold[WEFT_EVENT_THRESHOLDS]) {
    const struct trim_conf *c = conf;
    ret_threshold[WEFT_EVENT_MIN] = c->min_bytes;
    ret_threshold[WEFT_EVENT_MAX] = c->max_bytes;
    ret_threshold[WEFT_EVENT_DROP] = c->depth_bytes;
}

static bool trim_wants_dequeue(const void *conf) {
    return ((const struct trim_conf *)conf)->mark_at == WEFT__MARK_AT_DEPARTURE;
}

static enum weft_aqm_verdict trim_on_dequeue(void *state, const void *conf, const struct weft_aqm_fact *fact,
                                             struct weft_random *random) {
    return fact->ecn_capable && draw_trim(conf, fact->queue_bytes, random) ? WEFT_AQM_MARK : WEFT_AQM_PASS;
}

static struct weft_aqm_trim trim_trim(const void *conf) {
    const struct trim_conf *c = conf;
    return (struct weft_aqm_trim){(uint16_t)c->size, (uint8_t)c->priority, (uint8_t)c->dscp, c->room_bytes};
}

const struct weft_model weft__aqm_trim = WEFT_MODEL_OF(
    AQM, "trim", "trims packets that the queue has no room for, and marks with a probability that grows with its depth",
    "Handley et al., NDP, SIGCOMM 2017, section 3.2; UE specification 1.0; uet-htsim", &params,
    &(const struct weft_aqm_ops){
        .on_enqueue = trim_on_enqueue,
        .pass = trim_pass,
        .thresholds = trim_thresholds,
        .wants_dequeue = trim_wants_dequeue,
        .on_dequeue = trim_on_dequeue,
        .trim = trim_trim,
    },
    .draws = true);
