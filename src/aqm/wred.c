// SPDX-License-Identifier: Apache-2.0
// WRED with ECN as switches configure it for DCQCN: S. Floyd and V. Jacobson, "Random early detection gateways for
// congestion avoidance", IEEE/ACM ToN 1993, and the congestion point of Y. Zhu et al., "Congestion control for
// large-scale RDMA deployments", SIGCOMM 2015, section 3.1: the instantaneous depth q decides, not an average.
//   p = 0 for q <= min;  max_probability (q - min) / (max - min) up to max;  1 above max.
// min = max is a step. Packets that are not ECN-capable pass, or are dropped with the same probability (RFC 3168,
// section 5). Above the drop threshold everything is dropped.
// A packet is judged by the queue that it joins, as in the paper, or (mark_at: departure) marked by the queue that it
// leaves behind, as in alibaba-edu/High-Precision-Congestion-Control (switch-node.cc): the mark then does not wait in
// the queue that it reports.
#include <stdio.h>
#include <string.h>

#include "aqm/mark_at.h"
#include "base/units.h"
#include "weft/param.h"

struct wred_conf {
    weft_bytes min_bytes, max_bytes, drop_bytes;
    double max_probability;
    bool drop_incapable;
    uint32_t mark_at, preset;
    const char *by_rate;
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

/// The settings of `by_rate` for ports of one rate.
struct at_rate {
    weft_rate_bps rate_bps;
    weft_bytes min_bytes, max_bytes;
    double max_probability; ///< negative: not set
};

/// Parses the next item; false: there is none, or `why` says what is wrong with it.
static bool next_rate(const char **text, struct at_rate *ret, char *why, size_t size) {
    char item[128], word[4][32], rest;
    size_t n = strcspn(*text, ",");
    why[0] = 0;
    if (!**text) return false;
    snprintf(item, sizeof item, "%.*s", (int)n, *text);
    *text += n + ((*text)[n] != 0);
    int words = sscanf(item, "%31s %31s %31s %31s %c", word[0], word[1], word[2], word[3], &rest);
    ret->max_probability = -1;
    if (words != 3 && words != 4)
        snprintf(why, size, "'%.60s'; expected a rate, min and max, and perhaps max_probability", item);
    else if (weft__quantity_parse(WEFT__RATE, word[0], &ret->rate_bps, why, size) &&
             weft__quantity_parse(WEFT__BYTES, word[1], &ret->min_bytes, why, size) &&
             weft__quantity_parse(WEFT__BYTES, word[2], &ret->max_bytes, why, size)) {
        if (words == 4 && (!weft__real_parse(word[3], &ret->max_probability) ||
                           !(ret->max_probability >= 0 && ret->max_probability <= 1)))
            snprintf(why, size, "'%.31s'; expected a probability, such as 20%%", word[3]);
        else if (!weft__bytes_above("min", ret->min_bytes, "max", ret->max_bytes, why, size))
            why[0] = 0;
    }
    return !*why;
}

static const char *wred_conf_check(const void *conf, char *text, size_t size) {
    const struct wred_conf *c = conf;
    const char *wrong = weft__bytes_above("min", c->min_bytes, "max", c->max_bytes, text, size), *rates = c->by_rate;
    struct at_rate at;
    char why[160];
    while (!wrong && next_rate(&rates, &at, why, sizeof why))
        continue;
    if (!wrong && *why) return WEFT_SAY(text, size, "by_rate: %s", why);
    return wrong ? wrong : weft__bytes_above("max", c->max_bytes, "drop", c->drop_bytes, text, size);
}
static const struct weft_param_table wred_params = WEFT_PARAM_TABLE_OF(
    "wred", struct wred_conf, WEFT_PARAM_AND(.check = wred_conf_check, .presets = presets),
    WEFT_CHOICE(struct wred_conf, preset, "preset", "none", preset_names,
                "values of a source: the paper's and ns3-rdma's (40G), or the HPCC simulator's at 100G; other keys "
                "override it"),
    WEFT_BYTES(struct wred_conf, min_bytes, "min", "5KB", "0B", "1TB", "no marks at or below this depth (Kmin)"),
    WEFT_BYTES(struct wred_conf, max_bytes, "max", "200KB", "0B", "1TB",
               "every packet is marked above this depth (Kmax)"),
    WEFT_REAL(struct wred_conf, max_probability, "max_probability", "1%", "0", "1",
              "probability of a mark at depth max (Pmax)"),
    WEFT_BYTES(struct wred_conf, drop_bytes, "drop", "1TB", "0B", "1TB",
               "packets are dropped above this depth; the default is never"),
    WEFT_BOOL(struct wred_conf, drop_incapable, "drop_incapable", "false",
              "where others are marked, drop packets that are not ECN-capable (RFC 3168)"),
    WEFT__MARK_AT_ROW(struct wred_conf, "arrival"),
    WEFT_TEXT(struct wred_conf, by_rate, "by_rate", "",
              "min, max and optionally max_probability by port rate: [25Gbps 100KB 400KB 20%, 100Gbps 400KB 1600KB "
              "20%]; a port uses the entry of its rate, else of the next lower rate, else of the lowest"));

/// Probability of a mark at depth q, strictly between min and max.
static double calc_probability(const struct wred_conf *c, weft_bytes q) {
    return c->max_probability * (double)(q - c->min_bytes) / (double)(c->max_bytes - c->min_bytes);
}

/// Kept out of the path of packets whose verdict is certain.
static __attribute__((noinline)) bool draw_between(const struct wred_conf *c, weft_bytes q,
                                                   struct weft_random *random) {
    double p = calc_probability(c, q);
    return p >= 1 || (p > 0 && weft_random_unit(random) < p);
}

/// Whether the packet is marked, at a depth above min. Does not draw if the answer is certain, so that random streams
/// do not depend on it.
static inline bool draw_mark(const struct wred_conf *c, weft_bytes q, struct weft_random *random) {
    return q > c->max_bytes || draw_between(c, q, random);
}

static enum weft_aqm_verdict wred_on_enqueue(void *state, const void *conf, const struct weft_aqm_fact *fact,
                                             struct weft_random *random) {
    const struct wred_conf *c = conf;
    if (fact->queue_bytes <= c->min_bytes) return WEFT_AQM_PASS;
    if (fact->queue_bytes > c->drop_bytes) return WEFT_AQM_DROP;
    if (fact->ecn_capable ? c->mark_at == WEFT__MARK_AT_DEPARTURE : !c->drop_incapable) return WEFT_AQM_PASS;
    if (!draw_mark(c, fact->queue_bytes, random)) return WEFT_AQM_PASS;
    return fact->ecn_capable ? WEFT_AQM_MARK : WEFT_AQM_DROP;
}

static weft_bytes wred_pass(const void *conf) {
    return ((const struct wred_conf *)conf)->min_bytes;
}

static void wred_thresholds(const void *conf, weft_bytes ret_threshold[WEFT_EVENT_THRESHOLDS]) {
    const struct wred_conf *c = conf;
    ret_threshold[WEFT_EVENT_MIN] = c->min_bytes;
    ret_threshold[WEFT_EVENT_MAX] = c->max_bytes;
    ret_threshold[WEFT_EVENT_DROP] = c->drop_bytes;
}

static bool wred_wants_dequeue(const void *conf) {
    return ((const struct wred_conf *)conf)->mark_at == WEFT__MARK_AT_DEPARTURE;
}

static enum weft_aqm_verdict wred_on_dequeue(void *state, const void *conf, const struct weft_aqm_fact *fact,
                                             struct weft_random *random) {
    const struct wred_conf *c = conf;
    bool asks = fact->ecn_capable && fact->queue_bytes > c->min_bytes;
    return asks && draw_mark(c, fact->queue_bytes, random) ? WEFT_AQM_MARK : WEFT_AQM_PASS;
}

static bool wred_by_port(const void *conf) {
    return *((const struct wred_conf *)conf)->by_rate;
}

static const void *wred_for_port(const void *conf, weft_rate_bps rate, struct weft_arena *arena) {
    const struct wred_conf *c = conf;
    const char *rates = c->by_rate;
    char why[160];
    struct at_rate at, best = {0};
    while (next_rate(&rates, &at, why, sizeof why)) {
        bool fits = at.rate_bps <= rate, fitted = best.rate_bps && best.rate_bps <= rate;
        bool better = fits ? !fitted || at.rate_bps > best.rate_bps : !fitted && at.rate_bps < best.rate_bps;
        if (!best.rate_bps || better) best = at;
    }
    if (!best.rate_bps) return conf;
    struct wred_conf *own = weft_arena_alloc(arena, 1, sizeof *own);
    *own = *c;
    own->min_bytes = best.min_bytes;
    own->max_bytes = best.max_bytes;
    if (best.max_probability >= 0) own->max_probability = best.max_probability;
    return own;
}

const struct weft_model weft__aqm_wred = WEFT_MODEL_OF(
    AQM, "wred", "marks with a probability that grows with the depth of the queue",
    "Floyd and Jacobson 1993; Zhu et al., SIGCOMM 2015, section 3.1 (instantaneous depth); RFC 3168", &wred_params,
    &(const struct weft_aqm_ops){
        .by_port = wred_by_port,
        .for_port = wred_for_port,
        .on_enqueue = wred_on_enqueue,
        .pass = wred_pass,
        .thresholds = wred_thresholds,
        .wants_dequeue = wred_wants_dequeue,
        .on_dequeue = wred_on_dequeue,
    },
    .draws = true);
