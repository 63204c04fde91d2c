// SPDX-License-Identifier: Apache-2.0
// HPCC: Y. Li et al., "HPCC: high precision congestion control", SIGCOMM 2019, section 3.2 and algorithm 1. Each data
// packet collects telemetry at every switch port (weft/telemetry.h), each ACK brings it back:
//   of a port    u = min(queue now, queue before) / (B T) + bytes sent in between / (B x time in between)
//   U            EWMA of the greatest u, of weight tau / T; tau: time in between at that port, at most T
//   window       U >= eta or stage >= max_stage: W = Wc / (U / eta) + w_ai, else W = Wc + w_ai
//   once a round Wc = W; the stage begins anew in the first case and goes up in the second
//   rate         W / T
// Differences: the size of telemetry does not change on the path, as in the authors' simulator
// (alibaba-edu/High-Precision-Congestion-Control, int-header.cc), with room for five ports; times are whole ps and
// counters 32 bits, where the paper's header has 24 and 20; after a change of path the first ACK is only remembered.
#include "cc/round.h"
#include "weft/param.h"

struct hpcc_conf {
    double eta;
    uint64_t max_stage;
    weft_bytes w_ai_bytes, header_bytes;
    weft_time_ps base_rtt_ps;
    weft_rate_bps min_rate_bps;
};

static const struct weft_param_table hpcc_params = WEFT_PARAM_TABLE_OF(
    "hpcc", struct hpcc_conf, WEFT_PARAM_UNCHECKED,
    WEFT_REAL(struct hpcc_conf, eta, "eta", "95%", "0.01", "1", "target utilisation"),
    WEFT_UINT(struct hpcc_conf, max_stage, "max_stage", "5", "0", "1000",
              "rounds of additive increase before a multiplicative one"),
    WEFT_BYTES(struct hpcc_conf, w_ai_bytes, "w_ai", "80B", "1B", "1GB", "additive increase of the window"),
    WEFT_TIME(struct hpcc_conf, base_rtt_ps, "base_rtt", "13us", "1ns", "1s",
              "T: the longest round trip of the network without queues (the paper's simulations: 13us)"),
    WEFT_BYTES(struct hpcc_conf, header_bytes, "int_header", "42B", "0B", "256B",
               "telemetry in each data packet and ACK: space for five ports of 8 B (the paper, section 4.1)"),
    WEFT_RATE(struct hpcc_conf, min_rate_bps, "min_rate", "0bps", "0bps", "100Tbps",
              "no window is less than this rate times base_rtt (the authors' simulator: 100Mbps); 0bps: one byte"));

struct hpcc_state {
    double window, reference, utilisation; ///< bytes; reference: Wc
    weft_bytes round_left;
    uint32_t stage;
    bool known; ///< `last` is from the last ACK
    struct weft_telemetry last;
};

static size_t hpcc_state_size(const void *conf) {
    return sizeof(struct hpcc_state);
}

static double bytes_in_base_rtt(const struct hpcc_conf *c, double rate_bps) {
    return rate_bps / 8 * (double)c->base_rtt_ps / (double)WEFT_PS_PER_S;
}

static void answer_act(struct hpcc_state *s, const struct hpcc_conf *c, const struct weft_cc_fact *fact,
                       struct weft_cc_act *act) {
    double most = bytes_in_base_rtt(c, (double)fact->line_rate_bps);
    double least = bytes_in_base_rtt(c, (double)c->min_rate_bps);
    if (s->window < least) s->window = least;
    if (s->window > most) s->window = most;
    if (s->window < 1) s->window = 1;
    double rate = (double)fact->line_rate_bps * (s->window / most);
    act->rate_bps = rate < 1 ? 1 : rate < (double)fact->line_rate_bps ? (weft_rate_bps)rate : fact->line_rate_bps;
    act->timer_ps = WEFT_TIME_NEVER;
    act->window_bytes = (weft_bytes)s->window;
}

static void hpcc_start(void *state, const void *conf, const struct weft_cc_fact *fact, struct weft_cc_act *act) {
    const struct hpcc_conf *c = conf;
    struct hpcc_state *s = state;
    *s = (struct hpcc_state){.window = bytes_in_base_rtt(c, (double)fact->line_rate_bps), .utilisation = 1};
    answer_act(s, c, fact, act);
    s->reference = s->window;
}

