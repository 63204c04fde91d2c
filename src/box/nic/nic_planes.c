// SPDX-License-Identifier: Apache-2.0
// One NIC with a port in each of several equal networks (planes): host h of every network is a port of the NIC that is
// host h of the first one. Queue pairs belong to hosts of the first network. Each uses one plane; the queue pairs of a
// NIC take planes in turn, unless their flow has one, and the receiver answers by the plane by which data arrived. Each
// port has its own queues and pauses (struct weft__nic); the node, timers, programs and queue pairs are those of the
// first port.
//
// With `planes: packet`, each packet takes the plane whose port could send it first: a port is busy, and each queue
// pair that waits for it sends a packet before. Of equal ports it takes the next after the last one used; where a queue
// pair starts is drawn, for if all NICs counted alike, all that goes to one receiver could come by one plane. A NIC
// knows only its own links, nothing of planes beyond: the transport and its marks choose the path within a plane, and,
// if entropy values are bound to planes (spray: mrc), also the plane. Clear-to-sends take the ports in turn.
//
// Sources: NCCL's net_ib.cc for queue pairs that alternate between the devices of a merged NIC; the affinity of queue
// pairs to ports of a bonded mlx5, which use another port while theirs is down. Assumed: a NIC notices a failure of its
// own link after run.detection; if the failure is further away, a queue pair moves to the next plane after
// host.plane_timeouts timeouts in a row, as in InfiniBand's automatic path migration (which RoCE NICs do not have), and
// stays there; a repeated clear-to-send uses the next plane.
#include "box/nic/nic.h"

#include <assert.h>

#include "base/digest.h"

static uint8_t first_plane(const struct weft__nic *nic, uint32_t qp, uint32_t planes) {
    const struct weft_qp_conf *conf = &nic->end.hosts->qp[qp];
    if (nic->conf->planes == WEFT_PLANES_PACKET) return (uint8_t)(weft__digest_mix(0, conf->entropy) % planes);
    return (uint8_t)((conf->plane ? conf->plane - 1u : conf->at_src) % planes);
}

void weft__nic_planes_init(struct weft__nic *nic, uint32_t planes, uint32_t *keys, struct weft_arena *arena) {
    struct weft__nic_planes *p = weft_arena_alloc(arena, 1, sizeof *p + planes * sizeof(struct weft__nic *));
    uint32_t ports = (*keys + WEFT__ETHER_KEYS_A_PORT - 1) / WEFT__ETHER_KEYS_A_PORT; // rounded up to a multiple, for
                                                                                      // key and port
    *p = (struct weft__nic_planes){.n = planes, .key0 = ports * WEFT__ETHER_KEYS_A_PORT};
    *keys = p->key0 + (planes - 1) * WEFT__ETHER_KEYS_A_PORT;
    p->sending = weft_arena_alloc(arena, nic->sends + 1, sizeof *p->sending);
    p->answering = weft_arena_alloc(arena, nic->receives + 1, sizeof *p->answering);
    for (uint32_t k = 0; k < nic->sends; k++)
        p->sending[k] = first_plane(nic, nic->send_qp[k], planes);
    for (uint32_t k = 0; k < nic->receives; k++)
        p->answering[k] = first_plane(nic, nic->receive_qp[k], planes);
    p->nic[0] = nic;
    nic->planes = p;
}

void weft__nic_planes_join(struct weft__nic *nic, struct weft__nic *first, uint32_t plane, uint32_t hosts) {
    assert(plane && plane < first->planes->n && !first->planes->nic[plane]);
    nic->planes = first->planes;
    nic->planes->nic[plane] = nic;
    nic->plane = plane;
    if (nic->conf->planes == WEFT_PLANES_PACKET) { // a queue pair can send at the total rate
        first->line_rate_bps += nic->line_rate_bps;
        for (uint32_t k = 1; k <= plane; k++)
            nic->planes->nic[k]->line_rate_bps = first->line_rate_bps;
    }
    nic->peer_offset = plane * hosts;
    nic->port_number = nic->planes->key0 / WEFT__ETHER_KEYS_A_PORT + plane - 1;
    nic->key_read0 = first->key_read0;
    nic->end = first->end;
}

/// The first plane whose link is up, starting at the given one; if none is, that one.
static struct weft__nic *first_up(const struct weft__nic_planes *p, uint32_t plane) {
    for (uint32_t k = 0; k < p->n; k++) {
        struct weft__nic *nic = p->nic[(plane + k) % p->n];
        if (!nic->is_down) return nic;
    }
    return p->nic[plane];
}

/// When the port could send a frame of that size beside those of the queue pairs that wait for it already.
static weft_time_ps turn_of(const struct weft__nic *nic, weft_time_ps now, uint32_t bytes) {
    weft_time_ps free = nic->port.busy_until_ps > now ? nic->port.busy_until_ps : now;
    return free + nic->ready_qps * weft__port_time(&nic->port, bytes);
}

