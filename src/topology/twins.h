// SPDX-License-Identifier: Apache-2.0
// Switches that may be swapped without changing the network: each has the same neighbours over the same links. What is
// so of one is so of the other; access switches of a pod, for instance.
#ifndef WEFT_TOPOLOGY_TWINS_H
#define WEFT_TOPOLOGY_TWINS_H

#include "topology/graph.h"

/// For each switch the first one of its twins, maybe itself, into ret_first[switches]. Twins have equal keys
/// (key_bytes of each switch) and links of equal sorts, sort[link].
void weft__twins_find(const struct weft__graph *g, const void *key, size_t key_bytes, const uint64_t *sort,
                      uint32_t *ret_first);

#endif
