// SPDX-License-Identifier: Apache-2.0
// A NIC of a TiN that two hosts share: "a conventional 100 Gbps NIC capable of supporting multi-host operation for up
// to two independent hosts" (Gibson et al., NSDI 2022, section 3.3). A single host gets all of it, two get half each,
// and one may use what the other leaves, in both directions: towards the Clique here, towards hosts by the ports of a
// weft__ether_group.
//
// A host's frames are as fast as its link, which may be as fast as the NIC, and wait for their turn in the NIC. At most
// tin.nic_window (plus one frame) is in flight or waits there, and the host is told when the NIC takes a frame;
// everything beyond waits in the host. Assumed: the window, and that turns are by bytes.
#include "box/tin/tin_nic.h"

#include "box/tin/tin.h"

struct weft__tin_nics *weft__tin_nics_new(const struct weft_tin_conf *conf, struct weft__tin_nic *nic, uint32_t n,
                                          uint32_t ports, struct weft_arena *arena) {
    struct weft__tin_nics *nics = weft_arena_alloc(arena, 1, sizeof *nics);
    *nics = (struct weft__tin_nics){
        .n = n, .nic = nic, .of_port = weft_arena_alloc(arena, ports, sizeof(struct weft__tin_nic *))};
    for (uint32_t i = 0; i < n; i++) {
        nic[i].speed = weft__speed_of(conf->nic_rate_bps);
        for (uint32_t h = 0; h < nic[i].hosts; h++)
            nics->of_port[nic[i].port[h]] = &nic[i];
    }
    return nics;
}

void weft__tin_nics_join(struct weft__tin_nics *nics, struct weft__ether *ether) {
    for (uint32_t i = 0; i < nics->n; i++) {
        struct weft__tin_nic *nic = &nics->nic[i];
        nic->out = (struct weft__ether_group){.ports = nic->hosts, .port = nic->port, .speed = nic->speed};
        for (uint32_t h = 0; h < nic->hosts; h++)
            ether->group[nic->port[h]] = &nic->out;
    }
}

static weft_time_ps time_of(const struct weft__tin_nic *nic, uint32_t bytes) {
    return weft__speed_time(nic->speed, bytes);
}

weft_time_ps weft__tin_nic_time(const struct weft__tin_nics *nics, uint32_t k, uint32_t bytes) {
    return nics->of_port[k] ? time_of(nics->of_port[k], bytes) : 0;
}

/// The host may send that much more. It is told as soon as the shortest frame could have told it.
static void give_back(struct weft__worker *w, const struct weft__port *port, uint32_t bytes) {
    weft_time_ps delay = port->delay_data_ps < port->delay_pause_ps ? port->delay_data_ps : port->delay_pause_ps;
    weft_time_ps arrival = w->now_ps + weft__port_time(port, WEFT__PREAMBLE + WEFT_FRAME_MIN) + delay;
    weft__send(w, (struct weft__to){port->peer_inbox, port->peer_node, port->peer_port}, arrival,
               &(struct weft_packet){.late = true, .psn = bytes, .kind = WEFT_PACKET_ROOM});
}

/// The NIC is free and takes the frame.
static void take_frame(struct weft__node *node, struct weft__tin *tin, struct weft__worker *w,
                       struct weft__tin_nic *nic, uint32_t host, struct weft_packet *p) {
    uint32_t bytes = p->bytes;
    nic->busy_until_ps = w->now_ps + time_of(nic, bytes + WEFT_WIRE_OVERHEAD);
    weft__share_charge(&nic->share, host, bytes + WEFT_WIRE_OVERHEAD);
    weft__tin_count_ns(&tin->gnet.counts.seen->nic_wait_ns, w->now_ps - p->time_ps);
    give_back(w, &tin->ether.port[p->port], bytes);
    weft__tin_on_frame(node, tin, w, p);
}

static uint32_t find_host(const struct weft__tin_nic *nic, uint32_t k) {
    uint32_t host = 0;
    while (nic->port[host] != k)
        host++;
    return host;
}

void weft__tin_nic_on_frame(struct weft__node *node, struct weft__tin *tin, struct weft__worker *w,
                            struct weft_packet *p) {
    struct weft__tin_nic *nic = tin->nics->of_port[p->port];
    if (!nic) {
        weft__tin_on_frame(node, tin, w, p);
        return;
    }
    uint32_t host = find_host(nic, p->port);
    if (!nic->waiting_bytes && nic->busy_until_ps <= w->now_ps) {
        take_frame(node, tin, w, nic, host, p);
        return;
    }
    if (!nic->waiting_bytes)
        weft__timer_set(&node->timers, weft__ether_key(WEFT__TIN_KEY_NIC, nic->port[0]), nic->busy_until_ps);
    weft__fifo_push(&nic->waiting[host], tin->pool, p);
    nic->waiting_bytes += p->bytes;
}

void weft__tin_nic_on_free(struct weft__node *node, struct weft__tin *tin, struct weft__worker *w, uint32_t k) {
    struct weft__tin_nic *nic = tin->nics->of_port[k];
    uint32_t ready = 0;
    for (uint32_t h = 0; h < nic->hosts; h++)
        ready |= (uint32_t)(nic->waiting[h].n > 0) << h;
    uint32_t host = weft__share_pick(&nic->share, ready);
    struct weft_packet p;
    weft__fifo_pop(&nic->waiting[host], tin->pool, &p);
    nic->waiting_bytes -= p.bytes;
    take_frame(node, tin, w, nic, host, &p);
    if (nic->waiting_bytes) weft__timer_set(&node->timers, weft__ether_key(WEFT__TIN_KEY_NIC, k), nic->busy_until_ps);
}

weft_bytes weft__tin_nics_held(const struct weft__tin_nics *nics) {
    weft_bytes bytes = 0;
    for (uint32_t i = 0; i < nics->n; i++)
        bytes += nics->nic[i].waiting_bytes;
    return bytes;
}
