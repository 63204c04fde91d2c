// SPDX-License-Identifier: Apache-2.0
// Pause frames: IEEE 802.1Q clause 36 (802.1Qbb), IEEE 802.3 annex 31D. Storm watchdog: after SONiC's PFC watchdog, but
// event-driven rather than polled: a storm is a priority that stays paused without a break for the detection time while
// frames wait.
#include "link/port.h"

#include "link/port_credit.h"

#include <math.h>
#include <string.h>

#include "weft/memory.h"

struct weft__speed weft__speed_of(weft_rate_bps rate) {
    uint64_t num = 8 * WEFT_PS_PER_S, divisor = num, rest = rate;
    while (rest) {
        uint64_t t = divisor % rest;
        divisor = rest;
        rest = t;
    }
    return (struct weft__speed){num / divisor, rate / divisor};
}

struct weft__speed weft__speed_by_clock(weft_rate_bps rate, double ppm) {
    if (ppm >= 0 && ppm <= 0) return weft__speed_of(rate);
    double byte_ps = 8.0 * (double)WEFT_PS_PER_S / (double)rate / (1 + ppm * 1e-6);
    return (struct weft__speed){(uint64_t)llround(ldexp(byte_ps, WEFT__CLOCK_BITS)), UINT64_C(1) << WEFT__CLOCK_BITS};
}

void weft__port_rows_init(struct weft__port_rows *rows, uint32_t ports, struct weft_arena *arena) {
    assert(ports <= UINT32_MAX / sizeof(struct weft__port_queue));
    rows->ports = ports;
    rows->queue = weft__arena_lines(arena, WEFT_PRIORITIES * (size_t)ports, sizeof *rows->queue);
    rows->pause = weft_arena_alloc(arena, WEFT_PRIORITIES * (size_t)ports, sizeof *rows->pause);
    weft_memory_sparse(rows->pause, WEFT_PRIORITIES * (size_t)ports * sizeof *rows->pause);
}

void weft__port_place(struct weft__port *port, const struct weft__port_rows *rows, uint32_t place) {
    port->queue = &rows->queue[place];
    port->row_bytes = rows->ports * (uint32_t)sizeof *rows->queue;
    port->pause = &rows->pause[place];
}

void weft__port_init(struct weft__port *port, uint32_t id, const struct weft_link_info *link,
                     const struct weft__port_peer *peer, const struct weft_outcome *outcome,
                     struct weft__port_faults *faults, struct weft__port_tap *tap) {
    assert(weft__port_row(port) == outcome->ports);
    *port = (struct weft__port){
        .queue = port->queue,
        .row_bytes = port->row_bytes,
        .pause = port->pause,
        .delay_data_ps = link->delay_ps + peer->processing_ps,
        .delay_pause_ps = link->delay_ps + peer->pause_reaction_ps,
        .peer_node = peer->node,
        .peer_port = peer->port,
        .peer_inbox = (uint8_t)peer->inbox,
        .part_ps = peer->cut_through, // of the speed below
        .counters = weft_outcome_at(outcome, id, 0),
        .special = faults || tap ? WEFT__PORT_SPECIAL : WEFT__PORT_PLAIN,
        .turn_ps = WEFT_TIME_NEVER,
        .faults = faults,
        .tap = tap,
        .id = id,
    };
    weft__port_set_speed(port, weft__speed_of(link->rate_bps));
}

void weft__port_set_speed(struct weft__port *port, struct weft__speed speed) {
    port->speed = speed;
    port->byte_ps = speed.byte_den == 1 && speed.byte_num <= UINT32_MAX ? (uint32_t)speed.byte_num : 0;
    port->gap_ps = (uint32_t)weft__port_time(port, WEFT__GAP);
    if (port->part_ps) port->part_ps = (uint32_t)weft__port_time(port, WEFT__PREAMBLE + WEFT__HEADER);
}

/// The port's number at its node.
static uint32_t trace_port(const struct weft__port *port) {
    return port->id - port->trace->port0;
}

