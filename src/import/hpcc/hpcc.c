// SPDX-License-Identifier: Apache-2.0
// Topologies and flows of ns-3's RDMA simulators (import/hpcc/hpcc_read.h), read in place.
//
// Differences. SimAI's GPUs have links to the NVSwitches of their server, which become the network within a server;
// flows between GPUs of one server still use the network outside. Hosts with several other links are in as many
// networks, plane-0, plane-1, ... (import/planes.h); a switch that the planes share is in each of them, with its own
// memory, and a link between two such switches has a part of its rate in each. The error rate of a link there is per
// packet; here bits are lost, at a rate that loses as many packets of `error_packet` bytes. A flow file with sequence
// numbers or dependencies beyond HPCC's six columns is refused.
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "import/hpcc/hpcc_read.h"
#include "topology/builder.h"
#include "weft/param.h"
#include "weft/workload.h"

static const char source[] =
    "scratch/third.cc of alibaba-edu/High-Precision-Congestion-Control; SimAI's form: aliyun/ns-3-alibabacloud";

// --- topology -----------------------------------------------------------------------------------------------------

struct topology_conf {
    const char *file;
    weft_bytes error_packet_bytes;
    double error_rate;
};
static const struct weft_param_table topology_params = WEFT_PARAM_TABLE_OF(
    "hpcc", struct topology_conf, .lists = weft__topology_lists,
    WEFT_TEXT(struct topology_conf, file, "file", NULL, "the topology; relative to the scenario"),
    WEFT_BYTES(struct topology_conf, error_packet_bytes, "error_packet", "1048B", "64B", "10000B",
               "a link's loss rate applies to packets of this size (HPCC: 1000 B of payload, 48 of headers)"),
    WEFT_REAL(struct topology_conf, error_rate, "error_rate", "0", "0", "0.999999",
              "loss rate of packets on links whose own is 0 (ERROR_RATE_PER_LINK)"));

static double bit_error_rate(double packet_error_rate, weft_bytes packet) {
    return -expm1(log1p(-packet_error_rate) / (8 * (double)packet));
}

static void add_nodes(const struct weft__hpcc_topology *f, uint32_t plane, uint32_t *node,
                      struct weft_topology_builder *b) {
    for (uint32_t n = 0; n < f->nodes; n++) {
        node[n] = WEFT_NONE;
        if (!weft__planes_has(&f->planes, f->planes.node, n, plane)) continue;
        if (f->role[n] == WEFT__HPCC_HOST)
            node[n] = weft__topology_add_numbered(b, WEFT_NODE_HOST, "host", 0, WEFT_NONE, n);
        else if (f->role[n] == WEFT__HPCC_SWITCH)
            node[n] = weft__topology_add_numbered(b, WEFT_NODE_SWITCH, "switch", WEFT__TIER_BY_DISTANCE, WEFT_NONE, n);
    }
}

static void add_links(const struct weft__hpcc_topology *f, const struct topology_conf *c, uint32_t plane,
                      const uint32_t *node, struct weft_topology_builder *b) {
    for (uint32_t i = 0; i < f->planes.links; i++) {
        const struct weft__hpcc_link *l = &f->link[f->at[i]];
        if (!weft__planes_has(&f->planes, f->planes.link, i, plane)) continue;
        b->place = l->place;
        weft_topology_add_link(
            b, node[l->src], node[l->dst], l->rate_bps / weft__planes_parts(&f->planes, i), l->delay_ps,
            bit_error_rate(l->error_rate > 0 ? l->error_rate : c->error_rate, c->error_packet_bytes));
    }
}

static enum weft_status hpcc_build(const void *conf, const struct weft_tree *tree, struct weft_topology_builder *b,
                                   struct weft_error *ret_error) {
    const struct topology_conf *c = conf;
    struct weft__hpcc_topology f;
    struct weft_place entry = b->place;
    const char *path = weft__path_beside(c->file, entry, b->arena);
    enum weft_status status = weft__hpcc_read_topology(path, entry, b->arena, &f, ret_error);
    if (!status) status = weft__topology_check_size(b, f.nodes, f.links, ret_error);
    if (status) return status;
    status = weft__hpcc_find_planes(&f, path, b->arena, ret_error);
    uint32_t *node = weft_arena_alloc(b->arena, f.nodes, sizeof *node);
    for (uint32_t plane = 0; plane < f.planes.n && !status; plane++) {
        char name[24];
        snprintf(name, sizeof name, "plane-%" PRIu32, plane);
        if (f.planes.n > 1) weft_topology_add_network(b, name);
        add_nodes(&f, plane, node, b);
        add_links(&f, c, plane, node, b);
    }
    return status;
}

const struct weft_model weft__topology_hpcc =
    WEFT_MODEL_OF(TOPOLOGY, "hpcc", "a topology file of HPCC or SimAI (ns-3): node N is host-N or switch-N", source,
                  &topology_params, &(const struct weft_topology_ops){.build = hpcc_build});

// --- flows --------------------------------------------------------------------------------------------------------

static const struct weft_param_table flows_params =
    WEFT_PARAM_TABLE_OF("hpcc", struct weft__flow_file_conf, WEFT_PARAM_UNCHECKED, WEFT__FLOW_FILE_ROWS("the flows"));

static enum weft_status open_flows(void *state, const char *path, struct weft_place place,
                                   struct weft_error *ret_error) {
    return weft__hpcc_flows_open(state, path, place, ret_error);
}

static enum weft_status next_flow(void *state, struct weft__file_flow *ret_flow, bool *ret_more,
                                  struct weft_error *ret_error) {
    return weft__hpcc_flows_next(state, ret_flow, ret_more, ret_error);
}

static void close_flows(void *state) {
    weft__lines_close(&((struct weft__hpcc_flows *)state)->lines);
}

static enum weft_status hpcc_expand(const void *conf, struct weft_place place, const struct weft_topology *topology,
                                    uint64_t seed, uint32_t entry, struct weft_workload *w,
                                    struct weft_error *ret_error) {
    struct weft__hpcc_flows flows;
    const struct weft__flow_reader reader = {&flows, open_flows, next_flow, close_flows};
    return weft__flow_file_expand(conf, place, topology, &reader, w, ret_error);
}

const struct weft_model weft__workload_hpcc = WEFT_MODEL_OF(
    WORKLOAD, "hpcc",
    "a flow file of HPCC or SimAI (ns-3): source, destination, priority group, port (not in all), bytes, start", source,
    &flows_params, &(const struct weft_workload_ops){.expand = hpcc_expand});
