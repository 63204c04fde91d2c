// SPDX-License-Identifier: Apache-2.0
// What a sender keeps account of that sends again only what is missing. See scoreboard.c.
#ifndef WEFT_TRANSPORT_SCOREBOARD_H
#define WEFT_TRANSPORT_SCOREBOARD_H

#include "weft/transport.h"

struct weft__scoreboard {
    uint32_t below;  ///< all below it is acknowledged
    uint32_t window; ///< packets from there on that may be under way
    uint32_t mask;   ///< of a packet's place
    uint32_t lost;   ///< packets to be sent again
    uint32_t search; ///< none of them is below it
    uint32_t named;  ///< first above all that came
    uint32_t judged; ///< what is missing below it was taken for lost once
    struct weft__score {
        uint64_t came, lost; ///< a bit a packet
    } score[];
};

size_t weft__scoreboard_size(uint64_t window); ///< zeroed at first; `window`: packets
void weft__scoreboard_start(struct weft__scoreboard *k, uint64_t window, struct weft_qp_sender *s);
/// The packet to send next; there must be one. True: it was sent before.
bool weft__scoreboard_send(struct weft__scoreboard *k, struct weft_qp_sender *s, uint32_t *ret_psn);
/// A packet came; all packets below one came. How many are acknowledged that were not before.
uint32_t weft__scoreboard_came(struct weft__scoreboard *k, struct weft_qp_sender *s, uint32_t psn);
/// Likewise packet base + i if bit i is set.
uint32_t weft__scoreboard_came_all(struct weft__scoreboard *k, struct weft_qp_sender *s, uint32_t base, uint64_t bits);
uint32_t weft__scoreboard_came_below(struct weft__scoreboard *k, struct weft_qp_sender *s, uint32_t psn);
/// A packet is under way.
bool weft__scoreboard_is_out(struct weft__scoreboard *k, const struct weft_qp_sender *s, uint32_t psn);
/// A packet under way is lost. False: it had come, was lost already, or was never sent.
bool weft__scoreboard_lose(struct weft__scoreboard *k, struct weft_qp_sender *s, uint32_t psn);
/// What is missing below a packet, and not yet judged, is lost. How many that are.
uint32_t weft__scoreboard_judge(struct weft__scoreboard *k, struct weft_qp_sender *s, uint32_t end);
/// All under way is lost.
uint32_t weft__scoreboard_lose_all(struct weft__scoreboard *k, struct weft_qp_sender *s);
/// NULL, or what is wrong with the account.
const char *weft__scoreboard_check(const struct weft__scoreboard *k, const struct weft_qp_sender *s);

#endif
