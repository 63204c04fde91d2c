// SPDX-License-Identifier: Apache-2.0
// NSCC, the sender's congestion control of Ultra Ethernet: a window that depends on the queueing delay q of each round
// trip and on whether its packet was marked.
//   not marked, q below target   cwnd += alpha (target - q) an acknowledged byte; if q stayed below 1 us for a whole
//                                window, fast: + 0.25 a of what is acknowledged
//   not marked, q above target   cwnd += 5 a packets a round trip
//   marked, q above target       once a round trip cwnd *= max(1 - 0.8 (avg - target) / avg, 0.5), if the average is
//   above marked, q below target       nothing: the path is at fault, not the sender NACK, timeout                cwnd
//   -= packet quick adapt                  at the end of each base round trip plus target, if something was trimmed or
//   q was above
//                                4 targets, and less than an eighth of the greatest window came: cwnd is what came;
//                                marks of what was in flight then are ignored
// a is the bandwidth-delay product over that of 100G and 12 us. The greatest window is 1.5 BDP, and the first one, if
// no other is set.
//
// Sources: UE specification 1.0, congestion management sublayer (NSCC); rules and constants as in uet-htsim,
// sim/uec.cpp. Bytes acknowledged without their own round trip count with the average delay, and trimmed packets lower
// the base round trip, as there. Difference: with credit, a packet trimmed at the last hop cuts the window, too.
#include "cc/nscc.h"

#include "weft/cc.h"
#include "weft/param.h"

static const struct weft_param_table params = WEFT_PARAM_TABLE_OF(
    "nscc", struct weft__nscc_conf, WEFT_PARAM_UNCHECKED,
    WEFT_TIME(struct weft__nscc_conf, base_ps, "base_rtt", "12us", "100ns", "1s",
              "round trip of the longest path without queues; a shorter one is learnt"),
    WEFT_REAL(struct weft__nscc_conf, target, "target", "0.75", "1/1000", "100",
              "target queueing delay, relative to base_rtt (uet-htsim: 0.75 with trimming, else 1)"),
    WEFT_REAL(struct weft__nscc_conf, window, "window", "1.5", "1/100", "100",
              "largest window, relative to the bandwidth-delay product (uet-htsim)"),
    WEFT_BYTES(struct weft__nscc_conf, first_bytes, "first", "0B", "0B", "1TB",
               "first window, headers included; 0B: the largest window (uet-htsim: -cwnd)"),
    WEFT__CC_HEADER_ROW(struct weft__nscc_conf, header_bytes),
    WEFT_REAL(struct weft__nscc_conf, alpha, "alpha", "4", "0", "1000", "proportional increase (uet-htsim)"),
    WEFT_REAL(struct weft__nscc_conf, fair, "fair", "5", "0", "1000",
              "fair increase, packets per round trip (uet-htsim)"),
    WEFT_REAL(struct weft__nscc_conf, eta, "eta", "0.15", "0", "100",
              "constant increase, packets per round trip (uet-htsim)"),
    WEFT_REAL(struct weft__nscc_conf, fast, "fast", "0.25", "0", "100",
              "fast increase, relative to the bytes acknowledged (uet-htsim)"),
    WEFT_TIME(struct weft__nscc_conf, fast_ps, "fast_below", "1us", "0ns", "1s",
              "queueing delay below which the increase is fast (uet-htsim)"),
    WEFT_REAL(struct weft__nscc_conf, gamma, "gamma", "0.8", "0", "1", "gain of decreases (uet-htsim)"),
    WEFT_REAL(struct weft__nscc_conf, most, "max_decrease", "0.5", "0", "1",
              "largest fraction that one decrease takes"),
    WEFT_REAL(struct weft__nscc_conf, gain, "gain", "0.0125", "1/65536", "1", "gain of the average delay (uet-htsim)"),
    WEFT_UINT(struct weft__nscc_conf, gate, "gate", "3", "0", "30",
              "quick adapt if less than the largest window / 2^gate arrived (uet-htsim)"),
    WEFT_BOOL(struct weft__nscc_conf, credit, "credit", "false",
              "senders also wait for credit from receivers, as with rccc (both together)"),
    WEFT__PULL_ROWS(struct weft__nscc_conf, pull, .needs = "credit"),
    WEFT_REAL(struct weft__nscc_conf, adapt, "adapt", "4", "0", "1000", "or the delay is above this many targets"));

