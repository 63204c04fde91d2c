// SPDX-License-Identifier: Apache-2.0
// Swift: G. Kumar et al., "Swift: Delay is Simple and Effective for Congestion Control in the Datacenter", SIGCOMM
// 2020, sections 3.1 to 3.5; what it does not state as in Broadcom's csg-htsim (sim/swift.cpp).
//   ACK, delay below target   cwnd += ai / cwnd a packet acknowledged (ai, if cwnd is below one)
//   ACK, delay above target   at most once an RTT: cwnd *= max(1 - beta (delay - target) / delay, 1 - max_mdf)
//   loss                      at most once an RTT: cwnd *= 1 - max_mdf
//   timeouts in a row         from `timeouts` on: cwnd = min_cwnd
//   target                    base + hops x hop + clamp(a / sqrt(cwnd) + b, 0, fs_range), which is fs_range at
//                             fs_min_cwnd and 0 at fs_max_cwnd
// A window below one packet is one packet at a time, paced: one every delay / cwnd.
// Differs: the delay is that of the whole round trip between NICs, there is no second window for delay at the endpoint;
// a NIC samples one round trip at a time, so that ACKs without a sample of their own see the delay of the last one; the
// number of hops is a parameter, because packets carry none; windows of one and above are not paced.
#include <math.h>
#include <stdio.h>

#include "weft/cc.h"
#include "weft/packet.h"

struct swift_conf {
    double ai, beta, max_mdf, min_cwnd, max_cwnd, initial_cwnd, fs_min_cwnd, fs_max_cwnd;
    weft_time_ps base_ps, hop_ps, fs_range_ps;
    uint64_t hops, timeouts;
};

static const struct weft_param swift_rows[] = {
    WEFT_TIME(struct swift_conf, base_ps, "base_target", "20us", "1ns", "1s",
              "target delay of a path without hops (htsim)"),
    WEFT_TIME(struct swift_conf, hop_ps, "hop_target", "3us", "0ns", "1s", "more for each hop (htsim: base / 6.55)"),
    WEFT_UINT(struct swift_conf, hops, "hops", "0", "0", "64", "that the path has (assumed)"),
    WEFT_TIME(struct swift_conf, fs_range_ps, "fs_range", "100us", "0ns", "1s",
              "flow scaling: more for a small window, at most; 0ns: none (htsim: 5 x base)"),
    WEFT_REAL(struct swift_conf, fs_min_cwnd, "fs_min_cwnd", "0.1", "1/1000", "1000",
              "flow scaling: the window that is given all of fs_range, packets"),
    WEFT_REAL(struct swift_conf, fs_max_cwnd, "fs_max_cwnd", "100", "1/1000", "1000000",
              "flow scaling: the window that is given nothing, packets"),
    WEFT_REAL(struct swift_conf, ai, "ai", "1", "1/1000", "1000", "additive increase, packets an RTT (htsim)"),
    WEFT_REAL(struct swift_conf, beta, "beta", "0.8", "0", "1", "multiplicative decrease"),
    WEFT_REAL(struct swift_conf, max_mdf, "max_mdf", "0.5", "0", "0.999", "one decrease takes at most this part"),
    WEFT_REAL(struct swift_conf, min_cwnd, "min_cwnd", "0.001", "1/1000000", "1000", "least window, packets"),
    WEFT_REAL(struct swift_conf, max_cwnd, "max_cwnd", "1024", "1", "1000000", "largest window, packets (assumed)"),
    WEFT_REAL(struct swift_conf, initial_cwnd, "initial_cwnd", "10", "1/1000000", "1000000",
              "window at the start, packets (assumed)"),
    WEFT_UINT(struct swift_conf, timeouts, "timeouts", "5", "1", "100",
              "so many timeouts in a row leave the least window (assumed)"),
};

static const char *swift_conf_check(const void *conf, char *text, size_t size) {
    const struct swift_conf *c = conf;
    if (c->fs_min_cwnd >= c->fs_max_cwnd)
        snprintf(text, size, "fs_min_cwnd (%g) is not below fs_max_cwnd (%g)", c->fs_min_cwnd, c->fs_max_cwnd);
    else if (c->initial_cwnd < c->min_cwnd || c->initial_cwnd > c->max_cwnd)
        snprintf(text, size, "initial_cwnd (%g) is not between min_cwnd (%g) and max_cwnd (%g)", c->initial_cwnd,
                 c->min_cwnd, c->max_cwnd);
    else
        return NULL;
    return text;
}
static const struct weft_param_table swift_params =
    WEFT_PARAM_TABLE_CHECKED("swift", struct swift_conf, swift_rows, swift_conf_check);

