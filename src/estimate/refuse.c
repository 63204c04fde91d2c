// SPDX-License-Identifier: Apache-2.0
#include "estimate/refuse.h"

#include <string.h>

#include "box/box.h"
#include "weft/aqm.h"
#include "weft/cc.h"
#include "weft/transport.h"

#define REFUSE(error, place, ...) WEFT_REFUSE(error, place, __VA_ARGS__)

static enum weft_status refuse_model(const struct weft_device_conf *device, const char *path,
                                     const struct weft_model *model, struct weft_error *ret_error) {
    return REFUSE(ret_error, weft_device_place(device, path),
                  "%s: there is no estimate of %s; expected another model, or a run", path, model->name);
}

static enum weft_status refuse_switch(const struct weft_device_conf *device, struct weft_error *ret_error) {
    const struct weft_switch_conf *sw = &device->sw;
    const struct weft_route_ops *route = sw->route.model->ops;
    if (route->choose && (!route->paths || route->paths(sw->route.conf) == WEFT_ROUTE_PATHS_UNKNOWN))
        return refuse_model(device, "switch.route", sw->route.model, ret_error);
    if (strcmp(sw->sfc.model->name, "none") != 0) return refuse_model(device, "switch.sfc", sw->sfc.model, ret_error);
    return WEFT_OK;
}

static enum weft_status refuse_host(const struct weft_device_conf *device, struct weft_error *ret_error) {
    const struct weft_host_conf *host = &device->host;
    if (!((const struct weft_cc_ops *)host->cc.model->ops)->estimate)
        return refuse_model(device, "host.cc", host->cc.model, ret_error);
    if (host->drain_slow_every_ps != WEFT_TIME_NEVER)
        return REFUSE(
            ret_error, weft_device_place(device, "host.drain_slow_every"),
            "host.drain_slow_every: there is no estimate of hosts with slow phases; expected never, or a run");
    return WEFT_OK;
}

static enum weft_status refuse_events(const struct weft__network *net, struct weft_error *ret_error) {
    const struct weft_topology *t = net->topology;
    for (uint32_t i = 0; i < t->events; i++)
        if (t->event[i].time_ps)
            return REFUSE(ret_error, t->place,
                          "events: there is no estimate of a link that goes down or comes up in mid-run; expected "
                          "events at 0s, or a run");
    return WEFT_OK;
}

enum weft_status weft__estimate_refuse(const struct weft__network *net, struct weft_error *ret_error) {
    const struct weft_topology *t = net->topology;
    const struct weft_device_conf *before[2] = {NULL, NULL}; ///< of a switch, of a host
    enum weft_status status = refuse_events(net, ret_error);
    if (net->workload->rmas)
        return REFUSE(ret_error, net->scenario->workload[0].place,
                      "workload: there is no estimate of remote memory access; expected flows or jobs, or a run");
    for (uint32_t i = 0; i < t->nodes && !status; i++) {
        const struct weft__box *box = weft__box_of(&t->node[i]);
        if (!box->fluid)
            return REFUSE(ret_error, t->place,
                          "topology: there is no estimate of %s; expected another network, or a run",
                          weft__box_name(t->node[i].box));
        bool host = t->node[i].role == WEFT_NODE_HOST;
        if (net->device[i] == before[host]) continue;
        before[host] = net->device[i];
        status = host ? refuse_host(net->device[i], ret_error) : refuse_switch(net->device[i], ret_error);
    }
    return status;
}

// --- what depends on where flows go -------------------------------------------------------------------------------

/// Links of levels in the order in which flows cross them.
struct order {
    const struct weft__fluid *x;
    uint32_t *port;      ///< [links]: a port that sends on it
    uint32_t *before;    ///< [links]: the link by which flows come to it, WEFT_NONE: none
    bool *several;       ///< [links]: they come by several
    double *waits;       ///< [links]: bytes that may come by it at once for a link to which others come, too
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
    for (uint32_t q = 0; q < (x)->net.qps; q++)                                                                        \
        for (uint32_t e = (x)->levels.flow[q].first; e + 1 < end_of((x), q); e++)

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

/// Whether packets of a priority are neither paused nor trimmed at the switch to which a port leads.
static bool may_lose(const struct weft__fluid *x, uint32_t port, uint32_t priority) {
    const struct weft_topology *t = x->net.topology;
    uint32_t node = t->port[t->port[port].peer].node;
    const struct weft_switch_conf *sw = &x->net.device[node]->sw;
    if (t->node[node].role != WEFT_NODE_SWITCH || weft_topology_port_is_fabric(t, port)) return false;
    return !(sw->pfc.priorities >> priority & 1) && !((const struct weft_aqm_ops *)sw->aqm.model->ops)->trim &&
           !strcmp(sw->credit.model->name, "none");
}

/// What comes to a port of a switch must have room there where it may have to wait and nothing holds it back.
static enum weft_status refuse_losses(struct order *o, struct weft_arena *arena, struct weft_error *ret_error) {
    const struct weft__fluid *x = o->x;
    const struct weft_topology *t = x->net.topology;
    const double *flight = find_flights(x->net.workload, arena);
    weft_rate_bps host_rate = weft__host_rate_least(t);
    EACH_STEP(x, q, e) {
        uint32_t from = x->levels.entry[e].link, to = x->levels.entry[e + 1].link;
        const struct weft_qp_conf *qp = &x->net.qp[q];
        if (!o->several[to] || !may_lose(x, o->port[from], qp->priority)) continue;
        const struct weft_flow *flow = &x->net.workload->flow[qp->flow];
        o->waits[from] += flight[qp->flow] / flow->qps * (double)x->port[o->port[from]].share;
        uint32_t in = t->port[o->port[from]].peer, node = t->port[in].node;
        const struct weft_device_conf *device = x->net.device[node];
        const struct weft_link_info *link = &t->link[t->port[in].link];
        const struct weft_buffer_port own = {link->rate_bps, host_rate, link->delay_ps};
        const struct weft_buffer_ops *buffer = device->sw.buffer.model->ops;
        weft_bytes room = buffer->lossy_most(device->sw.buffer.conf, &own, t->node[node].ports,
                                             device->sw.pfc.priorities, qp->priority);
        if (o->waits[from] > (double)room)
            return REFUSE(
                ret_error, weft_device_place(device, "switch.pfc.priorities"),
                "switch.pfc.priorities: %s may lose packets of priority %u, and there is no estimate of what is "
                "sent again; expected PFC, credit or trimming, less data at once, or a run",
                t->node[node].name, qp->priority);
    }
    return WEFT_OK;
}

/// A circle of links, each of which flows cross right after another: their pauses could wait for each other.
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
    return REFUSE(ret_error, x->net.topology->place,
                  "topology: flows go round links in a circle, whose pauses could wait for each other, and there is no "
                  "estimate of that; expected routes without a circle, or a run");
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
    for (uint32_t p = 0; p < x->net.topology->ports; p++)
        if (x->port[p].link != WEFT_NONE) o.port[x->port[p].link] = p;
    for (uint32_t l = 0; l < links; l++)
        o.before[l] = WEFT_NONE;
    EACH_STEP(x, q, e) {
        uint32_t from = x->levels.entry[e].link, to = x->levels.entry[e + 1].link;
        o.several[to] |= o.before[to] != WEFT_NONE && o.before[to] != from;
        o.before[to] = from;
    }
    enum weft_status status = refuse_losses(&o, arena, ret_error);
    if (!status) status = refuse_circles(&o, arena, ret_error);
    weft_arena_free(arena);
    return status;
}
