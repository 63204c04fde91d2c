// SPDX-License-Identifier: Apache-2.0
// The answer of weft topo as rows: figures of each network, then nodes, links and what happens to links.
#include "weft/result.h"
#include "weft/summary.h"

struct weft_topology_answer weft_topology_answer(const char *scenario, const char *variant,
                                                 const struct weft_topology *t,
                                                 const struct weft_topology_summary *network) {
    struct weft_topology_answer a = {.scenario = scenario,
                                     .variant = variant,
                                     .topology = t,
                                     .network = network,
                                     .node = t->node,
                                     .link = t->link,
                                     .event = t->event,
                                     .machine = t->machine,
                                     .networks = t->networks,
                                     .nodes = t->nodes,
                                     .links = t->links,
                                     .events = t->events,
                                     .machines = t->machines};
    for (uint32_t i = 0; i < t->networks; i++)
        a.hosts += network[i].hosts;
    a.processors = t->hosts - a.hosts;
    return a;
}

static const struct weft_topology *topology_of(const struct weft_result_cursor *c) {
    return ((const struct weft_topology_answer *)c->subject)->topology;
}

static struct weft_result_value name_port(const struct weft_result_cursor *c, uint32_t port) {
    char name[128];
    weft_topology_port_name(topology_of(c), port, name, sizeof name);
    return weft_result_words(weft_arena_text(c->arena, name));
}

// --- networks -----------------------------------------------------------------------------------------------------

static bool is_alone(const void *answer) {
    return ((const struct weft_topology_answer *)answer)->networks == 1;
}

static const struct weft_network_info *network_info(const struct weft_result_cursor *c) {
    return ((const struct weft_topology_summary *)c->part[0])->info;
}

WEFT_RESULT_VALUE(network_name, weft_result_words(network_info(c)->name))
WEFT_RESULT_VALUE(network_wiring, weft_result_words(network_info(c)->wiring))
WEFT_RESULT_VALUE(network_switches, weft_result_whole(true, network_info(c)->switches))
WEFT_RESULT_VALUE(bisection_computed, weft_result_words("maximum flow from the first half of the hosts to the second"))
WEFT_RESULT_VALUE(
    round_trip_computed,
    weft_result_words("64-byte frame there and back: delay and 72 byte times a link, processing a switch"))
#define NETWORK(field, key, kind, ...) WEFT_RESULT_NAMED(struct weft_topology_summary, field, key, kind, __VA_ARGS__)
static const struct weft_result_table network_table = WEFT_RESULT_TABLE_OF(
    "networks", LIST, "a network: nodes that reach one another",
    WEFT_RESULT_AND(.merged = is_alone, WEFT_RESULT_EACH(struct weft_topology_answer, network, networks)),
    WEFT_RESULT_CALL(network_name, "name", TEXT, "name of the network; empty: it has none", .flags = WEFT_RESULT_KEY),
    WEFT_RESULT_CALL(network_wiring, "wiring", TEXT, "how the network is wired, and which part of that is assumed"),
    NETWORK(hosts, "hosts", COUNT, "hosts"), WEFT_RESULT_CALL(network_switches, "switches", COUNT, "switches"),
    NETWORK(bisection_bps, "bisection.bps", RATE, "maximum flow from the first half of the hosts to the second"),
    NETWORK(half_bps, "bisection.half_of_hosts_bps", RATE, "rate that the hosts of the weaker half can send at"),
    WEFT_RESULT_CALL(bisection_computed, "bisection.computed", TEXT, "how the bisection is computed"),
    NETWORK(diameter_links, "diameter_links", COUNT, "most links on a shortest path between two hosts"),
    NETWORK(paths_min, "shortest_paths_min", REAL,
            "fewest shortest paths between hosts of different switches; 0: there is one switch"),
    NETWORK(paths_max, "shortest_paths_max", REAL, "most shortest paths between hosts of different switches"),
    NETWORK(rtt_min_ps, "round_trip.min_ps", TIME, "shortest round trip of a 64-byte frame in the empty network"),
    NETWORK(rtt_max_ps, "round_trip.max_ps", TIME, "longest round trip of a 64-byte frame in the empty network"),
    WEFT_RESULT_CALL(round_trip_computed, "round_trip.computed", TEXT, "how round trips are computed"));
