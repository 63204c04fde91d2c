// SPDX-License-Identifier: Apache-2.0
// Who waits for whom in Cliques. A virtual channel (VC) at an output without credits waits for its FIFO at the far end,
// whose first cell waits for an output there, and so on: a cycle of these is a deadlock. A packet at its ingress waits
// for the CTS of the port that it leaves by; an operation of 1RMA waits for an answer, for the solicitation window, or
// for its pace.

#include "box/stall.h"
#include "box/tin/tin_net.h"

#include "base/units.h"

enum { NAME = 160 };

static const struct weft__tin *tin_of(const struct weft__network *net, uint32_t node) {
    return net->topology->node[node].box == WEFT_BOX_TIN ? net->engine.node[node].state : NULL;
}

static struct weft__quantity_text age_of(const struct weft__network *net, weft_time_ps since) {
    return weft__short_time(net->outcome->sim_time_ps > since ? net->outcome->sim_time_ps - since : 0);
}

/// The groups of TiNs that working GNet links connect: the same number for all that reach one another.
static uint32_t *find_islands(const struct weft__network *net, struct weft_arena *arena) {
    const struct weft_topology *t = net->topology;
    uint32_t *island = weft_arena_alloc(arena, t->nodes, sizeof *island);
    bool *down = weft_arena_alloc(arena, t->links, sizeof *down), again = true;
    for (uint32_t i = 0; i < t->events && weft_outcome_reached(net->outcome, t->event[i].time_ps); i++)
        down[t->event[i].link] = !t->event[i].up;
    for (uint32_t n = 0; n < t->nodes; n++)
        island[n] = n;
    while (again) { // as many times as the longest path has links
        again = false;
        for (uint32_t l = 0; l < t->links; l++) {
            uint32_t a = t->port[t->link[l].port[0]].node, b = t->port[t->link[l].port[1]].node;
            if (down[l] || !weft_topology_link_is_fabric(t, l) || island[a] == island[b]) continue;
            island[a] = island[b] = island[a] < island[b] ? island[a] : island[b];
            again = true;
        }
    }
    return island;
}

/// If that is the reason.
static void say_way(FILE *text, const uint32_t *island, uint32_t from, uint32_t to) {
    if (island[from] != island[to]) fputs("; no route leads there", text);
}

// --- virtual channels ---------------------------------------------------------------------------------------------

/// A vertex is port among all * WEFT_GNET_VCS + VC, of an output without credits. Returns the vertex that it waits for;
/// WEFT_NONE: none.
static uint32_t next_vertex(const struct weft__network *net, uint32_t vertex) {
    const struct weft_topology *t = net->topology;
    uint32_t port = vertex / WEFT_GNET_VCS, vc = vertex % WEFT_GNET_VCS, far = t->port[port].peer;
    const struct weft_node_info *node = &t->node[t->port[port].node], *next = &t->node[t->port[far].node];
    struct weft__gnet_wait wait;
    uint32_t out, out_vc;
    if (!weft__gnet_starves(&tin_of(net, t->port[port].node)->gnet, port - node->port0, vc, &wait)) return WEFT_NONE;
    const struct weft__gnet *g = &tin_of(net, t->port[far].node)->gnet;
    if (!weft__gnet_blocks(g, far - next->port0, vc, &out, &out_vc)) return WEFT_NONE;
    return (next->port0 + out) * WEFT_GNET_VCS + out_vc;
}

static void say_cycle(FILE *text, const struct weft__network *net, uint32_t start) {
    const struct weft_topology *t = net->topology;
    uint32_t n = 0;
    for (uint32_t at = start; !n || at != start; at = next_vertex(net, at))
        n++;
    fprintf(text, "credit cycle of %s (a deadlock):\n", weft__counted(n, "virtual channel").text);
    uint32_t at = start;
    for (uint32_t k = 0; k < n; k++, at = next_vertex(net, at)) {
        char name[NAME], peer[NAME];
        uint32_t port = at / WEFT_GNET_VCS;
        weft_topology_port_name(t, port, name, sizeof name);
        weft_topology_port_name(t, t->port[port].peer, peer, sizeof peer);
        fprintf(text, "  %s VC %u waits for room at %s\n", name, at % WEFT_GNET_VCS, peer);
    }
    char name[NAME];
    weft_topology_port_name(t, start / WEFT_GNET_VCS, name, sizeof name);
    fprintf(text, "  and so back to %s\n", name);
}

