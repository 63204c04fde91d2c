// SPDX-License-Identifier: Apache-2.0
// Where the ranks of a job go. Servers are not divided: a unit is the ranks of one server, a slot a free server. A
// strategy gives every unit a slot; a zone is what hangs together without the oversubscribed links (a pod; where there
// are no pods, what hangs on one switch), a rack the hosts of one switch.
#ifndef WEFT_PLACE_H
#define WEFT_PLACE_H

#include <stdio.h>

#include "weft/job.h"
#include "weft/topology.h"

struct weft_place_slot {
    uint32_t zone;        ///< 0..zones-1, by first slot
    uint32_t rack;        ///< 0..racks-1, by first slot
    const uint32_t *host; ///< of each of its GPUs
};

/// What a unit exchanges with another in an iteration, both ways together.
struct weft_place_edge {
    uint32_t unit;
    weft_bytes bytes;
};

struct weft_place_problem {
    uint32_t units, slots, zones, racks;
    bool divided; ///< there is a server whose hosts are in different zones; its slot is in that of the first
    struct weft_place_slot *slot; ///< by ascending server
    uint32_t *first;              ///< [units + 1], of a unit's edges
    struct weft_place_edge *edge; ///< of a unit by ascending unit; each appears at both
};

struct weft_placement_ops {
    /// Required; pure. A slot for each unit, no two alike; there are at least as many slots as units. Scratch in
    /// `arena`.
    void (*place)(const void *conf, const struct weft_place_problem *problem, struct weft_arena *arena,
                  uint32_t *ret_slot);
    bool graph; ///< it looks at edges
};

/// What an iteration of the job sends over the network if rank r is on host[r].
struct weft_place_cost {
    weft_bytes bytes;          ///< between servers
    weft_bytes rack_bytes;     ///< of these, between racks
    weft_bytes zone_bytes;     ///< of these, between zones
    weft_bytes zone_bytes_max; ///< of these, what the busiest zone sends or receives, whichever is more
    uint32_t racks, zones;     ///< in use
};
struct weft_place_cost weft_place_cost(const struct weft_job *job, const struct weft_topology *topology,
                                       const uint32_t *host);
/// Fills in the edges of job->places, in `arena`.
void weft_place_graph(const struct weft_job *job, struct weft_arena *arena);
/// The hosts of all ranks if unit u has slot[u].
void weft_place_hosts(const struct weft_job *job, const uint32_t *slot, uint32_t *ret_host);

/// A rank file: a line a rank, "host-12 4": the host, and the number of the GPU in its server; "#" begins a comment.
struct weft_rank_line {
    const char *host;
    uint32_t gpu;
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
                          const struct weft_topology *topology, const uint32_t *host);

#endif