struct nscc_state {
    struct weft__credit credit;                          ///< if it uses credit, too
    double cwnd, most;                                   ///< bytes, headers included
    double scale;                                        ///< a
    double average, base;                                ///< ps
    double increase;                                     ///< to be added / cwnd at the next adjustment
    double received, calm, achieved, ignored, to_ignore; ///< bytes
    weft_time_ps adapt_ps, cut_ps, adjusted_ps;
    bool fast, lost;
};

static size_t nscc_state_size(const void *conf) {
    return sizeof(struct nscc_state);
}

static double bdp_of(weft_rate_bps rate, double rtt_ps) {
    return (double)rate * rtt_ps / (8.0 * (double)WEFT_PS_PER_S);
}

static double packet_of(const struct weft__nscc_conf *c, const struct weft_cc_fact *fact) {
    return (double)(fact->packet_bytes + c->header_bytes);
}

static double target_ps(const struct weft__nscc_conf *c) {
    return c->target * (double)c->base_ps;
}

static void bound_window(struct nscc_state *s, const struct weft__nscc_conf *c, const struct weft_cc_fact *fact) {
    if (s->cwnd > s->most) s->cwnd = s->most;
    if (s->cwnd < packet_of(c, fact)) s->cwnd = packet_of(c, fact);
}

static void answer_act(struct nscc_state *s, const struct weft__nscc_conf *c, const struct weft_cc_fact *fact,
                       struct weft_cc_act *act) {
    bound_window(s, c, fact);
    act->rate_bps = fact->line_rate_bps;
    act->window_bytes = (weft_bytes)(s->cwnd / packet_of(c, fact)) * fact->packet_bytes; // whole packets, at least one
    if (act->window_bytes < fact->packet_bytes) act->window_bytes = fact->packet_bytes;
    if (!c->credit) return;
    weft_bytes window = weft__credit_window(&s->credit, fact, (uint32_t)packet_of(c, fact));
    if (window < act->window_bytes) act->window_bytes = window;
}

static void set_base(struct nscc_state *s, const struct weft__nscc_conf *c, const struct weft_cc_fact *fact,
                     double base) {
    s->base = base;
    s->most = c->window * bdp_of(fact->line_rate_bps, base);
    if (s->most < packet_of(c, fact)) s->most = packet_of(c, fact);
}

static void learn_base(struct nscc_state *s, const struct weft__nscc_conf *c, const struct weft_cc_fact *fact,
                       weft_time_ps rtt_ps) {
    if (rtt_ps && (double)rtt_ps < s->base) set_base(s, c, fact, (double)rtt_ps);
}

static void nscc_start(void *state, const void *conf, const struct weft_cc_fact *fact, struct weft_cc_act *act) {
    const struct weft__nscc_conf *c = conf;
    struct nscc_state *s = state;
    *s = (struct nscc_state){.adjusted_ps = fact->now_ps, .cut_ps = fact->now_ps};
    set_base(s, c, fact, (double)c->base_ps);
    s->scale = bdp_of(fact->line_rate_bps, s->base) / bdp_of(UINT64_C(100) * 1000000000, 12.0 * (double)WEFT_PS_PER_US);
    s->cwnd = c->first_bytes ? (double)c->first_bytes : s->most;
    bound_window(s, c, fact);
    weft__credit_start(&s->credit, s->most);
    act->timer_ps = WEFT_TIME_NEVER;
    act->rests = !c->credit;
    answer_act(s, c, fact, act);
}