/// Each vertex waits for at most one other, so a trail that returns to itself is a cycle.
static void find_cycle(FILE *text, const struct weft__network *net) {
    const struct weft_topology *t = net->topology;
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    uint32_t *trail = weft_arena_alloc(arena, (size_t)t->ports * WEFT_GNET_VCS, sizeof *trail), trails = 0;
    for (uint32_t start = 0; start < t->ports * WEFT_GNET_VCS; start++) {
        if (trail[start] || !weft_topology_link_is_fabric(t, t->port[start / WEFT_GNET_VCS].link) ||
            !tin_of(net, t->port[start / WEFT_GNET_VCS].node))
            continue;
        uint32_t at = start;
        for (trails++; at != WEFT_NONE && !trail[at]; at = next_vertex(net, at))
            trail[at] = trails;
        if (at == WEFT_NONE || trail[at] != trails) continue;
        say_cycle(text, net, at);
        break;
    }
}

static void say_starved(FILE *text, const struct weft__network *net) {
    const struct weft_topology *t = net->topology;
    struct weft__stall_list list = {.text = text, .title = "virtual channels that wait for credits"};
    for (uint32_t port = 0; port < t->ports; port++) {
        const struct weft_node_info *node = &t->node[t->port[port].node];
        const struct weft__tin *tin = tin_of(net, t->port[port].node);
        if (!tin || !weft_topology_link_is_fabric(t, t->port[port].link)) continue;
        for (uint32_t vc = 0; vc < WEFT_GNET_VCS; vc++) {
            struct weft__gnet_wait wait;
            if (!weft__gnet_starves(&tin->gnet, port - node->port0, vc, &wait) || !weft__stall_line(&list)) continue;
            char name[NAME], peer[NAME];
            weft_topology_port_name(t, port, name, sizeof name);
            weft_topology_port_name(t, t->port[port].peer, peer, sizeof peer);
            fprintf(text, "  %s VC %u: %s waiting, no room at %s for %s\n", name, vc,
                    weft__short_bytes(wait.bytes).text, peer, age_of(net, wait.since_ps).text);
        }
    }
    weft__stall_end(&list);
}

// --- packets ------------------------------------------------------------------------------------------------------

/// Why a port sends no CTS.
static void say_why(FILE *text, const struct weft__network *net, const struct weft__tin *tin, uint32_t port, uint32_t k,
                    uint32_t priority) {
    const struct weft__port *ether = &tin->ether.port[k];
    if (ether->paused >> priority & 1) {
        char peer[NAME];
        weft_topology_port_name(net->topology, net->topology->port[port].peer, peer, sizeof peer);
        fprintf(text, "; that port is paused by %s\n", peer);
        return;
    }
    fprintf(text, "; that port has asked for %s that has not come, and keeps room for %s to leave\n",
            weft__short_bytes(tin->port[k].fetching_bytes).text, weft__short_bytes(tin->port[k].egress_bytes).text);
}

static void say_rts(FILE *text, const struct weft__network *net) {
    const struct weft_topology *t = net->topology;
    struct weft__stall_list list = {.text = text, .title = "RTS queues that wait for a CTS"};
    for (uint32_t port = 0; port < t->ports; port++) {
        const struct weft__tin *tin = tin_of(net, t->port[port].node);
        if (!tin || weft_topology_link_is_fabric(t, t->port[port].link)) continue;
        uint32_t k = tin->slot[port - t->node[t->port[port].node].port0] & ~(uint32_t)WEFT__TIN_ETHERNET;
        for (uint32_t priority = 0; priority < WEFT_PRIORITIES; priority++) {
            const struct weft__fifo *queue = &tin->port[k].rts[priority];
            if (!queue->n || !weft__stall_line(&list)) continue;
            char name[NAME];
            weft_topology_port_name(t, port, name, sizeof name);
            fprintf(text, "  %s priority %u: %s, %s announced, the first for %s", name, priority,
                    weft__counted(queue->n, "packet").text, weft__short_bytes(tin->port[k].rts_bytes[priority]).text,
                    age_of(net, weft__fifo_head(queue)->time_ps).text);
            say_why(text, net, tin, port, k, priority);
        }
    }
    weft__stall_end(&list);
}

/// Packets announced to one TiN by another.
struct announced {
    uint32_t packets;
    weft_time_ps since_ps;
};

static void say_announced(FILE *text, const struct weft__network *net) {
    const struct weft_topology *t = net->topology;
    struct weft__stall_list list = {.text = text, .title = "packets that wait at their ingress"};
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    const uint32_t *island = find_islands(net, arena);
    for (uint32_t node = 0; node < t->nodes; node++) {
        const struct weft__tin *tin = tin_of(net, node);
        if (!tin) continue;
        const struct weft_dragonflies *shape = weft__cliques_of(net)->shape;
        const struct weft_dragonfly *f = &shape->fabric[shape->fabric_of_node[node]];
        struct announced *to = NULL;
        for (uint32_t slot = tin->announced.first; slot != WEFT_NONE; slot = tin->packet[slot].link.after) {
            if (!to) to = weft_arena_alloc(arena, f->tins, sizeof *to);
            const struct weft__tin_packet *p = &tin->packet[slot];
            if (!to[p->to].packets++) to[p->to].since_ps = p->since_ps; // the list is sorted by time
        }
        for (uint32_t i = 0; to && i < f->tins; i++) {
            if (!to[i].packets || !weft__stall_line(&list)) continue;
            fprintf(text, "  %s: %u announced to %s, the first for %s, without a CTS", t->node[node].name,
                    to[i].packets, t->node[f->tin[i].node].name, age_of(net, to[i].since_ps).text);
            say_way(text, island, node, f->tin[i].node);
            putc('\n', text);
        }
    }
    weft__stall_end(&list);
}

