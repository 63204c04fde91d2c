// SPDX-License-Identifier: Apache-2.0
// Which clients of 1RMA are at which TiN.
#include "box/tin/tin_net.h"

/// The node of the TiN that the host is at.
static uint32_t tin_before(const struct weft_topology *t, uint32_t host) {
    return t->port[weft_topology_port(t, t->host[host], 0)->peer].node;
}

bool weft__tin_rma_place(const struct weft__network *net, uint32_t node, struct weft_arena *arena,
                         struct weft__tin_rma_setup *ret_setup) {
    const struct weft_topology *t = net->topology;
    const struct weft_workload *w = net->workload;
    bool any = false;
    uint32_t clients = 0;
    for (uint32_t e = 0; e < w->rmas; e++) {
        if (weft_rma_is_software(&w->rma[e])) continue;
        any = true;
        clients += w->rma[e].clients;
    }
    if (!any) return false;
    struct weft__rma_client **client = weft_arena_alloc(arena, clients, sizeof *client);
    uint8_t *host = weft_arena_alloc(arena, clients, sizeof *host);
    uint32_t n = 0, hosts = 0;
    for (uint32_t e = 0; e < w->rmas; e++)
        for (uint32_t i = 0; i < w->rma[e].clients && !weft_rma_is_software(&w->rma[e]); i++) {
            if (tin_before(t, w->rma[e].client[i]) != node) continue;
            client[n] = net->rma->client[e][i];
            host[n++] = (uint8_t)t->downlink[w->rma[e].client[i]];
        }
    uint16_t *port = weft_arena_alloc(arena, t->node[node].ports, sizeof *port);
    for (uint32_t k = 0; k < t->node[node].ports; k++)
        if (t->node[t->port[weft_topology_port(t, node, k)->peer].node].role == WEFT_NODE_HOST)
            port[hosts++] = (uint16_t)k;
    ret_setup->run = net->rma;
    ret_setup->port_of_host = port;
    ret_setup->hosts = hosts;
    ret_setup->clients = n;
    ret_setup->client = client;
    ret_setup->client_host = host;
    return true;
}
