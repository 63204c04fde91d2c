// SPDX-License-Identifier: Apache-2.0
#include "estimate/refuse.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "base/units.h"
#include "box/box.h"
#include "sim/run.h"
#include "weft/aqm.h"
#include "weft/cc.h"
#include "weft/credit.h"
#include "weft/memory.h"
#include "weft/plan.h"
#include "weft/queueing.h"
#include "weft/transport.h"
#include "weft/tree.h"

#define REFUSE(error, place, ...) WEFT_REFUSE(error, place, __VA_ARGS__)

static enum weft_status refuse_model(const struct weft_device_conf *device, const char *path,
                                     const struct weft_model *model, const char *what, struct weft_error *ret_error) {
    return REFUSE(ret_error, weft_device_place(device, path),
                  "%s: there is no estimate of %s, %s; expected another model, or a run", path, model->name, what);
}

static enum weft_status refuse_switch(const struct weft_device_conf *device, struct weft_error *ret_error) {
    const struct weft_switch_conf *sw = &device->sw;
    const struct weft_route_ops *route = sw->route.model->ops;
    if (route->choose && (!route->paths || route->paths(sw->route.conf) == WEFT_ROUTE_PATHS_UNKNOWN))
        return refuse_model(device, "switch.route", sw->route.model, "a route model", ret_error);
    if (((const struct weft_queueing_ops *)sw->queueing.model->ops)->blocks)
        return refuse_model(device, "switch.queueing", sw->queueing.model, "queues whose heads block others",
                            ret_error);
    if (strcmp(sw->sfc.model->name, "none") != 0)
        return refuse_model(device, "switch.sfc", sw->sfc.model, "source flow control", ret_error);
    return WEFT_OK;
}

static enum weft_status refuse_host(const struct weft_device_conf *device, struct weft_error *ret_error) {
    const struct weft_host_conf *host = &device->host;
    if (!((const struct weft_cc_ops *)host->cc.model->ops)->estimate)
        return refuse_model(device, "host.cc", host->cc.model, "congestion control", ret_error);
    if (host->drain_slow_every_ps != WEFT_TIME_NEVER)
        return REFUSE(
            ret_error, weft_device_place(device, "host.drain_slow_every"),
            "host.drain_slow_every: there is no estimate of hosts with slow phases; expected never, or a run");
    return WEFT_OK;
}

/// The chip must be faster than all its ports, each with full data frames and as many acknowledgements: a packet waits
/// for a chip, and a fluid does not.
static enum weft_status refuse_slow_chip(const struct weft__network *net, uint32_t node, uint64_t mtu,
                                         struct weft_error *ret_error) {
    const struct weft_topology *t = net->topology;
    const struct weft_node_info *info = &t->node[node];
    uint64_t rate = net->device[node]->sw.packet_rate;
    double pair = 8 * (double)(mtu + WEFT_FRAME_DATA + WEFT_FRAME_ACK + 2 * WEFT_WIRE_OVERHEAD), packets = 0;
    for (uint32_t p = info->port0; p < info->port0 + info->ports; p++)
        packets += 2 * (double)t->link[t->port[p].link].rate_bps / pair;
    if (!rate || packets <= (double)rate) return WEFT_OK;
    return REFUSE(ret_error, weft_device_place(net->device[node], "switch.packet_rate"),
                  "switch.packet_rate: %s may have to take %.3g packets a second, and there is no estimate of packets "
                  "that wait for a chip; expected 0 or as many, or a run",
                  info->name, packets);
}

static enum weft_status refuse_live(const struct weft__network *net, struct weft_error *ret_error) {
    const struct weft_scenario *s = net->scenario;
    for (uint32_t f = 0; f < net->workload->flows; f++)
        if (net->workload->flow[f].verb == WEFT_VERB_RAW)
            return REFUSE(ret_error, s->tree->place,
                          "workload: there is no estimate of frames of real hosts; expected a run");
    if (!s->live.hosts) return WEFT_OK;
    return REFUSE(ret_error, s->live.place, "live: there is no estimate of real hosts; expected weft live, or a run");
}