static void sample_delay(struct nscc_state *s, const struct weft__nscc_conf *c, double delay, bool marked) {
    double value = !marked && delay > target_ps(c) ? 0.25 * s->base : delay;
    s->average += c->gain * (value - s->average);
}

/// True: the arrived bytes say nothing more about the window.
static bool quick_adapt(struct nscc_state *s, const struct weft__nscc_conf *c, const struct weft_cc_fact *fact,
                        bool marked, bool lost, double delay) {
    bool done = false;
    if (s->ignored < s->to_ignore && marked) {
        done = true;
    } else if (fact->now_ps > s->adapt_ps) {
        bool bad = s->lost || lost || delay > c->adapt * target_ps(c);
        if (s->adapt_ps && bad && s->achieved < s->most / (double)(UINT64_C(1) << c->gate)) {
            s->cwnd = s->achieved;
            bound_window(s, c, fact);
            s->to_ignore = (double)fact->flight_bytes * packet_of(c, fact) / fact->packet_bytes;
            s->ignored = 0;
            s->lost = false;
            done = true;
        }
        s->achieved = 0;
        s->adapt_ps = fact->now_ps + (weft_time_ps)(s->base + target_ps(c));
    }
    if (done) s->increase = s->received = 0;
    return done;
}

/// True: the window grows fast.
static bool grow_fast(struct nscc_state *s, const struct weft__nscc_conf *c, double bytes, double delay) {
    s->calm = delay < (double)c->fast_ps ? s->calm + bytes : 0;
    s->fast = delay < (double)c->fast_ps && (s->fast || s->calm > s->cwnd);
    if (s->fast) s->cwnd += bytes * c->fast * s->scale;
    return s->fast;
}

static void decrease_window(struct nscc_state *s, const struct weft__nscc_conf *c, weft_time_ps now) {
    s->fast = false;
    s->calm = 0;
    if (s->average <= target_ps(c) || (double)(now - s->cut_ps) <= s->base) return;
    double part = 1 - c->gamma * (s->average - target_ps(c)) / s->average;
    s->cwnd *= part > 1 - c->most ? part : 1 - c->most;
    s->cut_ps = now;
}

static void adjust_window(struct nscc_state *s, const struct weft__nscc_conf *c, const struct weft_cc_fact *fact) {
    weft_time_ps since = fact->now_ps - s->adjusted_ps;
    if (s->received <= 8 * packet_of(c, fact) && since <= c->base_ps) return;
    s->cwnd += s->increase / s->cwnd;
    if (since >= c->base_ps) {
        s->cwnd += c->eta * fact->packet_bytes * s->scale;
        s->adjusted_ps = fact->now_ps;
    }
    s->increase = s->received = 0;
}

static void nscc_ack(void *state, const void *conf, const struct weft_cc_fact *fact, struct weft_cc_act *act) {
    const struct weft__nscc_conf *c = conf;
    struct nscc_state *s = state;
    double bytes = fact->bytes * packet_of(c, fact) / fact->packet_bytes, delay = s->average, mss = fact->packet_bytes;
    s->achieved += bytes;
    s->received += bytes;
    s->ignored += bytes;
    weft__credit_hear(&s->credit);
    if (fact->rtt_ps) {
        learn_base(s, c, fact, fact->rtt_ps);
        delay = (double)fact->rtt_ps - s->base;
        sample_delay(s, c, delay, fact->marked);
    }
    if (!quick_adapt(s, c, fact, fact->marked, false, delay)) {
        bool above = delay >= target_ps(c);
        if (fact->marked && above)
            decrease_window(s, c, fact->now_ps);
        else if (!fact->marked && above)
            s->increase += c->fair * mss * s->scale * bytes;
        else if (!fact->marked && !grow_fast(s, c, bytes, delay))
            s->increase += c->alpha * mss * s->scale * bytes * (target_ps(c) - delay) / (12.0 * (double)WEFT_PS_PER_US);
        bound_window(s, c, fact);
        adjust_window(s, c, fact);
    }
    answer_act(s, c, fact, act);
}

