// SPDX-License-Identifier: Apache-2.0
// DCQCN, the reaction point of Mellanox/NVIDIA NICs as published with HPCC: Y. Li et al., SIGCOMM 2019, simulator
// alibaba-edu/High-Precision-Congestion-Control, rdma-hw.cc; parameters as in NVIDIA, "DCQCN CC parameters" (names in
// brackets in the help). A CNP only sets two bits:
//   alpha_interval  alpha = (1 - g) alpha + g if a CNP came in the interval, else (1 - g) alpha
//   cut_interval    if a CNP came: target = rate (if the timer raised the rate since the last cut, or clamp_target),
//                   the rate is cut by alpha 2^(10 - gd), stage = 0, the increase timer restarts
//   increase_timer  stage < F: fast recovery; = F: target += additive; > F: target += hyper; always rate = (target +
//                   rate) / 2; then stage goes up
// The first CNP sets alpha and the rate and starts the intervals (with release also the first after the rate was back
// at line rate: NVIDIA's rate_to_set_on_first_cnp is for when a rate limiter is allocated). At equal times alpha comes
// first, then the increase, then the cut, as in that simulator. Differences: rates are whole bit/s, as in rate.h; alpha
// is updated when it is needed, checks without a CNP are skipped and the increase timer rests at line rate, none of
// which changes a number. rpg_byte_reset is not modelled: the published code has no byte counter (the NIC's default of
// 32767 would expire every 2.6 ms at 100 Gbit/s if it counts kilobytes).
#include "base/power.h"
#include "cc/rate.h"
#include "weft/cc.h"
#include "weft/param.h"

enum { RATE_UNIT_BPS = 1000000 }; ///< NVIDIA's parameters are whole Mbit/s

struct connectx_conf {
    double g, initial_alpha, rate_on_first_cnp, min_decrease_factor;
    weft_time_ps alpha_interval_ps, cut_interval_ps, increase_timer_ps;
    uint64_t gd, fast_recovery_stages;
    weft_rate_bps additive_increase_bps, hyper_increase_bps, min_rate_bps;
    bool clamp_target, release;
    uint32_t preset;
};

static const struct weft_param_value hpcc[] = {
    {"g", "1/256"},
    {"initial_alpha", "1"},
    {"alpha_interval", "1us"},
    {"rate_on_first_cnp", "1"},
    {"cut_interval", "4us"},
    {"gd", "11"},
    {"min_decrease_factor", "0"},
    {"clamp_target", "false"},
    {"increase_timer", "300us"},
    {"fast_recovery_stages", "1"},
    {"additive_increase", "20Mbps"},
    {"hyper_increase", "200Mbps"},
    {"min_rate", "1Gbps"},
    {NULL, NULL},
};
static const struct weft_param_value hpcc_config[] = {
    {"g", "1/256"},
    {"initial_alpha", "1"},
    {"alpha_interval", "1us"},
    {"rate_on_first_cnp", "1"},
    {"cut_interval", "4us"},
    {"gd", "11"},
    {"min_decrease_factor", "0"},
    {"clamp_target", "false"},
    {"increase_timer", "300us"},
    {"fast_recovery_stages", "1"},
    {"additive_increase", "50Mbps"},
    {"hyper_increase", "100Mbps"},
    {"min_rate", "100Mbps"},
    {NULL, NULL},
};
static const struct weft_param_value connectx[] = {
    {"g", "5/1024"},
    {"initial_alpha", "1023/1024"},
    {"alpha_interval", "1us"},
    {"rate_on_first_cnp", "1"},
    {"cut_interval", "4us"},
    {"gd", "11"},
    {"min_decrease_factor", "50%"},
    {"clamp_target", "false"},
    {"increase_timer", "300us"},
    {"fast_recovery_stages", "1"},
    {"additive_increase", "5Mbps"},
    {"hyper_increase", "50Mbps"},
    {"min_rate", "1Mbps"},
    {NULL, NULL},
};
// The same NIC as measured: a ConnectX-5 at 100G with its firmware's defaults (openfabric-systems/simllm,
// paper/mlx5/sections/measurement.tex). After an incast of two the rate rises from its half by 0.107, later 0.093
// Gbit/s per ms, and has 95% again after 447 ms. So NVIDIA's 50 Mbit/s come each 500 us; and, inferred, the target has
// followed every cut (clamp_target), or the rate would come back within a few ms. A lone queue pair of 1024 messages
// has 77 to 82 Gbit/s, two have 97.7 together. So, inferred, each return to line rate makes the next CNP a first one
// (release), which cuts deeply; a second cut follows soon, by the NAK. cut_interval is fitted on lone queue pairs:
// alpha has decayed to 0.73 when the first cut comes, which leaves 63%, where the 4 us of NVIDIA would leave 51%, and
// prevent the discards that are measured; the incast of two was known when it was chosen. First cuts of at least 30%
// were seen after 3, 16 and 39 ms; nothing here delays them: with clocks that differ it takes such times until both
// senders lose packets. The rest is NVIDIA's.
static const struct weft_param_value cx5_measured[] = {
    {"g", "5/1024"},
    {"initial_alpha", "1023/1024"},
    {"alpha_interval", "1us"},
    {"rate_on_first_cnp", "1"},
    {"cut_interval", "64us"},
    {"gd", "11"},
    {"min_decrease_factor", "50%"},
    {"clamp_target", "true"},
    {"release", "true"},
    {"increase_timer", "500us"},
    {"fast_recovery_stages", "1"},
    {"additive_increase", "5Mbps"},
    {"hyper_increase", "50Mbps"},
    {"min_rate", "1Mbps"},
    {NULL, NULL},
};
static const struct weft_param_preset presets[] = {
    {"hpcc", hpcc}, {"hpcc_config", hpcc_config}, {"connectx", connectx}, {"cx5_measured", cx5_measured}, {NULL, NULL}};
