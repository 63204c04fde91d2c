// SPDX-License-Identifier: Apache-2.0
// Congestion control of 1RMA: A. Singhvi et al., "1RMA: Re-envisioning Remote Memory Access for Multi-tenant
// Datacenters", SIGCOMM 2020. Software sees each operation complete, with its delay, and paces the next ones:
//   completed, delay below target   cwnd += ai an operation, unless the line is full
//   completed, delay above target   at most once an RTT: cwnd *= max(1 - beta (delay - target) / delay, 1 - max_mdf)
//   timeout, NACK                   at most once an RTT, and not if begun before a cut: cwnd /= timeout_cut
//   rate                            size of an operation x cwnd / RTT
// The window is in operations. An initiator keeps one state for each server, which gets the delay in the network and
// the operations that timed out or were refused there; and one for itself, which gets the wait before a request is
// dispatched (counted in addition to an idle round trip) and the requests that never were. The lower rate is in force,
// so a full local window slows no single server, and a slow server slows only itself. Differences: the initial value,
// its bounds and the target are assumed.

#include "weft/cc.h"
#include "weft/param.h"

struct one_rma_conf {
    double ai, beta, max_mdf, timeout_cut, min_cwnd, max_cwnd, initial_cwnd;
    weft_time_ps target_ps, idle_rtt_ps;
};

static const char *one_rma_conf_check(const void *conf, char *text, size_t size) {
    const struct one_rma_conf *c = conf;
    if (c->initial_cwnd >= c->min_cwnd && c->initial_cwnd <= c->max_cwnd) return NULL;
    return WEFT_SAY(text, size, "initial_cwnd (%g) is not between min_cwnd (%g) and max_cwnd (%g)", c->initial_cwnd,
                    c->min_cwnd, c->max_cwnd);
}
static const struct weft_param_table one_rma_params = WEFT_PARAM_TABLE_OF(
    "1rma", struct one_rma_conf, .check = one_rma_conf_check,
    WEFT_TIME(struct one_rma_conf, target_ps, "target", "7.5us", "1ns", "1s",
              "delay to hold (assumed: one and a half idle round trips)"),
    WEFT_TIME(struct one_rma_conf, idle_rtt_ps, "idle_rtt", "5us", "1ns", "1s",
              "round trip until one has been measured; none is taken as shorter"),
    WEFT_REAL(struct one_rma_conf, ai, "ai", "0.25", "1/1000", "1000", "additive increase, operations per completion"),
    WEFT_REAL(struct one_rma_conf, beta, "beta", "0.8", "0", "1", "multiplicative decrease"),
    WEFT_REAL(struct one_rma_conf, max_mdf, "max_mdf", "0.5", "0", "0.999", "largest fraction that one decrease takes"),
    WEFT_REAL(struct one_rma_conf, timeout_cut, "timeout_cut", "10", "1", "1000",
              "a timeout or a NACK divides the window by this"),
    WEFT_REAL(struct one_rma_conf, min_cwnd, "min_cwnd", "0.01", "1/1000000", "1000",
              "smallest window, operations (assumed)"),
    WEFT_REAL(struct one_rma_conf, max_cwnd, "max_cwnd", "64", "0.01", "1000000",
              "largest window, operations (assumed)"),
    WEFT_REAL(struct one_rma_conf, initial_cwnd, "initial_cwnd", "3", "1/1000000", "1000000",
              "window at the start, operations (assumed: 100 Gbit/s of 4 KB in about 8 round trips)"));

struct one_rma_state {
    double cwnd; ///< operations
    weft_time_ps rtt_ps, cut_ps;
    bool cut; ///< at least once
};

static size_t one_rma_state_size(const void *conf) {
    return sizeof(struct one_rma_state);
}

static weft_time_ps rtt_of(const struct one_rma_state *s, const struct one_rma_conf *c) {
    return s->rtt_ps > c->idle_rtt_ps ? s->rtt_ps : c->idle_rtt_ps;
}

