// SPDX-License-Identifier: Apache-2.0
// RoCEv2 reliable connections. The receiver takes packets in order only (go-back-N): it answers a gap with one NAK and
// discards everything until the missing packet arrives; or, if so configured, it accepts packets in any order
// (reorder.c). An ACK acknowledges everything below it. The receiver is also the notification point of congestion
// control.
//
// Sources: IBTA volume 1 chapter 9 (reliable connection: PSN, ACK coalescing, NAK sequence error, local ACK timeout;
// READ responses need no ACK and so have no window, the requester asks again); RoCEv2 annex A17; Zhu et al., SIGCOMM'15
// (CNP, notification point); R. Mittal et al., "Revisiting network support for RDMA" (IRN), SIGCOMM 2018, section 3.1,
// for selective retransmission (scoreboard.c). Differences: PSNs do not wrap; a READ request asks for everything still
// missing.
#include "transport/roce_rc.h"

#include "transport/scoreboard.h"
#include "weft/param.h"
#include "weft/transport.h"
#include "weft/workload.h"

static const char *const out_of_orders[] = {"discard", "accept", NULL};
static const char *const ecn_echoes[] = {"cnp", "ack", NULL};
static const char *const retransmissions[] = {"go_back_n", "selective", NULL};
static const char *const duplicates[] = {"acknowledge", "ignore", NULL};

#define T struct weft__roce_rc_conf
#define TIMEOUT "16777216ns"
#define TIMEOUT_PS UINT64_C(16777216000)
/// The timeout of either key. IBTA: 4.096 us times a power of two.
static weft_time_ps timeout_of(const struct weft__roce_rc_conf *c) {
    return c->timeout_exponent ? UINT64_C(4096000) << c->timeout_exponent : c->timeout_ps;
}

static bool accepts_any(const struct weft__roce_rc_conf *c) {
    return c->out_of_order == WEFT__OUT_OF_ORDER_ACCEPT || c->retransmission == WEFT__SELECTIVE;
}

