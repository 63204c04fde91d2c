// SPDX-License-Identifier: Apache-2.0
// Why nothing moves any more: links out of service, destinations without a route, packets that were lost and that
// nobody sends again, clear-to-sends that did not arrive or were never sent, nodes that take few packets a second. Each
// cause is a line that begins with "cause: ".

#include <inttypes.h>

#include "base/units.h"
#include "box/box.h"
#include "box/stall.h"
#include "link/pipe.h"
#include "sim/run.h"
#include "transport/program.h"

static uint64_t drops_at(const struct weft__network *net, uint32_t port) {
    return weft_outcome_sum(net->outcome, port, 1).drops;
}

/// Since when links are out of service; WEFT_TIME_NEVER: they are not.
static weft_time_ps *find_down(const struct weft__network *net, struct weft_arena *arena) {
    const struct weft_topology *t = net->topology;
    weft_time_ps *since = weft_arena_alloc(arena, t->links, sizeof *since);
    for (uint32_t link = 0; link < t->links; link++)
        since[link] = WEFT_TIME_NEVER;
    for (uint32_t i = 0; i < t->events && weft_outcome_reached(net->outcome, t->event[i].time_ps); i++) {
        weft_time_ps *of_link = &since[t->event[i].link];
        if (t->event[i].up)
            *of_link = WEFT_TIME_NEVER;
        else if (*of_link == WEFT_TIME_NEVER) // not down already
            *of_link = t->event[i].time_ps;
    }
    return since;
}

static void say_links(FILE *text, const struct weft__network *net) {
    const struct weft_topology *t = net->topology;
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    const weft_time_ps *since_ps = find_down(net, arena);
    struct weft__stall_list list = {.text = text, .title = "links out of service"};
    for (uint32_t link = 0; link < t->links; link++) {
        if (since_ps[link] == WEFT_TIME_NEVER || !weft__stall_line(&list)) continue;
        char since[32];
        weft_format_time(since_ps[link], since, sizeof since);
        uint32_t end = 0;
        while (t->port[end].link != link)
            end++;
        if (t->node[t->port[t->port[end].peer].node].role == WEFT_NODE_HOST) end = t->port[end].peer;
        uint64_t lost = drops_at(net, end) + drops_at(net, t->port[end].peer);
        fprintf(text, "  cause: link %s--%s is down since %s; %s dropped at its ends\n",
                t->node[t->port[end].node].name, t->node[t->port[t->port[end].peer].node].name, since,
                weft__counted(lost, "packet").text);
    }
    weft__stall_end(&list);
}

static bool has_route(const struct weft__network *net, uint32_t src, uint32_t dst) {
    const struct weft_topology *t = net->topology;
    const struct weft_routes *routes = net->epoch[net->epochs - 1].routes;
    uint32_t n, sw = t->port[weft_topology_port(t, t->host[src], 0)->peer].node;
    if (t->node[sw].role != WEFT_NODE_SWITCH) return true;
    weft_routes_at(routes, t->node[sw].index, dst, &n);
    return n && routes->edge_of_host[src] != WEFT_NONE;
}

static bool has_ended(const struct weft__network *net, uint32_t flow) {
    return net->outcome->flow[flow].end_ps != WEFT_TIME_NEVER;
}

static void say_routes(FILE *text, const struct weft__network *net) {
    const struct weft_topology *t = net->topology;
    struct weft__stall_list list = {.text = text, .title = "flows without a route"};
    if (weft__planes(t, net->device) > 1) return; // another plane may have one
    for (uint32_t f = 0; f < net->workload->flows; f++) {
        const struct weft_flow *flow = &net->workload->flow[f];
        if (has_ended(net, f) || has_route(net, flow->src, flow->dst) || !weft__stall_line(&list)) continue;
        fprintf(text, "  cause: no route from %s to %s (flow %u)\n", t->node[t->host[flow->src]].name,
                t->node[t->host[flow->dst]].name, f);
    }
    weft__stall_end(&list);
}

/// Whether a host that has not done all gives up on lost packets.
static bool never_again(const struct weft__network *net) {
    for (uint32_t f = 0; f < net->workload->flows; f++) {
        const struct weft_host_conf *host = &net->device[net->topology->host[net->workload->flow[f].src]]->host;
        const struct weft_transport_ops *transport = host->transport.model->ops;
        if (!has_ended(net, f) && transport->patience(host->transport.conf) == WEFT_TIME_NEVER) return true;
    }
    return false;
}

static bool answers_trimmed(const struct weft__network *net) {
    const struct weft_host_conf *host = &net->device[net->topology->host[0]]->host;
    return ((const struct weft_transport_ops *)host->transport.model->ops)->on_trimmed;
}

/// What came twice is there.
static bool is_loss(uint32_t drop) {
    return drop != WEFT_DROP_DUPLICATE;
}

