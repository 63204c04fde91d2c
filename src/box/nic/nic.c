// SPDX-License-Identifier: Apache-2.0
// The RDMA NIC: one port, through which queue pairs that may send take turns (nic_send.c); control packets (ACK, NAK,
// CNP, READ requests) go before data of the same priority. Arriving packets reach the queue pair's sender or receiver
// (nic_receive.c), at once or as fast as the host takes them (nic_drain.c). The transport decides what these two tell
// each other (weft/transport.h).
#include "box/nic/nic.h"

#include <string.h>

#include "link/lldp.h"
#include "link/port_credit.h"
#include "transport/driven.h"
#include "transport/program.h"
#include "transport/rma.h"
#include "transport/trigger.h"

// --- the port -----------------------------------------------------------------------------------------------------

static inline __attribute__((always_inline)) void serve_port(struct weft__node *node, struct weft__nic *nic,
                                                             struct weft__worker *w) {
    if (weft__nic_is_held(nic)) return; // wait until the neighbour has room
    if (__builtin_expect(!weft__nic_heads_may_send(nic, w->now_ps), 0)) weft__nic_skip_idle(node, nic, w->now_ps);
    uint8_t mask = weft__ether_sendable(&nic->conf->pfc, &nic->port, w->now_ps, weft__nic_backlog(nic));
    if (!mask) return;
    bool choice = mask & (mask - 1) || nic->scheduler->on_sent; // a scheduler that charges packets must also grant them
    uint32_t priority = choice ? nic->scheduler->pick(&nic->port.scheduler, nic->conf->scheduler.conf, mask)
                               : (uint32_t)__builtin_ctz(mask);
    weft_bytes before = weft__port_queue_of(&nic->port, priority)->tx_bytes;
    if (nic->control_mask >> priority & 1) {
        struct weft_packet p;
        weft__fifo_pop(&nic->backlog[priority].control, nic->end.pool, &p);
        if (!nic->backlog[priority].control.n) nic->control_mask &= (uint8_t) ~(1u << priority);
        weft__nic_put(nic, w, &p);
    } else {
        weft__nic_send_data(node, nic, w, priority);
    }
    if (nic->scheduler->on_sent)
        nic->scheduler->on_sent(&nic->port.scheduler, nic->conf->scheduler.conf, priority,
                                (uint32_t)(weft__port_queue_of(&nic->port, priority)->tx_bytes - before) +
                                    WEFT_WIRE_OVERHEAD);
}

static inline __attribute__((always_inline)) void look_at_port(struct weft__node *node, struct weft__nic *nic,
                                                               struct weft__worker *w) {
    if (nic->port.busy_until_ps <= w->now_ps) {
        if (nic->port.pending)
            weft__ether_send_local(&nic->port, &nic->conf->pfc, nic->end.host, node, w, nic->port_number);
        else
            serve_port(node, nic, w);
    }
    if (!weft__nic_is_held(nic) || nic->port.pending)
        weft__ether_arm(&nic->port, node, w->now_ps, nic->port_number, weft__nic_backlog(nic));
}

void weft__nic_look(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w) {
    look_at_port(node, nic, w);
}

/// Whether a packet of that priority would be sent next, and now.
static bool may_pass(struct weft__nic *nic, weft_time_ps now, uint32_t priority) {
    return nic->port.busy_until_ps <= now && !nic->port.pending && !weft__nic_backlog(nic) &&
           !nic->scheduler->on_sent && !weft__nic_is_held(nic) && !(weft__port_paused(&nic->port, now) >> priority & 1);
}

uint32_t weft__nic_control_bytes(const struct weft__nic *nic, uint32_t kind) {
    const struct weft_host_conf *conf = nic->conf;
    static const uint16_t bytes[WEFT_PACKET_KINDS] = {
        [WEFT_PACKET_ACK] = WEFT_FRAME_ACK,   [WEFT_PACKET_NAK] = WEFT_FRAME_ACK, [WEFT_PACKET_CNP] = WEFT_FRAME_CNP,
        [WEFT_PACKET_READ] = WEFT_FRAME_READ, [WEFT_PACKET_CTS] = WEFT_FRAME_CTS,
    };
    uint32_t own = 0;
    if (kind == WEFT_PACKET_ACK || kind == WEFT_PACKET_NAK) own = (uint32_t)conf->ack_bytes;
    if (kind == WEFT_PACKET_CNP) own = (uint32_t)conf->cnp_bytes;
    return (own ? own : bytes[kind]) + nic->end.hosts->framing_bytes;
}