static const char *conf_check(const void *conf, char *text, size_t size) {
    const struct weft__roce_rc_conf *c = conf;
    if (c->timeout_exponent && c->timeout_ps != TIMEOUT_PS)
        return "timeout and NCCL_IB_TIMEOUT are one time in two notations; expected one of them";
    if (c->adaptive && timeout_of(c) == WEFT_TIME_NEVER) return "adaptive_timeout needs a timeout; expected one";
    if (c->adaptive && c->adaptive_from_ps > c->adaptive_to_ps) return "adaptive_from is above adaptive_to";
    if (c->nak_interval_ps == WEFT_TIME_NEVER || !accepts_any(c)) return NULL;
    return WEFT_SAY(
        text, size,
        "nak_interval is for packets discarded out of order; where they are accepted there is reorder_timeout");
}
static const struct weft_param_table params = WEFT_PARAM_TABLE_OF(
    "roce_rc", T, .check = conf_check, WEFT_UINT(T, ack_every, "ack_every", "1", "1", "65535", "packets per ACK"),
    WEFT_BOOL(T, ack_own_priority, "ack_own_priority", "false",
              "ACKs and NAKs have ack_priority instead of the priority of their data"),
    WEFT_UINT(T, ack_priority, "ack_priority", "7", "0", "7", "priority of ACKs and NAKs if ack_own_priority (assumed)",
              .needs = "ack_own_priority"),
    WEFT_UINT(T, cnp_priority, "cnp_priority", "7", "0", "7", "priority of CNPs (DSCP 48; assumed)"),
    WEFT_TIME(T, cnp_interval_ps, "cnp_interval", "50us", "0ns", "1s",
              "least time between two CNPs of a queue pair (DCQCN, SIGCOMM 2015)"),
    WEFT_CHOICE(T, ecn_echo, "ecn_echo", "cnp", ecn_echoes,
                "how the sender learns of marks: by CNPs, or by a flag on the ACK or NAK of each marked packet, sent "
                "at once in the data's queue (the HPCC simulator, rdma-hw.cc)"),
    WEFT_TIME(T, nak_interval_ps, "nak_interval", "never", "0ns", "never",
              "repeat the NAK for a missing packet after this time while later ones arrive (the HPCC simulator: "
              "500us); never: one NAK only"),
    WEFT_CHOICE(T, duplicates, "duplicates", "acknowledge", duplicates,
                "acknowledge a duplicate again, or not (the HPCC simulator, rdma-hw.cc); with a timeout it always is, "
                "otherwise the sender would repeat it for ever"),
    WEFT_TIME(T, timeout_ps, "timeout", TIMEOUT, "1us", "never",
              "after this long without progress, go back to the first unacknowledged packet (IBTA: 4.096us x 2^12, the "
              "exponent assumed)"),
    WEFT_UINT(T, timeout_exponent, "NCCL_IB_TIMEOUT", "0", "0", "31",
              "timeout as NCCL's environment has it, 4.096us x 2^this, where it is 20 (4.3 s); 0: timeout holds"),
    WEFT_BOOL(T, adaptive, "adaptive_timeout", "false",
              "senders use drawn timeouts: the first of a queue pair lies between adaptive_from and adaptive_to, each "
              "further one in a row is twice as long, up to 4 x timeout (NVIDIA: roce_adp_retrans_en); a READ's "
              "requester uses timeout"),
    WEFT_TIME(T, adaptive_from_ps, "adaptive_from", "100ms", "1us", "100s", "shortest first timeout (assumed)",
              .needs = "adaptive_timeout"),
    WEFT_TIME(T, adaptive_to_ps, "adaptive_to", "1s", "1us", "100s", "longest first timeout (assumed)",
              .needs = "adaptive_timeout"),
    WEFT_CHOICE(T, out_of_order, "out_of_order", "discard", out_of_orders,
                "packets that arrive while an earlier one is missing: discard them, with a NAK (go-back-N); or place "
                "them in memory (ConnectX-5 and later)"),
    WEFT_CHOICE(T, retransmission, "retransmission", "go_back_n", retransmissions,
                "after a loss resend everything from the missing packet on; or only what is missing: then receivers "
                "accept packets out of order and name each in an ACK or NAK (IRN, SIGCOMM 2018)"),
    WEFT_BOOL(T, slow_restart, "slow_restart", "false",
              "a sender that learns of a loss, by a NAK or a timeout, reports a CNP to its congestion control (NVIDIA: "
              "roce_slow_restart_en, and the counter roce_slow_restart_cnps)"),
    WEFT_UINT(T, reorder.packets, "reorder_window", "1024", "1", "1048576",
              "out_of_order: accept: packets beyond the first missing one that a receiver tracks; packets further "
              "ahead are discarded, with a NAK (assumed)",
              .needs = "out_of_order or retransmission"),
    WEFT_TIME(T, reorder.timeout_ps, "reorder_timeout", "100us", "0ns", "never",
              "out_of_order: accept: send a NAK for a packet that is missing for this long while later ones arrive "
              "(assumed)",
              .needs = "out_of_order or retransmission"));
#undef T

static weft_time_ps timeout_after(const struct weft__roce_rc_conf *conf, weft_time_ps time) {
    weft_time_ps timeout = timeout_of(conf);
    return timeout == WEFT_TIME_NEVER ? WEFT_TIME_NEVER : time + timeout;
}

/// The longest adaptive timeout, as a multiple of the one that is set (NVIDIA, "Adaptive Retransmission").
enum { ADAPTIVE_MOST = 4 };

static weft_time_ps roce_rc_patience(const void *conf) {
    const struct weft__roce_rc_conf *c = conf;
    weft_time_ps timeout = timeout_of(c);
    if (!c->adaptive) return timeout;
    return timeout > WEFT_TIME_MAX / ADAPTIVE_MOST ? WEFT_TIME_MAX : ADAPTIVE_MOST * timeout;
}

static bool roce_rc_discards(const void *conf) {
    return !accepts_any(conf);
}

static bool roce_rc_draws(const void *conf) {
    return ((const struct weft__roce_rc_conf *)conf)->adaptive;
}

