// SPDX-License-Identifier: Apache-2.0
// Switches that may be swapped without changing the network, because each has the same neighbours over the same links:
// for example the access switches of a pod. What is true of one is true of the other.
#pragma once

#include "topology/graph.h"

/// For each switch, the first of its twins (maybe itself), into ret_first[switches]. Twins have equal keys (key_bytes
/// per switch) and links of equal sorts, sort[link].
void weft__equal_switches_find(const struct weft__graph *g, const void *key, size_t key_bytes, const uint64_t *sort,
                               uint32_t *ret_first);