static const char *const preset_names[] = {"none", "hpcc", "hpcc_config", "connectx", "cx5_measured", NULL};

static const struct weft_param_table connectx_params = WEFT_PARAM_TABLE_OF(
    "dcqcn_connectx", struct connectx_conf, .presets = presets,
    WEFT_CHOICE(
        struct connectx_conf, preset, "preset", "none", preset_names,
        "values of a source: the HPCC simulator's runs at 100G (run.py), its example mix/config.txt, a ConnectX "
        "NIC as delivered, or a ConnectX-5 as measured; other keys override it"),
    WEFT_REAL(struct connectx_conf, g, "g", "1/256", "1/65536", "1",
              "gain of the average that is alpha (1 - dce_tcp_g / 1024)"),
    WEFT_REAL(struct connectx_conf, initial_alpha, "initial_alpha", "1", "0", "1",
              "alpha set by the first CNP (initial_alpha_value / 1024)"),
    WEFT_TIME(struct connectx_conf, alpha_interval_ps, "alpha_interval", "1us", "1ns", "1s",
              "interval between updates of alpha (dce_tcp_rtt)"),
    WEFT_REAL(struct connectx_conf, rate_on_first_cnp, "rate_on_first_cnp", "1", "1/1000", "1",
              "fraction of the rate left by the first CNP (rate_to_set_on_first_cnp / line rate; 0 there is 1 here)"),
    WEFT_TIME(struct connectx_conf, cut_interval_ps, "cut_interval", "4us", "1ns", "1s",
              "after a CNP the rate is cut at the next of these intervals (rate_reduce_monitor_period)"),
    WEFT_UINT(struct connectx_conf, gd, "gd", "11", "10", "20", "a cut takes alpha x 2^(10 - gd) of the rate (rpg_gd)"),
    WEFT_REAL(struct connectx_conf, min_decrease_factor, "min_decrease_factor", "50%", "0", "1",
              "one cut leaves at least this fraction of the rate (rpg_min_dec_fac)"),
    WEFT_RATE(struct connectx_conf, min_rate_bps, "min_rate", "100Mbps", "1bps", "100Tbps",
              "no cut goes below this (rpg_min_rate; the default is the HPCC simulator's)"),
    WEFT_BOOL(struct connectx_conf, clamp_target, "clamp_target", "false",
              "every cut sets the target to the rate; false: only if the timer raised the rate since the last cut "
              "(clamp_tgt_rate)"),
    WEFT_BOOL(struct connectx_conf, release, "release", "false",
              "a rate within 1 Mbit/s of line rate is no longer limited, and the next CNP is again a first one"),
    WEFT_TIME(struct connectx_conf, increase_timer_ps, "increase_timer", "300us", "1ns", "10s",
              "raise the rate after each such time without a cut (rpg_time_reset)"),
    WEFT_UINT(struct connectx_conf, fast_recovery_stages, "fast_recovery_stages", "1", "0", "1000",
              "increases before the target rises (F, rpg_threshold)"),
    WEFT_RATE(struct connectx_conf, additive_increase_bps, "additive_increase", "50Mbps", "0bps", "100Tbps",
              "added to the target in additive increase (rpg_ai_rate)"),
    WEFT_RATE(struct connectx_conf, hyper_increase_bps, "hyper_increase", "100Mbps", "0bps", "100Tbps",
              "added to the target in hyper increase (rpg_hai_rate)"));

