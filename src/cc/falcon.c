// SPDX-License-Identifier: Apache-2.0
// Falcon's fabric window with protective load balancing. The window is that of cc/delay_window.h, like Swift's. In
// addition the sender computes, per round trip, the share of acknowledged bytes whose delay was above plb_delay times
// the target. After plb_rounds round trips in a row in which that share was at least plb_part, packets take another
// path.
//
// Sources: OCP, "Falcon Transport Protocol", specification 0.9, chapter 10 (rules; it states no values, so those of
// Swift are the defaults of the window); M. A. Qureshi et al., "PLB: Congestion Signals are Simple and Effective for
// Network Load Balancing", SIGCOMM 2022 (rounds that are congested, and then a new flow label).
// Differences: no second window for the receiver's buffer (ncwnd), because a NIC here places arriving data at once or
// pauses its switch; a timeout also asks for another path, as PLB does; the next path follows from the next value of
// the UDP source port. A queue pair has one path at a time: with uet use spray: single, with roce_rc retransmission:
// selective, because packets on the old path may be overtaken.
#include "cc/delay_window.h"
#include "cc/round.h"
#include "weft/param.h"

struct falcon_conf {
    struct weft__delay_conf window;
    double plb_delay, plb_part;
    uint64_t plb_rounds;
};

static const char *falcon_conf_check(const void *conf, char *text, size_t size) {
    return weft__delay_conf_check(&((const struct falcon_conf *)conf)->window, text, size);
}
static const struct weft_param_table falcon_params = WEFT_PARAM_TABLE_OF(
    "falcon", struct falcon_conf, .check = falcon_conf_check, WEFT_DELAY_ROWS(struct falcon_conf, window),
    WEFT_REAL(struct falcon_conf, plb_delay, "plb_delay", "0.8", "1/1000", "1000",
              "an acknowledgement counts as congested if its delay is above this many targets (assumed; below 1, "
              "because the window holds flows that share a link at 1)"),
    WEFT_REAL(struct falcon_conf, plb_part, "plb_part", "0.5", "1/1000", "1",
              "a round trip counts as congested if this fraction of its acknowledgements is (PLB, section 4: a half)"),
    WEFT_UINT(struct falcon_conf, plb_rounds, "plb_rounds", "3", "0", "1000",
              "change the path after this many congested round trips in a row; 0: never (assumed)"));

struct falcon_state {
    struct weft__delay_window window;
    weft_bytes round_left;
    uint64_t acked, congested; ///< bytes in this round trip
    uint64_t rounds;           ///< congested ones in a row
};

static size_t falcon_state_size(const void *conf) {
    return sizeof(struct falcon_state);
}

static void falcon_start(void *state, const void *conf, const struct weft_cc_fact *fact, struct weft_cc_act *act) {
    struct falcon_state *s = state;
    *s = (struct falcon_state){.rounds = 0};
    weft__delay_start(&s->window, &((const struct falcon_conf *)conf)->window, fact, act);
}

static void leave_path(struct falcon_state *s, const struct falcon_conf *c, struct weft_cc_act *act) {
    act->new_path = c->plb_rounds > 0;
    s->rounds = 0;
}

/// A round trip has ended.
static void judge_round(struct falcon_state *s, const struct falcon_conf *c, struct weft_cc_act *act) {
    bool congested = s->acked && (double)s->congested >= c->plb_part * (double)s->acked;
    s->rounds = congested ? s->rounds + 1 : 0;
    s->acked = s->congested = 0;
    if (c->plb_rounds && s->rounds >= c->plb_rounds) leave_path(s, c, act);
}

static void falcon_ack(void *state, const void *conf, const struct weft_cc_fact *fact, struct weft_cc_act *act) {
    const struct falcon_conf *c = conf;
    struct falcon_state *s = state;
    double target = weft__delay_target_ps(&s->window, &c->window);
    weft__delay_ack(&s->window, &c->window, fact, act);
    s->acked += fact->bytes;
    if ((double)s->window.delay_ps > c->plb_delay * target) s->congested += fact->bytes;
    if (weft__round_ends(&s->round_left, fact)) judge_round(s, c, act);
}

static void falcon_loss(void *state, const void *conf, const struct weft_cc_fact *fact, struct weft_cc_act *act) {
    struct falcon_state *s = state;
    weft__delay_loss(&s->window, &((const struct falcon_conf *)conf)->window, fact, act);
    if (fact->timeouts) leave_path(s, conf, act);
}

static const char *falcon_check(const void *state, const void *conf, const struct weft_cc_act *act) {
    const struct falcon_conf *c = conf;
    const struct falcon_state *s = state;
    if (s->congested > s->acked) return "more is congested than acknowledged";
    if (c->plb_rounds && s->rounds >= c->plb_rounds) return "the path should have been left";
    return weft__delay_check(&s->window, &c->window, act);
}

const struct weft_model weft__cc_falcon = WEFT_MODEL_OF(
    CC, "falcon", "Falcon's window by delay, and another path after round trips that were congested (PLB)",
    "OCP Falcon specification 0.9, chapter 10; Qureshi et al., PLB, SIGCOMM 2022", &falcon_params,
    &(const struct weft_cc_ops){
        .state_size = falcon_state_size,
        .on_start = falcon_start,
        .on_ack = falcon_ack,
        .on_loss = falcon_loss,
        .check = falcon_check,
        .moves_path = true,
    });