/// Updates the utilisation; false: there is nothing to compare with yet.
static bool measure_load(struct hpcc_state *s, const struct hpcc_conf *c, const struct weft_telemetry *now) {
    const struct weft_telemetry *last = &s->last;
    bool comparable = s->known && now->path == last->path && now->hops == last->hops;
    double u = 0, tau = 0;
    for (uint32_t i = 0; i < now->hops && comparable; i++) {
        if (now->time_ps[i] <= last->time_ps[i]) return false; // an older one that was overtaken
        double rate = now->rate_mbps[i] * 1e6, time = (double)(now->time_ps[i] - last->time_ps[i]);
        double sent_bits = 8.0 * (uint32_t)(now->sent_bytes[i] - last->sent_bytes[i]);
        uint32_t queue = now->queue_bytes[i] < last->queue_bytes[i] ? now->queue_bytes[i] : last->queue_bytes[i];
        double here = queue / bytes_in_base_rtt(c, rate) + sent_bits / (rate * time / (double)WEFT_PS_PER_S);
        if (here <= u) continue;
        u = here;
        tau = time;
    }
    s->last = *now;
    s->known = true;
    if (!comparable || !now->hops) return false;
    double weight = tau < (double)c->base_rtt_ps ? tau / (double)c->base_rtt_ps : 1;
    s->utilisation += weight * (u - s->utilisation);
    return true;
}

static void hpcc_ack(void *state, const void *conf, const struct weft_cc_fact *fact, struct weft_cc_act *act) {
    const struct hpcc_conf *c = conf;
    struct hpcc_state *s = state;
    if (!fact->telemetry || !measure_load(s, c, fact->telemetry)) return;
    bool ends = weft__round_ends(&s->round_left, fact);
    bool scales = s->utilisation >= c->eta || s->stage >= c->max_stage;
    s->window = (scales ? s->reference / (s->utilisation / c->eta) : s->reference) + (double)c->w_ai_bytes;
    answer_act(s, c, fact, act);
    if (!ends) return;
    s->stage = scales ? 0 : s->stage + 1;
    s->reference = s->window;
}

static const char *hpcc_check(const void *state, const void *conf, const struct weft_cc_act *act) {
    const struct hpcc_state *s = state;
    const struct hpcc_conf *c = conf;
    if (act->window_bytes != (weft_bytes)s->window) return "the window is not the one in force";
    if (s->stage > c->max_stage) return "more rounds of additive increase than there may be";
    return s->utilisation >= 0 ? NULL : "a utilisation below 0";
}

static weft_bytes hpcc_telemetry_bytes(const void *conf) {
    return ((const struct hpcc_conf *)conf)->header_bytes;
}

/// W_AI = W (1 - eta) / N (the paper, section 3.3): 80 B are those of 100 flows at 100 Gbit/s, with 13 us and 95%.
static struct weft_cc_values hpcc_values(const void *conf) {
    const struct hpcc_conf *c = conf;
    if (c->w_ai_bytes != 80) return (struct weft_cc_values){0};
    return (struct weft_cc_values){UINT64_C(100000000000), "w_ai"};
}

/// Links are used to eta.
static void hpcc_estimate(const void *conf, const struct weft_cc_path *path, struct weft_cc_estimate *estimate) {
    estimate->share = ((const struct hpcc_conf *)conf)->eta;
}

const struct weft_model weft__cc_hpcc =
    WEFT_MODEL_OF(CC, "hpcc", "a window computed from telemetry of every switch port on the path",
                  "Li et al., HPCC, SIGCOMM 2019, algorithm 1; its simulator, for the size of telemetry", &hpcc_params,
                  &(const struct weft_cc_ops){
                      .state_size = hpcc_state_size,
                      .on_start = hpcc_start,
                      .on_ack = hpcc_ack,
                      .values_of = hpcc_values,
                      .check = hpcc_check,
                      .estimate = hpcc_estimate,
                      .telemetry_bytes = hpcc_telemetry_bytes,
                  });