/// Routes are those of links that are known to be down: until then, a run sends packets to where they are lost.
static enum weft_status refuse_events(const struct weft__network *net, struct weft_error *ret_error) {
    const struct weft_topology *t = net->topology;
    const struct weft_scenario *s = net->scenario;
    for (uint32_t i = 0; i < t->events; i++) {
        if (t->event[i].time_ps)
            return REFUSE(ret_error, s->events_tree->place,
                          "events: there is no estimate of a link that goes down or comes up in mid-run; expected "
                          "events at 0s, or a run");
        if (!t->event[i].up && s->run.detection_ps)
            return REFUSE(ret_error, s->events_tree->place,
                          "events: there is no estimate of what is lost until a link that is down at 0s is noticed; "
                          "expected run.detection: 0ns, or a run");
    }
    return WEFT_OK;
}

static enum weft_status refuse_work(const struct weft__network *net, struct weft_error *ret_error) {
    const struct weft_workload *w = net->workload;
    if (w->rmas)
        return REFUSE(ret_error, net->scenario->workload[0].place,
                      "workload: there is no estimate of remote memory access; expected flows or jobs, or a run");
    for (uint32_t f = 0; f < w->flows; f++)
        if (w->flow[f].endless)
            return REFUSE(ret_error, weft__estimate_place_of(net, f),
                          "workload: there is no estimate of flows without an end; expected a size, or a run");
    return WEFT_OK;
}

static uint64_t find_least_mtu(const struct weft__network *net) {
    const struct weft_topology *t = net->topology;
    uint64_t least = UINT64_MAX;
    for (uint32_t h = 0; h < t->hosts; h++)
        if (net->device[t->host[h]]->host.mtu_bytes < least) least = net->device[t->host[h]]->host.mtu_bytes;
    return least;
}

/// Of the network: the blueprint's section if that built it.
static struct weft_place network_place(const struct weft__network *net) {
    const struct weft_scenario *s = net->scenario;
    return s->fabric.model ? s->fabric.place : net->topology->place;
}

static const char *network_key(const struct weft__network *net) {
    return net->scenario->fabric.model ? "fabric" : "topology";
}

static enum weft_status refuse_box(const struct weft__network *net, const struct weft_node_info *node,
                                   struct weft_error *ret_error) {
    const struct weft_model *fabric = net->scenario->fabric.model;
    return REFUSE(ret_error, network_place(net),
                  "%s: there is no estimate of a %s, whose nodes are of kind %s (Aquila); expected another network, or "
                  "a run",
                  network_key(net), fabric ? fabric->name : net->topology->kind, weft__box_name(node->box));
}

struct weft_place weft__estimate_place_of(const struct weft__network *net, uint32_t flow) {
    uint32_t e = 0;
    while (e + 1 < net->workload->entries && net->workload->entry_flow[e + 1] <= flow)
        e++;
    return net->scenario->workload[e].place;
}

enum weft_status weft__estimate_refuse(const struct weft__network *net, struct weft_error *ret_error) {
    const struct weft_topology *t = net->topology;
    const struct weft_device_conf *before[2] = {NULL, NULL}; ///< of a switch, of a host
    uint64_t mtu = find_least_mtu(net);
    enum weft_status status = refuse_live(net, ret_error);
    if (!status) status = refuse_events(net, ret_error);
    for (uint32_t i = 0; i < t->nodes && !status; i++) {
        if (!weft__box_of(&t->node[i])->fluid) return refuse_box(net, &t->node[i], ret_error);
        bool host = t->node[i].role == WEFT_NODE_HOST;
        if (!host) status = refuse_slow_chip(net, i, mtu, ret_error);
        if (status || net->device[i] == before[host]) continue;
        before[host] = net->device[i];
        status = host ? refuse_host(net->device[i], ret_error) : refuse_switch(net->device[i], ret_error);
    }
    return status ? status : refuse_work(net, ret_error);
}

