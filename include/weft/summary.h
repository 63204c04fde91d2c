// SPDX-License-Identifier: Apache-2.0
// A network in figures, before anything runs on it.
#pragma once

#include "weft/topology.h"

/// Nodes with one layer name and tier. Down: links to lower tiers, up: to higher ones; over the whole layer. Links to
/// control processors of TiNs belong to no layer, so they are not counted as down.
struct weft_layer_summary {
    const char *name;
    uint8_t tier;
    uint32_t nodes, ports_min, ports_max;
    weft_rate_bps down_bps, up_bps;
    /// Down over up of a single node, the smallest and the largest of the layer; 0: nothing goes up.
    double oversubscription_min, oversubscription_max;
};

/// Links alike: between the same layers, same rate, delay and bit error rate.
struct weft_line_summary {
    const char *layer[2]; ///< higher tier first
    uint8_t tier[2];
    weft_rate_bps rate_bps;
    weft_time_ps delay_ps;
    double bit_error_rate;
    uint32_t links;
};

/// The layers of all networks together, highest tier first, in `arena`; their number. Cheap: looks at each port once.
uint32_t weft_topology_layers(const struct weft_topology *t, struct weft_arena *arena,
                              struct weft_layer_summary **ret_layer);

struct weft_topology_summary {
    uint32_t layers, lines;
    struct weft_layer_summary *layer; ///< highest tier first
    struct weft_line_summary *line;   ///< highest tiers first
    uint32_t hosts;                   ///< without control processors of TiNs, which are no hosts in what follows either
    /// Maximum flow from the first half of the hosts (by index) to the second, limited by host links too. With an odd
    /// number the second half has one more.
    weft_rate_bps bisection_bps;
    uint32_t half_ends[4];       ///< nodes: first and last of either half
    weft_rate_bps half_bps;      ///< what the hosts of the weaker half can send: bisection_bps is at most this
    uint32_t diameter_links;     ///< host to host over shortest paths
    double paths_min, paths_max; ///< shortest paths between hosts of different edge switches; 0: one edge switch
    weft_time_ps rtt_min_ps, rtt_max_ps; ///< see weft_topology_summarise
    const char *cells_computed;          ///< as of the costs of cells; NULL: there are none
    const struct weft_network_info *info;
    const struct weft_dsf_summary *dsf;       ///< NULL: there is none; nor unless weft_boxes_summarise made the summary
    const struct weft_clique_summary *clique; ///< likewise
};

/// A network before anything runs on it: the answer of weft topo.
struct weft_topology_answer {
    const char *scenario, *variant;
    const struct weft_topology *topology;
    const struct weft_topology_summary *network; ///< [networks]
    const struct weft_node_info *node;           ///< [nodes], as the other lists those of the topology
    const struct weft_link_info *link;
    const struct weft_link_event *event;
    const struct weft_machine_info *machine;
    uint32_t networks, nodes, links, events, machines;
    uint32_t hosts, processors; ///< processors: control processors of TiNs, which are no hosts here
};
struct weft_topology_answer weft_topology_answer(const char *scenario, const char *variant,
                                                 const struct weft_topology *t,
                                                 const struct weft_topology_summary *network);
extern const struct weft_answer weft__answer_topo;               // weft/result.h
extern const struct weft_result_table weft_topology_lines_table; ///< its table of links by layer

/// What cells of Cliques take, for the round trips of packets that cross them.
struct weft_cell_costs {
    const weft_time_ps *tin_ps;  ///< [switches] of a TiN: what a packet takes that comes and leaves there
    const weft_time_ps *link_ps; ///< [links] of a GNet link: what one more link on its way adds to that
    const struct weft_gnet_conf *tables;
    const char *computed; ///< how, for people; one line or several
};

/// Figures of each network (t->networks of them) with all links up. `processing_ps`: fixed delay by switch index. A
/// round trip is a minimum frame (64 bytes) there and back along one shortest path of the empty network: for every link
/// its delay and 72 byte times (preamble and frame), for every switch its processing. Host processing is not in it.
/// Within a Clique ways are those of its tables' minimal sets, with what `cells` says. Result in `arena`.
struct weft_topology_summary *weft_topology_summarise(const struct weft_topology *t, const weft_time_ps *processing_ps,
                                                      const struct weft_cell_costs *cells, struct weft_arena *arena);

/// DSF nodes of one layer name: "down" and "up" are fabric lanes to lower and to other tiers, of a node.
struct weft_dsf_layer {
    const char *name;
    uint8_t box, tier;
    uint32_t boxes, nodes; ///< a box of several virtual devices is as many nodes
    uint32_t down_min, down_max, up_min, up_max;
};
enum { WEFT_DSF_LAYERS_MAX = 16 };

/// The disaggregated scheduled fabrics of a network: parts that cells do not leave. Fields of a single fabric are of
/// the first.
struct weft_dsf_summary {
    uint32_t layers; ///< 0: there is none
    struct weft_dsf_layer layer[WEFT_DSF_LAYERS_MAX];
    uint32_t fabrics, alike;           ///< alike: the first and those with its figures
    uint32_t interfaces, hosts, links; ///< links: of interface nodes to other than hosts
    weft_rate_bps host_bps, link_bps;
};
struct weft_dsf_summary weft_topology_summarise_dsf(const struct weft_topology *t,
                                                    const struct weft_network_info *network);

/// What fails at once, and how many hosts no longer reach the others then: the most of all such groups.
struct weft_blast {
    const char *what; ///< "TiN", "line card", "pod", "rack"
    uint32_t groups, tins, hosts;
};
enum { WEFT_BLASTS = 4 };

/// The Cliques of a network: dragonflies of TiNs. Fields of a single Clique are of the first.
struct weft_clique_summary {
    uint32_t cliques; ///< 0: there is none, and nothing below counts
    uint32_t pods, tins, tins_per_pod_max, hosts, cards, racks;
    uint32_t local_min, local_max, global_min, global_max;             ///< GNet links of a TiN
    uint32_t pod_global_min, pod_global_max, between_min, between_max; ///< of a pod, of two pods
    uint32_t local_ports, global_ports, endpoints;                     ///< of a TiN's chip; 0: unknown
    uint32_t pod_global_ports, pod_pairs;
    uint32_t ethernets, ethernet_unused; ///< TiNs' links to the Ethernet spine; and ports for neither that nor a rack
    uint32_t global_links;
    double fibre_min_m, fibre_mean_m, fibre_max_m; ///< 0: lengths are not known
    /// Between groups of four pods whose fibres are shuffled into cables of eight links (appendix A): pairs of groups,
    /// and cables of the widest.
    uint32_t bundles, bundle_cables;
    struct weft_blast blast[WEFT_BLASTS];
};
struct weft_clique_summary weft_topology_summarise_cliques(const struct weft_topology *t,
                                                           const struct weft_network_info *network);