#define OF_NETWORK WEFT_RESULT_ABOVE_KEY("network", "name", TEXT, "name of the network")

#define LAYER(field, key, kind, ...) WEFT_RESULT_NAMED(struct weft_layer_summary, field, key, kind, __VA_ARGS__)
static const struct weft_result_table layer_table = WEFT_RESULT_TABLE_OF(
    "networks.layers", LIST, "nodes with one layer name and tier",
    WEFT_RESULT_EACH(struct weft_topology_summary, layer, layers), OF_NETWORK,
    LAYER(name, "layer", TEXT, "name of the layer", .flags = WEFT_RESULT_KEY),
    LAYER(tier, "tier", COUNT, "0: hosts; 1: the switches next to them; and so on", .flags = WEFT_RESULT_KEY),
    LAYER(nodes, "nodes", COUNT, "nodes of the layer"), LAYER(ports_min, "ports_min", COUNT, "fewest ports of a node"),
    LAYER(ports_max, "ports_max", COUNT, "most ports of a node"),
    LAYER(down_bps, "down_bps", RATE, "rate of all links to lower tiers"),
    LAYER(up_bps, "up_bps", RATE, "rate of all links to higher tiers"),
    LAYER(oversubscription_min, "oversubscription_min", REAL, "least down over up of a node",
          .flags = WEFT_RESULT_OPTIONAL),
    LAYER(oversubscription_max, "oversubscription_max", REAL, "greatest down over up of a node",
          .flags = WEFT_RESULT_OPTIONAL));

WEFT_RESULT_VALUE_OF(line_between, struct weft_line_summary, l,
                     weft_result_words(weft_arena_format(c->arena, "%s and %s", l->layer[0], l->layer[1])))
#define LINE(field, key, kind, ...) WEFT_RESULT_NAMED(struct weft_line_summary, field, key, kind, __VA_ARGS__)
const struct weft_result_table weft_topology_lines_table = WEFT_RESULT_TABLE_OF(
    "networks.links_by_layer", LIST, "links alike: of one rate, delay and bit error rate",
    WEFT_RESULT_EACH(struct weft_topology_summary, line, lines), OF_NETWORK,
    WEFT_RESULT_NUMBER("sort", "number of the sort of links, from 0"),
    WEFT_RESULT_CALL(line_between, "between", TEXT, "both layers in words",
                     .flags = WEFT_RESULT_KEY | WEFT_RESULT_TABLES, .title = "links between"),
    LINE(layer[0], "upper", TEXT, "layer with the higher tier", .flags = WEFT_RESULT_KEY),
    LINE(layer[1], "lower", TEXT, "layer with the lower tier", .flags = WEFT_RESULT_KEY),
    LINE(links, "links", COUNT, "links", .title = "number"),
    LINE(rate_bps, "rate_bps", RATE, "rate of a link", .title = "rate"),
    LINE(delay_ps, "delay_ps", TIME, "delay of a link", .title = "delay"),
    LINE(bit_error_rate, "bit_error_rate", REAL, "bit error rate of a link", .title = "bit error rate"));

// --- fabrics of cells ---------------------------------------------------------------------------------------------

WEFT_RESULT_VALUE_OF(dsf_alike, struct weft_dsf_summary, s, weft_result_whole(true, s->alike == s->fabrics))
WEFT_RESULT_NEXT(next_dsf_layer, struct weft_dsf_summary, s,
                 weft_result_take_from(c, s->layers, s->layer, sizeof *s->layer))
#define DSF(field, key, kind, ...) WEFT_RESULT_NAMED(struct weft_dsf_summary, field, key, kind, __VA_ARGS__)
static const struct weft_result_table dsf_table = WEFT_RESULT_TABLE_OF(
    "networks.dsf", OBJECT, "the disaggregated scheduled fabrics of a network",
    WEFT_RESULT_IF(struct weft_topology_summary, dsf),
    WEFT_RESULT_ABOVE_KEY("name", "name", TEXT, "name of the network"),
    DSF(fabrics, "fabrics", COUNT, "disaggregated scheduled fabrics: parts that cells do not leave"),
    WEFT_RESULT_CALL(dsf_alike, "alike", BOOL, "whether all have the figures of the first"),
    DSF(interfaces, "first_fabric.interface_nodes", COUNT, "interface nodes of the first fabric"),
    DSF(hosts, "first_fabric.hosts", COUNT, "NIC ports of the first fabric"),
    DSF(host_bps, "first_fabric.hosts_bps", RATE, "rate of the first fabric's NIC ports"),
    DSF(links, "first_fabric.links_out", COUNT, "links out of the first fabric"),
    DSF(link_bps, "first_fabric.links_out_bps", RATE, "rate of the links out of the first fabric"));
