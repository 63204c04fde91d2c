// SPDX-License-Identifier: Apache-2.0
// How large a capture is going to be, computed before anything runs: the data frames of all flows, each counted at
// every recorded port on its path.
#include "weft/memory.h"
#include "weft/packet.h"
#include "weft/pcapng.h"
#include "weft/sim.h"
#include "weft/wire.h"

/// [ports]: how many of the link's two ends are recorded.
static uint8_t *find_recorded(const struct weft_scenario *s, const struct weft_topology *t, struct weft_arena *arena) {
    uint32_t *port, ports;
    struct weft_error error = {0};
    if (weft_topology_select_ports(t, s->capture.ports, s->capture_place, &port, &ports, &error)) return NULL;
    if (ports && weft_topology_link_is_fabric(t, t->port[*port].link)) return NULL;
    uint8_t *recorded = weft_arena_alloc(arena, t->ports, sizeof *recorded);
    for (uint32_t i = 0; i < ports; i++) {
        recorded[port[i]]++;
        recorded[t->port[port[i]].peer]++;
    }
    return recorded;
}

/// The bytes in the file of a queue pair's data frames, at one port.
static weft_bytes bytes_of(const struct weft_scenario *s, const struct weft_topology *t, const struct weft_flow *f) {
    uint64_t mtu = weft_scenario_device(s, t->node[t->host[f->src]].name)->host.mtu_bytes;
    uint64_t share = f->bytes / f->qps, packets = (share + mtu - 1) / mtu;
    bool headers = s->capture.content == WEFT_CAPTURE_HEADERS;
    struct weft_pcapng_packet none = {.captured = 0}, head = {.captured = WEFT_FRAME_DATA - WEFT_FCS_BYTES};
    weft_bytes each = headers ? weft_pcapng_packet_bytes(&head) : weft_pcapng_packet_bytes(&none) + head.captured;
    return packets * each + (headers ? 0 : share);
}

weft_bytes weft_capture_expected_bytes(const struct weft_scenario *scenario, const struct weft_topology *topology,
                                       const struct weft_workload *workload) {
    if (!*scenario->capture.ports) return 0;
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    const uint8_t *recorded = find_recorded(scenario, topology, arena);
    uint64_t paths = 0;
    weft_bytes bytes = 0;
    const struct weft_path *path = recorded ? weft_paths_trace(scenario, topology, workload, arena, &paths) : NULL;
    for (uint64_t i = 0; i < paths; i++) {
        uint32_t times = 0;
        for (uint32_t h = 0; h < path[i].hops; h++)
            times += recorded[path[i].port[h]];
        if (times) bytes += times * bytes_of(scenario, topology, &workload->flow[path[i].flow]);
    }
    return bytes;
}
