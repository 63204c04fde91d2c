// SPDX-License-Identifier: Apache-2.0
// Prefetches what a NIC will need while earlier nodes run: what transports and congestion control keep beside the cache
// lines of both ends. Those lines themselves, and the port's, are few and mostly cached: prefetching them cost more
// than it gained, as measured in bench/README.md.
#include "box/nic/nic.h"

static inline bool has_states(const struct weft__nic *nic) {
    return nic->end.hosts->sender_state && nic->end.hosts->receiver_state;
}

/// A transport's state: where it is, then its beginning.
static inline void *const *state_of(const struct weft__nic *nic, const struct weft_packet *p) {
    const struct weft__hosts *hosts = nic->end.hosts;
    return &(p->kind == WEFT_PACKET_DATA ? hosts->receiver_state : hosts->sender_state)[p->qp];
}

void weft__nic_fetch(const struct weft__node *node, const struct weft__arrival *arrival, uint32_t n, weft_time_ps end) {
    const struct weft__nic *nic = node->state;
    for (uint32_t i = 0; has_states(nic) && i < n; i++)
        if (!weft_packet_is_local(arrival[i].packet)) __builtin_prefetch(state_of(nic, arrival[i].packet));
}

void weft__nic_prepare(struct weft__node *node, struct weft__arrival *arrival, uint32_t n, weft_time_ps end) {
    const struct weft__nic *nic = node->state;
    for (uint32_t i = 0; nic->cc->on_ack && i < n; i++) {
        const struct weft_packet *p = arrival[i].packet;
        if (p->kind == WEFT_PACKET_ACK) __builtin_prefetch(nic->end.hosts->sender[p->qp].cc);
    }
    for (uint32_t i = 0; has_states(nic) && i < n; i++) {
        if (weft_packet_is_local(arrival[i].packet)) continue;
        const char *state = *state_of(nic, arrival[i].packet);
        __builtin_prefetch(state);
        __builtin_prefetch((const void *)((uintptr_t)state + 64));
    }
}