struct swift_state {
    double cwnd; ///< packets
    weft_time_ps delay_ps, cut_ps;
};

static size_t swift_state_size(const void *conf) {
    return sizeof(struct swift_state);
}

static double calc_target_ps(const struct swift_conf *c, double cwnd) {
    double range = (double)c->fs_range_ps, least = 1 / sqrt(c->fs_max_cwnd);
    double scaled = range * (1 / sqrt(cwnd) - least) / (1 / sqrt(c->fs_min_cwnd) - least);
    scaled = scaled < 0 ? 0 : scaled > range ? range : scaled;
    return (double)(c->base_ps + c->hops * c->hop_ps) + scaled;
}

static void answer(struct swift_state *s, const struct swift_conf *c, const struct weft_cc_fact *fact,
                   struct weft_cc_act *act) {
    s->cwnd = s->cwnd < c->min_cwnd ? c->min_cwnd : s->cwnd > c->max_cwnd ? c->max_cwnd : s->cwnd;
    act->rate_bps = fact->line_rate_bps;
    act->window_bytes = (weft_bytes)(s->cwnd < 1 ? 1 : s->cwnd) * fact->packet_bytes;
    if (s->cwnd >= 1 || !s->delay_ps) return;
    double bits = 8.0 * (fact->packet_bytes + WEFT_FRAME_DATA + WEFT_WIRE_OVERHEAD);
    double rate = bits * s->cwnd * (double)WEFT_PS_PER_S / (double)s->delay_ps;
    if (rate < (double)fact->line_rate_bps) act->rate_bps = rate < 1 ? 1 : (weft_rate_bps)rate;
}

static void swift_start(void *state, const void *conf, const struct weft_cc_fact *fact, struct weft_cc_act *act) {
    const struct swift_conf *c = conf;
    struct swift_state *s = state;
    *s = (struct swift_state){.cwnd = c->initial_cwnd, .cut_ps = fact->now_ps};
    act->timer_ps = WEFT_TIME_NEVER;
    answer(s, c, fact, act);
}

/// Leaves this part of the window, unless the last cut is less than an RTT ago.
static void cut(struct swift_state *s, weft_time_ps now, double part) {
    if (now - s->cut_ps < s->delay_ps) return;
    s->cwnd *= part;
    s->cut_ps = now;
}

static void swift_ack(void *state, const void *conf, const struct weft_cc_fact *fact, struct weft_cc_act *act) {
    const struct swift_conf *c = conf;
    struct swift_state *s = state;
    if (fact->rtt_ps) s->delay_ps = fact->rtt_ps;
    double delay = (double)s->delay_ps, target = calc_target_ps(c, s->cwnd);
    double packets = (double)fact->bytes / fact->packet_bytes;
    if (delay < target) {
        s->cwnd += c->ai * packets / (s->cwnd < 1 ? 1 : s->cwnd);
    } else {
        double part = 1 - c->beta * (delay - target) / delay;
        cut(s, fact->now_ps, part < 1 - c->max_mdf ? 1 - c->max_mdf : part);
    }
    answer(s, c, fact, act);
}

static void swift_loss(void *state, const void *conf, const struct weft_cc_fact *fact, struct weft_cc_act *act) {
    const struct swift_conf *c = conf;
    struct swift_state *s = state;
    if (fact->timeouts >= c->timeouts)
        s->cwnd = c->min_cwnd;
    else
        cut(s, fact->now_ps, 1 - c->max_mdf);
    answer(s, c, fact, act);
}

static const char *swift_check(const void *state, const void *conf, const struct weft_cc_act *act) {
    const struct swift_conf *c = conf;
    const struct swift_state *s = state;
    if (!(s->cwnd >= c->min_cwnd && s->cwnd <= c->max_cwnd)) return "the window is out of its bounds";
    if (!act->rate_bps || !act->window_bytes) return "nothing could be sent";
    return NULL;
}

static const struct weft_cc_ops swift_ops = {
    .state_size = swift_state_size,
    .on_start = swift_start,
    .on_ack = swift_ack,
    .on_loss = swift_loss,
    .check = swift_check,
};

const struct weft_model weft__cc_swift = {
    .kind = WEFT_KIND_CC,
    .name = "swift",
    .summary = "a window that holds the round trip at a target delay; below one packet it is paced",
    .source = "Kumar et al., Swift, SIGCOMM 2020; csg-htsim sim/swift.cpp for what it leaves open",
    .params = &swift_params,
    .ops = &swift_ops,
};
