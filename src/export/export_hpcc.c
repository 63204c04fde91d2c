// SPDX-License-Identifier: Apache-2.0
// fct.txt and pfc.txt in the format of HPCC's simulator, for the scripts that read them there: qp_finish, get_pfc and
// CalculateRoute of scratch/third.cc, alibaba-edu/High-Precision-Congestion-Control.
//
// Differences: a flow is one line, whatever its number of queue pairs, with the source port of the first. Flows that
// name no destination port have 100. A flow alone (standalone_fct) goes by the same formula, with the headers that the
// scenario says.
#include "export/export.h"
#include "weft/device.h"
#include "weft/memory.h"
#include "weft/packet.h"
#include "weft/routes.h"

#include <inttypes.h>

enum { FIRST_PORT = 10000, DESTINATION_PORT = 100 };

static uint32_t address_of(uint32_t number) {
    return 0x0b000001u + (number / 256 << 16) + (number % 256 << 8);
}

/// One of the shortest paths.
struct path {
    weft_time_ps delay_ns, payload_ns; ///< sum over all links; time for all links in turn to carry the payload of a
                                       ///< full packet
    weft_rate_bps rate_bps;            ///< of the slowest
};

static struct path path_of(const struct weft_topology *t, const struct weft_routes *routes, const struct weft_flow *f,
                           weft_bytes mtu) {
    struct path path = {.rate_bps = UINT64_MAX};
    uint32_t node = t->host[f->src];
    while (node != t->host[f->dst]) {
        uint32_t n = 1, k = 0;
        if (t->node[node].role != WEFT_NODE_HOST) {
            const uint16_t *ports = weft_routes_at(routes, t->node[node].index, f->dst, &n);
            k = n ? ports[0] : 0;
        }
        if (!n) return (struct path){0};
        const struct weft_port_info *port = weft_topology_port(t, node, k);
        const struct weft_link_info *link = &t->link[port->link];
        path.delay_ns += link->delay_ps / WEFT_PS_PER_NS;
        path.payload_ns += mtu * 8 * UINT64_C(1000000000) / link->rate_bps;
        if (link->rate_bps < path.rate_bps) path.rate_bps = link->rate_bps;
        node = t->port[port->peer].node;
    }
    return path;
}

/// Two delays, a full payload on every link, and all bytes with their headers at the rate of the slowest link; 0: no
/// path.
static uint64_t alone_ns(const struct path *path, const struct weft_flow *f, const struct weft_host_conf *host) {
    if (!path->rate_bps) return 0;
    uint64_t header = host->data_header_bytes ? host->data_header_bytes : WEFT_FRAME_DATA;
    uint64_t bytes = f->bytes + ((f->bytes - 1) / host->mtu_bytes + 1) * (header + weft_host_framing_bytes(host));
    return 2 * path->delay_ns + path->payload_ns +
           (uint64_t)((unsigned __int128)bytes * UINT64_C(8000000000) / path->rate_bps);
}

void weft__export_hpcc_fct(FILE *file, const struct weft_run *run) {
    const struct weft_topology *t = run->topology;
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    uint32_t n;
    const uint32_t *number = weft__export_numbers(t, arena), *done = weft__export_acked(run, arena, &n);
    const uint64_t *before = weft_workload_qps_before(run->workload, arena);
    const struct weft_device_conf **device = weft_device_confs(run->scenario, t, arena);
    struct weft_routes *routes = weft_routes_new(t, NULL);
    for (uint32_t i = 0; i < n; i++) {
        const struct weft_flow *f = &run->workload->flow[done[i]];
        const struct weft_host_conf *host = &device[t->host[f->src]]->host;
        weft_time_ps start = run->outcome->flow[done[i]].start_ps;
        struct path path = path_of(t, routes, f, host->mtu_bytes);
        fprintf(file, "%08x %08x %u %u %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
                address_of(number[t->host[f->src]]), address_of(number[t->host[f->dst]]),
                (unsigned)(FIRST_PORT + before[done[i]] % (UINT16_MAX + 1u - FIRST_PORT)),
                f->destination_port ? f->destination_port : DESTINATION_PORT, f->bytes, start / WEFT_PS_PER_NS,
                (run->outcome->flow[done[i]].acked_ps - start) / WEFT_PS_PER_NS, alone_ns(&path, f, host));
    }
    weft_routes_free(routes);
}

/// A line per pause frame and class that is obeyed: time, node, 0 host or 1 switch, interface (0 is the loopback), 1
/// pause or 0 resume.
void weft__export_hpcc_pfc(FILE *file, const struct weft_run *run) {
    const struct weft_topology *t = run->topology;
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    const uint32_t *number = weft__export_numbers(t, arena);
    for (uint32_t i = 0; i < run->outcome->recorded; i++) {
        const struct weft_event *e = &run->outcome->record[i];
        if (e->kind != WEFT_EVENT_PAUSE_RECEIVED || !e->more) continue;
        const struct weft_node_info *node = &t->node[e->node];
        fprintf(file, "%" PRIu64 " %u %u %u %u\n", e->time_ps / WEFT_PS_PER_NS, number[e->node],
                node->role != WEFT_NODE_HOST, e->port - node->port0 + 1, e->value != 0);
    }
}