// --- 1RMA ---------------------------------------------------------------------------------------------------------

/// The operations of a client with one server.
struct operations {
    uint32_t asked, waiting, paced;
    weft_time_ps begun_ps; ///< the first of them
};

static void add_one(const struct weft__tin_client *c, uint32_t op, struct operations *with, uint32_t *count) {
    struct operations *o = &with[c->core->op[op].server];
    if (!(o->asked + o->waiting + o->paced) || c->core->op[op].begun_ps < o->begun_ps)
        o->begun_ps = c->core->op[op].begun_ps;
    ++*count;
}

static void add_requests(const struct weft__tin_rma *rma, uint32_t client, struct operations *with) {
    const struct weft__tin_client *c = &rma->client[client];
    for (uint32_t slot = 0; slot < rma->requests; slot++) {
        const struct weft__tin_request *r = &rma->request[slot];
        if (r->state == WEFT__TIN_FREE || r->client != client) continue;
        struct operations *o = &with[c->core->op[r->op].server];
        bool asked = r->state == WEFT__TIN_ASKED || r->state == WEFT__TIN_LANDING;
        add_one(c, r->op, with, asked ? &o->asked : &o->waiting);
    }
    for (uint32_t s = 0; s < c->core->rma->servers; s++)
        for (uint32_t op = c->path[s].first; op != WEFT_NONE; op = c->core->op[op].next)
            add_one(c, op, with, &with[s].paced);
}

static void say_operations(FILE *text, const struct weft__network *net, const struct weft__tin_rma *rma,
                           const struct operations *o) {
    const char *before = ": ";
    fprintf(text, "%u, the first begun %s ago", o->asked + o->waiting + o->paced, age_of(net, o->begun_ps).text);
    if (o->asked) {
        fprintf(text, "%s%u asked for and not answered", before, o->asked);
        before = ", ";
    }
    if (o->waiting) {
        fprintf(text, "%s%u wait for the window, of which %s of %s are taken", before, o->waiting,
                weft__short_bytes(rma->solicited_bytes).text, weft__short_bytes(rma->conf->window_bytes).text);
        before = ", ";
    }
    if (o->paced) fprintf(text, "%s%u wait for their pace", before, o->paced);
}

static void say_client(struct weft__stall_list *list, const struct weft__network *net, uint32_t node, uint32_t client,
                       const uint32_t *island, struct weft_arena *arena) {
    const struct weft__tin *tin = tin_of(net, node);
    const struct weft_topology *t = net->topology;
    const struct weft__rma_client *core = tin->rma->client[client].core;
    struct operations *with = weft_arena_alloc(arena, core->rma->servers, sizeof *with);
    add_requests(tin->rma, client, with);
    for (uint32_t s = 0; s < core->rma->servers; s++) {
        if (!(with[s].asked + with[s].waiting + with[s].paced) || !weft__stall_line(list)) continue;
        fprintf(list->text, "  %s -> %s: ", t->node[t->host[core->rma->client[core->index]]].name,
                t->node[t->host[core->rma->server[s]]].name);
        say_operations(list->text, net, tin->rma, &with[s]);
        uint32_t host = t->host[core->rma->server[s]];
        say_way(list->text, island, node, t->port[weft_topology_port(t, host, 0)->peer].node);
        putc('\n', list->text);
    }
}

static void say_rma(FILE *text, const struct weft__network *net) {
    struct weft__stall_list list = {.text = text, .title = "operations of 1RMA that are not complete"};
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    const uint32_t *island = find_islands(net, arena);
    for (uint32_t node = 0; node < net->topology->nodes; node++) {
        const struct weft__tin *tin = tin_of(net, node);
        for (uint32_t c = 0; tin && tin->rma && c < tin->rma->clients; c++)
            if (tin->rma->client[c].core->under_way) say_client(&list, net, node, c, island, arena);
    }
    weft__stall_end(&list);
}

void weft__cliques_explain(FILE *text, const struct weft__network *net) {
    find_cycle(text, net);
    say_starved(text, net);
    say_rts(text, net);
    say_announced(text, net);
    say_rma(text, net);
}
