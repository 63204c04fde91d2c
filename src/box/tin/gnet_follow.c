// SPDX-License-Identifier: Apache-2.0
// What is kept of followed cells (weft/follow.h).
#include "box/tin/gnet_switch.h"

static enum weft_followed_cell carried_by(const struct weft_packet *cell) {
    static const uint8_t carries[WEFT__GNET_TYPES] = {
        [WEFT__GNET_RTS] = WEFT_CARRIES_SOLICIT, [WEFT__GNET_CTS] = WEFT_CARRIES_SOLICIT,
        [WEFT__GNET_CTD] = WEFT_CARRIES_SOLICIT, [WEFT__GNET_DATA] = WEFT_CARRIES_PACKET,
        [WEFT__GNET_REQ] = WEFT_CARRIES_REQUEST, [WEFT__GNET_RESP] = WEFT_CARRIES_ANSWER,
    };
    return (enum weft_followed_cell)carries[weft__gnet_type(cell)];
}

static bool is_followed(const struct weft__gnet *g, const struct weft_packet *cell, uint32_t o) {
    const struct weft__follow *f = g->follow_log;
    enum weft_followed_cell c = carried_by(cell);
    if (c == WEFT_CARRIES_PACKET && cell->kind == WEFT_PACKET_DATA && weft__follow_has_qp(f, cell->qp)) return true;
    if (c >= WEFT_CARRIES_REQUEST && f->rma) return true;
    return f->all && g->in[o].rate != WEFT__GNET_NO_LINK && f->all[o];
}

/// The number that identifies it in notes (weft/follow.h).
static uint32_t number_of(const struct weft_packet *cell) {
    bool request = weft__gnet_type(cell) == WEFT__GNET_REQ;
    return request ? weft__tin_req_number(cell->psn) : cell->psn;
}

void weft__gnet_follow(struct weft__gnet *g, const struct weft_packet *cell, enum weft_followed_what what, uint32_t o,
                       uint32_t vc, const weft_time_ps time[4]) {
    if (!is_followed(g, cell, o)) return;
    bool home = what == WEFT_FOLLOWED_CROSS && g->out[o].rate == WEFT__GNET_NO_LINK;
    enum weft_followed_cell is = carried_by(cell);
    uint32_t asks = is == WEFT_CARRIES_REQUEST  ? weft__gnet_from(cell)
                    : is == WEFT_CARRIES_ANSWER ? weft__gnet_to(cell)
                                                : 0;
    struct weft__follow_record *second =
        weft__follow_two(g->follow_log,
                         (struct weft__follow_record){.time_ps = time[0],
                                                      .qp = cell->qp,
                                                      .psn = number_of(cell),
                                                      .busy_ps = (uint32_t)(time[1] - time[0]),
                                                      .port = home ? 0 : (uint16_t)o,
                                                      .what = (uint8_t)what,
                                                      .home = home},
                         time[2], time[3]);
    second->busy_ps =
        weft__follow_cell_bits((struct weft__follow_cell){.vc = vc, .kind = cell->kind, .cell = is, .box = asks});
}