/// When a sender that has made progress at `time`, and has had its timeouts since, has the next one.
static weft_time_ps sender_timeout_after(const struct weft_qp_sender *s, const struct weft_transport_fact *fact,
                                         weft_time_ps time) {
    const struct weft__roce_rc_conf *conf = fact->conf;
    if (__builtin_expect(!conf->adaptive, 1)) return timeout_after(conf, time);
    weft_time_ps most = roce_rc_patience(conf), wait = fact->sample->timeout_ps;
    for (uint32_t i = 0; i < s->timeouts && wait < most; i++)
        wait *= 2;
    return time + (wait < most ? wait : most);
}

static bool roce_rc_echoes(const void *conf) {
    return ((const struct weft__roce_rc_conf *)conf)->ecn_echo == WEFT__ECN_ECHO_ACK;
}

static bool roce_rc_sacks(const void *conf) {
    return ((const struct weft__roce_rc_conf *)conf)->retransmission == WEFT__SELECTIVE;
}

// --- sender -------------------------------------------------------------------------------------------------------

static void roce_rc_start(struct weft_qp_sender *s, const struct weft_transport_fact *fact) {
    const struct weft__roce_rc_conf *conf = fact->conf;
    s->progress_ps = fact->now_ps;
    if (conf->adaptive)
        fact->sample->timeout_ps =
            conf->adaptive_from_ps + fact->draw % (conf->adaptive_to_ps - conf->adaptive_from_ps + 1);
    if (conf->retransmission == WEFT__SELECTIVE &&
        fact->qp->verb != WEFT_VERB_READ) // nothing acknowledges the responses to a READ
        weft__scoreboard_start(fact->state, conf->reorder.packets, s);
}

static void arm_timer(struct weft_qp_sender *s, weft_time_ps due, weft_time_ps *ret_timer) {
    s->armed = due != WEFT_TIME_NEVER;
    if (s->armed) *ret_timer = due;
}

static size_t roce_rc_sender_size(const void *conf) {
    const struct weft__roce_rc_conf *c = conf;
    return c->retransmission == WEFT__SELECTIVE ? weft__scoreboard_size(c->reorder.packets) : 0;
}

/// Starts a sample with the packet that is sent now.
static void begin_sample(struct weft_qp_sender *s, const struct weft_transport_fact *fact, uint32_t psn) {
    if (s->sampling) return;
    s->sampling = fact->now_ps > 0; // not for a packet sent at the very beginning
    fact->sample->sent_ps = fact->now_ps;
    fact->sample->psn = psn;
}

static __attribute__((noinline)) void selective_turn(struct weft_qp_sender *s, const struct weft_transport_fact *fact,
                                                     struct weft_transport_send *ret) {
    if (s->next == s->una) s->progress_ps = fact->now_ps; // nothing was outstanding
    ret->again = weft__scoreboard_send(fact->state, s, &ret->psn);
    bool full = (weft_bytes)(s->next - s->una) * fact->qp->mtu >= s->window_bytes;
    ret->flags = s->next == s->posted || full || s->blocked ? WEFT_PACKET_ACK_REQUEST : 0;
    if (!ret->again) begin_sample(s, fact, ret->psn);
    if (!s->armed) arm_timer(s, sender_timeout_after(s, fact, fact->now_ps), &ret->timer_ps);
}

static void roce_rc_turn(struct weft_qp_sender *s, const struct weft_transport_fact *fact,
                         struct weft_transport_send *ret) {
    if (__builtin_expect(s->counts, 0)) {
        selective_turn(s, fact, ret);
        return;
    }
    bool last = s->next + 1 == s->posted;
    bool full = (weft_bytes)(s->next + 1 - s->una) * fact->qp->mtu >= s->window_bytes; // nothing more may be sent
                                                                                       // before an ACK
    ret->psn = s->next;
    ret->flags = last || full ? WEFT_PACKET_ACK_REQUEST : 0;
    ret->again = s->next < s->highest;
    if (!ret->again) s->highest = s->next + 1;
    if (s->next == s->una) s->progress_ps = fact->now_ps; // nothing was outstanding
    begin_sample(s, fact, s->next);
    s->next++;
    if (!s->armed && fact->qp->verb != WEFT_VERB_READ)
        arm_timer(s, sender_timeout_after(s, fact, fact->now_ps), &ret->timer_ps);
}

