// SPDX-License-Identifier: Apache-2.0
#include "transport/trigger.h"

/// Flags of a packet. Its qp is the trigger; its psn, the first of the trigger's flows that starts.
enum { ACTIVATES, STARTS, STARTS_ONE };

/// Packets from each host arrive at a port of their own, and a host sends no two at the same time except to different
/// hosts, so no two arrivals are equal. Messages within servers use lower ports (message.c), those of planes higher
/// ones (nic.h).
static uint16_t port_of(uint32_t host) {
    return (uint16_t)(2 * 16384 + 1 + host);
}

static weft_time_ps take_time(const struct weft__triggers *all, uint32_t host, weft_time_ps now) {
    if (now <= all->last_ps[host]) now = all->last_ps[host] + 1;
    all->last_ps[host] = now;
    return now;
}

static void send_trigger(const struct weft__triggers *all, const struct weft__endpoint *end, struct weft__worker *w,
                         uint32_t host, weft_time_ps time, const struct weft_packet *p) {
    weft__endpoint_send(end->hosts, w, all->node[host], port_of(end->host), time, p);
}

void weft__trigger_on_flow(struct weft__endpoint *end, struct weft__worker *w, uint32_t flow, bool delivered) {
    const struct weft__triggers *all = end->hosts->triggers;
    const uint32_t *first = all->first[delivered];
    for (uint32_t i = first[flow]; i < first[flow + 1]; i++) {
        uint32_t trigger = all->activated[delivered][i];
        weft_time_ps now = take_time(all, end->host, w->now_ps);
        send_trigger(all, end, w, all->home[trigger], now + all->workload->trigger[trigger].delay_ps / 2,
                     &(struct weft_packet){.kind = WEFT_PACKET_TRIGGER, .flags = ACTIVATES, .qp = trigger});
    }
}

static uint32_t starting_host(const struct weft__triggers *all, uint32_t flow) {
    const struct weft_flow *f = &all->workload->flow[flow];
    return f->verb == WEFT_VERB_READ ? f->dst : f->src;
}

/// Starts the trigger's flows from number k on, or only that one. Each host gets one packet: its flows are consecutive.
static void fire_flows(const struct weft__endpoint *end, struct weft__worker *w, uint32_t number, uint32_t k,
                       bool one) {
    const struct weft__triggers *all = end->hosts->triggers;
    const struct weft_trigger *t = &all->workload->trigger[number];
    weft_time_ps time = take_time(all, end->host, w->now_ps) + t->delay_ps - t->delay_ps / 2;
    for (uint32_t last = WEFT_NONE; k < t->flows; k++) {
        uint32_t host = starting_host(all, t->flow[k]);
        if (host == last) continue;
        send_trigger(all, end, w, last = host, time,
                     &(struct weft_packet){
                         .kind = WEFT_PACKET_TRIGGER, .flags = one ? STARTS_ONE : STARTS, .qp = number, .psn = k});
        if (one) return;
    }
}

static void on_activation(const struct weft__endpoint *end, struct weft__worker *w, uint32_t number) {
    const struct weft__triggers *all = end->hosts->triggers;
    const struct weft_trigger *t = &all->workload->trigger[number];
    uint32_t n = ++all->activations[number];
    w->tally.progress_ps = w->now_ps;
    if (t->kind == WEFT_TRIGGER_NEXT)
        fire_flows(end, w, number, n - 1, true);
    else if (n == t->count)
        fire_flows(end, w, number, 0, false);
}

static void start_flow(struct weft__node *node, struct weft__endpoint *end, struct weft__worker *w, uint32_t flow) {
    const struct weft__hosts *hosts = end->hosts;
    hosts->outcome[flow].start_ps = w->now_ps;
    for (uint32_t k = 0; k < hosts->flow[flow].qps; k++)
        hosts->ops->start(node, end, hosts->triggers->qp[flow] + k, w->now_ps);
}

void weft__trigger_on_packet(struct weft__node *node, struct weft__endpoint *end, struct weft__worker *w,
                             const struct weft_packet *p) {
    const struct weft__triggers *all = end->hosts->triggers;
    const struct weft_trigger *t = &all->workload->trigger[p->qp];
    if (p->flags == ACTIVATES) {
        on_activation(end, w, p->qp);
        return;
    }
    uint32_t k = p->psn;
    do
        start_flow(node, end, w, t->flow[k++]);
    while (p->flags == STARTS && k < t->flows && starting_host(all, t->flow[k]) == end->host);
}