static void say_drops(FILE *text, const struct weft__network *net) {
    const struct weft_outcome *o = net->outcome;
    const struct weft_topology *t = net->topology;
    uint64_t all = 0;
    for (uint32_t d = 0; d < WEFT_DROPS; d++)
        all += is_loss(d) ? o->drops[d] : 0;
    if (!all) return;
    const char *before = "  cause: packets were lost: ";
    fputs("losses:\n", text);
    for (uint32_t d = 0; d < WEFT_DROPS; d++)
        if (is_loss(d) && o->drops[d]) {
            fprintf(text, "%s%s %llu", before, weft_drop_names[d], (unsigned long long)o->drops[d]);
            before = ", ";
        }
    fputs(never_again(net) ? "; host.timeout is never, so no timeout sends them again\n" : "\n", text);
    if (o->drops[WEFT_DROP_TRIMMED] && t->hosts && !answers_trimmed(net))
        fputs("  cause: packets are trimmed, and host.transport does not answer trimmed ones; expected uet\n", text);
    struct weft__stall_list list = {.text = text, .title = "ports that dropped packets"};
    for (uint32_t port = 0; port < t->ports; port++) {
        if (!drops_at(net, port) || !weft__stall_line(&list)) continue;
        char name[160];
        weft_topology_port_name(t, port, name, sizeof name);
        fprintf(text, "  %s: %s\n", name, weft__counted(drops_at(net, port), "packet").text);
    }
    weft__stall_end(&list);
}

/// NICs that pause their switch for a host that takes its data too slowly.
static void say_hosts(FILE *text, const struct weft__network *net) {
    const struct weft_topology *t = net->topology;
    struct weft__stall_list list = {.text = text, .title = "hosts that take no data"};
    for (uint32_t i = 0; i < t->ports; i++) {
        const struct weft__port *port = weft__network_port(net, i);
        uint32_t far = t->port[t->port[i].peer].node;
        if (!port || !port->paused || t->node[far].role != WEFT_NODE_HOST || !weft__stall_line(&list)) continue;
        char rate[32] = "no limit";
        weft_rate_bps drain = net->device[far]->host.drain_rate_bps;
        if (drain) weft_format_rate(drain, rate, sizeof rate);
        fprintf(text, "  cause: %s pauses its switch; host.drain_rate: %s\n", t->node[far].name, rate);
    }
    weft__stall_end(&list);
}

weft_time_ps weft__packet_turn(const struct weft__network *net, uint32_t node) {
    const struct weft_device_conf *device = net->device[node];
    if (net->topology->node[node].role == WEFT_NODE_HOST) return weft__turn_of(device->host.packet_rate, 1).ps;
    return weft__turn_of(device->sw.packet_rate, device->sw.pipes).ps;
}

/// Nodes that take long for a packet: what waits behind others may be sent again, for ever, before it arrives.
static void say_rates(FILE *text, const struct weft__network *net) {
    enum { LONG = WEFT_PS_PER_S / 1000 };
    const struct weft_topology *t = net->topology;
    struct weft__stall_list list = {.text = text, .title = "nodes that take few packets"};
    for (uint32_t i = 0; i < t->nodes; i++) {
        weft_time_ps turn = weft__packet_turn(net, i);
        if (turn < LONG || !weft__stall_line(&list)) continue;
        bool host = t->node[i].role == WEFT_NODE_HOST;
        char time[32];
        weft_format_time(turn, time, sizeof time);
        fprintf(text, "  cause: %s takes %s for a packet; %s.packet_rate: %" PRIu64 "\n", t->node[i].name, time,
                host ? "host" : "switch", host ? net->device[i]->host.packet_rate : net->device[i]->sw.packet_rate);
    }
    weft__stall_end(&list);
}

/// Connections of jobs whose messages may not go.
static void say_connections(FILE *text, const struct weft__network *net) {
    const struct weft_topology *t = net->topology;
    struct weft__stall_list list = {.text = text, .title = "connections that wait for clear-to-sends"};
    for (uint32_t q = 0; net->hosts.carrier && q < net->qps; q++) {
        const struct weft__sending *s = net->hosts.carrier[q].sending;
        const struct weft__receiving *r = net->programs->receiving[q];
        if (!s || !r || s->qp != q) continue;
        bool lost = r->posted > s->granted, unposted = !lost && s->filled > s->posted && s->granted == s->posted;
        if ((!lost && !unposted) || !weft__stall_line(&list)) continue;
        fprintf(text, "  %s -> %s (flow %u): ", t->node[t->host[net->qp[q].src]].name,
                t->node[t->host[net->qp[q].dst]].name, net->qp[q].flow);
        if (lost)
            fprintf(text, "cause: clear-to-sends for %s sent and not received\n",
                    weft__counted(r->posted - s->granted, "message").text);
        else
            fprintf(text, "%s ready, and the receiver has posted no buffer for more\n",
                    weft__counted(s->filled - s->posted, "message").text);
    }
    weft__stall_end(&list);
}

void weft__stall_causes(FILE *text, const struct weft__network *net) {
    say_links(text, net);
    say_routes(text, net);
    say_drops(text, net);
    say_hosts(text, net);
    say_rates(text, net);
    say_connections(text, net);
}