static weft_time_ps round_trip(struct weft_qp_sender *s, const struct weft_transport_fact *fact, uint32_t psn) {
    if (!s->sampling || psn <= fact->sample->psn) return 0;
    s->sampling = false;
    return fact->now_ps - fact->sample->sent_ps;
}

/// Everything below psn has arrived; `again`: go back to psn.
static void acknowledge_below(struct weft_qp_sender *s, const struct weft_transport_fact *fact, uint32_t psn,
                              bool again, struct weft_transport_news *ret) {
    if (psn < s->una) return; // an old ACK
    ret->moved = true;
    ret->acked = psn - s->una;
    if (ret->acked) {
        weft__roce_rc_acknowledge(s, fact->now_ps, psn);
        if (s->next < psn) s->next = psn;
        ret->rtt_ps = round_trip(s, fact, psn);
    }
    if (!again || s->next <= psn) return;
    ret->lost = true;
    ret->notified = ((const struct weft__roce_rc_conf *)fact->conf)->slow_restart;
    s->next = psn;
    s->sampling = false;
}

/// The round trip of the sampled packet, acknowledged or lost now; after that another one may be sampled.
static weft_time_ps end_sample(struct weft_qp_sender *s, const struct weft_transport_fact *fact, bool came) {
    s->sampling = false;
    return came ? fact->now_ps - fact->sample->sent_ps : 0;
}

/// Everything below psn has arrived, and so have the packets that the acknowledgement names; `again`: what is missing
/// before those is lost.
static void acknowledged_selectively(struct weft_qp_sender *s, const struct weft_transport_fact *fact, uint32_t psn,
                                     bool again, struct weft_transport_news *ret) {
    struct weft__scoreboard *k = fact->state;
    ret->moved = true;
    ret->acked = weft__scoreboard_came_below(k, s, psn);
    if (fact->sack) ret->acked += weft__scoreboard_came(k, s, fact->sack->psn);
    fact->sample->below = k->below;
    if (ret->acked) {
        s->progress_ps = fact->now_ps;
        s->timeouts = 0;
    }
    uint32_t sample = fact->sample->psn;
    if (s->sampling && ret->acked && (sample < k->below || (fact->sack && sample == fact->sack->psn)))
        ret->rtt_ps = end_sample(s, fact, true);
    if (!again || psn < k->below) return;
    ret->lost = weft__scoreboard_judge(k, s, k->named > psn + 1 ? k->named : psn + 1);
    ret->notified = ret->lost && ((const struct weft__roce_rc_conf *)fact->conf)->slow_restart;
    if (s->sampling && ret->lost && sample < k->named) end_sample(s, fact, false);
}

/// A READ request arrived: responds from psn.
static void respond_read(struct weft_qp_sender *s, uint32_t psn, struct weft_transport_news *ret) {
    s->next = s->una = psn;
    s->sampling = false;
    ret->moved = true;
}

static void roce_rc_control(struct weft_qp_sender *s, const struct weft_transport_fact *fact,
                            const struct weft_packet *p, struct weft_transport_news *ret) {
    if (p->kind == WEFT_PACKET_READ)
        respond_read(s, p->psn, ret);
    else if (__builtin_expect(s->counts, 0))
        acknowledged_selectively(s, fact, p->psn, p->kind == WEFT_PACKET_NAK, ret);
    else
        acknowledge_below(s, fact, p->psn, p->kind == WEFT_PACKET_NAK, ret);
}

static void roce_rc_sender_timer(struct weft_qp_sender *s, const struct weft_transport_fact *fact,
                                 struct weft_transport_news *ret) {
    s->armed = false;
    if (s->una == s->next) return; // nothing outstanding; the next packet sent sets the timer again
    weft_time_ps due = sender_timeout_after(s, fact, s->progress_ps);
    if (due > fact->now_ps) {
        arm_timer(s, due, &ret->timer_ps);
        return;
    }
    s->progress_ps = fact->now_ps;
    if (s->timeouts < UINT8_MAX) s->timeouts++;
    arm_timer(s, sender_timeout_after(s, fact, fact->now_ps), &ret->timer_ps);
    if (!s->counts) {
        acknowledge_below(s, fact, s->una, true, ret);
        return;
    }
    ret->moved = ret->lost = weft__scoreboard_lose_all(fact->state, s);
    ret->notified = ret->lost && ((const struct weft__roce_rc_conf *)fact->conf)->slow_restart;
    s->sampling = false;
}

