// SPDX-License-Identifier: Apache-2.0
// WRED with ECN as switches configure it for DCQCN: S. Floyd and V. Jacobson, "Random early detection gateways for
// congestion avoidance", IEEE/ACM ToN 1993, and the congestion point of Y. Zhu et al., "Congestion control for
// large-scale RDMA deployments", SIGCOMM 2015, section 3.1: the instantaneous depth q decides, not an average.
//   p = 0 for q <= min;  max_probability (q - min) / (max - min) up to max;  1 above max.
// min = max is a step. Packets that are not ECN-capable pass, or are dropped with the same probability (RFC 3168,
// section 5). Above the drop threshold everything is dropped.
// A packet is judged by the queue that it joins, as the paper has it, or (mark_at: departure) marked by the queue that
// it leaves behind, as alibaba-edu/High-Precision-Congestion-Control does it (switch-node.cc): the mark then does not
// wait in the queue that it tells of.
#include "base/units.h"
#include "weft/aqm.h"

enum { ARRIVAL, DEPARTURE };
static const char *const mark_at_names[] = {"arrival", "departure", NULL};

struct wred_conf {
    weft_bytes min_bytes, max_bytes, drop_bytes;
    double max_probability;
    bool drop_incapable;
    uint32_t mark_at, preset;
};

static const struct weft_param_value paper[] = {
    {"min", "5KB"}, {"max", "200KB"}, {"max_probability", "1%"}, {"mark_at", "arrival"}, {NULL, NULL}};
static const struct weft_param_value ns3_rdma[] = {
    {"min", "40KB"}, {"max", "1000KB"}, {"max_probability", "100%"}, {"mark_at", "arrival"}, {NULL, NULL}};
static const struct weft_param_value hpcc[] = {
    {"min", "400KB"}, {"max", "1600KB"}, {"max_probability", "20%"}, {"mark_at", "departure"}, {NULL, NULL}};
static const struct weft_param_preset presets[] = {
    {"paper", paper}, {"ns3_rdma", ns3_rdma}, {"hpcc", hpcc}, {NULL, NULL}};
static const char *const preset_names[] = {"none", "paper", "ns3_rdma", "hpcc", NULL};

static const struct weft_param wred_rows[] = {
    WEFT_CHOICE(struct wred_conf, preset, "preset", "none", preset_names,
                "values of a source, over which other keys hold: the paper's and ns3-rdma's (40G), or the HPCC "
                "simulator's at 100G"),
    WEFT_BYTES(struct wred_conf, min_bytes, "min", "5KB", "0B", "1TB", "no marks at or below this depth (Kmin)"),
    WEFT_BYTES(struct wred_conf, max_bytes, "max", "200KB", "0B", "1TB", "every packet above this depth (Kmax)"),
    WEFT_REAL(struct wred_conf, max_probability, "max_probability", "1%", "0", "1",
              "probability of a mark at depth max (Pmax)"),
    WEFT_BYTES(struct wred_conf, drop_bytes, "drop", "1TB", "0B", "1TB",
               "packets are dropped above this depth; the default is never"),
    WEFT_BOOL(struct wred_conf, drop_incapable, "drop_incapable", "false",
              "drop packets that are not ECN-capable where others are marked (RFC 3168)"),
    WEFT_CHOICE(struct wred_conf, mark_at, "mark_at", "arrival", mark_at_names,
                "mark by the depth that a packet meets, or by the one that it leaves behind"),
};

static const char *wred_conf_check(const void *conf, char *text, size_t size) {
    const struct wred_conf *c = conf;
    const char *wrong = weft__bytes_above("min", c->min_bytes, "max", c->max_bytes, text, size);
    return wrong ? wrong : weft__bytes_above("max", c->max_bytes, "drop", c->drop_bytes, text, size);
}
static const struct weft_param_table wred_params =
    WEFT_PARAM_TABLE_PRESETS("wred", struct wred_conf, wred_rows, wred_conf_check, presets);

/// Probability of a mark at depth q, strictly between min and max.
static double calc_probability(const struct wred_conf *c, weft_bytes q) {
    return c->max_probability * (double)(q - c->min_bytes) / (double)(c->max_bytes - c->min_bytes);
}

/// Whether the lot falls on the packet, at a depth above min. No draw where the answer is certain, so that streams do
/// not depend on it.
static bool draw(const struct wred_conf *c, weft_bytes q, struct weft_random *random) {
    if (q > c->max_bytes) return true;
    double p = calc_probability(c, q);
    return p >= 1 || (p > 0 && weft_random_unit(random) < p);
}

static enum weft_aqm_verdict wred_on_enqueue(const void *conf, weft_bytes queue_bytes, uint32_t bytes, bool ecn_capable,
                                             struct weft_random *random) {
    const struct wred_conf *c = conf;
    if (queue_bytes <= c->min_bytes) return WEFT_AQM_PASS;
    if (queue_bytes > c->drop_bytes) return WEFT_AQM_DROP;
    if (ecn_capable ? c->mark_at == DEPARTURE : !c->drop_incapable) return WEFT_AQM_PASS;
    if (!draw(c, queue_bytes, random)) return WEFT_AQM_PASS;
    return ecn_capable ? WEFT_AQM_MARK : WEFT_AQM_DROP;
}

static void wred_thresholds(const void *conf, weft_bytes ret_threshold[WEFT_EVENT_THRESHOLDS]) {
    const struct wred_conf *c = conf;
    ret_threshold[WEFT_EVENT_MIN] = c->min_bytes;
    ret_threshold[WEFT_EVENT_MAX] = c->max_bytes;
    ret_threshold[WEFT_EVENT_DROP] = c->drop_bytes;
}

static bool wred_wants_dequeue(const void *conf) {
    return ((const struct wred_conf *)conf)->mark_at == DEPARTURE;
}

static enum weft_aqm_verdict wred_on_dequeue(const void *conf, weft_bytes queue_bytes, bool ecn_capable,
                                             struct weft_random *random) {
    const struct wred_conf *c = conf;
    return ecn_capable && queue_bytes > c->min_bytes && draw(c, queue_bytes, random) ? WEFT_AQM_MARK : WEFT_AQM_PASS;
}

static const struct weft_aqm_ops wred_ops = {
    .on_enqueue = wred_on_enqueue,
    .thresholds = wred_thresholds,
    .wants_dequeue = wred_wants_dequeue,
    .on_dequeue = wred_on_dequeue,
};

const struct weft_model weft__aqm_wred = {
    .kind = WEFT_KIND_AQM,
    .name = "wred",
    .summary = "marks with a probability that grows with the depth of the queue",
    .source = "Floyd and Jacobson 1993; Zhu et al., SIGCOMM 2015, section 3.1 (instantaneous depth); RFC 3168",
    .params = &wred_params,
    .ops = &wred_ops,
    .draws = true,
};