weft_time_ps weft__port_part_rare(const struct weft__port *port, weft_time_ps now, uint32_t bytes,
                                  weft_time_ps last_bit) {
    return weft__port_part_sent(port, now, bytes, last_bit, true);
}

weft_time_ps weft__port_time_carried(struct weft__port *port, weft_time_ps now, uint64_t bytes) {
    if (now != port->busy_until_ps) port->byte_rem = 0; // the line was idle: no remainder to carry
    uint64_t num = bytes * port->speed.byte_num + port->byte_rem;
    port->byte_rem = num % port->speed.byte_den;
    return num / port->speed.byte_den;
}

void weft__port_set_wire(struct weft__port *port, const struct weft_wire_conf *conf, struct weft_arena *arena) {
    port->wire = weft_arena_alloc(arena, 1, sizeof *port->wire);
    port->wire->conf = conf;
    port->special = WEFT__PORT_SPECIAL;
}

weft_time_ps weft__wire_take(struct weft__port *port, weft_time_ps now, uint32_t bytes) {
    struct weft__port_wire *wire = port->wire;
    if (now != wire->until_ps) wire->byte_rem = 0;
    uint64_t num = (bytes + wire->conf->overhead_bytes) * port->speed.byte_num + wire->byte_rem;
    wire->byte_rem = wire->conf->serialisation == WEFT_SERIALISATION_EXACT ? num % port->speed.byte_den : 0;
    wire->until_ps = now + weft_wire_round(wire->conf, num / port->speed.byte_den);
    port->busy_until_ps = wire->until_ps;
    uint64_t gap = wire->conf->overhead_bytes > WEFT__PREAMBLE ? wire->conf->overhead_bytes - WEFT__PREAMBLE : 0;
    return wire->until_ps - weft_wire_round(wire->conf, weft__port_time(port, gap));
}

enum weft_drop weft__faults_loss(struct weft__port_faults *f, uint32_t bytes, weft_time_ps now, weft_time_ps last_bit,
                                 weft_time_ps *ret_at) {
    // The link's schedule is known in advance, so the sender knows what the receiver will never see: a frame is lost if
    // the link is down at any time between its first bit sent and its last bit received.
    weft_time_ps arrival = last_bit + f->link_delay_ps;
    for (uint32_t i = 0; i < f->downs; i++)
        if (now < f->down[i].to_ps && arrival >= f->down[i].from_ps) {
            if (*ret_at < f->down[i].from_ps) *ret_at = f->down[i].from_ps;
            return WEFT_DROP_LINK_DOWN;
        }
    if (f->bit_error_rate <= 0) return WEFT_DROPS;
    double good = exp(log1p(-f->bit_error_rate) * 8.0 * bytes);
    return weft_random_unit(&f->random) >= good ? WEFT_DROP_BIT_ERROR : WEFT_DROPS;
}

static void note_tapped(struct weft__tap_log *log, const struct weft__tapped *frame, uint32_t interface,
                        weft_time_ps time, uint32_t mark) {
    if (time < log->from_ps || time >= log->to_ps) return;
    if (log->noted < log->limit) {
        if (time > log->last_ps) log->last_ps = time;
    } else if (time > log->last_ps) { // this worker alone has as many earlier frames as the limit allows
        log->left_out++;
        return;
    }
    log->noted++;
    struct weft__tapped *record = weft__spool_add(log->spool);
    *record = *frame;
    record->packet.time_ps = time;
    weft_packet_set_node(&record->packet, interface);
    record->packet.port = (uint16_t)mark;
}

void weft__tap_note(const struct weft__port_tap *tap, const struct weft__tapped *frame, weft_time_ps last_bit,
                    enum weft_drop loss) {
    bool lost = loss != WEFT_DROPS;
    if (tap->sent_on != WEFT_NONE)
        note_tapped(tap->log, frame, tap->sent_on, last_bit, WEFT__TAP_SENT + (lost ? 1 + (uint32_t)loss : 0));
    if (tap->received_on != WEFT_NONE && !lost)
        note_tapped(tap->log, frame, tap->received_on, last_bit + tap->link_delay_ps, WEFT__TAP_RECEIVED);
}