static const char *roce_rc_check_sender(const struct weft_qp_sender *s, const struct weft_transport_fact *fact) {
    if (s->una > s->next) return "more is acknowledged than was sent";
    if (s->counts) return weft__scoreboard_check(fact->state, s);
    if (s->next > s->highest) return "a packet that was never sent is taken for sent";
    if (s->highest > s->posted) return "more was sent than there is";
    if (s->sampling && fact->sample->psn >= s->next) return "the round trip of a packet that is to be sent again";
    return NULL;
}

// --- receiver -----------------------------------------------------------------------------------------------------

/// For a receiver that repeats its NAKs.
struct discard_state {
    weft_time_ps nak_ps;
};

/// For a receiver that accepts packets out of order.
struct accept_state {
    struct weft_sack sack; ///< for the reply being built
    struct weft__reorder reorder;
};

static struct weft__reorder *reorder_of(const struct weft_transport_fact *fact) {
    return &((struct accept_state *)fact->state)->reorder;
}

static size_t roce_rc_receiver_size(const void *conf, const struct weft_qp_conf *qp) {
    const struct weft__roce_rc_conf *c = conf;
    if (!accepts_any(c)) return c->nak_interval_ps == WEFT_TIME_NEVER ? 0 : sizeof(struct discard_state);
    return offsetof(struct accept_state, reorder) + weft__reorder_size(&c->reorder, weft_qp_has_messages(qp));
}

/// Notification point, Zhu et al., SIGCOMM 2015, section 3.1: a marked packet is answered at once if no CNP was sent
/// within the last cnp_interval; otherwise the mark is remembered and answered when the interval is over. Here that
/// happens at the first packet after it, marked or not, so no timer is needed: a flow that sends nothing more has
/// nothing to slow down.
static void notify_marks(struct weft_qp_receiver *r, const struct weft_transport_fact *fact, bool marked,
                         struct weft_transport_reply *ret) {
    const struct weft__roce_rc_conf *conf = fact->conf;
    r->marked |= marked;
    if (conf->ecn_echo == WEFT__ECN_ECHO_ACK) return; // an ACK or NAK carries the mark
    if (!r->marked || (r->notified && fact->now_ps - r->cnp_ps < conf->cnp_interval_ps)) return;
    r->marked = false;
    r->notified = true;
    r->cnp_ps = fact->now_ps;
    ret->kind = WEFT_PACKET_CNP;
    ret->psn = (uint32_t)fact->now_ps;
    ret->priority = (uint8_t)conf->cnp_priority;
}

static void answer_packet(struct weft_qp_receiver *r, const struct weft__roce_rc_conf *conf, enum weft_packet_kind kind,
                          uint32_t data_priority, struct weft_transport_reply *ret) {
    ret->kind = (uint8_t)kind;
    ret->psn = r->expected;
    ret->priority = (uint8_t)weft__roce_rc_ack_priority(conf, data_priority);
    if (conf->ecn_echo != WEFT__ECN_ECHO_ACK) return;
    ret->echo = r->marked;
    r->marked = false;
}

/// A packet that is discarded without an answer takes its mark with it if answers carry marks.
static void forget_mark(struct weft_qp_receiver *r, const struct weft__roce_rc_conf *conf,
                        const struct weft_transport_receipt *receipt) {
    if (conf->ecn_echo == WEFT__ECN_ECHO_ACK && !receipt->reply.kind) r->marked = false;
}

static void request_read(const struct weft_qp_receiver *r, const struct weft_transport_fact *fact,
                         struct weft_transport_receipt *ret) {
    ret->reply =
        (struct weft_transport_reply){.psn = r->expected, .kind = WEFT_PACKET_READ, .priority = fact->qp->priority};
    ret->timer_ps = timeout_after(fact->conf, fact->now_ps);
}

