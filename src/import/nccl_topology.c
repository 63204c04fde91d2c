// SPDX-License-Identifier: Apache-2.0
// Servers as found by NCCL (import/nccl.h), as a network: a host per GPU, in the order of ranks and server by server,
// with a link as fast as its share of the NICs near it. How servers are cabled is in no file: the k-th GPUs of all
// servers are on leaf k, which has one uplink, as fast as the fastest of its hosts, to each of as many spines as there
// are servers; or all are on one switch.
#include <inttypes.h>
#include <string.h>

#include "base/grow.h"
#include "base/lines.h"
#include "base/param.h"
#include "import/nccl.h"
#include "topology/builder.h"

const char *const weft__nccl_networks[] = {"rail", "single", NULL};

enum weft_status weft__nccl_servers_add(struct weft__nccl_servers *list, const char *path, struct weft_place place,
                                        struct weft_arena *arena, struct weft_error *ret_error) {
    list->server = weft__arena_grow(arena, list->server, list->n, sizeof *list->server);
    struct weft__nccl_server *own = &list->server[list->n];
    enum weft_status status = weft__nccl_server_read(path, place, arena, own, ret_error);
    if (status) return status;
    if (!list->n++) list->first = path;
    if (own->gpus == list->server[0].gpus) return WEFT_OK;
    return weft_error_set(ret_error, WEFT_ERROR_INPUT, (struct weft_place){.file = path},
                          "has %" PRIu32 " GPUs, and %s has %" PRIu32 "; expected servers that are alike", own->gpus,
                          list->first, list->server[0].gpus);
}

weft_rate_bps weft__nccl_link_rate(const struct weft__nccl_gpu *gpu) {
    double bps = gpu->net_mbps * 1e6;
    if (!(bps > 0)) return 0;
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
static const struct weft_param rows[] = {
    WEFT_TEXT(struct topology_conf, file, "file", NULL,
              "servers, as written by NCCL_TOPO_DUMP_FILE; relative to the scenario. Several files, joined by commas "
              "or as a list, are as many servers"),
    WEFT__NCCL_NETWORK_ROWS(struct topology_conf),
    WEFT_RATE(struct topology_conf, rate_bps, "rate", "200Gbps", "10Mbps", "100Tbps",
              "rate of a GPU's link if no file names its NICs (assumed)"),
    WEFT_TIME(struct topology_conf, delay_ps, "delay", "150ns", "1ps", "1s", "propagation delay of links (assumed)"),
};
static const struct weft_param_table params =
    WEFT_PARAM_TABLE_LISTS("nccl", struct topology_conf, rows, NULL, weft__topology_lists);

/// For a GPU of a server; if there are more servers than files, the files are used in turn.
static weft_rate_bps rate_at(const struct topology_conf *c, const struct weft__nccl_servers *list, uint32_t server,
                             uint32_t gpu) {
    weft_rate_bps rate = weft__nccl_link_rate(&list->server[server % list->n].gpu[gpu]);
    return rate ? rate : c->rate_bps;
}

static uint32_t add_switch(struct weft_topology_builder *b, const char *layer, uint32_t number) {
    return weft__topology_add_numbered(b, WEFT_NODE_SWITCH, layer, WEFT__TIER_BY_DISTANCE, WEFT_NONE, number);
}

/// The first host is node `host`.
static void add_rails(const struct topology_conf *c, const struct weft__nccl_servers *list, uint32_t servers,
                      uint32_t host, struct weft_topology_builder *b) {
    uint32_t gpus = list->server[0].gpus, leaf = b->nodes, spine = leaf + gpus;
    for (uint32_t k = 0; k < gpus; k++)
        add_switch(b, "leaf", k);
    for (uint32_t s = 0; s < servers; s++)
        add_switch(b, "spine", s);
    for (uint32_t k = 0; k < gpus; k++) {
        weft_rate_bps most = 0;
        for (uint32_t s = 0; s < servers; s++) {
            weft_rate_bps rate = rate_at(c, list, s, k);
            weft_topology_add_link(b, leaf + k, host + s * gpus + k, rate, c->delay_ps, 0);
            if (rate > most) most = rate;
        }
        for (uint32_t s = 0; s < servers; s++)
            weft_topology_add_link(b, leaf + k, spine + s, most, c->delay_ps, 0);
    }
}

static enum weft_status build(const void *conf, const struct weft_tree *tree, struct weft_topology_builder *b,
                              struct weft_error *ret_error) {
    const struct topology_conf *c = conf;
    struct weft__nccl_servers list = {0};
    struct weft_place entry = b->place;
    const char *rest = c->file;
    char *item = weft_arena_alloc(b->arena, strlen(rest) + 1, 1);
    enum weft_status status = WEFT_OK;
    while (!status && weft__choice_next(&rest, item))
        status = weft__nccl_servers_add(&list, weft__path_beside(item, entry, b->arena), entry, b->arena, ret_error);
    if (status) return status;
    if (!list.n) return weft_error_set(ret_error, WEFT_ERROR_INPUT, entry, "topology.file: expected a file");
    bool rails = c->network == WEFT__NCCL_RAIL;
    uint64_t servers = weft__nccl_servers_count(&list, c->servers), gpus = list.server[0].gpus, hosts = servers * gpus;
    status = weft__topology_check_size(b, hosts + (rails ? gpus + servers : 1),
                                       rails ? hosts + weft__times(gpus, servers) : hosts, ret_error);
    if (status) return status;
    uint32_t host = b->nodes;
    for (uint64_t h = 0; h < hosts; h++)
        weft__topology_add_numbered(b, WEFT_NODE_HOST, "host", 0, WEFT_NONE, h);
    if (rails) {
        add_rails(c, &list, (uint32_t)servers, host, b);
        return WEFT_OK;
    }
    uint32_t sw = add_switch(b, "switch", 0);
    for (uint32_t h = 0; h < hosts; h++)
        weft_topology_add_link(b, sw, host + h, rate_at(c, &list, h / (uint32_t)gpus, h % (uint32_t)gpus), c->delay_ps,
                               0);
    return WEFT_OK;
}

static const struct weft_topology_ops ops = {.build = build};

const struct weft_model weft__topology_nccl = {
    .kind = WEFT_KIND_TOPOLOGY,
    .name = "nccl",
    .summary = "servers as NCCL has found them: a host for each GPU, as fast as its part of the NICs near it",
    .source = "NVIDIA/nccl, src/graph/xml.cc, topo.h; the network between servers is assumed",
    .params = &params,
    .ops = &ops,
};