/// A frame on the wire, at its last transmission.
struct on_wire {
    weft_time_ps begun, last_bit;
    weft_time_ps lost_at; ///< if the frame is lost
};

/// Why the link loses the frame, whose first transmission is `frame` and takes `time`; WEFT_DROPS: it arrives. Frames
/// destroyed by bit errors are retransmitted.
static enum weft_drop cross_link(struct weft__port *port, const struct weft_packet *packet, weft_time_ps time,
                                 struct on_wire *frame) {
    struct weft__port_faults *f = port->faults;
    if (!f) return WEFT_DROPS;
    enum weft_drop loss = weft__faults_loss(f, packet->bytes, frame->begun, frame->last_bit, &frame->lost_at);
    struct weft_retry_fact fact = {.link_delay_ps = f->link_delay_ps, .rate_bps = f->retry.rate_bps, .tries = 1};
    for (; loss == WEFT_DROP_BIT_ERROR && f->retry.ops; fact.tries++) {
        weft_time_ps wait = f->retry.ops->wait(f->retry.conf, &fact);
        if (wait == WEFT_TIME_NEVER) break;
        frame->begun = frame->lost_at = frame->last_bit + wait;
        port->busy_until_ps = frame->begun + time;
        frame->last_bit =
            port->wire ? weft__wire_take(port, frame->begun, packet->bytes) : port->busy_until_ps - port->gap_ps;
        weft__port_counters(port, packet->priority)->link_retries++;
        loss = weft__faults_loss(f, packet->bytes, frame->begun, frame->last_bit, &frame->lost_at);
    }
    return loss;
}

/// Handles a frame on a special port. True: the link loses it, and the loss is counted.
static bool is_lost(struct weft__port *port, struct weft__worker *w, const struct weft_packet *packet,
                    weft_time_ps time, struct on_wire *frame) {
    if (port->flows && packet->kind == WEFT_PACKET_DATA) weft__port_note_flow(port->flows, packet);
    enum weft_drop loss = cross_link(port, packet, time, frame);
    if (port->tap) {
        struct weft__tapped seen = {.packet = *packet};
        bool answers = packet->kind == WEFT_PACKET_ACK || packet->kind == WEFT_PACKET_NAK;
        if (packet->side && answers)
            memcpy(&seen.sack, weft__side_of(w, packet)->user, sizeof seen.sack); // first there
        seen.packet.psn = weft__side_psn(w, packet);
        seen.packet.side = false;
        weft__tap_note(port->tap, &seen, frame->last_bit, loss);
    }
    if (loss == WEFT_DROPS) return false;
    weft__count_drop(w, loss, packet);
    if (packet->kind == WEFT_PACKET_LLDP) w->tally.unawaited_bytes -= packet->bytes;
    weft__port_counters(port, packet->priority)->drops++;
    if (__builtin_expect(port->trace != NULL, 0))
        weft__trace_dropped(port->trace, frame->lost_at, packet, trace_port(port), loss, 0);
    return true;
}

/// Notes a followed frame that is sent. `plain`: its port has no wire of its own and no members.
static inline void follow_frame(struct weft__port *port, weft_time_ps now, const struct weft_packet *packet,
                                uint32_t psn, weft_time_ps sent, bool lost, bool plain) {
    weft_time_ps busy = port->busy_until_ps - now;
    uint32_t number = port->id - port->follow->port0;
    if (plain && weft__follow_add_frame(port->follow, now, busy, number, packet, psn, lost)) return;
    struct weft__follow_record one = {.time_ps = now,
                                      .qp = packet->qp,
                                      .psn = psn,
                                      .busy_ps = (uint32_t)busy,
                                      .port = (uint16_t)number,
                                      .what = (uint8_t)(WEFT_FOLLOWED_FRAME | (uint32_t)packet->kind << 4),
                                      .priority = packet->priority & 7u,
                                      .lost = lost};
    if (!plain || busy > UINT32_MAX)
        weft__follow_two(port->follow, one, sent, port->busy_until_ps);
    else
        *weft__follow_add(port->follow) = one;
}