struct connectx_state {
    weft_rate_bps rate_bps, target_bps;
    weft_time_ps first_ps;    ///< time of the first CNP, from which intervals are counted; never before it
    weft_time_ps cut_ps;      ///< next check that will cut; never while no CNP is pending
    weft_time_ps increase_ps; ///< next increase; never before the first cut and at line rate
    uint64_t alpha_updates;   ///< updates since the first CNP
    double alpha;
    uint32_t stage;
    bool alpha_cnp; ///< a CNP arrived since the last update of alpha
};

static size_t connectx_state_size(const void *conf) {
    return sizeof(struct connectx_state);
}

static void answer_act(const struct connectx_state *s, struct weft_cc_act *act) {
    act->rate_bps = s->rate_bps;
    act->timer_ps = s->cut_ps < s->increase_ps ? s->cut_ps : s->increase_ps;
}

/// Before the first CNP, and once a limit has been released.
static void set_unlimited(struct connectx_state *s, const struct connectx_conf *c, weft_rate_bps line) {
    *s = (struct connectx_state){.rate_bps = line,
                                 .target_bps = line,
                                 .first_ps = WEFT_TIME_NEVER,
                                 .cut_ps = WEFT_TIME_NEVER,
                                 .increase_ps = WEFT_TIME_NEVER,
                                 .alpha = c->initial_alpha};
}

static void connectx_start(void *state, const void *conf, const struct weft_cc_fact *fact, struct weft_cc_act *act) {
    struct connectx_state *s = state;
    set_unlimited(s, conf, fact->line_rate_bps);
    answer_act(s, act);
}

static weft_rate_bps least_rate(const struct connectx_conf *c, weft_rate_bps line) {
    return weft__rate_lesser(c->min_rate_bps, line);
}

/// All updates of alpha up to `time` in one step: only the first after a CNP counts it.
static void update_alpha(struct connectx_state *s, const struct connectx_conf *c, weft_time_ps time) {
    uint64_t updates = (time - s->first_ps) / c->alpha_interval_ps;
    if (updates <= s->alpha_updates) return;
    uint64_t n = updates - s->alpha_updates;
    if (s->alpha_cnp) {
        s->alpha = (1 - c->g) * s->alpha + c->g;
        s->alpha_cnp = false;
        n--;
    }
    s->alpha *= weft__power(1 - c->g, n);
    s->alpha_updates = updates;
}

static void connectx_cnp(void *state, const void *conf, const struct weft_cc_fact *fact, struct weft_cc_act *act) {
    const struct connectx_conf *c = conf;
    struct connectx_state *s = state;
    if (s->first_ps == WEFT_TIME_NEVER) {
        s->first_ps = fact->now_ps;
        s->rate_bps = weft__rate_cut(s->rate_bps, 1 - c->rate_on_first_cnp, least_rate(c, fact->line_rate_bps));
        s->target_bps = s->rate_bps;
    } else {
        update_alpha(s, c, fact->now_ps);
        s->alpha_cnp = true;
    }
    if (s->cut_ps == WEFT_TIME_NEVER) {
        uint64_t checks = (fact->now_ps - s->first_ps) / c->cut_interval_ps;
        s->cut_ps = s->first_ps + (checks + 1) * c->cut_interval_ps;
    }
    answer_act(s, act);
}