static __attribute__((cold, noinline)) void attach_record(const struct weft__nic *nic, struct weft__worker *w,
                                                          const struct weft_sack *sack, struct weft_packet *p) {
    struct weft__nic_record *record = (struct weft__nic_record *)weft__side_attach(w, p)->user;
    record->collected = nic->telemetry != NULL;
    record->sacks = sack != NULL;
    if (nic->telemetry)
        record->telemetry = *nic->telemetry;
    else
        record->sack = *sack;
    if (sack) record->sack_psn = sack->psn;
}

void weft__nic_send_control(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w, uint32_t qp,
                            const struct weft_transport_reply *reply) {
    if (__builtin_expect(nic->planes != NULL, 0)) nic = weft__nic_plane_up(nic);
    const struct weft_qp_conf *conf = &nic->end.hosts->qp[qp];
    struct weft_packet p = {
        .bytes = (uint16_t)weft__nic_control_bytes(nic, reply->kind),
        .dst = (reply->asks ? conf->dst : conf->src) + nic->peer_offset, // most go against the data
        .qp = qp,
        .psn = reply->psn,
        .entropy = (reply->entropy ? reply->entropy : conf->entropy) & 0x3fffu,
        .kind = reply->kind & 15u,
        .priority = reply->priority & 7u,
        .dscp = nic->conf->dscp[reply->priority] & 63u,
    };
    if (__builtin_expect(reply->echo, 0)) p.flags = WEFT_PACKET_ECHO;
    if (__builtin_expect(reply->credit, 0)) p.flags = WEFT_PACKET_GRANT;
    if (__builtin_expect(reply->asks, 0)) p.flags = WEFT_PACKET_ASK;
    bool answers = p.kind == WEFT_PACKET_ACK || p.kind == WEFT_PACKET_NAK;
    if (__builtin_expect(reply->sack || (nic->telemetry && answers), 0)) attach_record(nic, w, reply->sack, &p);
    if (may_pass(nic, w->now_ps, reply->priority)) {
        weft__nic_put(nic, w, &p);
        return;
    }
    weft__fifo_push(&nic->backlog[reply->priority].control, nic->end.pool, &p);
    nic->control_mask |= (uint8_t)(1u << reply->priority);
    weft__nic_kick(node, nic, w);
}

static void on_watchdog(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w) {
    uint8_t ended;
    weft__ether_watch(&nic->port, &nic->conf->pfc, node, w, nic->port_number, weft__nic_backlog(nic), &ended);
    weft__nic_kick(node, nic, w);
}

static inline void act_on(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w,
                          const struct weft_packet *p) {
    if (__builtin_expect(p->spare, 0) && nic->end.hosts->trimming)
        weft__nic_on_trimmed(node, nic, w, p);
    else if (p->kind == WEFT_PACKET_DATA)
        weft__nic_on_data(node, nic, w, p);
    else if (__builtin_expect(weft_packet_goes_with_data(p), 0))
        weft__nic_on_asked(node, nic, w, p);
    else
        weft__nic_on_control(node, nic, w, p);
}

/// Sets the telemetry of the packet being handled at all ports of the NIC: the answer may leave by another one.
static void set_record(struct weft__nic *nic, const struct weft_telemetry *telemetry, const struct weft_sack *sack) {
    for (uint32_t k = 0; k < (nic->planes ? nic->planes->n : 1); k++) {
        struct weft__nic *at = nic->planes ? nic->planes->nic[k] : nic;
        at->telemetry = telemetry;
        at->sack = sack;
    }
}

/// A packet with a record, from which its PSN comes. The answers to the packet carry the telemetry back.
static __attribute__((cold, noinline)) void act_on_recorded(struct weft__node *node, struct weft__nic *nic,
                                                            struct weft__worker *w, struct weft_packet p) {
    struct weft__nic_record record;
    memcpy(&record, weft__side_detach(w, &p)->user, sizeof record);
    struct weft_sack sack = record.collected ? (struct weft_sack){.psn = record.sack_psn} : record.sack;
    set_record(nic, record.collected ? &record.telemetry : NULL, record.sacks ? &sack : NULL);
    if (record.asks && nic->pull) weft__nic_pull_wanted(node, nic, w, p.qp, record.sack_psn);
    act_on(node, nic, w, &p);
    set_record(nic, NULL, NULL);
}

