// SPDX-License-Identifier: Apache-2.0
// A chip that takes only so many packets a second. The pipe serialises: each packet takes a turn of it, and the port
// that has sent it sends no other before the turn is over. So a lone packet is not delayed, the ports of a pipe have
// equal shares, and what waits does so in queues, where it counts. Data sheets give the rate of a whole chip (7060X6:
// 21.2 Gpps at 51.2T, which binds below frames of 281 B); how many pipes share it is rarely said.
#pragma once

#include "weft/types.h"

/// A turn, in ps and parts of a ps; and when the turns taken so far are over.
struct weft__turn {
    weft_time_ps ps;
    uint64_t part, parts;
};
struct weft__pipe {
    weft_time_ps over_ps;
    uint64_t over_part; ///< beyond over_ps
};

/// Of a chip with this rate; 0: it has no limit.
static inline struct weft__turn weft__turn_of(uint64_t packet_rate, uint64_t pipes) {
    uint64_t whole = WEFT_PS_PER_S * pipes;
    return packet_rate ? (struct weft__turn){whole / packet_rate, whole % packet_rate, packet_rate}
                       : (struct weft__turn){.parts = 1};
}

/// A packet is sent now. Returns when its turn is over.
static inline weft_time_ps weft__pipe_take(struct weft__pipe *pipe, const struct weft__turn *turn, weft_time_ps now) {
    if (pipe->over_ps + (pipe->over_part > 0) < now) *pipe = (struct weft__pipe){now, 0};
    pipe->over_ps += turn->ps;
    pipe->over_part += turn->part;
    if (pipe->over_part >= turn->parts) {
        pipe->over_part -= turn->parts;
        pipe->over_ps++;
    }
    return pipe->over_ps + (pipe->over_part > 0);
}