/// Adds telemetry to the packet. Its own bytes still count as queued and already count as sent, so they are subtracted
/// from both.
static void note_telemetry(const struct weft__port *port, struct weft__worker *w, const struct weft_packet *packet) {
    struct weft_telemetry *t = (struct weft_telemetry *)weft__side_of(w, packet)->user;
    uint64_t queued = 0, packets = 0, sent = 0;
    if (t->hops == WEFT_TELEMETRY_HOPS) return;
    for (uint32_t p = 0; p < WEFT_PRIORITIES; p++) {
        queued += weft__port_queue_of(port, p)->bytes;
        sent += weft__port_queue_of(port, p)->tx_bytes;
        packets += weft__port_queue_of(port, p)->tx_packets;
    }
    uint64_t overhead = port->wire ? port->wire->conf->overhead_bytes : WEFT_WIRE_OVERHEAD;
    t->time_ps[t->hops] = w->now_ps;
    t->queue_bytes[t->hops] = (uint32_t)(queued - packet->bytes);
    t->sent_bytes[t->hops] = (uint32_t)(sent - packet->bytes + (packets - 1) * overhead);
    t->rate_mbps[t->hops] = (uint32_t)(port->speed.byte_den * 8000000 / port->speed.byte_num);
    t->path = (uint16_t)(t->path ^ (port->id + 1) * (uint32_t)(t->hops + 1));
    t->hops++;
}

/// Sends data on a port that only follows data.
static void transmit_followed(struct weft__port *port, struct weft__worker *w, const struct weft_packet *packet,
                              weft_time_ps sent) {
    if (weft__follow_has_qp(port->follow, packet->qp))
        follow_frame(port, w->now_ps, packet, weft__side_psn(w, packet), sent, false, true);
}

bool weft__port_transmit_special(struct weft__port *port, struct weft__worker *w, const struct weft_packet *packet,
                                 weft_time_ps time, weft_time_ps delay) {
    weft_time_ps now = w->now_ps, last_bit = port->busy_until_ps - port->gap_ps;
    if (port->special != WEFT__PORT_SPECIAL) {
        weft_time_ps sent = weft__port_sent(port, now, packet, last_bit, false);
        if (packet->kind == WEFT_PACKET_DATA) transmit_followed(port, w, packet, sent);
        weft__send(w, weft__port_peer_of(port), sent + delay, packet);
        return true;
    }
    if (port->telemetry && packet->side && packet->kind == WEFT_PACKET_DATA) note_telemetry(port, w, packet);
    if (port->wire) last_bit = weft__wire_take(port, now, packet->bytes);
    if (port->members) last_bit = weft__members_take(port, now, packet, time);
    uint32_t psn = weft__side_psn(w, packet); // a lost packet has no record any more
    struct on_wire frame = {.begun = now, .last_bit = last_bit, .lost_at = now};
    bool lost = is_lost(port, w, packet, time, &frame);
    weft_time_ps sent = weft__port_sent(port, frame.begun, packet, frame.last_bit, false);
    if (port->follow && weft__follow_has(port->follow, port->id, packet))
        follow_frame(port, now, packet, psn, sent, lost, !port->wire && !port->members);
    if (lost) return false;
    if (port->credit) weft__port_credit_spend(port, now, frame.last_bit + port->gap_ps, packet);
    weft__send(w, weft__port_peer_of(port), sent + delay, packet);
    return true;
}

static void resume_priority(struct weft__port *port, uint32_t priority, weft_time_ps at, enum weft_event_resumed how) {
    port->paused &= (uint8_t) ~(1u << priority);
    if (port->credit && port->credit->priorities >> priority & 1)
        weft__port_counters(port, priority)->credit_wait_ps += weft__port_credit_waited(port, priority, at);
    else
        weft__port_counters(port, priority)->paused_ps += at - weft__port_pause_of(port, priority)->since_ps;
    if (__builtin_expect(port->follow != NULL, 0)) weft__follow_pause(port->follow, port->id, at, priority, false);
    if (__builtin_expect(port->trace != NULL, 0))
        weft__trace_resumed(port->trace, at, trace_port(port), priority,
                            at - weft__port_pause_of(port, priority)->since_ps, how);
}