static void increase_rate(struct connectx_state *s, const struct connectx_conf *c, weft_rate_bps line) {
    s->increase_ps += c->increase_timer_ps;
    if (s->stage > c->fast_recovery_stages)
        s->target_bps += c->hyper_increase_bps;
    else if (s->stage == c->fast_recovery_stages)
        s->target_bps += c->additive_increase_bps;
    s->target_bps = weft__rate_lesser(s->target_bps, line);
    s->rate_bps = weft__rate_halfway(s->rate_bps, s->target_bps);
    s->stage++;
    bool released = c->release && line - s->rate_bps < RATE_UNIT_BPS && s->cut_ps == WEFT_TIME_NEVER;
    if (released)
        set_unlimited(s, c, line);
    else if (s->rate_bps == line)
        s->increase_ps = WEFT_TIME_NEVER;
}

static void cut_rate(struct connectx_state *s, const struct connectx_conf *c, weft_rate_bps line) {
    update_alpha(s, c, s->cut_ps);
    if (c->clamp_target || s->stage) s->target_bps = s->rate_bps;
    double part = s->alpha * (double)(UINT64_C(1) << 10) / (double)(UINT64_C(1) << c->gd);
    if (part > 1 - c->min_decrease_factor) part = 1 - c->min_decrease_factor;
    s->rate_bps = weft__rate_cut(s->rate_bps, part, least_rate(c, line));
    s->stage = 0;
    s->increase_ps = s->cut_ps + c->increase_timer_ps;
    s->cut_ps = WEFT_TIME_NEVER;
}

static void connectx_timer(void *state, const void *conf, const struct weft_cc_fact *fact, struct weft_cc_act *act) {
    const struct connectx_conf *c = conf;
    struct connectx_state *s = state;
    for (;;) {
        if (s->increase_ps <= fact->now_ps && s->increase_ps <= s->cut_ps)
            increase_rate(s, c, fact->line_rate_bps);
        else if (s->cut_ps <= fact->now_ps)
            cut_rate(s, c, fact->line_rate_bps);
        else
            break;
    }
    answer_act(s, act);
}

static const char *connectx_check(const void *state, const void *conf, const struct weft_cc_act *act) {
    const struct connectx_state *s = state;
    if (!s->rate_bps || s->rate_bps != act->rate_bps) return "the rate is 0 or not the one in force";
    if (s->rate_bps > s->target_bps) return "the rate is above its target";
    if (!(s->alpha >= 0 && s->alpha <= 1)) return "alpha is outside 0 to 1";
    if (s->first_ps == WEFT_TIME_NEVER && act->timer_ps != WEFT_TIME_NEVER) return "a timer runs before the first CNP";
    return NULL;
}

/// Steps of the HPCC simulator's runs and of its example, both of 100 Gbit/s. NVIDIA's 5 and 50 Mbit/s are of any rate.
static struct weft_cc_values connectx_values(const void *conf) {
    const struct connectx_conf *c = conf;
    bool runs = c->additive_increase_bps == 20000000 && c->hyper_increase_bps == 200000000;
    bool example = c->additive_increase_bps == 50000000 && c->hyper_increase_bps == 100000000;
    if (!runs && !example) return (struct weft_cc_values){0};
    return (struct weft_cc_values){UINT64_C(100000000000), "additive_increase"};
}

const struct weft_model weft__cc_dcqcn_connectx = WEFT_MODEL_OF(
    CC, "dcqcn_connectx", "DCQCN as ConnectX NICs do it: CNPs set bits that intervals look at, raise by timer only",
    "Li et al., SIGCOMM 2019 (HPCC simulator, rdma-hw.cc); NVIDIA DCQCN CC parameters; docs/dcqcn.md", &connectx_params,
    &(const struct weft_cc_ops){
        .state_size = connectx_state_size,
        .on_start = connectx_start,
        .on_cnp = connectx_cnp,
        .on_timer = connectx_timer,
        .values_of = connectx_values,
        .check = connectx_check,
        .estimate = weft_cc_estimate_open,
    });
