// SPDX-License-Identifier: Apache-2.0
// DCQCN, the reaction point of the paper: Y. Zhu et al., "Congestion control for large-scale RDMA deployments", SIGCOMM
// 2015, section 3.1, in the order of its published simulator (bobzhuyb/ns3-rdma, qbb-net-device.cc).
//   CNP      target = rate; alpha = (1 - g) alpha + g; rate -= rate alpha / 2; everything restarts
//   alpha    without a CNP for alpha_timer: alpha = (1 - g) alpha
//   increase when the timer (T) or the byte counter (B) expires: T or B goes up, then
//            max(T, B) < F: fast recovery; min(T, B) > F: target += hyper; else target += additive;
//            and always rate = (target + rate) / 2
// The paper's text cuts before it updates alpha; cnp_order chooses. Nothing runs before the first CNP.
// Differences: rates are whole bit/s (rounded up when rising, so that the line rate is reached); alpha decays when it
// is next needed instead of by its own timer, which gives the same number without events; at line rate the increase
// timer rests, because anything it changed would be reset by the next CNP. The simulator's halving of both counters in
// hyper increase and its division of targets far above the rate are not in the paper and not here.
#include "base/power.h"
#include "cc/rate.h"
#include "weft/cc.h"
#include "weft/param.h"

enum { ALPHA_THEN_CUT, CUT_THEN_ALPHA };
static const char *const order_names[] = {"alpha_then_cut", "cut_then_alpha", NULL};

struct dcqcn_conf {
    double g, initial_alpha;
    weft_time_ps alpha_timer_ps, increase_timer_ps;
    weft_bytes byte_counter;
    uint64_t fast_recovery_stages;
    weft_rate_bps additive_increase_bps, hyper_increase_bps, min_rate_bps;
    bool hyper_grows, clamp_target;
    uint32_t cnp_order, preset;
};

static const struct weft_param_value paper[] = {
    {"g", "1/256"},
    {"alpha_timer", "55us"},
    {"increase_timer", "55us"},
    {"byte_counter", "10MB"},
    {"fast_recovery_stages", "5"},
    {"additive_increase", "40Mbps"},
    {"clamp_target", "true"},
    {NULL, NULL},
};
static const struct weft_param_value ns3_rdma[] = {
    {"g", "1/256"},
    {"alpha_timer", "55us"},
    {"increase_timer", "60us"},
    {"byte_counter", "300MB"},
    {"fast_recovery_stages", "5"},
    {"additive_increase", "40Mbps"},
    {"hyper_increase", "200Mbps"},
    {"clamp_target", "true"},
    {NULL, NULL},
};
static const struct weft_param_preset presets[] = {{"paper", paper}, {"ns3_rdma", ns3_rdma}, {NULL, NULL}};
static const char *const preset_names[] = {"none", "paper", "ns3_rdma", NULL};