void weft__port_expire(struct weft__port *port, weft_time_ps now) {
    for (uint32_t p = 0; p < WEFT_PRIORITIES; p++)
        if (port->paused >> p & 1 && weft__port_pause_of(port, p)->until_ps <= now)
            resume_priority(port, p, weft__port_pause_of(port, p)->until_ps, WEFT_EVENT_BY_TIME);
}

void weft__port_pause_begin(struct weft__port *port, weft_time_ps now, uint32_t priority, weft_time_ps until) {
    if (!(port->paused >> priority & 1)) {
        weft__port_pause_of(port, priority)->since_ps = now;
        if (__builtin_expect(port->follow != NULL, 0)) weft__follow_pause(port->follow, port->id, now, priority, true);
        if (__builtin_expect(port->trace != NULL, 0))
            weft__trace_paused(port->trace, now, trace_port(port), priority,
                               weft__port_queue_of(port, priority)->bytes);
    }
    port->paused |= (uint8_t)(1u << priority);
    weft__port_pause_of(port, priority)->until_ps = until;
}

void weft__port_pause_over(struct weft__port *port, weft_time_ps now, uint32_t priority) {
    resume_priority(port, priority, now, WEFT_EVENT_BY_FRAME);
}

void weft__port_on_pause(struct weft__port *port, weft_time_ps now, const struct weft_packet *packet) {
    weft__port_expire(port, now);
    uint8_t classes = weft_packet_pfc_classes(packet);
    for (uint32_t p = 0; p < WEFT_PRIORITIES; p++) {
        if (!(classes >> p & 1)) continue;
        uint32_t quanta = weft_packet_pfc_quanta(packet, p);
        if (__builtin_expect(port->trace != NULL, 0))
            weft__trace_pause_received(port->trace, now, trace_port(port), p, classes, quanta, port->obeyed >> p & 1);
        if (quanta) {
            weft__port_counters(port, p)->pfc_rx_xoff++;
            if (!(port->obeyed >> p & 1)) continue;
            weft_time_ps until = now + weft__port_time(port, quanta * UINT64_C(64)); // a quantum is 512 bit times
            weft__port_pause_begin(port, now, p, port->until_resume ? WEFT_TIME_NEVER : until);
            weft__port_pause_of(port, p)->last_ps = now;
        } else {
            weft__port_counters(port, p)->pfc_rx_xon++;
            if (port->paused & port->obeyed & 1u << p) resume_priority(port, p, now, WEFT_EVENT_BY_FRAME);
        }
    }
}

weft_time_ps weft__port_pause_end(const struct weft__port *port, uint8_t mask) {
    weft_time_ps end = WEFT_TIME_NEVER;
    for (uint32_t p = 0; p < WEFT_PRIORITIES; p++)
        if (mask >> p & 1 && weft__port_pause_of(port, p)->until_ps < end) end = weft__port_pause_of(port, p)->until_ps;
    return end;
}

bool weft__port_want_pause(struct weft__port *port, uint32_t priority, bool xoff) {
    uint8_t bit = (uint8_t)(1u << priority);
    port->pfc_xoff = (uint8_t)(xoff ? port->pfc_xoff | bit : port->pfc_xoff & ~bit);
    if ((port->pfc_told ^ port->pfc_xoff) & bit)
        port->pending |= bit;
    else if (!xoff && !port->proxy_until_ps)
        port->pending &= (uint16_t)~bit; // the port changed its mind before the frame went out
    return port->pending != 0;
}

void weft__port_set_lossless(struct weft__port *port, weft_time_ps now, uint8_t priorities) {
    weft__port_expire(port, now);
    for (uint32_t p = 0; p < WEFT_PRIORITIES; p++)
        if (port->paused >> p & 1 && !(priorities >> p & 1)) resume_priority(port, p, now, WEFT_EVENT_BY_AGREEMENT);
    if (__builtin_expect(port->trace != NULL, 0) && priorities != port->lossless) {
        struct weft_event *event =
            weft__trace_add(port->trace, now, WEFT_EVENT_LOSSLESS, trace_port(port), WEFT_EVENT_NO_PRIORITY);
        if (event) {
            event->value = priorities;
            event->more = port->lossless;
        }
    }
    port->lossless = port->obeyed = priorities;
}

