// SPDX-License-Identifier: Apache-2.0
// DCTCP: M. Alizadeh et al., "Data center TCP (DCTCP)", SIGCOMM 2010, section 3; RFC 8257, section 3.
//   each round   F = part of the acknowledged bytes that were marked; alpha = (1 - g) alpha + g F
//   first mark of a round   cwnd *= 1 - alpha / 2
//   ACK          slow start: cwnd += acked; after the first mark or loss: cwnd += packet x acked / cwnd, except in a
//                round that began with a cut
//   loss         cwnd /= 2, at most once a round; timeouts in a row: one packet, and slow start up to half the window
// Switches mark at a depth K: switch.aqm {kind: wred, min: K, max: K}. A window is a number of bytes, one packet at
// least, and is not paced.
// Differences: the window is that of a queue pair, so TCP's rules for streams, delayed ACKs and idle connections do not
// apply; marks arrive with each ACK (host.transport.ecn_echo: ack) rather than by the two-state echo of the receiver.
#include "cc/round.h"
#include "weft/param.h"

struct dctcp_conf {
    double g, initial_alpha, initial_cwnd;
    weft_bytes max_cwnd_bytes;
};

static const struct weft_param_table dctcp_params = WEFT_PARAM_TABLE_OF(
    "dctcp", struct dctcp_conf, WEFT_PARAM_UNCHECKED,
    WEFT_REAL(struct dctcp_conf, g, "g", "1/16", "1/65536", "1", "gain of the average that is alpha (RFC 8257)"),
    WEFT_REAL(struct dctcp_conf, initial_alpha, "initial_alpha", "1", "0", "1", "alpha at the start (RFC 8257)"),
    WEFT_REAL(struct dctcp_conf, initial_cwnd, "initial_cwnd", "10", "1", "1000000",
              "window at the start, packets (RFC 6928)"),
    WEFT_BYTES(struct dctcp_conf, max_cwnd_bytes, "max_cwnd", "4MB", "64B", "1TB", "largest window (assumed)"));

struct dctcp_state {
    double cwnd, threshold; ///< bytes; threshold: slow start below it
    double alpha, acked, marked;
    weft_bytes round_left;
    bool cut; ///< in this round
};

static size_t dctcp_state_size(const void *conf) {
    return sizeof(struct dctcp_state);
}

static void answer_act(struct dctcp_state *s, const struct dctcp_conf *c, const struct weft_cc_fact *fact,
                       struct weft_cc_act *act) {
    double least = fact->packet_bytes, most = (double)c->max_cwnd_bytes;
    if (s->cwnd > most) s->cwnd = most;
    if (s->cwnd < least) s->cwnd = least;
    act->rate_bps = fact->line_rate_bps;
    act->timer_ps = WEFT_TIME_NEVER;
    act->window_bytes = (weft_bytes)s->cwnd;
}

static void dctcp_start(void *state, const void *conf, const struct weft_cc_fact *fact, struct weft_cc_act *act) {
    const struct dctcp_conf *c = conf;
    struct dctcp_state *s = state;
    *s = (struct dctcp_state){
        .cwnd = c->initial_cwnd * fact->packet_bytes, .threshold = (double)UINT64_MAX, .alpha = c->initial_alpha};
    answer_act(s, c, fact, act);
}

static void cut_window(struct dctcp_state *s, double part) {
    if (s->cut) return;
    s->cwnd *= part;
    s->threshold = s->cwnd;
    s->cut = true;
}

static void dctcp_ack(void *state, const void *conf, const struct weft_cc_fact *fact, struct weft_cc_act *act) {
    const struct dctcp_conf *c = conf;
    struct dctcp_state *s = state;
    s->acked += fact->bytes;
    if (fact->marked) s->marked += fact->bytes;
    if (weft__round_ends(&s->round_left, fact)) {
        s->alpha += c->g * (s->marked / s->acked - s->alpha);
        s->acked = s->marked = 0;
        s->cut = false;
    }
    if (fact->marked) cut_window(s, 1 - s->alpha / 2);
    if (s->cwnd < s->threshold)
        s->cwnd += fact->bytes;
    else if (!s->cut)
        s->cwnd += (double)fact->packet_bytes * fact->bytes / s->cwnd;
    answer_act(s, c, fact, act);
}

static void dctcp_loss(void *state, const void *conf, const struct weft_cc_fact *fact, struct weft_cc_act *act) {
    const struct dctcp_conf *c = conf;
    struct dctcp_state *s = state;
    if (fact->timeouts) {
        s->threshold = s->cwnd / 2;
        s->cwnd = 0;
        s->cut = true;
    } else {
        cut_window(s, .5);
    }
    s->round_left = fact->flight_bytes;
    answer_act(s, c, fact, act);
}

static const char *dctcp_check(const void *state, const void *conf, const struct weft_cc_act *act) {
    const struct dctcp_state *s = state;
    if (!(s->alpha >= 0 && s->alpha <= 1)) return "alpha is outside 0 to 1";
    if (act->window_bytes != (weft_bytes)s->cwnd) return "the window is not the one in force";
    return NULL;
}

const struct weft_model weft__cc_dctcp =
    WEFT_MODEL_OF(CC, "dctcp", "a window cut in proportion to the part of packets that were marked",
                  "Alizadeh et al., SIGCOMM 2010, section 3; RFC 8257", &dctcp_params,
                  &(const struct weft_cc_ops){
                      .state_size = dctcp_state_size,
                      .on_start = dctcp_start,
                      .on_ack = dctcp_ack,
                      .on_loss = dctcp_loss,
                      .check = dctcp_check,
                      .wants_marks = true,
                  });