static const struct weft_param_table dcqcn_params = WEFT_PARAM_TABLE_OF(
    "dcqcn", struct dcqcn_conf, .presets = presets,
    WEFT_CHOICE(
        struct dcqcn_conf, preset, "preset", "none", preset_names,
        "values of a source: the paper's (40G), or ns3-rdma's as configured there (40G); other keys override it"),
    WEFT_REAL(struct dcqcn_conf, g, "g", "1/256", "1/65536", "1", "gain of the average that is alpha"),
    WEFT_REAL(struct dcqcn_conf, initial_alpha, "initial_alpha", "1", "0", "1", "alpha before the first CNP"),
    WEFT_TIME(struct dcqcn_conf, alpha_timer_ps, "alpha_timer", "55us", "1ns", "1s",
              "decay alpha after this time without a CNP"),
    WEFT_TIME(struct dcqcn_conf, increase_timer_ps, "increase_timer", "55us", "1ns", "1s",
              "raise the rate after each such time without a CNP"),
    WEFT_BYTES(struct dcqcn_conf, byte_counter, "byte_counter", "10MB", "0B", "1TB",
               "raise the rate after each such number of bytes on the wire without a CNP; 0B: never"),
    WEFT_UINT(struct dcqcn_conf, fast_recovery_stages, "fast_recovery_stages", "5", "1", "1000",
              "expiries of timer or byte counter before the target rises (F)"),
    WEFT_RATE(struct dcqcn_conf, additive_increase_bps, "additive_increase", "40Mbps", "0bps", "100Tbps",
              "added to the target in additive increase (R_AI)"),
    WEFT_RATE(struct dcqcn_conf, hyper_increase_bps, "hyper_increase", "200Mbps", "0bps", "100Tbps",
              "added to the target in hyper increase (R_HAI; the paper gives no value, this is its simulator's)"),
    WEFT_BOOL(struct dcqcn_conf, hyper_grows, "hyper_grows", "false",
              "the i-th hyper increase adds i times hyper_increase"),
    WEFT_RATE(struct dcqcn_conf, min_rate_bps, "min_rate", "100Mbps", "1bps", "100Tbps",
              "no cut goes below this (assumed)"),
    WEFT_BOOL(struct dcqcn_conf, clamp_target, "clamp_target", "true",
              "every CNP sets the target to the rate; false: only if the rate was raised since the last CNP"),
    WEFT_CHOICE(struct dcqcn_conf, cnp_order, "cnp_order", "alpha_then_cut", order_names,
                "a CNP updates alpha before the cut, or after it (the paper's text)"));

struct dcqcn_state {
    weft_rate_bps rate_bps, target_bps;
    weft_time_ps alpha_ps; ///< when alpha was last updated
    weft_time_ps timer_ps; ///< next expiry of the increase timer; never while it rests
    weft_bytes sent_bytes; ///< since the byte counter last expired
    double alpha;
    uint32_t timer_stage, byte_stage;
    bool limited; ///< a CNP arrived and the rate has not reached line rate again
    bool seen;    ///< a CNP has arrived
};

static size_t dcqcn_state_size(const void *conf) {
    return sizeof(struct dcqcn_state);
}

static void dcqcn_start(void *state, const void *conf, const struct weft_cc_fact *fact, struct weft_cc_act *act) {
    const struct dcqcn_conf *c = conf;
    struct dcqcn_state *s = state;
    *s = (struct dcqcn_state){.rate_bps = fact->line_rate_bps,
                              .target_bps = fact->line_rate_bps,
                              .timer_ps = WEFT_TIME_NEVER,
                              .alpha = c->initial_alpha};
    act->rate_bps = s->rate_bps;
    act->timer_ps = WEFT_TIME_NEVER;
    act->rests = true;
}

/// All expiries of the alpha timer up to now in one step.
static void decay_alpha(struct dcqcn_state *s, const struct dcqcn_conf *c, weft_time_ps now) {
    if (!s->seen) return;
    uint64_t expiries = (now - s->alpha_ps) / c->alpha_timer_ps;
    s->alpha *= weft__power(1 - c->g, expiries);
}

static void cut_rate(struct dcqcn_state *s, const struct dcqcn_conf *c, weft_rate_bps line) {
    s->rate_bps = weft__rate_cut(s->rate_bps, s->alpha / 2, weft__rate_lesser(c->min_rate_bps, line));
}

static void dcqcn_cnp(void *state, const void *conf, const struct weft_cc_fact *fact, struct weft_cc_act *act) {
    const struct dcqcn_conf *c = conf;
    struct dcqcn_state *s = state;
    decay_alpha(s, c, fact->now_ps);
    if (c->clamp_target || s->timer_stage || s->byte_stage) s->target_bps = s->rate_bps;
    if (c->cnp_order == CUT_THEN_ALPHA) cut_rate(s, c, fact->line_rate_bps);
    s->alpha = (1 - c->g) * s->alpha + c->g;
    if (c->cnp_order == ALPHA_THEN_CUT) cut_rate(s, c, fact->line_rate_bps);
    s->seen = s->limited = true;
    s->timer_stage = s->byte_stage = 0;
    s->sent_bytes = 0;
    s->alpha_ps = fact->now_ps;
    s->timer_ps = fact->now_ps + c->increase_timer_ps;
    act->rate_bps = s->rate_bps;
    act->timer_ps = s->timer_ps;
    act->rests = !c->byte_counter;
}