/// Whether a NAK for the expected packet was sent and may not be repeated yet.
static bool has_asked(const struct weft_qp_receiver *r, const struct weft_transport_fact *fact) {
    const struct weft__roce_rc_conf *conf = fact->conf;
    if (!r->nak_sent || conf->nak_interval_ps == WEFT_TIME_NEVER) return r->nak_sent;
    return fact->now_ps - ((const struct discard_state *)fact->state)->nak_ps < conf->nak_interval_ps;
}

/// Asks the sender to go back to the expected packet: once, or each nak_interval until it arrives.
static void ask_again(struct weft_qp_receiver *r, const struct weft_transport_fact *fact, uint32_t data_priority,
                      struct weft_transport_receipt *ret) {
    const struct weft__roce_rc_conf *conf = fact->conf;
    if (has_asked(r, fact)) return;
    r->nak_sent = true;
    if (conf->nak_interval_ps != WEFT_TIME_NEVER) ((struct discard_state *)fact->state)->nak_ps = fact->now_ps;
    if (fact->qp->verb == WEFT_VERB_READ)
        request_read(r, fact, ret);
    else
        answer_packet(r, fact->conf, WEFT_PACKET_NAK, data_priority, &ret->reply);
}

/// Where the sender retransmits only missing packets: names each early packet, by a NAK once the expected one is
/// overdue.
static void name_early(struct weft_qp_receiver *r, const struct weft_transport_fact *fact, const struct weft_packet *p,
                       enum weft__reorder_verdict verdict, struct weft_transport_receipt *ret) {
    const struct weft__roce_rc_conf *conf = fact->conf;
    struct accept_state *state = fact->state;
    bool overdue = weft__reorder_is_overdue(&state->reorder, &conf->reorder, fact->now_ps);
    answer_packet(r, conf, overdue ? WEFT_PACKET_NAK : WEFT_PACKET_ACK, p->priority, &ret->reply);
    r->unacked = 0;
    if (verdict == WEFT__REORDER_TOO_FAR) return;
    state->sack.psn = p->psn;
    ret->reply.sack = &state->sack;
}

/// A packet arrived while an earlier one is missing.
static void on_early(struct weft_qp_receiver *r, const struct weft_transport_fact *fact, const struct weft_packet *p,
                     struct weft_transport_receipt *ret) {
    static const enum weft_transport_verdict verdicts[] = {
        [WEFT__REORDER_PLACED] = WEFT_TRANSPORT_DELIVERED,
        [WEFT__REORDER_CAME_BEFORE] = WEFT_TRANSPORT_DUPLICATE,
        [WEFT__REORDER_TOO_FAR] = WEFT_TRANSPORT_REFUSED,
    };
    const struct weft__roce_rc_conf *conf = fact->conf;
    enum weft__reorder_verdict verdict = WEFT__REORDER_TOO_FAR;
    if (accepts_any(conf))
        verdict = weft__reorder_put(reorder_of(fact), &conf->reorder, fact->now_ps, r->expected, p->psn,
                                    p->flags & WEFT_PACKET_LAST);
    ret->early = true;
    ret->verdict = verdicts[verdict];
    if (verdict == WEFT__REORDER_PLACED) r->progress_ps = fact->now_ps;
    if (conf->retransmission == WEFT__SELECTIVE && fact->qp->verb != WEFT_VERB_READ) {
        name_early(r, fact, p, verdict, ret);
        return;
    }
    if (verdict == WEFT__REORDER_TOO_FAR || weft__reorder_is_overdue(reorder_of(fact), &conf->reorder, fact->now_ps))
        ask_again(r, fact, p->priority, ret);
    if (ret->verdict != WEFT_TRANSPORT_DELIVERED) forget_mark(r, conf, ret);
}

/// A packet arrived again: its ACK may have been lost.
static void on_duplicate(struct weft_qp_receiver *r, const struct weft_transport_fact *fact,
                         const struct weft_packet *p, struct weft_transport_receipt *ret) {
    const struct weft__roce_rc_conf *conf = fact->conf;
    ret->verdict = WEFT_TRANSPORT_DUPLICATE;
    if (fact->qp->verb == WEFT_VERB_READ) return;
    if (conf->duplicates == WEFT__DUPLICATES_ACKNOWLEDGE || timeout_of(conf) != WEFT_TIME_NEVER)
        answer_packet(r, conf, WEFT_PACKET_ACK, p->priority, &ret->reply);
    forget_mark(r, conf, ret);
}

