// SPDX-License-Identifier: Apache-2.0
// What weft topo prints, in its formats.
#pragma once

#include <stdio.h>

#include "weft/scenario.h"
#include "weft/summary.h"

/// The path of every queue pair of the scenario's flows, and the links shared by paths of different flows.
void topo_print_paths(FILE *file, const struct weft_scenario *scenario, const struct weft_topology *topology,
                      const struct weft_workload *workload);
/// Graphviz; parallel links are one edge with their number. With more than 128 hosts: one box for the hosts of each
/// switch.
void topo_print_dot(FILE *file, const struct weft_topology *topology);
/// A struct weft_topology_answer as an SVG drawing of 1600 x 900: one row per layer; equal nodes are folded where they
/// would not fit.
void topo_print_svg(FILE *file, const void *answer);
/// Escapes text for HTML and SVG, because names come from users.
void topo_print_escaped(FILE *file, const char *text);