enum weft_status weft__estimate_refuse_memory(const struct weft__network *net, struct weft_error *ret_error) {
    enum { LINKS = 6, LOADS = 2 }; // of a queue pair over two tiers
    const struct weft_workload *w = net->workload;
    size_t entry = sizeof(struct weft__crossed) + sizeof(struct weft__level_member);
    size_t each = sizeof(struct weft_qp_conf) + sizeof(struct weft_qp_numbers) + sizeof(struct weft_qp_sample) +
                  sizeof(struct weft__way) + sizeof(struct weft__drain) + sizeof(struct weft__level_flow) +
                  sizeof(uint32_t) + (LINKS + LOADS) * entry;
    size_t ends = sizeof(struct weft__sending) + sizeof(struct weft__receiving) + sizeof(struct weft__wire) +
                  sizeof(struct weft__carrier) + sizeof(struct weft__span);
    double qps = 0, connections = 0, has = weft_memory_most();
    for (uint32_t f = 0; f < w->flows; f++) { // of a connection one at least
        qps += w->flow[f].messages ? 1 : fmin(w->flow[f].qps, (double)w->flow[f].bytes);
        connections += w->flow[f].messages;
    }
    double needed = qps * (double)each + connections * (double)ends;
    for (uint32_t kind = 0; kind < WEFT_MEMORY_KINDS && weft_memory_current(); kind++)
        needed += (double)weft_memory_held(weft_memory_current(), kind);
    if (needed <= has || !w->entries) return WEFT_OK;
    return REFUSE(ret_error, net->scenario->workload[0].place,
                  "workload: an estimate of %.0f queue pairs takes %.3g GB at least, and there are %.3g GB; "
                  "expected fewer hosts or smaller groups",
                  qps, needed * 1e-9, has * 1e-9);
}

enum weft_status weft__estimate_refuse_rest(const struct weft__network *net, struct weft_error *ret_error) {
    const struct weft_tree *until = weft_tree_find(weft_tree_find(net->scenario->tree, "run"), "until");
    if (!until)
        return weft_error_set(ret_error, WEFT_ERROR_STALL, WEFT_NOWHERE,
                              "the estimate came to a halt: a flow or a rank waits for something that never comes");
    return REFUSE(ret_error, until->place,
                  "run.until: not all is done by then, and there is no estimate of a part of a run; expected a later "
                  "time, or a run");
}

enum weft_status weft__estimate_refuse_spread(const struct weft__fluid *x, uint32_t number,
                                              struct weft_error *ret_error) {
    const struct weft_qp_conf *qp = &x->net.qp[number];
    const struct weft_device_conf *device = x->net.device[x->net.topology->host[qp->dst]];
    const struct weft_model_conf *transport = &device->host.transport;
    const struct weft_transport_ops *ops = transport->model->ops;
    if (!ops->discards || !ops->discards(transport->conf)) return WEFT_OK;
    return REFUSE(ret_error, weft_device_place(device, "host.out_of_order"),
                  "host.out_of_order: packets from %s take several ways at once, and %s discards those that overtake "
                  "others; there is no estimate of what is sent again; expected accept, one way for each queue pair, "
                  "or a run",
                  x->net.topology->node[x->net.topology->host[qp->src]].name,
                  x->net.topology->node[x->net.topology->host[qp->dst]].name);
}

enum weft_status weft__estimate_refuse_overlap(const struct weft__network *net, struct weft_error *ret_error) {
    return REFUSE(
        ret_error, network_place(net),
        "%s: packets draw ways that share some of their links, as in a torus, and estimates of that are off by "
        "up to half; expected ways as in a Clos, or a run",
        network_key(net));
}

// --- what depends on where flows go -------------------------------------------------------------------------------

