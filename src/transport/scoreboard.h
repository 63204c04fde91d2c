// SPDX-License-Identifier: Apache-2.0
// The record of a sender that retransmits only missing packets. See scoreboard.c.
#pragma once

#include "weft/transport.h"

struct weft__scoreboard {
    uint32_t below;  ///< everything below it is acknowledged
    uint32_t window; ///< packets from there on that may be in flight
    uint32_t mask;   ///< of a packet's place
    uint32_t lost;   ///< packets to be retransmitted
    uint32_t search; ///< none of those is below this one
    uint32_t named;  ///< one past the last packet that arrived
    uint32_t judged; ///< missing packets below it have already counted as lost once
    struct weft__score {
        uint64_t came, lost; ///< one bit per packet
    } score[];
};

size_t weft__scoreboard_size(uint64_t window); ///< zeroed at first; `window`: packets
void weft__scoreboard_start(struct weft__scoreboard *k, uint64_t window, struct weft_qp_sender *s);
/// The packet to send next; there must be one. True: it is a retransmission.
bool weft__scoreboard_send(struct weft__scoreboard *k, struct weft_qp_sender *s, uint32_t *ret_psn);
/// A packet arrived, and so did all below one. Returns how many are newly acknowledged.
uint32_t weft__scoreboard_came(struct weft__scoreboard *k, struct weft_qp_sender *s, uint32_t psn);
/// The same for packet base + i where bit i is set.
uint32_t weft__scoreboard_came_all(struct weft__scoreboard *k, struct weft_qp_sender *s, uint32_t base, uint64_t bits);
uint32_t weft__scoreboard_came_below(struct weft__scoreboard *k, struct weft_qp_sender *s, uint32_t psn);
/// Whether a packet is in flight.
bool weft__scoreboard_is_out(struct weft__scoreboard *k, const struct weft_qp_sender *s, uint32_t psn);
/// A packet in flight is lost. False: it had arrived, was already lost, or was never sent.
bool weft__scoreboard_lose(struct weft__scoreboard *k, struct weft_qp_sender *s, uint32_t psn);
/// Missing packets below this one that have not been judged yet are lost. Returns how many.
uint32_t weft__scoreboard_judge(struct weft__scoreboard *k, struct weft_qp_sender *s, uint32_t end);
/// Everything in flight is lost.
uint32_t weft__scoreboard_lose_all(struct weft__scoreboard *k, struct weft_qp_sender *s);
/// NULL, or what is wrong with the record.
const char *weft__scoreboard_check(const struct weft__scoreboard *k, const struct weft_qp_sender *s);
