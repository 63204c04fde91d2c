// SPDX-License-Identifier: Apache-2.0
#include "cost.h"

#include <math.h>
#include <string.h>

#include "weft/transport.h"

/// Frames and messages of a run, and the links that they cross, by the kind of box at the link's end.
struct load {
    double messages, packets, kib; ///< packets of data
    double plain, cells, gnet;     ///< links that one crosses, mean: of Ethernet, of a DSF, of a Clique
};

static void add_message(struct load *l, double messages, double bytes, double mtu) {
    l->messages += messages;
    l->packets += messages * ceil(bytes / messages / mtu);
    l->kib += bytes / 1024;
}

/// Counts the messages of jobs by connection, without those within a server, which cross no link. A flow of its own is
/// one message.
static void count_messages(const struct weft_cli_simulation *sim, struct load *l) {
    const struct weft_workload *w = sim->workload;
    double mtu = (double)sim->scenario->device[0].host.mtu_bytes;
    if (!(mtu > 0)) mtu = 4096;
    for (uint32_t j = 0; j < w->jobs; j++)
        for (uint32_t i = 0; i < w->job[j].connections; i++) {
            const struct weft_connection *c = &w->job[j].connection[i];
            if (c->flow == WEFT_NONE || !c->bytes) continue;
            add_message(l, ceil((double)c->bytes / (double)c->message_bytes_max), (double)c->bytes, mtu);
        }
    for (uint32_t f = 0; f < w->flows; f++)
        if (!w->flow[f].messages && !w->flow[f].rma) add_message(l, 1, (double)w->flow[f].bytes, mtu);
}

/// A breadth-first search through a network, from node to node.
struct search {
    const struct weft_topology *t;
    uint32_t *by, *queue; ///< [nodes]: the port that a node was first reached from; WEFT_NONE: it was not
};

static void search_route(struct search *s, uint32_t from, uint32_t to) {
    uint32_t n = 0, at = 0;
    memset(s->by, 0xff, s->t->nodes * sizeof *s->by);
    s->queue[n++] = from;
    while (at < n && s->by[to] == WEFT_NONE) {
        const struct weft_node_info *node = &s->t->node[s->queue[at++]];
        for (uint32_t p = node->port0; p < node->port0 + node->ports; p++) {
            uint32_t next = s->t->port[s->t->port[p].peer].node;
            if (next == from || s->by[next] != WEFT_NONE) continue;
            s->by[next] = p;
            s->queue[n++] = next;
        }
    }
}

/// Walks back along the route that was found.
static void walk_back(const struct search *s, uint32_t from, uint32_t to, double bytes, struct load *sum) {
    const struct weft_topology *t = s->t;
    for (uint32_t at = to; at != from && s->by[at] != WEFT_NONE; at = t->port[s->by[at]].node) {
        bool tin = weft_node_is_flat(&t->node[at]);
        if (!weft_topology_link_is_fabric(t, t->port[s->by[at]].link))
            sum->plain += bytes;
        else if (tin)
            sum->gnet += bytes;
        else
            sum->cells += bytes;
    }
}

/// Numbers below 2^32 that follow no regular order of flows.
static uint32_t scattered_number(uint32_t i) {
    return i * UINT32_C(2654435769);
}

/// Follows the shortest routes of a sample of flows.
static void find_links(const struct weft_cli_simulation *sim, struct load *l) {
    enum { SAMPLES = 64 };
    const struct weft_workload *w = sim->workload;
    const struct weft_topology *t = sim->topology;
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    struct search s = {t, weft_arena_alloc(arena, t->nodes, sizeof *s.by),
                       weft_arena_alloc(arena, t->nodes, sizeof *s.queue)};
    uint32_t samples = w->flows < SAMPLES ? w->flows : SAMPLES;
    double all = 0;
    for (uint32_t i = 0; i < samples; i++) {
        const struct weft_flow *flow = &w->flow[(uint64_t)w->flows * scattered_number(i) >> 32];
        uint32_t from = t->host[flow->src], to = t->host[flow->dst];
        search_route(&s, from, to);
        walk_back(&s, from, to, (double)flow->bytes, l);
        all += (double)flow->bytes;
    }
    if (all > 0) l->plain /= all, l->cells /= all, l->gnet /= all;
    weft_arena_free(arena);
}

/// Nanoseconds of one core of a server of 2026, alone. Fitted to runs of ten blueprints among 64 and 256 hosts at 400G:
/// all-to-alls of 4 KiB to 16 MiB, rings of 16 KiB to 16 MiB and random flows (docs/versus-batteries.md).
static const struct {
    double run;                 ///< once, in all
    double frame;               ///< on a link
    double frame_of_many;       ///< more, where a host sends to MANY others: their state is not in the cache
    double flow, qp, sack_flow; ///< once; sack_flow: more, with selective acknowledgements
    double dsf_packet, dsf_kib, gnet_packet, gnet_kib; ///< on a link for cells
} cost_ns = {5e6, 108, 68, 2100, 890, 14000, 410, 335, 5200, 5500};
enum { MANY = 16, FRAMES = 2 }; ///< FRAMES: of a packet of data: itself and its acknowledgement

double weft_cli_cost_s(const struct weft_cli_simulation *sim) {
    const struct weft_workload *w = sim->workload;
    struct load l = {.messages = 0};
    count_messages(sim, &l);
    find_links(sim, &l);
    double many = fmin(1, (double)w->flows / sim->topology->hosts / MANY);
    double frames = FRAMES * l.packets + l.messages; // and a clear-to-send a message
    const struct weft_model_conf *conf = &sim->scenario->device[0].host.transport;
    const struct weft_transport_ops *transport = conf->model->ops;
    bool sacks = transport->sacks && transport->sacks(conf->conf);
    double ns = cost_ns.run + frames * l.plain * (cost_ns.frame + cost_ns.frame_of_many * many);
    ns += w->flows * (cost_ns.flow + (sacks ? cost_ns.sack_flow : 0)) + (double)w->qps * cost_ns.qp;
    ns += l.cells * (l.packets * cost_ns.dsf_packet + l.kib * cost_ns.dsf_kib);
    ns += l.gnet * (l.packets * cost_ns.gnet_packet + l.kib * cost_ns.gnet_kib);
    return ns * 1e-9;
}
