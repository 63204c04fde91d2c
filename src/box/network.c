// SPDX-License-Identifier: Apache-2.0
#include "box/box.h"
#include "link/port_credit.h"

#include <assert.h>

uint32_t weft__planes(const struct weft_topology *t, const struct weft_device_conf *const *device) {
    return t->hosts && device[t->host[0]]->host.planes != WEFT_PLANES_SEPARATE ? t->networks : 1;
}

struct weft__port *weft__network_port(const struct weft__network *net, uint32_t port) {
    const struct weft_topology *t = net->topology;
    assert(port < t->ports);
    const struct weft_node_info *node = &t->node[t->port[port].node];
    return weft__box_of(node)->port(weft__network_state(net, t->port[port].node), port - node->port0);
}

struct weft__trace *weft__network_trace(const struct weft__network *net, uint32_t node) {
    return weft__box_of(&net->topology->node[node])->trace(weft__network_state(net, node));
}

struct weft__port_faults *weft__network_faults(const struct weft__network *net, uint32_t port,
                                               struct weft_arena *arena) {
    const struct weft_topology *t = net->topology;
    uint32_t link = t->port[port].link, changes = 0;
    for (uint32_t i = 0; i < t->events; i++)
        changes += t->event[i].link == link;
    if (!changes && t->link[link].bit_error_rate <= 0) return NULL;
    struct weft__port_faults *f = weft_arena_alloc(arena, 1, sizeof *f + changes * sizeof *f->down);
    f->link_delay_ps = t->link[link].delay_ps;
    f->bit_error_rate = t->link[link].bit_error_rate;
    f->random = weft_random_stream(net->scenario->run.seed, port, WEFT_RANDOM_BIT_ERROR);
    bool is_down = false;
    for (uint32_t i = 0; i < t->events; i++) {
        if (t->event[i].link != link || t->event[i].up != is_down) continue;
        if (is_down)
            f->down[f->downs - 1].to_ps = t->event[i].time_ps;
        else
            f->down[f->downs++] = (struct weft__down){t->event[i].time_ps, WEFT_TIME_NEVER};
        is_down = !is_down;
        assert(f->down[f->downs - 1].from_ps <= f->down[f->downs - 1].to_ps); // events are in the order of time
    }
    return f;
}

bool *weft__network_sampled(const struct weft__network *net, uint32_t node, struct weft_arena *arena) {
    const struct weft_node_info *info = &net->topology->node[node];
    if (!net->sampling.interval_ps) return NULL;
    bool *sampled = weft_arena_alloc(arena, info->ports, sizeof *sampled), any = false;
    for (uint32_t k = 0; k < info->ports; k++) {
        char name[160];
        weft_topology_port_name(net->topology, info->port0 + k, name, sizeof name);
        sampled[k] = net->sampling.most || weft_glob_match(net->scenario->run.sample_ports, name);
        any |= sampled[k];
    }
    return any ? sampled : NULL;
}

uint32_t weft__actor(const struct weft_topology *t, const struct weft_device_conf *const *device, uint32_t node) {
    if (node >= t->nodes || t->node[node].role != WEFT_NODE_HOST || weft__planes(t, device) < 2) return node;
    return t->host[t->node[node].index % t->network[0].hosts];
}

uint32_t weft__network_actor(const struct weft__network *net, uint32_t node) {
    return weft__actor(net->topology, net->device, node);
}

bool weft__network_is_own(const struct weft__network *net, uint32_t node) {
    const struct weft__engine *e = &net->engine;
    if (!e->conf.ranks) return true;
    uint32_t worker = weft__engine_worker_of(e, weft__network_actor(net, node));
    return worker >= e->own_first && worker < e->own_end;
}

struct weft__port_peer weft__network_peer(const struct weft__network *net, uint32_t port) {
    const struct weft_topology *t = net->topology;
    uint32_t peer = t->port[port].peer, node = t->port[peer].node;
    struct weft__box_reaction reaction = weft__box_at(t, peer)->reaction(net->device[node], t, peer);
    uint32_t k = peer - t->node[node].port0, actor = weft__network_actor(net, node);
    if (actor != node) k = UINT16_MAX - t->node[node].index / t->network[0].hosts; // which of the NIC's ports
    node = actor;
    assert(k <= UINT16_MAX);
    return (struct weft__port_peer){
        .node = node,
        .inbox = weft__engine_inbox_of(&net->engine, node),
        .port = (uint16_t)k,
        .cut_through = reaction.cut_through,
        .processing_ps = reaction.processing_ps,
        .pause_reaction_ps = reaction.pause_ps,
    };
}

