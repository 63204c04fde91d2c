// SPDX-License-Identifier: Apache-2.0
// What weft topo prints, in its forms.
#ifndef WEFT_CLI_TOPO_H
#define WEFT_CLI_TOPO_H

#include <stdio.h>

#include "base/json.h"
#include "weft/scenario.h"
#include "weft/summary.h"

struct topo_view {
    const struct weft_scenario *scenario;
    const struct weft_topology *topology;
    const struct weft_topology_summary *summary; ///< of each network
};

/// The way of every queue pair of the scenario's flows, and the links on which ways of different flows meet.
void topo_print_paths(FILE *file, const struct weft_scenario *scenario, const struct weft_topology *topology,
                      const struct weft_workload *workload);
void topo_print_json(FILE *file, const struct topo_view *view);
/// Graphviz; parallel links are one edge with their number. More than 128 hosts: one box for the hosts of a switch.
void topo_print_dot(FILE *file, const struct weft_topology *topology);
/// A struct topo_view as an SVG drawing of 1600 x 900: a row a layer, what is alike folded where it would not fit.
void topo_print_svg(FILE *file, const void *topo_view);
/// Text as HTML and SVG take it: names come from users.
void topo_print_escaped(FILE *file, const char *text);

#endif