/// Links of levels in the order in which flows cross them.
struct order {
    const struct weft__fluid *x;
    uint32_t *port;      ///< [links]: a port that sends on it
    uint32_t *before;    ///< [links]: the link by which flows come to it, WEFT_NONE: none
    bool *several;       ///< [links]: they come by several
    double *waits;       ///< [links]: bytes that may come by it at once for a link to which others come, too
    double *held;        ///< [links]: bytes that came by it and may wait at its end, see find_held
    uint32_t *edge, *at; ///< links that follow: those of link l at edge[at[l]] to edge[at[l + 1]]
};

/// The forward entries of a queue pair, which are in order; returns their end.
static uint32_t end_of(const struct weft__fluid *x, uint32_t qp) {
    const struct weft__level_flow *f = &x->levels.flow[qp];
    uint32_t e = f->first;
    while (e < f->first + f->entries && x->levels.entry[e].weight > 0)
        e++;
    return e;
}

#define EACH_STEP(x, q, e) /* entries e and e + 1 of queue pair q */                                                   \
    for (uint32_t q = 0; q < (x)->levels.flows; q++)                                                                   \
        for (uint32_t e = (x)->levels.flow[q].first, end = end_of((x), q); e + 1 < end; e++)

/// Bytes of each flow that may be under way at once.
static double *find_flights(const struct weft_workload *w, struct weft_arena *arena) {
    double *flight = weft_arena_alloc(arena, w->flows, sizeof *flight);
    for (uint32_t f = 0; f < w->flows; f++)
        flight[f] =
            (double)(w->flow[f].depth ? (weft_bytes)w->flow[f].depth * w->flow[f].message_bytes : w->flow[f].bytes);
    for (uint32_t j = 0; j < w->jobs; j++)
        for (uint32_t i = 0; i < w->job[j].connections; i++) {
            const struct weft_connection *c = &w->job[j].connection[i];
            if (c->flow != WEFT_NONE) flight[c->flow] = (double)c->slots * (double)c->message_bytes_max;
        }
    return flight;
}

static bool trims_at(const struct weft__fluid *x, uint32_t node) {
    return ((const struct weft_aqm_ops *)x->net.device[node]->sw.aqm.model->ops)->trim;
}

/// Whether the sender of a port stops when it is told to pause a priority.
static bool obeys_pauses(const struct weft__fluid *x, uint32_t port, uint32_t priority) {
    uint32_t node = x->net.topology->port[port].node;
    const struct weft_device_conf *device = x->net.device[node];
    bool host = x->net.topology->node[node].role == WEFT_NODE_HOST;
    return (host ? &device->host.pfc : &device->sw.pfc)->priorities >> priority & 1;
}

/// Whether packets of a priority are neither paused nor trimmed at the switch to which a port leads.
static bool may_lose(const struct weft__fluid *x, uint32_t port, uint32_t priority) {
    const struct weft_topology *t = x->net.topology;
    uint32_t node = t->port[t->port[port].peer].node;
    const struct weft_switch_conf *sw = &x->net.device[node]->sw;
    if (t->node[node].role != WEFT_NODE_SWITCH || weft_topology_port_is_fabric(t, port)) return false;
    bool paused = sw->pfc.priorities >> priority & 1 && obeys_pauses(x, port, priority);
    return !paused && !trims_at(x, node) && !strcmp(sw->credit.model->name, "none");
}

/// A transport that delivers in order, or discards what is trimmed, sends all that follow a trimmed packet again.
static enum weft_status refuse_trims(const struct weft__fluid *x, uint32_t port, const struct weft_qp_conf *qp,
                                     struct weft_error *ret_error) {
    const struct weft_topology *t = x->net.topology;
    const struct weft_device_conf *host = x->net.device[t->host[qp->dst]];
    const struct weft_transport_ops *transport = host->host.transport.model->ops;
    uint32_t node = t->port[t->port[port].peer].node;
    if (t->node[node].role != WEFT_NODE_SWITCH || !trims_at(x, node)) return WEFT_OK;
    bool in_order = transport->in_order && transport->in_order(host->host.transport.conf);
    const char *path = in_order ? "host.delivery" : "host.transport";
    if (transport->on_trimmed && !in_order) return WEFT_OK;
    return REFUSE(ret_error, weft_device_place(host, path),
                  "%s: %s may trim packets, and there is no estimate of what is sent again in order; expected one that "
                  "takes trimmed packets in any order, or a run",
                  path, t->node[node].name);
}