#define DSF_LAYER(field, key, kind, ...) WEFT_RESULT_NAMED(struct weft_dsf_layer, field, key, kind, __VA_ARGS__)
static const struct weft_result_table dsf_layer_table = WEFT_RESULT_TABLE_OF(
    "networks.dsf.layers", LIST, "nodes of a DSF with one layer name", .next = next_dsf_layer, OF_NETWORK,
    DSF_LAYER(name, "layer", TEXT, "name of the layer", .flags = WEFT_RESULT_KEY),
    WEFT_RESULT_OF_NAMES(0, struct weft_dsf_layer, box, "box", weft_node_box_names, "kind of the network's boxes"),
    DSF_LAYER(boxes, "boxes", COUNT, "boxes"), DSF_LAYER(nodes, "nodes", COUNT, "nodes: virtual devices of boxes"),
    DSF_LAYER(down_min, "lanes_down_min", COUNT, "fewest fabric lanes of a node to lower tiers"),
    DSF_LAYER(down_max, "lanes_down_max", COUNT, "most fabric lanes of a node to lower tiers"),
    DSF_LAYER(up_min, "lanes_up_min", COUNT, "fewest fabric lanes of a node to other tiers"),
    DSF_LAYER(up_max, "lanes_up_max", COUNT, "most fabric lanes of a node to other tiers"));

#define CLIQUE(field, key, kind, ...) WEFT_RESULT_NAMED(struct weft_clique_summary, field, key, kind, __VA_ARGS__)
static const struct weft_result_table clique_table = WEFT_RESULT_TABLE_OF(
    "networks.clique", OBJECT, "the Cliques of a network: dragonflies of TiNs",
    WEFT_RESULT_IF(struct weft_topology_summary, clique),
    WEFT_RESULT_ABOVE_KEY("name", "name", TEXT, "name of the network"),
    CLIQUE(cliques, "cliques", COUNT, "Cliques; the other figures are of the first"),
    CLIQUE(pods, "pods", COUNT, "pods"), CLIQUE(tins, "tins", COUNT, "TiNs"), CLIQUE(hosts, "hosts", COUNT, "hosts"),
    CLIQUE(racks, "racks", COUNT, "racks; 0: unknown"), CLIQUE(cards, "line_cards", COUNT, "line cards; 0: unknown"),
    CLIQUE(local_ports, "tin_local_ports", COUNT, "ports of a TiN's chip for links in its pod; 0: unknown"),
    CLIQUE(local_min, "tin_local_min", COUNT, "fewest links of a TiN in its pod"),
    CLIQUE(local_max, "tin_local_max", COUNT, "most links of a TiN in its pod"),
    CLIQUE(global_ports, "tin_global_ports", COUNT, "ports of a TiN's chip for links to other pods; 0: unknown"),
    CLIQUE(global_min, "tin_global_min", COUNT, "fewest links of a TiN to other pods"),
    CLIQUE(global_max, "tin_global_max", COUNT, "most links of a TiN to other pods"),
    CLIQUE(endpoints, "tin_endpoints", COUNT, "endpoints of a TiN's chip; 0: unknown"),
    CLIQUE(pod_global_ports, "pod_global_ports", COUNT, "ports of a pod for links to other pods; 0: unknown"),
    CLIQUE(pod_global_min, "pod_global_min", COUNT, "fewest links of a pod to other pods"),
    CLIQUE(pod_global_max, "pod_global_max", COUNT, "most links of a pod to other pods"),
    CLIQUE(between_min, "pod_pair_links_min", COUNT, "fewest links between two pods"),
    CLIQUE(between_max, "pod_pair_links_max", COUNT, "most links between two pods"),
    CLIQUE(global_links, "global_links", COUNT, "links between pods"),
    CLIQUE(pod_pairs, "pod_pairs", COUNT, "pairs of pods"),
    CLIQUE(bundles, "fibre_bundles", COUNT, "bundles of fibre between shuffles of 4 pods"),
    CLIQUE(bundle_cables, "fibre_bundle_cables", COUNT, "cables of the widest bundle"),
    CLIQUE(tins, "ethernet_ports", COUNT, "Ethernet ports: one per TiN"),
    CLIQUE(ethernets, "ethernet_to_spines", COUNT, "Ethernet ports that lead to spines"),
    CLIQUE(ethernet_unused, "ethernet_unused", COUNT, "Ethernet ports for neither spines nor management of racks"),
    CLIQUE(fibre_min_m, "fibre_min_m", REAL, "shortest fibre; 0: unknown", .unit = "m"),
    CLIQUE(fibre_mean_m, "fibre_mean_m", REAL, "mean length of the fibres; 0: unknown", .unit = "m"),
    CLIQUE(fibre_max_m, "fibre_max_m", REAL, "longest fibre; 0: unknown", .unit = "m"));