static void roce_rc_data(struct weft_qp_receiver *r, const struct weft_transport_fact *fact,
                         const struct weft_packet *p, struct weft_transport_receipt *ret) {
    const struct weft__roce_rc_conf *conf = fact->conf;
    bool read = fact->qp->verb == WEFT_VERB_READ, filled = false;
    notify_marks(r, fact, p->ecn == WEFT_ECN_CE, &ret->notify);
    if (p->psn > r->expected) {
        on_early(r, fact, p, ret);
        return;
    }
    if (p->psn < r->expected) {
        on_duplicate(r, fact, p, ret);
        return;
    }
    r->progress_ps = fact->now_ps;
    r->expected++;
    if (__builtin_expect(accepts_any(conf), 0)) {
        r->expected = weft__reorder_next(reorder_of(fact), &conf->reorder, fact->now_ps, p->psn, &ret->messages);
        filled = r->expected > p->psn + 1;
    }
    ret->messages += (p->flags & WEFT_PACKET_LAST) != 0;
    r->nak_sent = false;
    if (read || (!weft__roce_rc_owes_ack(r, conf, p) && !filled)) return;
    r->unacked = 0;
    answer_packet(r, conf, WEFT_PACKET_ACK, p->priority, &ret->reply);
}

/// For a READ: starts it, then checks whether responses still arrive.
static void roce_rc_receiver_timer(struct weft_qp_receiver *r, const struct weft_transport_fact *fact,
                                   struct weft_transport_receipt *ret) {
    if (r->progress_ps != WEFT_TIME_NEVER && timeout_after(fact->conf, r->progress_ps) > fact->now_ps) {
        ret->timer_ps = timeout_after(fact->conf, r->progress_ps);
        return;
    }
    r->progress_ps = fact->now_ps;
    request_read(r, fact, ret);
}

static const char *roce_rc_check_receiver(const struct weft_qp_receiver *r, const struct weft_transport_fact *fact) {
    const struct weft__roce_rc_conf *conf = fact->conf;
    if (r->expected > fact->qp->packets) return "more came than there is";
    if (r->unacked >= conf->ack_every) return "an ACK is overdue";
    if (!accepts_any(conf)) return NULL;
    return weft__reorder_check(reorder_of(fact), &conf->reorder, r->expected);
}

static struct weft_transport_acks roce_rc_acks(const void *conf, uint32_t priority) {
    const struct weft__roce_rc_conf *c = conf;
    return (struct weft_transport_acks){(uint32_t)c->ack_every, weft__roce_rc_ack_priority(c, priority)};
}

const struct weft_model weft__transport_roce_rc = WEFT_MODEL_OF(
    TRANSPORT, "roce_rc",
    "RoCEv2 reliable connection: go-back-N, or packets placed in any order and lost ones sent again alone; CNPs",
    "IBTA volume 1 chapter 9 and annex A17; Zhu et al., SIGCOMM 2015, for CNPs; differs: PSNs do not wrap, a "
    "READ request asks for all that is missing",
    &params,
    &(const struct weft_transport_ops){
        .on_turn = roce_rc_turn,
        .on_data = roce_rc_data,
        .on_control = roce_rc_control,
        .on_start = roce_rc_start,
        .on_sender_timer = roce_rc_sender_timer,
        .on_receiver_timer = roce_rc_receiver_timer,
        .receiver_size = roce_rc_receiver_size,
        .patience = roce_rc_patience,
        .discards = roce_rc_discards,
        .draws = roce_rc_draws,
        .echoes = roce_rc_echoes,
        .sacks = roce_rc_sacks,
        .sender_size = roce_rc_sender_size,
        .check_sender = roce_rc_check_sender,
        .check_receiver = roce_rc_check_receiver,
        .acks = roce_rc_acks,
    });