/// What headroom depends on, of all hosts.
static struct weft_plan_pfc_conf headroom_base(const struct weft__fluid *x) {
    const struct weft_topology *t = x->net.topology;
    struct weft_plan_pfc_conf base = {.formula = WEFT_PLAN_BOUND};
    for (uint32_t h = 0; h < t->hosts; h++) {
        const struct weft_host_conf *host = &x->net.device[t->host[h]]->host;
        base.mtu_bytes = host->mtu_bytes > base.mtu_bytes ? host->mtu_bytes : base.mtu_bytes;
        base.framing_bytes = weft_host_framing_bytes(host);
    }
    return base;
}

struct start {
    weft_time_ps time_ps;
    uint32_t qp;
};
WEFT__ORDER(compare_starts, struct start, WEFT__UP(time_ps) ?: WEFT__UP(qp))

/// Bytes that wait at a line, which drains them.
struct backlog {
    double bytes, others; ///< others: before the first of the host that sent last
    weft_time_ps time_ps; ///< then
    uint32_t src;         ///< that host
};

/// Returns what of other hosts waited before `bytes` came. `capacity`: bytes a ps.
static double backlog_add(struct backlog *b, weft_time_ps now, double capacity, double bytes, uint32_t src) {
    double gone = (double)(now - b->time_ps) * capacity, before = b->bytes > gone ? b->bytes - gone : 0;
    double others = b->src == src && before > b->others ? b->others : before;
    *b = (struct backlog){before + bytes, others, now, src};
    return others;
}

/// How much of what flows send by a link may wait behind it, at a line to a host or a slower one, as each sends all of
/// its bytes when it starts. A connection of a job sends what its slots hold.
static void find_held(struct order *o, const double *flight, struct weft_arena *arena) {
    const struct weft__fluid *x = o->x;
    const struct weft_topology *t = x->net.topology;
    struct start *start = weft_arena_alloc(arena, x->levels.flows, sizeof *start);
    struct backlog *of_line = weft_arena_alloc(arena, x->levels.links, sizeof *of_line),
                   *by_link = weft_arena_alloc(arena, x->levels.links, sizeof *by_link);
    for (uint32_t q = 0; q < x->levels.flows; q++) {
        const struct weft_flow *flow = &x->net.workload->flow[x->net.qp[q].flow];
        start[q] = (struct start){flow->waits ? 0 : flow->start_ps, q};
    }
    if (x->levels.flows) qsort(start, x->levels.flows, sizeof *start, compare_starts);
    for (uint32_t i = 0; i < x->levels.flows; i++) {
        uint32_t q = start[i].qp, end = end_of(x, q);
        const struct weft_flow *flow = &x->net.workload->flow[x->net.qp[q].flow];
        for (uint32_t e = x->levels.flow[q].first; e + 1 < end; e++) {
            uint32_t from = x->levels.entry[e].link, to = x->levels.entry[e + 1].link;
            weft_rate_bps rate = t->link[t->port[o->port[to]].link].rate_bps;
            bool slower = rate < t->link[t->port[o->port[from]].link].rate_bps;
            bool last = t->node[t->port[t->port[o->port[to]].peer].node].role == WEFT_NODE_HOST;
            if (!last && !slower) continue;
            double capacity = (double)rate / 8e12;
            double bytes = flight[x->net.qp[q].flow] / flow->qps * (double)x->port[o->port[from]].share;
            double others = backlog_add(&of_line[to], start[i].time_ps, capacity, bytes, flow->src);
            backlog_add(&by_link[from], start[i].time_ps, capacity, bytes, flow->src);
            double waits = slower ? by_link[from].bytes : fmin(others, by_link[from].bytes);
            if (waits > o->held[from]) o->held[from] = waits;
        }
    }
}