static void nscc_loss(void *state, const void *conf, const struct weft_cc_fact *fact, struct weft_cc_act *act) {
    const struct weft__nscc_conf *c = conf;
    struct nscc_state *s = state;
    uint32_t payload = fact->bytes ? fact->bytes : fact->packet_bytes;
    double bytes = payload * packet_of(c, fact) / fact->packet_bytes;
    if (fact->timeouts) {
        s->cwnd -= bytes;
    } else {
        weft__credit_lose(&s->credit, bytes);
        s->ignored += bytes;
        learn_base(s, c, fact, fact->trim_ps);
        sample_delay(s, c, (double)c->base_ps, true);
        s->lost = true;
        if (!quick_adapt(s, c, fact, true, true, 0)) s->cwnd -= bytes;
    }
    answer_act(s, c, fact, act);
}

static void nscc_sent(void *state, const void *conf, const struct weft_cc_fact *fact, struct weft_cc_act *act) {
    struct nscc_state *s = state;
    const struct weft__nscc_conf *c = conf;
    if (!c->credit) return;
    weft__credit_spend(&s->credit, (uint32_t)packet_of(c, fact));
    answer_act(s, c, fact, act);
}

static void nscc_credit(void *state, const void *conf, const struct weft_cc_fact *fact, struct weft_cc_act *act) {
    struct nscc_state *s = state;
    weft__credit_take(&s->credit, fact->bytes);
    answer_act(s, conf, fact, act);
}

/// Alone, it has the greatest window for the round trip that it has learnt.
static void nscc_estimate(const void *conf, const struct weft_cc_path *path, struct weft_cc_estimate *estimate) {
    const struct weft__nscc_conf *c = conf;
    weft_time_ps base = path->rtt_ps < c->base_ps ? path->rtt_ps : c->base_ps;
    double packets =
        c->window * bdp_of(path->line_rate_bps, (double)base) / (double)(path->packet_bytes + c->header_bytes);
    estimate->window_bytes = (packets < 1 ? 1 : (weft_bytes)packets) * path->packet_bytes;
}

/// As much as the window could use, plus a packet.
static weft_bytes nscc_target(const void *state, const void *conf, const struct weft_cc_fact *fact) {
    const struct nscc_state *s = state;
    double packet = packet_of(conf, fact);
    return weft__credit_target(&s->credit, fact, (uint32_t)packet, s->cwnd + packet);
}

static struct weft_cc_pull nscc_pull(const void *conf) {
    const struct weft__nscc_conf *c = conf;
    return weft__pull_of(&c->pull, c->window * (double)c->base_ps);
}

static bool nscc_by_credit(const void *conf) {
    return ((const struct weft__nscc_conf *)conf)->credit;
}

static const char *nscc_check(const void *state, const void *conf, const struct weft_cc_act *act) {
    const struct nscc_state *s = state;
    if (!(s->cwnd <= s->most)) return "the window is above its greatest";
    if (!(s->average >= 0)) return "the average delay is below 0";
    return act->window_bytes || s->credit.owed ? NULL : "nothing could be sent";
}

const struct weft_model weft__cc_nscc = WEFT_MODEL_OF(
    CC, "nscc", "Ultra Ethernet's window at the sender, by queueing delay and marks of each acknowledgement",
    "UE specification 1.0 (NSCC); uet-htsim, sim/uec.cpp", &params,
    &(const struct weft_cc_ops){
        .state_size = nscc_state_size,
        .on_start = nscc_start,
        .on_ack = nscc_ack,
        .on_loss = nscc_loss,
        .on_sent = nscc_sent,
        .on_credit = nscc_credit,
        .target = nscc_target,
        .pull = nscc_pull,
        .by_credit = nscc_by_credit,
        .check = nscc_check,
        .estimate = nscc_estimate,
        .wants_marks = true,
    });