void weft__port_proxy_pause(struct weft__port *port, uint32_t priority, weft_time_ps until) {
    uint8_t bit = (uint8_t)(1u << priority);
    if (until <= port->proxy_until_ps[priority]) return;
    port->proxy_until_ps[priority] = until;
    if (!((port->pfc_told & port->pfc_xoff) & bit)) port->pending |= bit; // else the change follows our own XON
}

/// Of `classes`, none of which we want paused ourselves: the one for which the next frame carries a proxy pause, or
/// WEFT_NONE. *ret_more: the others, for later frames.
static uint32_t pick_proxied(const struct weft__port *port, uint8_t classes, weft_time_ps now, uint8_t *ret_more) {
    uint32_t found = WEFT_NONE;
    *ret_more = 0;
    if (!port->proxy_until_ps) return WEFT_NONE;
    for (uint32_t p = 0; p < WEFT_PRIORITIES; p++) {
        if (!(classes >> p & 1) || port->proxy_until_ps[p] <= now) continue;
        if (found == WEFT_NONE)
            found = p;
        else
            *ret_more |= (uint8_t)(1u << p);
    }
    return found;
}

/// The quanta for at least `time`, up to the field's maximum.
static uint32_t calc_quanta(const struct weft__port *port, weft_time_ps time) {
    unsigned __int128 num = (unsigned __int128)64 * port->speed.byte_num, den = port->speed.byte_den;
    unsigned __int128 quanta = (time * den + num - 1) / num;
    return quanta < 0xffff ? (uint32_t)quanta : 0xffff;
}

weft_time_ps weft__port_send_pause(struct weft__port *port, struct weft__worker *w, const struct weft_pfc_conf *pfc,
                                   uint32_t host) {
    // Each frame repeats ongoing pauses because one refresh time covers all of them.
    uint8_t classes = (uint8_t)(port->pending | (port->pfc_told & port->pfc_xoff)), xoff = classes & port->pfc_xoff;
    uint8_t more;
    uint32_t proxied = pick_proxied(port, classes & (uint8_t)~xoff, w->now_ps, &more), quanta = 0;
    classes &= (uint8_t)~more;
    if (proxied != WEFT_NONE) quanta = calc_quanta(port, port->proxy_until_ps[proxied] - w->now_ps);
    for (uint32_t p = 0; p < WEFT_PRIORITIES; p++) {
        if (xoff >> p & 1 || p == proxied)
            weft__port_counters(port, p)->pfc_tx_xoff++;
        else if (classes >> p & 1)
            weft__port_counters(port, p)->pfc_tx_xon++;
    }
    struct weft_packet frame = {
        .bytes = port->wire ? (uint16_t)port->wire->conf->pause_bytes : WEFT_FRAME_MIN,
        .dst = host,
        .qp = (uint32_t)pfc->quanta,
        .psn = classes | (uint32_t)xoff << 8 | quanta << 16,
        .late = true, // it arrives after the data frame that it overtook
        .kind = WEFT_PACKET_PFC,
        .priority = 7,
        .flags = proxied & 7u,
    };
    w->tally.injected_bytes += frame.bytes;
    weft__port_transmit(port, w, &frame, port->delay_pause_ps);
    if (__builtin_expect(port->trace != NULL, 0))
        weft__trace_pause_sent(port->trace, w->now_ps, trace_port(port), &frame,
                               port->busy_until_ps - port->gap_ps + port->delay_pause_ps);
    port->pfc_told = (uint8_t)((port->pfc_told & ~classes) | xoff);
    port->pending = (uint16_t)((port->pending & WEFT__PENDING_LLDP) | more);
    if (!port->pfc_told || pfc->lasts == WEFT_PFC_LASTS_UNTIL_RESUME) return WEFT_TIME_NEVER;
    return w->now_ps + (weft_time_ps)((double)weft__port_time(port, pfc->quanta * 64) * pfc->refresh);
}