/// Pauses lose packets where the headroom of a link does not even cover what is on the way until they act; the
/// bound also has the longest frames that may have begun, which are rarely so long.
static enum weft_status refuse_headroom(const struct order *o, struct weft_arena *arena, struct weft_error *ret_error) {
    const struct weft__fluid *x = o->x;
    const struct weft_topology *t = x->net.topology;
    const struct weft_plan_pfc_conf base = headroom_base(x);
    for (uint32_t l = 0; l < x->levels.links; l++) {
        if (o->held[l] <= 0) continue;
        uint32_t in = t->port[o->port[l]].peer;
        struct weft_plan_line line = weft_plan_line_at(t, x->net.device, in, &base, arena);
        struct weft_plan_pfc need = weft_plan_calc_pfc(&line.pfc);
        double frame = (double)(base.mtu_bytes + base.framing_bytes), cell = fmax((double)line.pfc.held_cell_bytes, 1);
        double held = (double)need.in_flight_bytes * ceil(frame / cell) * cell / frame;
        bool enough = held <= (double)line.headroom_bytes;
        if (!line.lossless || enough || o->held[l] <= (double)line.pfc.xoff_bytes) continue;
        return REFUSE(ret_error, weft_device_place(x->net.device[t->port[in].node], "switch.buffer"),
                      "switch.buffer: the headroom of a link %s is %s, and PFC may need %s: packets may be lost, and "
                      "there is no estimate of what is sent again; expected what weft plan pfc says, or a run",
                      line.between, weft__bytes_text(line.headroom_bytes).text,
                      weft__bytes_text(need.headroom_bytes).text);
    }
    return WEFT_OK;
}

/// The bytes of a priority for which a port of a switch has room at most, if nothing holds its sender back.
static weft_bytes room_at(const struct weft__fluid *x, uint32_t in, uint32_t priority, weft_rate_bps host_rate) {
    const struct weft_topology *t = x->net.topology;
    uint32_t node = t->port[in].node;
    const struct weft_switch_conf *sw = &x->net.device[node]->sw;
    const struct weft_buffer_ops *buffer = sw->buffer.model->ops;
    const struct weft_link_info *link = &t->link[t->port[in].link];
    const struct weft_buffer_port own = {link->rate_bps, host_rate, link->delay_ps};
    if (!(sw->pfc.priorities >> priority & 1))
        return buffer->lossy_most(sw->buffer.conf, &own, t->node[node].ports, sw->pfc.priorities, priority);
    struct weft_buffer_plan plan;
    buffer->plan(sw->buffer.conf, t->node[node].ports, sw->pfc.priorities, &plan);
    return plan.xoff_bytes + plan.headroom_bytes;
}

static enum weft_status refuse_loss(const struct weft__fluid *x, uint32_t port, uint32_t priority,
                                    struct weft_error *ret_error) {
    const struct weft_topology *t = x->net.topology;
    uint32_t from = t->port[port].node, node = t->port[t->port[port].peer].node;
    const struct weft_device_conf *device = x->net.device[node];
    bool host = t->node[from].role == WEFT_NODE_HOST;
    const char *path = host ? "host.pfc.priorities" : "switch.pfc.priorities";
    if (device->sw.pfc.priorities >> priority & 1)
        return REFUSE(ret_error, weft_device_place(x->net.device[from], path),
                      "%s: %s does not stop when %s pauses priority %u, which may lose packets of it, and there is no "
                      "estimate of what is sent again; expected %u among them, less data at once, or a run",
                      path, t->node[from].name, t->node[node].name, priority, priority);
    return REFUSE(ret_error, weft_device_place(device, "switch.pfc.priorities"),
                  "switch.pfc.priorities: %s may lose packets of priority %u, and there is no estimate of what is "
                  "sent again; expected PFC, credit or trimming, less data at once, or a run",
                  t->node[node].name, priority);
}

