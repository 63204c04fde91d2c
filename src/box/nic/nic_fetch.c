// SPDX-License-Identifier: Apache-2.0
// What a NIC will need is brought into the cache while nodes before it are run.
#include "box/nic/nic.h"
#include "transport/program.h"

/// Of connections between ranks: what leads to them first, then they themselves.
static inline void fetch_connection(const struct weft__nic *nic, const struct weft_packet *p) {
    const struct weft__programs *programs = nic->end.hosts->programs;
    if (p->kind == WEFT_PACKET_SERVER)
        __builtin_prefetch(&programs->wire[p->qp]);
    else if (p->kind == WEFT_PACKET_ACK || p->kind == WEFT_PACKET_CTS)
        __builtin_prefetch(&nic->end.hosts->carrier[p->qp]);
    else if (p->kind == WEFT_PACKET_DATA && p->flags & WEFT_PACKET_LAST)
        __builtin_prefetch(&programs->receiving[p->qp]);
}

static inline void prepare_connection(const struct weft__nic *nic, const struct weft_packet *p) {
    const struct weft__programs *programs = nic->end.hosts->programs;
    const char *needed;
    if (p->kind == WEFT_PACKET_SERVER)
        needed = p->flags ? (const char *)programs->wire[p->qp].sending : (const char *)programs->wire[p->qp].receiving;
    else if (p->kind == WEFT_PACKET_ACK || p->kind == WEFT_PACKET_CTS)
        needed = (const char *)nic->end.hosts->carrier[p->qp].sending;
    else if (p->kind == WEFT_PACKET_DATA && p->flags & WEFT_PACKET_LAST)
        needed = (const char *)programs->receiving[p->qp];
    else
        return;
    __builtin_prefetch(needed);
    __builtin_prefetch((const void *)((uintptr_t)needed + 64));
}

/// Of what a transport keeps beside the cache lines of both ends, if it does: where it is, then its beginning.
static inline void *const *state_of(const struct weft__nic *nic, const struct weft_packet *p) {
    const struct weft__hosts *hosts = nic->end.hosts;
    return &(p->kind == WEFT_PACKET_DATA ? hosts->receiver_state : hosts->sender_state)[p->qp];
}

static inline void fetch_packet(const struct weft__nic *nic, const struct weft_packet *p) {
    if (weft_packet_is_local(p)) return;
    const struct weft_qp_conf *qp = &nic->end.hosts->qp[p->qp];
    __builtin_prefetch(qp);
    __builtin_prefetch(&qp->verb);
    if (p->kind == WEFT_PACKET_DATA)
        __builtin_prefetch(&nic->end.hosts->receiver[p->qp]);
    else
        __builtin_prefetch(&nic->end.hosts->sender[p->qp]);
    __builtin_prefetch(&nic->port);
    __builtin_prefetch(&nic->port.queue[p->priority]);
    __builtin_prefetch(&nic->backlog[p->priority]);
}

static inline void fetch_timer(const void *state, uint32_t key) {
    const struct weft__nic *nic = state;
    if (key != WEFT__ETHER_KEY_TX) return;
    __builtin_prefetch(&nic->port);
    for (uint32_t mask = weft__nic_backlog(nic); mask; mask &= mask - 1)
        __builtin_prefetch(&nic->backlog[__builtin_ctz(mask)]);
}

void weft__nic_fetch(const struct weft__node *node, const struct weft__arrival *arrival, uint32_t n, weft_time_ps end) {
    const struct weft__nic *nic = node->state;
    for (uint32_t i = 0; i < n; i++)
        fetch_packet(nic, arrival[i].packet);
    for (uint32_t i = 0; nic->end.hosts->sender_state && nic->end.hosts->receiver_state && i < n; i++)
        if (!weft_packet_is_local(arrival[i].packet)) __builtin_prefetch(state_of(nic, arrival[i].packet));
    for (uint32_t i = 0; nic->end.gpu && i < n; i++)
        fetch_connection(nic, arrival[i].packet);
    weft__timers_fetch(node, end, fetch_timer);
}

/// What will be sent when the port's timer is due.
static inline void prepare_timer(const void *state, uint32_t key) {
    const struct weft__nic *nic = state;
    if (key != WEFT__ETHER_KEY_TX) return;
    for (uint32_t mask = weft__nic_backlog(nic); mask; mask &= mask - 1) {
        const struct weft__nic_backlog *waiting = &nic->backlog[__builtin_ctz(mask)];
        weft__fifo_fetch(&waiting->control);
        if (waiting->ready == WEFT_NONE) continue;
        __builtin_prefetch(&nic->end.hosts->sender[waiting->ready]);
        __builtin_prefetch(&nic->end.hosts->qp[waiting->ready]);
        if (nic->end.hosts->sender_state) __builtin_prefetch(nic->end.hosts->sender_state[waiting->ready]);
        if (nic->end.gpu) __builtin_prefetch(&nic->end.hosts->carrier[waiting->ready]);
    }
}

/// What only the queue pair knows.
static inline void prepare_packet(const struct weft__nic *nic, const struct weft_packet *p) {
    if (p->kind == WEFT_PACKET_ACK && nic->cc->on_ack) __builtin_prefetch(nic->end.hosts->sender[p->qp].cc);
}

void weft__nic_prepare(struct weft__node *node, struct weft__arrival *arrival, uint32_t n, weft_time_ps end) {
    const struct weft__nic *nic = node->state;
    for (uint32_t i = 0; i < n; i++)
        prepare_packet(nic, arrival[i].packet);
    for (uint32_t i = 0; nic->end.hosts->sender_state && nic->end.hosts->receiver_state && i < n; i++) {
        if (weft_packet_is_local(arrival[i].packet)) continue;
        const char *state = *state_of(nic, arrival[i].packet);
        __builtin_prefetch(state);
        __builtin_prefetch((const void *)((uintptr_t)state + 64));
    }
    for (uint32_t i = 0; nic->end.gpu && i < n; i++)
        prepare_connection(nic, arrival[i].packet);
    weft__timers_fetch(node, end, prepare_timer);
}
