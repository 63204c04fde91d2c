// SPDX-License-Identifier: Apache-2.0
// Where the ranks of a job go. Servers are not divided: a unit is the ranks of one server, a slot a free server. A
// strategy gives every unit a slot. A rack is the servers on the same set of switches: one switch, or, if GPUs are
// cabled by rail, a rail group (NVIDIA: scalable unit). A zone is what hangs together without the oversubscribed links:
// the servers in the same set of pods, which is one pod but for rails that have pods of their own; where there are no
// pods, a rack. A block is what the spine of a data center joins: all servers of a Clique, elsewhere a zone.
#pragma once

#include <stdio.h>

#include "weft/job.h"
#include "weft/topology.h"

struct weft_placement_slot {
    uint32_t zone;        ///< 0..zones-1, by first slot
    uint32_t rack;        ///< 0..racks-1, by first slot
    uint32_t block;       ///< 0..blocks-1, by first slot
    const uint32_t *host; ///< host of each GPU; GPUs that share a NIC have the same host
    const uint32_t *gpu;  ///< number of each GPU in the server
};

/// What a unit exchanges with another in an iteration, both ways together.
struct weft_placement_edge {
    uint32_t unit;
    weft_bytes bytes;      ///< that stay in a pod if both units are in one zone; not 0
    weft_bytes rack_bytes; ///< of these, that stay at a switch if both are in one rack
};

struct weft_placement_problem {
    uint32_t units, slots, zones, racks, blocks;
    bool cliques;                     ///< some slots are in Cliques: zones there are pods, and racks TiNs
    bool rails;                       ///< there is a server whose GPUs are on several switches: racks are rail groups
    struct weft_placement_slot *slot; ///< by ascending server
    uint32_t *first;                  ///< [units + 1], of a unit's edges
    struct weft_placement_edge *edge; ///< of a unit by ascending unit; each appears at both
    /// [GPUs of a server] GPUs with the same number are in the same pod in every free server, and on the same switch.
    const uint32_t *zone_rail, *rack_rail;
};

struct weft_placement_ops {
    /// Required; pure. A slot for each unit, no two alike; there are at least as many slots as units. Scratch in
    /// `arena`.
    void (*place)(const void *conf, const struct weft_placement_problem *problem, struct weft_arena *arena,
                  uint32_t *ret_slot);
    bool graph; ///< it looks at edges
};

/// What an iteration of the job sends over the network if rank r is on host[r], hosts of job->places.
struct weft_placement_cost {
    weft_bytes bytes;          ///< between servers
    weft_bytes rack_bytes;     ///< of these, from one switch to another; with rails also within a rail group
    weft_bytes zone_bytes;     ///< of these, from one pod to another; where there are no pods, as rack_bytes
    weft_bytes zone_bytes_max; ///< of these, what the servers of the busiest zone send or receive, whichever is more
    weft_bytes block_bytes;    ///< of these, from one block to another
    uint32_t racks, zones, blocks; ///< in use
};
struct weft_placement_cost weft_placement_cost(const struct weft_job *job, const struct weft_topology *topology,
                                               const uint32_t *host);
/// Fills in the edges of job->places, in `arena`.
void weft_placement_graph(const struct weft_job *job, struct weft_arena *arena);
/// The hosts of all ranks, and the numbers of their GPUs, if unit u has slot[u].
void weft_placement_hosts(const struct weft_job *job, const uint32_t *slot, uint32_t *ret_host, uint32_t *ret_gpu);

/// A rank file: a line a rank, "host-12 4": the host, and perhaps the number of the GPU in its server; "#" begins a
/// comment.
struct weft_rank_line {
    const char *host;
    uint32_t gpu; ///< WEFT_NONE: the line does not say it
    struct weft_place place, gpu_place;
};
struct weft_rank_file {
    uint32_t ranks;
    struct weft_rank_line *line;
};
/// Texts are in the arena. `name` stands for the file in errors and is borrowed.
enum weft_status weft_rank_file_parse(const char *name, const char *text, size_t size, struct weft_arena *arena,
                                      struct weft_rank_file *ret_file, struct weft_error *ret_error);
/// Writes one that is read back to the same hosts. Each line of `about` becomes a comment.
void weft_rank_file_write(FILE *file, const char *about, const struct weft_job *job,
                          const struct weft_topology *topology, const uint32_t *host, const uint32_t *gpu);