static inline void take_packet(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w,
                               const struct weft_packet *p) {
    if (__builtin_expect(p->side, 0))
        act_on_recorded(node, nic, w, *p);
    else
        act_on(node, nic, w, p);
}

/// Frames from the neighbour and messages that the NIC handles itself, however slow its host is.
static void on_signal(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w,
                      const struct weft_packet *p) {
    if (p->kind == WEFT_PACKET_SERVER) {
        weft__gpu_on_packet(node, &nic->end, w, p);
        return;
    }
    if (p->kind == WEFT_PACKET_TRIGGER) {
        weft__trigger_on_packet(node, &nic->end, w, p);
        return;
    }
    if (p->kind == WEFT_PACKET_SFCM) {
        weft__nic_on_sfcm(nic, w, p);
        return;
    }
    if (p->kind == WEFT_PACKET_ROOM && nic->port.credit) {
        weft__port_credit_come(&nic->port, w->now_ps, p);
        weft__nic_kick(node, nic, w);
        return;
    }
    if (p->kind == WEFT_PACKET_ROOM) { // the neighbour has taken that much
        nic->room_bytes += p->psn;
        weft__nic_kick(node, nic, w);
        return;
    }
    if (p->kind == WEFT_PACKET_LLDP) {
        if (weft__lldp_on_frame(&nic->port, w, p)) weft__nic_set_lossless(node, nic, w);
        if (nic->port.lldp) weft__lldp_set_timer(&nic->port, &node->timers, WEFT__ETHER_KEY_LLDP);
        return;
    }
    w->tally.delivered_bytes += p->bytes;
    weft__port_on_pause(&nic->port, w->now_ps, p);
    if (nic->conf->pfc.watchdog_ps != WEFT_TIME_NEVER)
        on_watchdog(node, nic, w);
    else
        weft__nic_kick(node, nic, w);
}

void weft__nic_take(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w,
                    const struct weft_packet *p) {
    take_packet(node, nic, w, p);
}

static inline __attribute__((always_inline)) void any_packet(struct weft__node *node, struct weft__nic *nic,
                                                             struct weft__worker *w, struct weft_packet *p) {
    if (__builtin_expect(nic->planes != NULL, 0) && p->port >= WEFT__NIC_PORT_MIN)
        nic = nic->planes->nic[UINT16_MAX - p->port];
    if (__builtin_expect(p->kind >= WEFT_PACKET_SFCM, 0)) {
        on_signal(node, nic, w, p);
    } else if (__builtin_expect(nic->is_down, 0) && !nic->planes) {
        weft__port_freed(&nic->port, w, p->priority, p->bytes);
        weft__nic_discard(nic, w, p, nic->down_drop);
    } else if (nic->conf->drain_rate_bps) {
        weft__nic_receive_slowly(node, nic, w, p);
    } else {
        weft__port_freed(&nic->port, w, p->priority, p->bytes);
        take_packet(node, nic, w, p);
    }
}

static inline void on_packet(struct weft__node *node, struct weft__worker *w, struct weft_packet *p, uint64_t word) {
    any_packet(node, node->state, w, p);
}

void weft__nic_on_packet(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w,
                         struct weft_packet *p) {
    any_packet(node, nic, w, p);
}

static void on_qp_timer(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w, uint32_t key) {
    uint32_t k = key - WEFT__KEY_QPS;
    if (__builtin_expect(nic->pull != NULL, 0) && key == nic->pull->key) {
        weft__nic_on_pull(node, nic, w);
        return;
    }
    if (__builtin_expect(nic->end.driven != NULL, 0) && key >= nic->end.driven->key0) {
        weft__nic_on_driven_timer(node, nic, w, key);
        return;
    }
    if (__builtin_expect(nic->end.rma != NULL, 0) && key >= nic->end.rma->key0) {
        weft__rma_host_on_timer(node, &nic->end, w, key);
        return;
    }
    if (__builtin_expect(nic->end.gpu != NULL, 0) && key >= nic->end.gpu->key0) {
        weft__gpu_on_timer(node, &nic->end, w, key);
        return;
    }
    if (key >= nic->key_read0)
        weft__nic_on_receiver_timer(node, nic, w, nic->receive_qp[key - nic->key_read0]);
    else
        weft__nic_on_sender_timer(node, nic, w, nic->send_qp[k / WEFT__SENDER_KEYS], k % WEFT__SENDER_KEYS);
}

