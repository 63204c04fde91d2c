// SPDX-License-Identifier: Apache-2.0
// Servers as found by NCCL (import/nccl/nccl.h), as a network: server by server a host for each NIC, or for the NICs of
// one GPU together, and a machine with the GPUs behind them, in the order of ranks. How servers are cabled is in no
// file: the k-th hosts of all servers are on leaf k, which has one uplink, as fast as the fastest of its hosts, to each
// of as many spines as there are servers; or all are on one switch.
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/grow.h"
#include "base/lines.h"
#include "base/param.h"
#include "import/nccl/nccl.h"
#include "topology/builder.h"
#include "weft/param.h"

const char *const weft__nccl_networks[] = {"rail", "single", NULL};

enum weft_status weft__nccl_servers_add(struct weft__nccl_servers *list, const char *path, struct weft_place place,
                                        struct weft_arena *arena, struct weft_error *ret_error) {
    list->server = weft__arena_grow(arena, list->server, list->n, sizeof *list->server);
    struct weft__nccl_server *own = &list->server[list->n];
    WEFT_TRY(weft__nccl_server_read(path, place, arena, own, ret_error));
    if (!list->n++) list->first = path;
    if (own->gpus == list->server[0].gpus) return WEFT_OK;
    return WEFT_REFUSE(ret_error, (struct weft_place){.file = path},
                       "has %" PRIu32 " GPUs, and %s has %" PRIu32 "; expected servers that are alike", own->gpus,
                       list->first, list->server[0].gpus);
}

uint32_t weft__nccl_hosts_max(const struct weft__nccl_servers *list) {
    uint32_t most = 0;
    for (uint32_t s = 0; s < list->n; s++)
        if (list->server[s].hosts > most) most = list->server[s].hosts;
    return most;
}

weft_rate_bps weft__nccl_link_rate(const struct weft__nccl_host *host, weft_rate_bps otherwise) {
    double bps = host->mbps * 1e6 + host->unrated * (double)otherwise;
    if (bps < (double)WEFT__RATE_MIN) return WEFT__RATE_MIN;
    return bps > (double)WEFT__RATE_MAX ? WEFT__RATE_MAX : (weft_rate_bps)bps;
}

uint32_t weft__nccl_servers_count(const struct weft__nccl_servers *list, uint64_t asked) {
    return asked ? (uint32_t)asked : list->n < 2 ? 2 : list->n;
}

struct topology_conf {
    const char *file;
    uint64_t servers;
    uint32_t network;
    weft_rate_bps rate_bps;
    weft_time_ps delay_ps;
};
static const struct weft_param_table params = WEFT_PARAM_TABLE_OF(
    "nccl", struct topology_conf, .lists = weft__topology_lists,
    WEFT_TEXT(struct topology_conf, file, "file", NULL,
              "servers, as written by NCCL_TOPO_DUMP_FILE; relative to the scenario. Several files, joined by commas "
              "or as a list, are as many servers"),
    WEFT__NCCL_NETWORK_ROWS(struct topology_conf),
    WEFT_RATE(struct topology_conf, rate_bps, "rate", "200Gbps", "10Mbps", "100Tbps",
              "rate of a NIC's link if no file names it (assumed)"),
    WEFT_TIME(struct topology_conf, delay_ps, "delay", "150ns", "1ps", "1s", "propagation delay of links (assumed)"));

/// Files stand for further servers in turn.
static const struct weft__nccl_server *server_at(const struct weft__nccl_servers *list, uint32_t server) {
    assert(list->n);
    return &list->server[server % list->n];
}

static uint32_t add_switch(struct weft_topology_builder *b, const char *layer, uint32_t number) {
    return weft__topology_add_numbered(b, WEFT_NODE_SWITCH, layer, WEFT__TIER_BY_DISTANCE, WEFT_NONE, number);
}

/// What is built: the hosts of server s are nodes first[s] to before first[s + 1].
struct maker {
    const struct topology_conf *conf;
    const struct weft__nccl_servers *list;
    struct weft_topology_builder *b;
    uint32_t servers, *first;
};