/// Credit below the loop of a link slows every flow down that crosses it with the priority.
static enum weft_status refuse_credit(const struct order *o, struct weft_error *ret_error) {
    const struct weft__network *net = &o->x->net;
    const struct weft_topology *t = net->topology;
    uint32_t frame = weft__frame_bytes_max(net->scenario, t), priorities = 0;
    for (uint32_t q = 0; q < o->x->levels.flows; q++)
        priorities |= 1U << net->qp[q].priority;
    for (uint32_t l = 0; l < o->x->levels.links; l++) {
        const struct weft_node_info *far = &t->node[t->port[t->port[o->port[l]].peer].node];
        const struct weft_device_conf *device = net->device[far - t->node];
        if (!(weft_credit_grants(weft__credit_of(device, far)) & priorities) ||
            !weft__credit_is_short(t, net->device, frame, o->port[l]))
            continue;
        const char *path = far->role == WEFT_NODE_HOST ? "host.credit" : "switch.credit";
        return REFUSE(ret_error, weft_device_place(device, path),
                      "%s: %s grants less credit than its neighbour needs for the rate of the link, and there is no "
                      "estimate of that; expected grant: 0B, or a run",
                      path, far->name);
    }
    return WEFT_OK;
}

/// What comes to a port of a switch must have room there where it may have to wait, for others or for a slower line,
/// and nothing holds it back.
static enum weft_status refuse_losses(struct order *o, struct weft_arena *arena, struct weft_error *ret_error) {
    const struct weft__fluid *x = o->x;
    const struct weft_topology *t = x->net.topology;
    const double *flight = find_flights(x->net.workload, arena);
    weft_rate_bps host_rate = weft__host_rate_least(t);
    EACH_STEP(x, q, e) {
        uint32_t from = x->levels.entry[e].link, to = x->levels.entry[e + 1].link;
        const struct weft_qp_conf *qp = &x->net.qp[q];
        bool slower = x->levels.link[to].capacity < x->levels.link[from].capacity;
        if (!o->several[to] && !slower) continue;
        enum weft_status status = refuse_trims(x, o->port[from], qp, ret_error);
        if (status) return status;
        const struct weft_flow *flow = &x->net.workload->flow[qp->flow];
        uint32_t in = t->port[o->port[from]].peer;
        double waits = flight[qp->flow] / flow->qps * (double)x->port[o->port[from]].share;
        if (!may_lose(x, o->port[from], qp->priority)) continue;
        o->waits[from] += waits;
        if (o->waits[from] > (double)room_at(x, in, qp->priority, host_rate))
            return refuse_loss(x, o->port[from], qp->priority, ret_error);
    }
    find_held(o, flight, arena);
    return refuse_headroom(o, arena, ret_error);
}

/// Whether the switch to which a port leads may hold back packets of a priority, by pauses or credit.
static bool may_hold(const struct weft__fluid *x, uint32_t port, uint32_t priority) {
    const struct weft_topology *t = x->net.topology;
    uint32_t node = t->port[t->port[port].peer].node;
    const struct weft_switch_conf *sw = &x->net.device[node]->sw;
    if (t->node[node].role != WEFT_NODE_SWITCH || weft_topology_port_is_fabric(t, port)) return false;
    return (sw->pfc.priorities >> priority & 1) || strcmp(sw->credit.model->name, "none") != 0;
}

