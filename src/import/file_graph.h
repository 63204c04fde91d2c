// SPDX-License-Identifier: Apache-2.0
// Nodes and links listed in the file of another tool, and the topology made from them.
#pragma once

#include "import/planes.h"
#include "topology/builder.h"

struct weft__file_node {
    const char *name, *layer;
    bool host;
    struct weft_place place;
    const char *device; ///< of a host: the device with this port; NULL: the name may say it
};

struct weft__file_link {
    uint32_t end[2];     ///< indices of nodes
    const char *port[2]; ///< NULL: the port is named by its number
    weft_rate_bps rate_bps;
    weft_time_ps delay_ps;
    struct weft_place place;
};

struct weft__file_graph {
    uint32_t nodes, links;
    struct weft__file_node *node;
    struct weft__file_link *link;
};

uint32_t weft__file_graph_hosts(const struct weft__file_graph *g);
/// Adds the nodes in their order and the links in theirs; devices with hosts become machines.
enum weft_status weft__file_graph_build(const struct weft__file_graph *g, struct weft_topology_builder *b,
                                        struct weft_error *ret_error);
/// The same for a graph that may consist of parts: each is a separate network, part-0, part-1, ... in the order of
/// nodes.
enum weft_status weft__file_graph_build_parts(const struct weft__file_graph *g, struct weft_topology_builder *b,
                                              struct weft_error *ret_error);
/// Checks that it makes a topology; if not, the error is in the file. `parts`: as weft__file_graph_build_parts makes
/// it.
enum weft_status weft__file_graph_check(const struct weft__file_graph *g, bool parts, struct weft_place place,
                                        struct weft_arena *arena, struct weft_error *ret_error);
/// The number of parts; part[nodes], in the arena, gives the part of each node.
uint32_t weft__file_graph_parts(const struct weft__file_graph *g, struct weft_arena *arena, uint32_t **ret_part);
/// The planes of hosts with several links each, which weft__file_graph_build makes networks, plane-0, plane-1, ...; n
/// is 1 if hosts have one link, or different numbers of them.
struct weft__planes weft__file_graph_planes(const struct weft__file_graph *g, struct weft_arena *arena);
