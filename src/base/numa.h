// SPDX-License-Identifier: Apache-2.0
// Processors of a machine whose memory is not equally near to all of them. Threads that share some work in order are
// spread over the nodes in that order, each free to move within its node. Memory is had from the node of the thread
// that first writes it.
#pragma once

#include <stdint.h>

/// Where Linux tells its nodes.
#define WEFT__NUMA_FOLDER "/sys/devices/system/node"

enum { WEFT__NUMA_NODES_MAX = 64, WEFT__NUMA_PROCESSORS_MAX = 1024 };

struct weft__processor_set {
    uint64_t word[WEFT__NUMA_PROCESSORS_MAX / 64];
};

struct weft__numa {
    uint32_t nodes; ///< of which the calling thread may use a processor; below 2: nothing is bound
    struct weft__processor_set allowed, node[WEFT__NUMA_NODES_MAX];
    uint32_t processors[WEFT__NUMA_NODES_MAX]; ///< allowed ones
};

/// folder: NULL: no nodes.
void weft__numa_read(struct weft__numa *numa, const char *folder);
/// Of `parts` equal parts of all allowed processors, in order of nodes, the node in which the middle of `part` is.
uint32_t weft__numa_node_of(const struct weft__numa *numa, uint32_t part, uint32_t parts);
/// The calling thread runs on that node from now on.
void weft__numa_bind(const struct weft__numa *numa, uint32_t part, uint32_t parts);
/// And again wherever it might.
void weft__numa_release(const struct weft__numa *numa);

/// Processors that this process may use (taskset, cpusets of containers and batch systems), at least 1.
uint32_t weft__processors(void);
/// Processors of the machine, at least 1.
uint32_t weft__processors_online(void);