/// A circle of links, each of which flows cross right after another: their pauses could wait for each other. Without
/// pauses, estimates of a torus with trimming were 60% too slow for incasts and 16% too fast for all-to-alls: packets
/// take the ways that are free, not each of the shortest alike.
static enum weft_status refuse_circles(struct order *o, struct weft_arena *arena, struct weft_error *ret_error) {
    const struct weft__fluid *x = o->x;
    uint32_t links = x->levels.links, *in = weft_arena_alloc(arena, links, sizeof *in),
             *ready = weft_arena_alloc(arena, links, sizeof *ready), n = 0, edges = 0;
    EACH_STEP(x, q, e) {
        o->at[x->levels.entry[e].link + 1]++;
        in[x->levels.entry[e + 1].link]++;
        edges++;
    }
    for (uint32_t l = 0; l < links; l++)
        o->at[l + 1] += o->at[l];
    uint32_t *next = weft_arena_alloc(arena, links, sizeof *next);
    o->edge = weft_arena_alloc(arena, edges, sizeof *o->edge);
    EACH_STEP(x, q, e) {
        uint32_t from = x->levels.entry[e].link;
        o->edge[o->at[from] + next[from]++] = x->levels.entry[e + 1].link;
    }
    for (uint32_t l = 0; l < links; l++)
        if (!in[l]) ready[n++] = l;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = o->at[ready[i]]; k < o->at[ready[i] + 1]; k++)
            if (!--in[o->edge[k]]) ready[n++] = o->edge[k];
    if (n == links) return WEFT_OK;
    bool holds = false;
    EACH_STEP(x, q, e)
    holds |= in[x->levels.entry[e].link] && may_hold(x, o->port[x->levels.entry[e].link], x->net.qp[q].priority);
    return REFUSE(ret_error, network_place(&x->net),
                  "%s: flows go round links in a circle, %s; expected routes without a circle, or a run",
                  network_key(&x->net),
                  holds ? "whose pauses could wait for each other, and there is no estimate of that"
                        : "as in a torus, and estimates of how packets share them are off by more than half");
}

/// Flows that share a link must be of one priority: a fluid knows no scheduler.
static enum weft_status refuse_priorities(const struct weft__fluid *x, struct weft_arena *arena,
                                          struct weft_error *ret_error) {
    const struct weft_topology *t = x->net.topology;
    uint32_t *first = weft_arena_alloc(arena, x->levels.links, sizeof *first); ///< queue pair + 1
    for (uint32_t q = 0; q < x->net.qps; q++)
        for (uint32_t e = x->levels.flow[q].first, end = end_of(x, q); e < end; e++) {
            uint32_t *other = &first[x->levels.entry[e].link];
            if (!*other) *other = q + 1;
            const struct weft_qp_conf *a = &x->net.qp[*other - 1], *b = &x->net.qp[q];
            if (a->priority != b->priority)
                return REFUSE(ret_error, weft__estimate_place_of(&x->net, b->flow),
                              "workload: flows from %s and %s share a link with priorities %u and %u, and there is no "
                              "estimate of schedulers; expected one priority, or a run",
                              t->node[t->host[a->src]].name, t->node[t->host[b->src]].name, a->priority, b->priority);
        }
    return WEFT_OK;
}

enum weft_status weft__estimate_refuse_ways(const struct weft__fluid *x, struct weft_error *ret_error) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_QP);
    uint32_t links = x->levels.links;
    struct order o = {.x = x};
    o.port = weft_arena_alloc(arena, links, sizeof *o.port);
    o.before = weft_arena_alloc(arena, links, sizeof *o.before);
    o.several = weft_arena_alloc(arena, links, sizeof *o.several);
    o.waits = weft_arena_alloc(arena, links, sizeof *o.waits);
    o.at = weft_arena_alloc(arena, links + (size_t)1, sizeof *o.at);
    o.held = weft_arena_alloc(arena, links, sizeof *o.held);
    for (uint32_t p = 0; p < x->net.topology->ports; p++)
        if (x->port[p].link != WEFT_NONE) o.port[x->port[p].link] = p;
    for (uint32_t l = 0; l < links; l++)
        o.before[l] = WEFT_NONE;
    EACH_STEP(x, q, e) {
        uint32_t from = x->levels.entry[e].link, to = x->levels.entry[e + 1].link;
        o.several[to] |= o.before[to] != WEFT_NONE && o.before[to] != from;
        o.before[to] = from;
    }
    enum weft_status status = refuse_priorities(x, arena, ret_error);
    if (!status) status = refuse_losses(&o, arena, ret_error);
    if (!status) status = refuse_credit(&o, ret_error);
    if (!status) status = refuse_circles(&o, arena, ret_error);
    weft_arena_free(arena);
    return status;
}
