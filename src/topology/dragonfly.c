// SPDX-License-Identifier: Apache-2.0
// Dragonfly of ToR-in-NIC chips (TiNs). Gibson et al., "Aquila: A unified, low-latency fabric for datacenter networks",
// NSDI 2022, sections 2 and 3.2 and appendix A: 48 pods of 12 fully meshed TiNs, two servers per TiN, two optical links
// between any two pods, two pods per rack, two TiNs per line card, a port of 100G Ethernet per TiN, some of which lead
// to the data centre's spine. This includes any dragonfly of Kim et al. (ISCA 2008): tins a, hosts_per_tin p,
// global_ports h. Half a Clique whose pod pairs have the bandwidth that a TiN injects (section 5.1) is {pods: 24,
// global_parallel: 4}. ASSUMED: at which TiN a link between pods ends. Slot s of a pod, of S = (pods - 1) x
// global_parallel, leads to the pod 1 + s mod (pods - 1) further on, and is slot S - 1 - s there; slots are dealt to
// TiNs in order, evenly. This is the palm tree arrangement (Camarero et al., ACM TACO 2014), and puts parallel links of
// two pods at different TiNs. Also ASSUMED: the positions of racks, and therefore the lengths of fibres; the counts of
// spine switches and of everything beyond them. Node order: a TiN and its hosts side by side, pod by pod; then
// top-of-rack switches with their hosts, then spines.
#include <math.h>

#include "topology/builder.h"
#include "weft/dragonfly.h"
#include "weft/param.h"

struct dragonfly_conf {
    uint64_t pods, tins, hosts_per_tin, local_parallel, global_parallel, local_ports, global_ports, tins_per_card;
    uint64_t endpoints, pods_per_rack, racks_per_row;
    weft_rate_bps local_rate_bps, global_rate_bps, host_rate_bps, ethernet_rate_bps;
    weft_time_ps local_delay_ps, global_delay_ps, host_delay_ps, ethernet_delay_ps;
    double bit_error_rate, rack_pitch_m, row_pitch_m, slack_m;
    uint64_t gateways, spines, tors, hosts_per_tor, tor_parallel;
    bool processors;
    weft_rate_bps processor_rate_bps;
};

#define T struct dragonfly_conf

static const char *check_ports(const char *key, uint64_t ports, uint64_t needed, const char *why, char *text,
                               size_t size) {
    if (ports >= needed) return NULL;
    return WEFT_SAY(text, size, "%s is %llu; expected %llu or more: %s", key, (unsigned long long)ports,
                    (unsigned long long)needed, why);
}

static const char *check_spine(const T *c, char *text, size_t size) {
    if (c->gateways > c->pods * c->tins)
        return WEFT_SAY(text, size, "gateways is %llu; expected at most %llu: one a TiN",
                        (unsigned long long)c->gateways, (unsigned long long)(c->pods * c->tins));
    if (!c->gateways != !c->spines) return "gateways and spines: expected both, or neither";
    if (c->tors && !c->spines) return "tors without spines; expected spines and gateways as well";
    if (!c->tors && c->gateways < c->spines) return "more spines than gateways and no tors; expected a link a spine";
    return NULL;
}

static const char *dragonfly_check(const void *conf, char *text, size_t size) {
    const T *c = conf;
    uint64_t slots = (c->pods - 1) * c->global_parallel;
    if (c->pods * c->tins > WEFT_GNET_TINS_MAX)
        return WEFT_SAY(text, size, "pods x tins is %llu; expected at most %d", (unsigned long long)(c->pods * c->tins),
                        WEFT_GNET_TINS_MAX);
    const char *bad = check_ports("local_ports", c->local_ports, (c->tins - 1) * c->local_parallel,
                                  "local_parallel to each other TiN of the pod", text, size);
    if (!bad)
        bad = check_ports("global_ports", c->global_ports, (slots + c->tins - 1) / c->tins,
                          "global_parallel to each other pod, divided by tins", text, size);
    if (!bad && c->local_ports + c->global_ports > WEFT_GNET_PORTS_MAX)
        return WEFT_SAY(text, size, "local_ports and global_ports are %llu together; expected at most %d",
                        (unsigned long long)(c->local_ports + c->global_ports), WEFT_GNET_PORTS_MAX);
    return bad ? bad : check_spine(c, text, size);
}

