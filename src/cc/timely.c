// SPDX-License-Identifier: Apache-2.0
// TIMELY: R. Mittal et al., "TIMELY: RTT-based congestion control for the datacenter", SIGCOMM 2015, algorithm 1;
// parameters as in Y. Zhu et al., "ECN or delay: lessons learnt from analysis of DCQCN and TIMELY", CoNEXT 2016,
// table 2.
//   each RTT measured   diff = (1 - ewma) diff + ewma (rtt - rtt before); gradient = diff / min_rtt
//   rtt < t_low         rate += additive_increase
//   rtt > t_high        rate *= 1 - beta (1 - t_high / rtt)
//   gradient <= 0       rate += additive_increase, 5 times that from the fifth time in a row
//   otherwise           rate *= 1 - beta gradient
// The queue settles somewhere between t_low and t_high and rates need not become equal: the scheme has no single fixed
// point (Zhu et al., section 4).
// Differences: the unit is the round trip that the NIC measures, one at a time, rather than a segment of 16 to 64 KB;
// one decrease is at most a half, so that a gradient above 1 does not reduce the rate to zero (as in its successor,
// Swift).

#include "cc/rate.h"
#include "weft/cc.h"
#include "weft/param.h"

struct timely_conf {
    double ewma, beta, max_decrease;
    weft_time_ps t_low_ps, t_high_ps, min_rtt_ps;
    weft_rate_bps increase_bps, min_rate_bps, initial_rate_bps;
    uint64_t hyper_after, hyper_factor;
};

static const char *timely_conf_check(const void *conf, char *text, size_t size) {
    const struct timely_conf *c = conf;
    if (c->t_low_ps < c->t_high_ps) return NULL;
    return WEFT_SAY(text, size, "t_low is not below t_high");
}
static const struct weft_param_table timely_params = WEFT_PARAM_TABLE_OF(
    "timely", struct timely_conf, .check = timely_conf_check,
    WEFT_REAL(struct timely_conf, ewma, "ewma", "0.875", "1/65536", "1", "weight of the newest difference of RTTs"),
    WEFT_REAL(struct timely_conf, beta, "beta", "0.8", "0", "1", "multiplicative decrease"),
    WEFT_REAL(struct timely_conf, max_decrease, "max_decrease", "0.5", "0", "0.999",
              "largest fraction that one decrease takes (assumed)"),
    WEFT_TIME(struct timely_conf, t_low_ps, "t_low", "50us", "0ns", "1s", "RTTs below it raise the rate"),
    WEFT_TIME(struct timely_conf, t_high_ps, "t_high", "500us", "1ns", "1s", "RTTs above it cut the rate"),
    WEFT_TIME(struct timely_conf, min_rtt_ps, "min_rtt", "20us", "1ns", "1s", "unit of gradients"),
    WEFT_RATE(struct timely_conf, increase_bps, "additive_increase", "10Mbps", "1bps", "100Tbps",
              "added to the rate per RTT (delta)"),
    WEFT_UINT(struct timely_conf, hyper_after, "hyper_after", "5", "1", "1000",
              "after this many increases in a row, each adds hyper_factor times as much"),
    WEFT_UINT(struct timely_conf, hyper_factor, "hyper_factor", "5", "1", "1000", "see hyper_after (N)"),
    WEFT_RATE(struct timely_conf, min_rate_bps, "min_rate", "10Mbps", "1bps", "100Tbps",
              "no cut goes below this (assumed)"),
    WEFT_RATE(struct timely_conf, initial_rate_bps, "initial_rate", "0bps", "0bps", "100Tbps",
              "rate at the start; 0bps: the line's (assumed)"));

struct timely_state {
    double diff_ps;
    weft_time_ps rtt_ps; ///< the last; 0: none yet
    weft_rate_bps rate_bps;
    uint32_t falling; ///< RTTs in a row with a gradient that is not above 0
};

static size_t timely_state_size(const void *conf) {
    return sizeof(struct timely_state);
}

static void timely_start(void *state, const void *conf, const struct weft_cc_fact *fact, struct weft_cc_act *act) {
    const struct timely_conf *c = conf;
    struct timely_state *s = state;
    weft_rate_bps first = c->initial_rate_bps ? c->initial_rate_bps : fact->line_rate_bps;
    *s = (struct timely_state){.rate_bps = weft__rate_lesser(first, fact->line_rate_bps)};
    act->rate_bps = s->rate_bps;
    act->timer_ps = WEFT_TIME_NEVER;
}

static void cut_rate(struct timely_state *s, const struct timely_conf *c, double part) {
    part = part > c->max_decrease ? c->max_decrease : part;
    s->rate_bps = weft__rate_cut(s->rate_bps, part, weft__rate_lesser(c->min_rate_bps, s->rate_bps));
}

static void timely_ack(void *state, const void *conf, const struct weft_cc_fact *fact, struct weft_cc_act *act) {
    const struct timely_conf *c = conf;
    struct timely_state *s = state;
    if (!fact->rtt_ps) return;
    double rtt = (double)fact->rtt_ps, before = s->rtt_ps ? (double)s->rtt_ps : rtt;
    s->rtt_ps = fact->rtt_ps;
    s->diff_ps += c->ewma * (rtt - before - s->diff_ps);
    double gradient = s->diff_ps / (double)c->min_rtt_ps;
    bool low = fact->rtt_ps < c->t_low_ps;
    bool high = fact->rtt_ps > c->t_high_ps;
    s->falling = !low && !high && gradient <= 0 ? s->falling + 1 : 0;
    if (high)
        cut_rate(s, c, c->beta * (1 - (double)c->t_high_ps / rtt));
    else if (low || gradient <= 0)
        s->rate_bps += c->increase_bps * (s->falling >= c->hyper_after ? c->hyper_factor : 1);
    else
        cut_rate(s, c, c->beta * gradient);
    s->rate_bps = weft__rate_lesser(s->rate_bps, fact->line_rate_bps);
    act->rate_bps = s->rate_bps;
}

static const char *timely_check(const void *state, const void *conf, const struct weft_cc_act *act) {
    const struct timely_state *s = state;
    return s->rate_bps && s->rate_bps == act->rate_bps ? NULL : "the rate is 0 or not the one in force";
}

/// Steps of 10 Mbit/s belong to the 10 Gbit/s of both papers.
static struct weft_cc_values timely_values(const void *conf) {
    const struct timely_conf *c = conf;
    if (c->increase_bps != 10000000) return (struct weft_cc_values){0};
    return (struct weft_cc_values){UINT64_C(10000000000), "additive_increase"};
}

const struct weft_model weft__cc_timely = WEFT_MODEL_OF(
    CC, "timely", "a rate that follows the gradient of the round trip time",
    "Mittal et al., SIGCOMM 2015, algorithm 1; parameters of Zhu et al., CoNEXT 2016, table 2", &timely_params,
    &(const struct weft_cc_ops){
        .state_size = timely_state_size,
        .on_start = timely_start,
        .on_ack = timely_ack,
        .values_of = timely_values,
        .check = timely_check,
    });