static inline __attribute__((always_inline)) void any_timer(struct weft__node *node, struct weft__nic *nic,
                                                            struct weft__worker *w, uint32_t key) {
    if (__builtin_expect(nic->planes != NULL, 0) && key >= nic->planes->key0) {
        uint32_t k = key - nic->planes->key0;
        nic = nic->planes->nic[1 + k / WEFT__ETHER_KEYS_A_PORT];
        key = k % WEFT__ETHER_KEYS_A_PORT;
    }
    switch (key) {
    case WEFT__ETHER_KEY_TX:
        nic->port.turn_ps = WEFT_TIME_NEVER;
        look_at_port(node, nic, w);
        break;
    case WEFT__ETHER_KEY_REFRESH:
        nic->port.pending |= nic->port.pfc_told;
        weft__nic_kick(node, nic, w);
        break;
    case WEFT__KEY_DRAIN:
        weft__nic_on_drain(node, nic, w);
        break;
    case WEFT__KEY_SAMPLE:
        weft__port_sample(&nic->port, w, nic->received_bytes);
        weft__timer_set(&node->timers, weft__nic_key(nic, WEFT__KEY_SAMPLE),
                        weft__sampling_next(&nic->sampling, w->now_ps));
        weft__node_looked(w);
        break;
    case WEFT__ETHER_KEY_WATCHDOG:
        on_watchdog(node, nic, w);
        break;
    case WEFT__ETHER_KEY_LLDP:
        weft__nic_on_lldp_timer(node, nic, w);
        break;
    case WEFT__KEY_LATER + WEFT__NIC_POSTS:
        weft__nic_on_posted(node, nic, w);
        break;
    case WEFT__KEY_LATER + WEFT__NIC_ARRIVALS:
    case WEFT__KEY_LATER + WEFT__NIC_COMPLETIONS:
        weft__nic_on_notice_due(node, nic, w, (enum weft__nic_later)(key - WEFT__KEY_LATER));
        break;
    case WEFT__KEY_LATER + WEFT__NIC_FETCHES:
        weft__nic_on_fetched(node, nic, w);
        break;
    case WEFT__KEY_DOWN:
        weft__nic_on_down(node, nic, w->now_ps);
        if (nic->planes)
            weft__nic_plane_changed(node, nic, w);
        else
            weft__nic_kick(node, nic, w);
        break;
    default:
        on_qp_timer(node, nic, w, key);
    }
}

static inline void on_timer(struct weft__node *node, struct weft__worker *w, uint32_t key) {
    any_timer(node, node->state, w, key);
}

void weft__nic_on_timer(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w, uint32_t key) {
    any_timer(node, nic, w, key);
}

static void nic_run(struct weft__node *node, struct weft__worker *w, const struct weft__arrival *arrival, uint32_t n,
                    weft_time_ps end) {
    weft__node_run(node, w, arrival, n, end, on_packet, on_timer);
}

static bool is_paused(const struct weft__node *node) {
    const struct weft__driven *d = ((const struct weft__nic *)node->state)->end.driven;
    return d->told < d->notices;
}

static void nic_run_driven(struct weft__node *node, struct weft__worker *w, const struct weft__arrival *arrival,
                           uint32_t n, weft_time_ps end) {
    struct weft__node_parts parts = {.on_packet = on_packet, .on_timer = on_timer, .is_paused = is_paused};
    uint32_t taken = weft__node_run_parts(node, w, arrival, n, end, parts);
    if (is_paused(node))
        weft__driven_pause(((struct weft__nic *)node->state)->end.driven, w, arrival + taken, n - taken, end);
}

const struct weft__node_ops weft__nic_ops = {.fetch = weft__nic_fetch, .prepare = weft__nic_prepare, .run = nic_run};
const struct weft__node_ops weft__nic_driven_ops = {
    .fetch = weft__nic_fetch, .prepare = weft__nic_prepare, .run = nic_run_driven};