static void add_server(const struct maker *m, uint32_t server) {
    const struct weft__nccl_server *s = server_at(m->list, server);
    struct weft_nic_info *nic = weft_arena_alloc(m->b->arena, s->hosts, sizeof *nic);
    m->first[server] = m->b->nodes;
    for (uint32_t k = 0; k < s->hosts; k++) {
        uint32_t number = m->b->nodes - m->first[0];
        uint32_t node = weft__topology_add_numbered(m->b, WEFT_NODE_HOST, "host", 0, WEFT_NONE, number);
        nic[k] = (struct weft_nic_info){.host = node, .gpus = s->host[k].gpus, .gpu = s->host[k].gpu};
    }
    m->first[server + 1] = m->b->nodes;
    weft__topology_add_machine(m->b, weft_arena_format(m->b->arena, "server-%" PRIu32, server), nic, s->hosts);
}

/// Connects the k-th host of a server, if it has so many, to a switch; returns the rate.
static weft_rate_bps add_link(const struct maker *m, uint32_t server, uint32_t k, uint32_t sw) {
    const struct weft__nccl_server *s = server_at(m->list, server);
    if (k >= s->hosts) return 0;
    weft_rate_bps rate = weft__nccl_link_rate(&s->host[k], m->conf->rate_bps);
    weft_topology_add_link(m->b, sw, m->first[server] + k, rate, m->conf->delay_ps, 0);
    return rate;
}

static void add_rails(const struct maker *m, uint32_t rails) {
    uint32_t leaf = m->b->nodes, spine = leaf + rails;
    for (uint32_t k = 0; k < rails; k++)
        add_switch(m->b, "leaf", k);
    for (uint32_t s = 0; s < m->servers; s++)
        add_switch(m->b, "spine", s);
    for (uint32_t k = 0; k < rails; k++) {
        weft_rate_bps most = 0;
        for (uint32_t s = 0; s < m->servers; s++) {
            weft_rate_bps rate = add_link(m, s, k, leaf + k);
            if (rate > most) most = rate;
        }
        for (uint32_t s = 0; s < m->servers; s++)
            weft_topology_add_link(m->b, leaf + k, spine + s, most, m->conf->delay_ps, 0);
    }
}

static enum weft_status build_servers(const void *conf, const struct weft_tree *tree, struct weft_topology_builder *b,
                                      struct weft_error *ret_error) {
    const struct topology_conf *c = conf;
    struct weft__nccl_servers list = {0};
    struct weft_place entry = b->place;
    const char *rest = c->file;
    char *item = weft_arena_alloc(b->arena, strlen(rest) + 1, 1);
    while (weft__choice_next(&rest, item))
        WEFT_TRY(weft__nccl_servers_add(&list, weft__path_beside(item, entry, b->arena), entry, b->arena, ret_error));
    if (!list.n) return WEFT_REFUSE(ret_error, entry, "topology.file: expected a file");
    uint32_t servers = weft__nccl_servers_count(&list, c->servers), rails = weft__nccl_hosts_max(&list);
    bool by_rail = c->network == WEFT__NCCL_RAIL && rails > 1;
    uint64_t hosts = weft__times(servers, rails), spines = by_rail ? servers : 0;
    WEFT_TRY(weft__topology_check_size(b, weft__plus(hosts, by_rail ? rails + spines : 1),
                                       weft__plus(hosts, weft__times(rails, spines)), ret_error));
    struct maker m = {c, &list, b, servers, weft_arena_alloc(b->arena, servers + (size_t)1, sizeof *m.first)};
    m.first[0] = b->nodes;
    for (uint32_t s = 0; s < servers; s++)
        add_server(&m, s);
    if (by_rail) {
        add_rails(&m, rails);
        return WEFT_OK;
    }
    uint32_t sw = add_switch(b, "switch", 0);
    for (uint32_t s = 0; s < servers; s++)
        for (uint32_t k = 0; k < rails; k++)
            add_link(&m, s, k, sw);
    return WEFT_OK;
}

const struct weft_model weft__topology_nccl =
    WEFT_MODEL_OF(TOPOLOGY, "nccl", "servers as NCCL has found them: a host for each NIC, and the GPUs that use it",
                  "NVIDIA/nccl, src/graph/xml.cc, topo.h; the network between servers is assumed", &params,
                  &(const struct weft_topology_ops){.build = build_servers});