static const struct weft_param_table dragonfly_params = WEFT_PARAM_TABLE_OF(
    "dragonfly", T, WEFT_PARAM_AND(.check = dragonfly_check, .lists = weft__topology_lists),
    WEFT_UINT(T, pods, "pods", "48", "1", "4096",
              "number of pods, each linked to every other; at most 4096 TiNs in all"),
    WEFT_UINT(T, tins, "tins", "12", "1", "64", "TiNs per pod, each linked to every other"),
    WEFT_UINT(T, hosts_per_tin, "hosts_per_tin", "2", "1", "16", "hosts per TiN, which share its NIC"),
    WEFT_UINT(T, local_parallel, "local_parallel", "2", "1", "16", "links between two TiNs of a pod"),
    WEFT_UINT(T, global_parallel, "global_parallel", "2", "1", "64", "links between two pods"),
    WEFT_UINT(T, local_ports, "local_ports", "24", "0", "64", "ports of a TiN for links within its pod, used or spare"),
    WEFT_UINT(T, global_ports, "global_ports", "8", "0", "64", "ports of a TiN for links between pods, used or spare"),
    WEFT_UINT(T, endpoints, "endpoints", "18", "1", "64",
              "ports of a TiN's cell switch towards the chip itself, as published; a run uses those set in tin:"),
    WEFT_UINT(T, tins_per_card, "tins_per_card", "2", "1", "64", "TiNs per line card"),
    WEFT_RATE(T, local_rate_bps, "local_rate", "27.15Gbps", "10Mbps", "100Tbps",
              "rate of links within a pod: a lane of 28 Gbit/s, with 64 of 66 bits for cells (sections 3.1, 3.2)"),
    WEFT_RATE(T, global_rate_bps, "global_rate", "27.15Gbps", "10Mbps", "100Tbps",
              "rate of links between pods, before FEC (tin.fec_overhead): 25.6 Gbit/s after it"),
    WEFT_RATE(T, host_rate_bps, "host_rate", "50Gbps", "10Mbps", "100Tbps",
              "rate of a host's link: half of a NIC's 100G; with more, two hosts share their NIC (tin.nic_rate)"),
    WEFT_TIME(T, local_delay_ps, "local_delay", "2ns", "1ps", "1s", "delay of links within a pod: backplane (assumed)"),
    WEFT_TIME(T, global_delay_ps, "global_delay", "0s", "0s", "1s",
              "delay of links between pods; 0s: from the length of the fibre, 5ns per metre"),
    WEFT_TIME(T, host_delay_ps, "host_delay", "5ns", "1ps", "1s", "delay of a host's link: 1 m of cable (assumed)"),
    WEFT_REAL(T, bit_error_rate, "bit_error_rate", "0", "0", "0.1", "bit error rate of every link, after FEC"),
    WEFT_UINT(T, pods_per_rack, "pods_per_rack", "2", "1", "4096", "pods per rack"),
    WEFT_UINT(T, racks_per_row, "racks_per_row", "12", "1", "4096", "racks per row (assumed)"),
    WEFT_REAL(T, rack_pitch_m, "rack_pitch_m", "0.6", "0", "100",
              "distance between neighbouring racks of a row (assumed)"),
    WEFT_REAL(T, row_pitch_m, "row_pitch_m", "3", "0", "1000", "distance between neighbouring rows (assumed)"),
    WEFT_REAL(T, slack_m, "slack_m", "6", "0.1", "1000", "additional fibre in and above the two racks (assumed)"),
    WEFT_BOOL(T, processors, "processors", "false",
              "the control processor of each TiN sends and receives packets, as host processor-0 and so on (section "
              "3.3); patterns match it only if they begin with its name"),
    WEFT_RATE(T, processor_rate_bps, "processor_rate", "1Gbps", "1Mbps", "100Tbps",
              "rate of its port, \"low bandwidth\" (section 3.3; assumed)"),
    WEFT_UINT(T, gateways, "gateways", "0", "0", "4096",
              "number of TiNs whose Ethernet port leads to a spine, spread evenly"),
    WEFT_UINT(T, spines, "spines", "0", "0", "4096", "Ethernet spine switches; gateways are assigned to them in turn"),
    WEFT_UINT(T, tors, "tors", "0", "0", "65535", "Ethernet top-of-rack switches below the spines, beside the Clique"),
    WEFT_UINT(T, hosts_per_tor, "hosts_per_tor", "16", "1", "65535", "hosts per top-of-rack switch"),
    WEFT_UINT(T, tor_parallel, "tor_parallel", "1", "1", "4096", "links between a top-of-rack switch and a spine"),
    WEFT_RATE(T, ethernet_rate_bps, "ethernet_rate", "100Gbps", "10Mbps", "100Tbps", "rate of Ethernet links"),
    WEFT_TIME(T, ethernet_delay_ps, "ethernet_delay", "350ns", "1ps", "1s", "delay of Ethernet links (assumed)"));