#define BLAST(field, key, kind, ...) WEFT_RESULT_NAMED(struct weft_blast, field, key, kind, __VA_ARGS__)
static const struct weft_result_table blast_table =
    WEFT_RESULT_TABLE_OF("networks.clique.blast_radius", LIST, "a kind of failure in a Clique",
                         WEFT_RESULT_WITHIN(struct weft_clique_summary, blast[0], WEFT_BLASTS), OF_NETWORK,
                         BLAST(what, "failed", TEXT, "what fails at once", .flags = WEFT_RESULT_KEY),
                         BLAST(groups, "groups", COUNT, "how many there are in the Clique"),
                         BLAST(tins, "tins", COUNT, "most TiNs that fail with it"),
                         BLAST(hosts, "hosts_lost", COUNT, "most hosts that no longer reach the others"));

// --- machines, nodes, links ---------------------------------------------------------------------------------------

static const struct weft_result_table machine_table = WEFT_RESULT_TABLE_OF(
    "machines", LIST, "a box with NICs in one or several networks",
    WEFT_RESULT_AND(.sparse = true, WEFT_RESULT_EACH(struct weft_topology_answer, machine, machines)),
    WEFT_RESULT(struct weft_machine_info, name, TEXT, "name of the machine", .flags = WEFT_RESULT_KEY));

WEFT_RESULT_NEXT(next_nic, struct weft_machine_info, m,
                 weft_result_take_from(c, m->nics, topology_of(c)->nic + m->nic0, sizeof(struct weft_nic_info)))
static struct weft_result_value nic_host(struct weft_result_cursor *c) {
    const struct weft_topology *t = topology_of(c);
    return weft_result_words(t->node[t->host[((const struct weft_nic_info *)c->part[0])->host]].name);
}

static const struct weft_result_table nic_table =
    WEFT_RESULT_TABLE_OF("machines.nics", LIST, "a NIC of a machine", .next = next_nic,
                         WEFT_RESULT_ABOVE_KEY("machine", "name", TEXT, "name of the machine"),
                         WEFT_RESULT_NUMBER("nic", "number of the NIC in its machine"),
                         WEFT_RESULT(struct weft_nic_info, network, TEXT, "network of the NIC, as the user calls it"),
                         WEFT_RESULT_CALL(nic_host, "host", TEXT, "host of the network that the NIC is"));

#define NODE(field, key, kind, ...) WEFT_RESULT_NAMED(struct weft_node_info, field, key, kind, __VA_ARGS__)
static const struct weft_result_table node_table = WEFT_RESULT_TABLE_OF(
    "nodes", LIST, "a node", WEFT_RESULT_EACH(struct weft_topology_answer, node, nodes),
    NODE(name, "name", TEXT, "name of the node", .flags = WEFT_RESULT_KEY),
    NODE(layer, "layer", TEXT, "layer of the node"),
    NODE(tier, "tier", COUNT, "0: a host; 1: a switch next to hosts; and so on"),
    WEFT_RESULT_OF_NAMES(0, struct weft_node_info, box, "box", weft_node_box_names, "kind of box"),
    NODE(fabric_level, "fabric_level", COUNT,
         "level of a DSF fabric node: 1 next to interface nodes, 2 between clusters", .flags = WEFT_RESULT_OPTIONAL),
    NODE(card, "line_card", COUNT, "line card of the chip", .flags = WEFT_RESULT_SPARSE),
    NODE(cluster, "cluster", COUNT, "cluster of a DSF, or pod of a Clique", .flags = WEFT_RESULT_SPARSE),
    NODE(pod, "pod", COUNT, "pod of the node", .flags = WEFT_RESULT_SPARSE),
    NODE(ports, "ports", COUNT, "ports of the node"));

