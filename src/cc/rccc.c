// SPDX-License-Identifier: Apache-2.0
// RCCC, the receiver's congestion control of Ultra Ethernet: receivers divide the rate of their line as credit, and a
// sender sends only with credit. It begins with a window of 1.5 bandwidth-delay products, the rest of which expires
// when the first answer returns, and tells with each packet how much more it wants; a receiver grants what was
// requested, in turn among the requesters, in pulls of four packets paced at its line (src/box/nic/nic_pull.c). While
// there is no request, it grants credit in advance to senders that have what they requested.
//
// Sources: UE specification 1.0, congestion management sublayer (RCCC); V. Olteanu et al., "An edge-queued datagram
// service for all datacenter traffic" (EQDS), NSDI 2022; figures as in uet-htsim, sim/uec.cpp. Differences: a sender
// without credit and with nothing in flight sends one packet, where uet-htsim sends a request (RTS) after a timeout; no
// control for oversubscribed networks.
#include "cc/credit.h"
#include "weft/param.h"

struct rccc_conf {
    weft_time_ps base_ps;
    double window;
    struct weft__pull_conf pull;
    weft_bytes header_bytes;
};

static const struct weft_param_table params = WEFT_PARAM_TABLE_OF(
    "rccc", struct rccc_conf, WEFT_PARAM_UNCHECKED,
    WEFT_TIME(struct rccc_conf, base_ps, "base_rtt", "12us", "100ns", "1s",
              "round trip of the longest path without queues"),
    WEFT_REAL(struct rccc_conf, window, "window", "1.5", "1/100", "100",
              "first and largest credit, relative to the bandwidth-delay product (uet-htsim)"),
    WEFT__CC_HEADER_ROW(struct rccc_conf, header_bytes), WEFT__PULL_ROWS(struct rccc_conf, pull, .needs = NULL));

static size_t rccc_state_size(const void *conf) {
    return sizeof(struct weft__credit);
}

static uint32_t packet_of(const struct rccc_conf *c, const struct weft_cc_fact *fact) {
    return fact->packet_bytes + (uint32_t)c->header_bytes;
}

static void answer_act(const struct weft__credit *s, const struct rccc_conf *c, const struct weft_cc_fact *fact,
                       struct weft_cc_act *act) {
    act->rate_bps = fact->line_rate_bps;
    act->window_bytes = weft__credit_window(s, fact, packet_of(c, fact));
}

static void rccc_start(void *state, const void *conf, const struct weft_cc_fact *fact, struct weft_cc_act *act) {
    const struct rccc_conf *c = conf;
    weft__credit_start(state, c->window * (double)fact->line_rate_bps * (double)c->base_ps / 8e12);
    act->timer_ps = WEFT_TIME_NEVER;
    answer_act(state, c, fact, act);
}

static void rccc_sent(void *state, const void *conf, const struct weft_cc_fact *fact, struct weft_cc_act *act) {
    weft__credit_spend(state, packet_of(conf, fact));
    answer_act(state, conf, fact, act);
}

static void rccc_credit(void *state, const void *conf, const struct weft_cc_fact *fact, struct weft_cc_act *act) {
    weft__credit_take(state, fact->bytes);
    answer_act(state, conf, fact, act);
}

static void rccc_ack(void *state, const void *conf, const struct weft_cc_fact *fact, struct weft_cc_act *act) {
    weft__credit_hear(state);
    answer_act(state, conf, fact, act);
}

static void rccc_loss(void *state, const void *conf, const struct weft_cc_fact *fact, struct weft_cc_act *act) {
    if (!fact->timeouts) weft__credit_lose(state, (double)fact->bytes / fact->packet_bytes * packet_of(conf, fact));
    answer_act(state, conf, fact, act);
}

static weft_bytes rccc_target(const void *state, const void *conf, const struct weft_cc_fact *fact) {
    return weft__credit_target(state, fact, packet_of(conf, fact), (double)INT64_MAX);
}

static struct weft_cc_pull rccc_pull(const void *conf) {
    const struct rccc_conf *c = conf;
    return weft__pull_of(&c->pull, c->window * (double)c->base_ps);
}

static const char *rccc_check(const void *state, const void *conf, const struct weft_cc_act *act) {
    const struct weft__credit *s = state;
    if (s->left > s->most) return "more credit than is kept";
    return act->window_bytes || s->owed ? NULL : "nothing could ever be sent";
}

const struct weft_model weft__cc_rccc = WEFT_MODEL_OF(
    CC, "rccc", "Ultra Ethernet's credit: receivers grant the rate of their line to those that ask, in turn",
    "UE specification 1.0 (RCCC); Olteanu et al., EQDS, NSDI 2022; uet-htsim, sim/uec.cpp", &params,
    &(const struct weft_cc_ops){
        .state_size = rccc_state_size,
        .on_start = rccc_start,
        .on_sent = rccc_sent,
        .on_ack = rccc_ack,
        .on_loss = rccc_loss,
        .on_credit = rccc_credit,
        .target = rccc_target,
        .pull = rccc_pull,
        .check = rccc_check,
    });