struct numbers {
    uint32_t *tin, tor0, spine0;
};

static uint32_t add_hosts(struct weft_topology_builder *b, uint32_t pod, uint64_t n, uint64_t *placed) {
    uint32_t first = b->nodes;
    for (uint64_t h = 0; h < n; h++)
        weft__topology_add_numbered(b, WEFT_NODE_HOST, "host", 0, pod, (*placed)++);
    return first;
}

/// Nodes beside a TiN.
static uint64_t nodes_beside_tin(const T *c) {
    return c->hosts_per_tin + c->processors;
}

static void add_nodes(const T *c, struct weft_topology_builder *b, struct numbers *n) {
    uint64_t hosts = 0, cards = (c->tins + c->tins_per_card - 1) / c->tins_per_card;
    for (uint64_t i = 0; i < c->pods * c->tins; i++) {
        uint32_t pod = (uint32_t)(i / c->tins);
        n->tin[i] = weft__topology_add_numbered(b, WEFT_NODE_SWITCH, "tin", 1, pod, i);
        weft_topology_set_box(b, WEFT_BOX_TIN, 0, pod);
        weft_topology_set_card(b, (uint32_t)(pod * cards + i % c->tins / c->tins_per_card));
        add_hosts(b, pod, c->hosts_per_tin, &hosts);
        if (!c->processors) continue;
        weft__topology_add_numbered(b, WEFT_NODE_HOST, "processor", 0, pod, i);
        weft_topology_set_box(b, WEFT_BOX_PROCESSOR, 0, WEFT_NONE);
    }
    n->tor0 = b->nodes;
    for (uint64_t i = 0; i < c->tors; i++) {
        weft__topology_add_numbered(b, WEFT_NODE_SWITCH, "tor", 1, WEFT_NONE, i);
        add_hosts(b, WEFT_NONE, c->hosts_per_tor, &hosts);
    }
    n->spine0 = b->nodes;
    for (uint64_t i = 0; i < c->spines; i++)
        weft__topology_add_numbered(b, WEFT_NODE_SWITCH, "spine", 2, WEFT_NONE, i);
}

/// The length of a fibre between two pods: along the row, across rows, and at both ends.
static double fibre_m(const T *c, uint64_t a, uint64_t b) {
    uint64_t from = a / c->pods_per_rack, to = b / c->pods_per_rack;
    double along = fabs((double)(from % c->racks_per_row) - (double)(to % c->racks_per_row));
    double across = fabs((double)(from / c->racks_per_row) - (double)(to / c->racks_per_row));
    return c->slack_m + along * c->rack_pitch_m + across * c->row_pitch_m;
}

static weft_time_ps global_delay(const T *c, uint64_t a, uint64_t b) {
    return c->global_delay_ps ? c->global_delay_ps : (weft_time_ps)llround(fibre_m(c, a, b) * WEFT_FIBRE_PS_PER_M);
}

static void connect_pod(const T *c, uint64_t pod, struct weft_topology_builder *b, const struct numbers *n) {
    struct weft__line line = {c->local_rate_bps, c->local_delay_ps, c->bit_error_rate};
    const uint32_t *tin = &n->tin[pod * c->tins];
    for (uint64_t i = 0; i < c->tins; i++)
        for (uint64_t j = i + 1; j < c->tins; j++)
            weft__topology_connect_times(b, tin[i], tin[j], c->local_parallel, line);
}

/// Connects a pod to the pods after it, in their order.
static void connect_pods(const T *c, uint64_t pod, struct weft_topology_builder *b, const struct numbers *n) {
    uint64_t slots = (c->pods - 1) * c->global_parallel;
    for (uint64_t to = pod + 1; to < c->pods; to++)
        for (uint64_t k = 0; k < c->global_parallel; k++) {
            uint64_t slot = to - pod - 1 + k * (c->pods - 1);
            struct weft__line line = {c->global_rate_bps, global_delay(c, pod, to), c->bit_error_rate};
            weft__topology_connect(b, n->tin[pod * c->tins + slot * c->tins / slots],
                                   n->tin[to * c->tins + (slots - 1 - slot) * c->tins / slots], line);
        }
}