WEFT_RESULT_VALUE(link_from, name_port(c, ((const struct weft_link_info *)c->part[0])->port[0]))
WEFT_RESULT_VALUE(link_to, name_port(c, ((const struct weft_link_info *)c->part[0])->port[1]))
static const struct weft_result_table link_table =
    WEFT_RESULT_TABLE_OF("links", LIST, "a link", WEFT_RESULT_EACH(struct weft_topology_answer, link, links),
                         WEFT_RESULT_CALL(link_from, "from", TEXT, "port at one end", .flags = WEFT_RESULT_KEY),
                         WEFT_RESULT_CALL(link_to, "to", TEXT, "port at the other end"),
                         WEFT_RESULT(struct weft_link_info, rate_bps, RATE, "rate of the link"),
                         WEFT_RESULT(struct weft_link_info, delay_ps, TIME, "delay of the link"),
                         WEFT_RESULT(struct weft_link_info, bit_error_rate, REAL, "bit error rate of the link"));

WEFT_RESULT_VALUE(event_link,
                  name_port(c, topology_of(c)->link[((const struct weft_link_event *)c->part[0])->link].port[0]))
WEFT_RESULT_VALUE(event_state, weft_result_words(((const struct weft_link_event *)c->part[0])->up ? "up" : "down"))
static const struct weft_result_table event_table = WEFT_RESULT_TABLE_OF(
    "events", LIST, "a link that goes down or up", WEFT_RESULT_EACH(struct weft_topology_answer, event, events),
    WEFT_RESULT_NUMBER("event", "number of the event, from 0"),
    WEFT_RESULT(struct weft_link_event, time_ps, TIME, "time of the event"),
    WEFT_RESULT_CALL(event_link, "link", TEXT, "port at the link's first end"),
    WEFT_RESULT_CALL(event_state, "state", TEXT, "up or down"));

WEFT_RESULT_VALUE(topology_kind, weft_result_words(topology_of(c)->kind))
WEFT_RESULT_VALUE(topology_wiring, weft_result_words(topology_of(c)->wiring))
WEFT_RESULT_VALUE(topology_switches, weft_result_whole(true, topology_of(c)->switches))
#define ANSWER(field, kind, ...) WEFT_RESULT(struct weft_topology_answer, field, kind, __VA_ARGS__)
static const struct weft_result_table topo_table = WEFT_RESULT_TABLE_OF(
    "topo", OBJECT, "a topology, before anything runs on it", WEFT_RESULT_SUBJECT, WEFT_RESULT_VERSION,
    ANSWER(scenario, TEXT, "name of the scenario"), ANSWER(variant, TEXT, "variant; empty: the scenario has none"),
    WEFT_RESULT_CALL(topology_kind, "kind", TEXT, "kind of topology"),
    WEFT_RESULT_CALL(topology_wiring, "wiring", TEXT, "how the network is wired, and which part of that is assumed"),
    ANSWER(hosts, COUNT, "hosts of all networks"),
    ANSWER(processors, COUNT, "control processors of TiNs", .flags = WEFT_RESULT_OPTIONAL),
    WEFT_RESULT_CALL(topology_switches, "switches", COUNT, "switches of all networks"));
const struct weft_answer weft__answer_topo =
    WEFT_ANSWER_OF("topo", "weft topo: the network of a scenario, before anything runs on it", &topo_table,
                   &network_table, &layer_table, &weft_topology_lines_table, &dsf_table, &dsf_layer_table,
                   &clique_table, &blast_table, &machine_table, &nic_table, &node_table, &link_table, &event_table);