/// The port in `among` that could send a packet of the queue pair first. Ports whose link is down are left out, and
/// paused ones while another is not paused. Of idle ports it is the one that is idle longest, then the next one from
/// `plane` on. NULL: no port is left.
static struct weft__nic *first_free(const struct weft__nic_planes *p, uint32_t plane, uint32_t qp, uint32_t among,
                                    weft_time_ps now) {
    const struct weft_qp_conf *conf = &p->nic[0]->end.hosts->qp[qp];
    struct weft__nic *best = NULL;
    weft_time_ps best_ps = WEFT_TIME_NEVER;
    for (uint32_t k = 0; k < p->n; k++) {
        struct weft__nic *nic = p->nic[(plane + k) % p->n];
        if (nic->is_down || !(among >> nic->plane & 1)) continue;
        bool paused = nic->port.paused >> conf->priority & 1,
             best_paused = best && best->port.paused >> conf->priority & 1;
        weft_time_ps at = turn_of(nic, now, conf->mtu);
        bool sooner = at != best_ps ? at < best_ps : best && nic->port.busy_until_ps < best->port.busy_until_ps;
        if (best && (best_paused != paused ? paused : !sooner)) continue;
        best = nic;
        best_ps = at;
    }
    return best;
}

/// Like first_free, limited to the planes that the queue pair's transport wants, if one of them is up.
static struct weft__nic *choose_plane(const struct weft__nic *nic, uint32_t qp, weft_time_ps now) {
    const struct weft__hosts *hosts = nic->end.hosts;
    const struct weft__nic_planes *p = nic->planes;
    uint32_t plane = p->sending[hosts->qp[qp].at_src], wanted = 0;
    if (nic->transport->planes && hosts->sender_state && hosts->sender_state[qp])
        wanted = nic->transport->planes(hosts->sender_state[qp], nic->conf->transport.conf);
    struct weft__nic *best = first_free(p, plane, qp, wanted ? wanted : UINT32_MAX, now);
    if (!best) best = first_free(p, plane, qp, UINT32_MAX, now);
    return best ? best : p->nic[plane];
}

struct weft__nic *weft__nic_plane_next(struct weft__nic *nic, uint32_t qp, weft_time_ps now) {
    uint8_t *plane = &nic->planes->sending[nic->end.hosts->qp[qp].at_src];
    if (nic->conf->planes == WEFT_PLANES_PACKET) *plane = (uint8_t)((nic->plane + 1) % nic->planes->n);
    return weft__nic_plane_of(nic, qp, now);
}

struct weft__nic *weft__nic_plane_of(const struct weft__nic *nic, uint32_t qp, weft_time_ps now) {
    if (nic->conf->planes == WEFT_PLANES_PACKET) return choose_plane(nic, qp, now);
    return first_up(nic->planes, nic->planes->sending[nic->end.hosts->qp[qp].at_src]);
}

struct weft__nic *weft__nic_plane_up(const struct weft__nic *nic) {
    return first_up(nic->planes, nic->plane);
}

struct weft__nic *weft__nic_plane_granting(const struct weft__nic *nic, uint32_t qp, bool again) {
    struct weft__nic_planes *p = nic->planes;
    if (nic->conf->planes == WEFT_PLANES_PACKET) return first_up(p, p->granting++ % p->n);
    uint8_t *plane = &p->answering[nic->end.hosts->qp[qp].at_dst];
    if (again) *plane = (uint8_t)((*plane + 1u) % p->n);
    return first_up(p, *plane);
}

struct weft__nic *weft__nic_plane_migrate(struct weft__nic *nic, uint32_t qp) {
    struct weft__nic_planes *p = nic->planes;
    const struct weft__hosts *hosts = nic->end.hosts;
    uint8_t *plane = &p->sending[hosts->qp[qp].at_src];
    if (nic->conf->planes == WEFT_PLANES_PACKET) return nic;
    if (p->nic[*plane]->is_down || hosts->sender[qp].timeouts % nic->conf->plane_timeouts) return nic;
    *plane = (uint8_t)((*plane + 1u) % p->n);
    weft__nic_unready(nic, qp);
    return first_up(p, *plane);
}

/// Moves packets that wait at a port whose link is down to other ports.
static void leave_plane(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w) {
    struct weft__nic *to = weft__nic_plane_up(nic);
    if (to == nic) return;
    for (uint32_t p = 0; p < WEFT_PRIORITIES; p++) {
        struct weft_packet packet;
        for (; nic->backlog[p].control.n; to->control_mask |= (uint8_t)(1u << p)) {
            weft__fifo_pop(&nic->backlog[p].control, nic->end.pool, &packet);
            packet.dst += to->peer_offset - nic->peer_offset;
            weft__fifo_push(&to->backlog[p].control, to->end.pool, &packet);
        }
    }
    nic->control_mask = 0;
    weft__nic_reschedule(node, nic, w->now_ps);
    for (uint32_t k = 0; k < nic->planes->n; k++)
        weft__nic_kick(node, nic->planes->nic[k], w);
}

void weft__nic_plane_changed(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w) {
    if (nic->is_down)
        leave_plane(node, nic, w);
    else
        weft__nic_kick(node, nic, w);
}