uint8_t weft__port_watchdog(struct weft__port *port, const struct weft_pfc_conf *pfc, weft_time_ps now, uint8_t backlog,
                            uint8_t *ret_ended, weft_time_ps *ret_next) {
    uint8_t begun = 0;
    *ret_ended = 0;
    *ret_next = WEFT_TIME_NEVER;
    if (pfc->watchdog_ps == WEFT_TIME_NEVER) return 0;
    weft__port_expire(port, now);
    for (uint32_t p = 0; p < WEFT_PRIORITIES; p++) {
        uint8_t bit = (uint8_t)(1u << p);
        weft_time_ps next = WEFT_TIME_NEVER;
        if (port->storm & bit) {
            if (now - weft__port_pause_of(port, p)->last_ps >= pfc->restore_ps)
                *ret_ended |= bit;
            else
                next = weft__port_pause_of(port, p)->last_ps + pfc->restore_ps;
        } else if (port->paused & port->obeyed & bit) {
            if (now - weft__port_pause_of(port, p)->since_ps < pfc->watchdog_ps) {
                next = weft__port_pause_of(port, p)->since_ps + pfc->watchdog_ps;
            } else if (backlog & bit) {
                begun |= bit;
                weft__port_counters(port, p)->watchdog_storms++;
                weft__port_pause_of(port, p)->last_ps = now; // a storm lasts for the restoration time at least
                next = now + pfc->restore_ps;
            } else {
                next = now + pfc->watchdog_ps; // paused, but no frame waits: check again
            }
        }
        if (next < *ret_next) *ret_next = next;
    }
    port->storm = (uint8_t)((port->storm | begun) & ~*ret_ended);
    if (__builtin_expect(port->trace != NULL, 0) && (begun || *ret_ended))
        weft__trace_storms(port->trace, now, trace_port(port), begun, *ret_ended, port->pause, weft__port_row(port));
    return begun;
}

void weft__port_sample(struct weft__port *port, struct weft__worker *w, const weft_bytes *ingress_bytes) {
    for (uint32_t p = 0; p < WEFT_PRIORITIES; p++) {
        uint64_t sent = weft__port_queue_of(port, p)->tx_bytes;
        if (!sent && !ingress_bytes[p] && !weft__port_queue_of(port, p)->bytes) continue;
        struct weft_sample sample = {
            .time_ps = w->now_ps,
            .port = port->id,
            .priority = p,
            .queue_bytes = weft__port_queue_of(port, p)->bytes,
            .ingress_bytes = ingress_bytes[p],
            .tx_bytes = sent,
            .paused = weft__port_paused(port, w->now_ps) >> p & 1,
            .flows = port->flows ? weft__port_flows_lately(port->flows, p) : 0,
        };
        weft__sample_add(w, &sample);
    }
}

void weft__port_each(const struct weft__port *port, uint32_t number,
                     void (*on_packet)(void *context, const struct weft_packet *, uint32_t number), void *context) {
    for (uint32_t p = 0; p < WEFT_PRIORITIES; p++) {
        struct weft__fifo_cursor c = weft__fifo_begin(&weft__port_queue_of(port, p)->fifo);
        for (const struct weft_packet *packet; (packet = weft__fifo_next(&c));)
            on_packet(context, packet, number);
    }
}

void weft__port_finish(struct weft__port *port, weft_time_ps now) {
    weft__port_expire(port, now);
    port->trace = NULL;
    for (uint32_t p = 0; p < WEFT_PRIORITIES; p++)
        if (port->paused >> p & 1) resume_priority(port, p, now, WEFT_EVENT_BY_TIME);
    for (uint32_t p = 0; p < WEFT_PRIORITIES; p++) {
        const struct weft__port_queue *q = weft__port_queue_of(port, p);
        if (!q->tx_packets && !q->bytes_max) continue; // nothing is written where a priority is not used
        struct weft_counters *c = weft__port_counters(port, p);
        c->tx_packets = q->tx_packets;
        c->tx_bytes = q->tx_bytes;
        c->queue_bytes_max = q->bytes_max;
    }
}
