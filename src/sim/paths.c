// SPDX-License-Identifier: Apache-2.0
// The paths of data with all links up: the same routes, seeds and route model as in a run, one packet at a time.
#include <stdlib.h>

#include "box/box.h"
#include "sim/paths.h"
#include "weft/memory.h"

enum { HOPS_MAX = 64 };

/// The network of a run with all links up, to the extent that entrances of fabrics know where packets leave; they know
/// nothing where a run would be refused.
static struct weft__network find_exits(const struct weft_scenario *scenario, const struct weft__forwarding *forwarding,
                                       struct weft_arena *arena) {
    struct weft_topology *all_up = weft_arena_alloc(arena, 1, sizeof *all_up);
    struct weft__epoch *epoch = weft_arena_alloc(arena, 1, sizeof *epoch);
    struct weft_error error = {0};
    *all_up = *forwarding->t;
    all_up->events = 0;
    *epoch = (struct weft__epoch){.routes = forwarding->routes};
    struct weft__network net = {.scenario = scenario,
                                .topology = all_up,
                                .device = forwarding->device,
                                .epoch = epoch,
                                .epochs = 1,
                                .hosts = {.qp_numbers = forwarding->qp_numbers},
                                .arena_switch = arena};
    if (!weft__sharing_check(weft__plan_new(scenario, all_up, arena), true, &error)) weft__shared_new(&net, true);
    return net;
}

/// Traces a packet between the hosts of a flow; the packet has all but its destination.
static void trace_packet(const struct weft__forwarding *forwarding, const struct weft__network *net,
                         const struct weft_flow *f, uint32_t plane, struct weft_packet packet, struct weft_arena *arena,
                         struct weft_path *path) {
    const struct weft_topology *t = forwarding->t;
    bool back = packet.kind != WEFT_PACKET_DATA;
    uint32_t src = (back ? f->dst : f->src) + plane * t->network[0].hosts;
    uint32_t dst = (back ? f->src : f->dst) + plane * t->network[0].hosts;
    packet.dst = dst;
    uint32_t port[HOPS_MAX], node = t->host[src];
    while (node != t->host[dst] && path->hops < HOPS_MAX) {
        const struct weft__box *box = weft__box_of(&t->node[node]);
        uint32_t k = box->exit ? box->exit(net, node, &packet) : weft__forwarding_port(forwarding, node, &packet);
        if (k == WEFT_NONE) break;
        port[path->hops] = box->exit ? k : t->node[node].port0 + k;
        uint32_t peer = t->port[port[path->hops++]].peer;
        node = t->port[peer].node;
        packet.port = (uint16_t)(peer - t->node[node].port0);
    }
    path->port = weft_arena_alloc(arena, path->hops, sizeof *path->port);
    for (uint32_t i = 0; i < path->hops; i++)
        path->port[i] = port[i];
}

const struct weft_qp_numbers *weft__qp_numbers(const struct weft_workload *w, uint32_t hosts, const uint16_t *laid,
                                               struct weft_arena *arena) {
    uint64_t qps = laid ? 0 : w->qps;
    for (uint32_t i = 0; i < w->flows && laid; i++)
        qps += laid[i];
    struct weft_qp_numbers *numbers = weft_arena_alloc(arena, qps, sizeof *numbers);
    uint32_t *next = weft_memory_new(WEFT_MEMORY_QP, hosts, sizeof *next), n = 0;
    for (uint32_t i = 0; i < w->flows; i++) {
        const struct weft_flow *f = &w->flow[i];
        for (uint32_t q = 0; q < f->qps && q < f->bytes; q++) {
            uint32_t at_src = next[f->src]++, at_dst = next[f->dst]++;
            if (laid && q >= laid[i]) continue;
            numbers[n++] = (struct weft_qp_numbers){.at_src = weft_address_qp(at_src),
                                                    .at_dst = weft_address_qp(at_dst),
                                                    .src = f->src,
                                                    .dst = f->dst,
                                                    .path = f->path,
                                                    .destination_port = f->destination_port};
        }
    }
    weft_memory_free(WEFT_MEMORY_QP, next, hosts * sizeof *next);
    return numbers;
}

struct weft_path *weft_paths_trace(const struct weft_scenario *scenario, const struct weft_topology *topology,
                                   const struct weft_workload *w, struct weft_arena *arena, uint64_t *ret_paths) {
    return weft__paths_trace(scenario, topology, w, false, arena, ret_paths);
}

struct weft_path *weft__paths_trace(const struct weft_scenario *scenario, const struct weft_topology *topology,
                                    const struct weft_workload *w, bool back, struct weft_arena *arena,
                                    uint64_t *ret_paths) {
    struct weft_routes *routes = weft_routes_new(topology, NULL);
    struct weft__forwarding forwarding =
        weft__forwarding_new(topology, weft_device_confs(scenario, topology, arena), routes, scenario->run.seed, arena);
    forwarding.qp_numbers = weft__qp_numbers(w, topology->hosts, NULL, arena);
    forwarding.path = w->path;
    struct weft__network net = find_exits(scenario, &forwarding, arena);
    const uint64_t *before = weft_workload_qps_before(w, arena);
    struct weft_path *path = weft_arena_alloc(arena, w->qps, sizeof *path);
    uint32_t planes = weft__planes(topology, forwarding.device);
    uint32_t *at_src = weft_arena_alloc(arena, topology->hosts, sizeof *at_src);
    *ret_paths = 0;
    for (uint32_t i = 0; i < w->flows; i++) {
        const struct weft_flow *f = &w->flow[i];
        const struct weft_host_conf *conf = &forwarding.device[topology->host[f->src]]->host;
        for (uint32_t q = 0; q < f->qps && q < f->bytes; q++) {
            path[*ret_paths] = (struct weft_path){.flow = i, .qp = q};
            struct weft_packet packet = {
                .kind = back ? WEFT_PACKET_ACK : WEFT_PACKET_DATA,
                .qp = (uint32_t)*ret_paths,
                .entropy = weft__flow_entropy(conf, scenario->run.seed, f, before[i], q) & 0x3fffu,
                .priority = f->priority & 7u,
            };
            uint32_t turn = at_src[f->src]++;
            trace_packet(&forwarding, &net, f, (f->plane ? f->plane - 1u : turn) % planes, packet, arena,
                         &path[*ret_paths]);
            ++*ret_paths;
        }
    }
    weft__shared_free(&net);
    weft_routes_free(routes);
    return path;
}