/// Called after either stage has increased.
static void raise_rate(struct dcqcn_state *s, const struct dcqcn_conf *c, weft_rate_bps line, struct weft_cc_act *act) {
    uint32_t least = s->timer_stage < s->byte_stage ? s->timer_stage : s->byte_stage;
    uint32_t most = s->timer_stage > s->byte_stage ? s->timer_stage : s->byte_stage;
    if (least > c->fast_recovery_stages)
        s->target_bps += c->hyper_increase_bps * (c->hyper_grows ? least - c->fast_recovery_stages : 1);
    else if (most >= c->fast_recovery_stages)
        s->target_bps += c->additive_increase_bps;
    s->target_bps = weft__rate_lesser(s->target_bps, line);
    s->rate_bps = weft__rate_halfway(s->rate_bps, s->target_bps);
    if (s->rate_bps == line) {
        s->limited = false;
        s->timer_ps = WEFT_TIME_NEVER;
        act->rests = true;
    }
    act->rate_bps = s->rate_bps;
}

static void dcqcn_timer(void *state, const void *conf, const struct weft_cc_fact *fact, struct weft_cc_act *act) {
    const struct dcqcn_conf *c = conf;
    struct dcqcn_state *s = state;
    while (s->timer_ps <= fact->now_ps) {
        s->timer_ps += c->increase_timer_ps;
        s->timer_stage++;
        raise_rate(s, c, fact->line_rate_bps, act);
    }
    act->timer_ps = s->timer_ps;
}

static void dcqcn_sent(void *state, const void *conf, const struct weft_cc_fact *fact, struct weft_cc_act *act) {
    const struct dcqcn_conf *c = conf;
    struct dcqcn_state *s = state;
    if (!s->limited || !c->byte_counter) return;
    s->sent_bytes += fact->bytes;
    while (s->sent_bytes >= c->byte_counter) {
        s->sent_bytes -= c->byte_counter;
        s->byte_stage++;
        raise_rate(s, c, fact->line_rate_bps, act);
    }
    act->timer_ps = s->timer_ps;
}

static const char *dcqcn_check(const void *state, const void *conf, const struct weft_cc_act *act) {
    const struct dcqcn_state *s = state;
    if (!s->rate_bps || s->rate_bps != act->rate_bps) return "the rate is 0 or not the one in force";
    if (s->rate_bps > s->target_bps) return "the rate is above its target";
    if (!(s->alpha >= 0 && s->alpha <= 1)) return "alpha is outside 0 to 1";
    if (s->limited != (s->timer_ps != WEFT_TIME_NEVER)) return "the timer rests while the rate is limited";
    return NULL;
}

/// The paper's testbed and ns3-rdma's configuration have links of 40 Gbit/s; each step adds a thousandth.
static struct weft_cc_values dcqcn_values(const void *conf) {
    const struct dcqcn_conf *c = conf;
    if (c->additive_increase_bps != 40000000) return (struct weft_cc_values){0};
    return (struct weft_cc_values){UINT64_C(40000000000), "additive_increase"};
}

const struct weft_model weft__cc_dcqcn =
    WEFT_MODEL_OF(CC, "dcqcn", "DCQCN as in the paper: cut on CNP, raise by timer and byte counter",
                  "Zhu et al., SIGCOMM 2015, section 3.1; bobzhuyb/ns3-rdma; docs/dcqcn.md", &dcqcn_params,
                  &(const struct weft_cc_ops){
                      .state_size = dcqcn_state_size,
                      .on_start = dcqcn_start,
                      .on_cnp = dcqcn_cnp,
                      .on_timer = dcqcn_timer,
                      .on_sent = dcqcn_sent,
                      .values_of = dcqcn_values,
                      .check = dcqcn_check,
                      .estimate = weft_cc_estimate_open,
                  });