const struct weft_model_conf *weft__credit_of(const struct weft_device_conf *device,
                                              const struct weft_node_info *node) {
    return node->role == WEFT_NODE_HOST ? &device->host.credit : &device->sw.credit;
}

static struct weft_credit_fact credit_fact(const struct weft_topology *t, const struct weft_device_conf *const *device,
                                           uint32_t frame_bytes, uint32_t port) {
    const struct weft_link_info *link = &t->link[t->port[port].link];
    uint32_t peer = t->port[port].peer, at = t->port[port].node, far = t->port[peer].node;
    uint32_t both = 2 * WEFT__PREAMBLE + frame_bytes + WEFT_FRAME_MIN; // the frame plus the message
    weft_time_ps processing = weft__box_at(t, peer)->reaction(device[far], t, peer).processing_ps;
    weft_time_ps reaction = weft__box_at(t, port)->reaction(device[at], t, port).pause_ps;
    return (struct weft_credit_fact){
        .loop_ps = weft__speed_time(weft__speed_of(link->rate_bps), both) + 2 * link->delay_ps + processing + reaction,
        .rate_bps = link->rate_bps,
        .frame_bytes = frame_bytes,
    };
}

weft_bytes weft__credit_granted(const struct weft_topology *t, const struct weft_device_conf *const *device,
                                uint32_t frame_bytes, uint32_t port) {
    uint32_t far = t->port[t->port[port].peer].node;
    const struct weft_model_conf *conf = weft__credit_of(device[far], &t->node[far]);
    struct weft_credit_fact fact = credit_fact(t, device, frame_bytes, port);
    return ((const struct weft_credit_ops *)conf->model->ops)->grant(conf->conf, &fact);
}

bool weft__credit_is_short(const struct weft_topology *t, const struct weft_device_conf *const *device,
                           uint32_t frame_bytes, uint32_t port) {
    uint32_t far = t->port[t->port[port].peer].node;
    const struct weft_model_conf *conf = weft__credit_of(device[far], &t->node[far]);
    const struct weft_credit_ops *ops = conf->model->ops;
    if (!ops->priorities(conf->conf)) return false;
    struct weft_credit_fact fact = credit_fact(t, device, frame_bytes, port);
    weft_bytes frames = ops->grant(conf->conf, &fact) / weft_credit_take(ops->unit(conf->conf), frame_bytes);
    return frames * weft_time_of_bytes(frame_bytes + WEFT_WIRE_OVERHEAD, fact.rate_bps) < fact.loop_ps;
}

struct weft__port_credit *weft__network_credit(const struct weft__network *net, uint32_t port,
                                               struct weft_arena *arena) {
    const struct weft_topology *t = net->topology;
    uint32_t at = t->port[port].node, far = t->port[t->port[port].peer].node;
    const struct weft_model_conf *own = weft__credit_of(net->device[at], &t->node[at]),
                                 *other = weft__credit_of(net->device[far], &t->node[far]);
    const struct weft_credit_ops *grants = own->model->ops, *needs = other->model->ops;
    struct weft__port_credit c = {.priorities = needs->priorities(other->conf),
                                  .granted = grants->priorities(own->conf),
                                  .unit = needs->unit(other->conf),
                                  .granted_unit = grants->unit(own->conf)};
    if (!c.priorities && !c.granted) return NULL;
    c.grant = weft__credit_granted(t, net->device, net->frame_bytes, port);
    for (uint32_t p = 0; p < WEFT_PRIORITIES; p++)
        c.left[p] = c.grant;
    c.frame_take = weft_credit_take(c.unit, net->frame_bytes);
    assert(!c.priorities || c.grant >= c.frame_take); // or nothing could ever be sent
    struct weft__port_credit *credit = weft_arena_alloc(arena, 1, sizeof *credit);
    *credit = c;
    return credit;
}