static void answer_act(struct one_rma_state *s, const struct one_rma_conf *c, const struct weft_cc_fact *fact,
                       struct weft_cc_act *act) {
    s->cwnd = s->cwnd < c->min_cwnd ? c->min_cwnd : s->cwnd > c->max_cwnd ? c->max_cwnd : s->cwnd;
    weft_time_ps rtt = rtt_of(s, c);
    double rate = 8.0 * fact->packet_bytes * s->cwnd * (double)WEFT_PS_PER_S / (double)rtt;
    act->rate_bps = rate < 1 ? 1 : rate > (double)fact->line_rate_bps ? fact->line_rate_bps : (weft_rate_bps)rate;
    act->window_bytes = UINT64_MAX; // the hardware has one for all servers
}

static void one_rma_start(void *state, const void *conf, const struct weft_cc_fact *fact, struct weft_cc_act *act) {
    const struct one_rma_conf *c = conf;
    struct one_rma_state *s = state;
    *s = (struct one_rma_state){.cwnd = c->initial_cwnd};
    act->timer_ps = WEFT_TIME_NEVER;
    answer_act(s, c, fact, act);
}

/// Multiplies the window by `part`, unless the last cut is less than an RTT ago, or happened after the lost operation
/// was started, which therefore could not reflect it.
static void cut_window(struct one_rma_state *s, const struct one_rma_conf *c, weft_time_ps now, double part,
                       weft_time_ps age) {
    weft_time_ps rtt = rtt_of(s, c);
    if (s->cut && now - s->cut_ps < (age > rtt ? age : rtt)) return;
    s->cwnd *= part;
    s->cut = true;
    s->cut_ps = now;
}

static void one_rma_ack(void *state, const void *conf, const struct weft_cc_fact *fact, struct weft_cc_act *act) {
    const struct one_rma_conf *c = conf;
    struct one_rma_state *s = state;
    if (fact->local)
        s->rtt_ps = c->idle_rtt_ps + fact->rtt_ps;
    else if (fact->rtt_ps)
        s->rtt_ps = fact->rtt_ps;
    double delay = (double)s->rtt_ps, target = (double)c->target_ps;
    if (delay < target) {
        if (act->rate_bps < fact->line_rate_bps) s->cwnd += c->ai * fact->bytes / fact->packet_bytes;
    } else {
        double part = 1 - c->beta * (delay - target) / delay;
        cut_window(s, c, fact->now_ps, part < 1 - c->max_mdf ? 1 - c->max_mdf : part, 0);
    }
    answer_act(s, c, fact, act);
}

static void one_rma_loss(void *state, const void *conf, const struct weft_cc_fact *fact, struct weft_cc_act *act) {
    const struct one_rma_conf *c = conf;
    cut_window(state, c, fact->now_ps, 1 / c->timeout_cut, fact->rtt_ps);
    answer_act(state, c, fact, act);
}

static const char *one_rma_check(const void *state, const void *conf, const struct weft_cc_act *act) {
    const struct one_rma_conf *c = conf;
    const struct one_rma_state *s = state;
    if (!(s->cwnd >= c->min_cwnd && s->cwnd <= c->max_cwnd)) return "the window is out of its bounds";
    if (!act->rate_bps || !act->window_bytes) return "nothing could be sent";
    return NULL;
}

const struct weft_model weft__cc_one_rma =
    WEFT_MODEL_OF(CC, "1rma", "a rate from the delay of each operation, for remote memory access in hardware",
                  "Singhvi et al., 1RMA, SIGCOMM 2020; target and bounds assumed", &one_rma_params,
                  &(const struct weft_cc_ops){
                      .state_size = one_rma_state_size,
                      .on_start = one_rma_start,
                      .on_ack = one_rma_ack,
                      .on_loss = one_rma_loss,
                      .check = one_rma_check,
                  });