static void connect_hosts(struct weft_topology_builder *b, uint32_t node, uint64_t hosts, struct weft__line line) {
    for (uint64_t h = 0; h < hosts; h++)
        weft__topology_connect(b, node, node + 1 + (uint32_t)h, line);
}

static void connect_ethernet(const T *c, struct weft_topology_builder *b, const struct numbers *n) {
    struct weft__line line = {c->ethernet_rate_bps, c->ethernet_delay_ps, c->bit_error_rate};
    uint64_t tins = c->pods * c->tins;
    for (uint64_t i = 0; i < tins; i++) {
        uint64_t gateway = weft__due(c->gateways, i, tins);
        if (weft__due(c->gateways, i + 1, tins) > gateway)
            weft__topology_connect(b, n->tin[i], n->spine0 + (uint32_t)(gateway % c->spines), line);
    }
    for (uint64_t i = 0; i < c->tors; i++) {
        uint32_t tor = n->tor0 + (uint32_t)(i * (1 + c->hosts_per_tor));
        connect_hosts(b, tor, c->hosts_per_tor, line);
        for (uint64_t s = 0; s < c->spines; s++)
            weft__topology_connect_times(b, tor, n->spine0 + (uint32_t)s, c->tor_parallel, line);
    }
}

static enum weft_status dragonfly_build(const void *conf, const struct weft_tree *tree, struct weft_topology_builder *b,
                                        struct weft_error *ret_error) {
    const T *c = conf;
    uint64_t tins = c->pods * c->tins, tor_nodes = weft__times(c->tors, c->hosts_per_tor + 1);
    uint64_t nodes = weft__plus(tins * (1 + nodes_beside_tin(c)) + c->spines, tor_nodes);
    uint64_t links = tins * (c->local_ports + c->global_ports + nodes_beside_tin(c)) + c->gateways;
    links = weft__plus(links, weft__plus(tor_nodes, weft__times(c->tors, c->spines * c->tor_parallel)));
    WEFT_TRY(weft__topology_check_size(b, nodes, links, ret_error));
    b->packaging = (struct weft_tin_packaging){(uint32_t)c->local_ports, (uint32_t)c->global_ports,
                                               (uint32_t)c->endpoints, (uint32_t)c->pods_per_rack, !c->global_delay_ps};
    struct numbers n = {.tin = weft_memory_new(WEFT_MEMORY_TOPOLOGY, tins, sizeof(uint32_t))};
    struct weft__line host = {c->host_rate_bps, c->host_delay_ps, c->bit_error_rate};
    add_nodes(c, b, &n);
    for (uint64_t pod = 0; pod < c->pods; pod++)
        connect_pod(c, pod, b, &n);
    for (uint64_t pod = 0; pod < c->pods; pod++)
        connect_pods(c, pod, b, &n);
    struct weft__line processor = {c->processor_rate_bps, c->host_delay_ps, 0};
    for (uint64_t i = 0; i < tins; i++) {
        connect_hosts(b, n.tin[i], c->hosts_per_tin, host);
        if (c->processors) weft__topology_connect(b, n.tin[i], n.tin[i] + 1 + (uint32_t)c->hosts_per_tin, processor);
    }
    connect_ethernet(c, b, &n);
    weft_memory_free(WEFT_MEMORY_TOPOLOGY, n.tin, tins * sizeof(uint32_t));
    return WEFT_OK;
}

static const char *dragonfly_wiring(const void *conf, struct weft_arena *arena) {
    const T *c = conf;
    const char *spine = "";
    if (c->spines)
        spine = weft_arena_format(arena, "; every %.3gth TiN to one of %llu spines in turn, %llu ToRs to all of them",
                                  (double)(c->pods * c->tins) / (double)c->gateways, (unsigned long long)c->spines,
                                  (unsigned long long)c->tors);
    return weft_arena_format(arena,
                             "each TiN to every other of its pod by %llu; each pod to every other by %llu, dealt to "
                             "its TiNs as in a palm tree (assumed)%s",
                             (unsigned long long)c->local_parallel, (unsigned long long)c->global_parallel, spine);
}

const struct weft_model weft__topology_dragonfly = WEFT_MODEL_OF(
    TOPOLOGY, "dragonfly",
    "pods of fully meshed ToR-in-NIC chips, pods fully meshed; by default an Aquila Clique of 1152 hosts",
    "Gibson et al., NSDI 2022; Kim et al., ISCA 2008; who ends a link between pods, the layout and delays are "
    "assumed",
    &dragonfly_params, &(const struct weft_topology_ops){.build = dragonfly_build, .wiring = dragonfly_wiring});
