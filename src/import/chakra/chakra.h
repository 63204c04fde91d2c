// SPDX-License-Identifier: Apache-2.0
// Chakra execution traces as a schedule (weft/schedule.h): files, process groups, and what the nodes of a rank do.
#pragma once

#include "weft/schedule.h"

// --- files --------------------------------------------------------------------------------------------------------

struct weft__chakra_file {
    uint32_t rank;
    const char *path;
};
struct weft__chakra_files {
    struct weft__chakra_file *file; ///< by rank
    uint32_t files;
    const char *prefix; ///< the part before ".N.et"; for a single file: its path
};
/// The traces that `path` means: those in a folder, one file, or PREFIX.0.et, PREFIX.1.et ... for a prefix; ".gz" or
/// ".zst" may follow. No traces, or traces of two prefixes, are an error at `place`.
enum weft_status weft__chakra_find(const char *path, struct weft_place place, struct weft_arena *arena,
                                   struct weft__chakra_files *ret_files, struct weft_error *ret_error);
/// For a name like "a/b.12.et": where ".12.et" begins, and the number; NULL: it is not the name of a trace.
const char *weft__chakra_suffix(const char *path, uint32_t *ret_rank);

// --- process groups -----------------------------------------------------------------------------------------------

/// A name and members identify a group: groups without a common member may have the same name.
struct weft__chakra_group {
    uint32_t name, next; ///< next: another group of that name, WEFT_NONE: none
    uint32_t ranks, *rank;
};
struct weft__chakra_groups {
    struct weft_arena *arena;
    uint32_t ranks; ///< of the job
    struct weft__chakra_name {
        const char *text;
        uint32_t group; ///< the first of this name, WEFT_NONE: none
    } * name;
    struct weft__chakra_group *group;
    uint32_t *slot; ///< a hash table of names, + 1; slots: a power of two
    uint32_t names, names_room, groups, groups_room, slots;
};
void weft__chakra_groups_init(struct weft__chakra_groups *g, struct weft_arena *arena);
/// Frees its memory besides the arena.
void weft__chakra_groups_deinit(struct weft__chakra_groups *g);
/// The number of a name.
uint32_t weft__chakra_name(struct weft__chakra_groups *g, const char *name);
/// Adds a group of `ranks` members, which are copied; 0: all ranks. An existing group is not added again.
void weft__chakra_define(struct weft__chakra_groups *g, uint32_t name, const uint32_t *rank, uint32_t ranks);
/// Reads a file of ASTRA-sim: an object with lists of ranks by name. Returns the greatest rank in it + 1.
enum weft_status weft__chakra_groups_read(struct weft__chakra_groups *g, const char *path, struct weft_place place,
                                          uint32_t *ret_ranks, struct weft_error *ret_error);
/// Parses what PyTorch writes into a metadata node: a list of objects with pg_name and ranks, within quotes and
/// brackets. False: the text is no such list. Returns the greatest rank in it + 1.
bool weft__chakra_groups_parse(struct weft__chakra_groups *g, const char *text, uint32_t *ret_ranks);
/// The group of that name with `rank` as a member; WEFT_NONE: none, and *ret_more says whether there are several.
uint32_t weft__chakra_group_of(const struct weft__chakra_groups *g, uint32_t name, uint32_t rank, bool *ret_several);
/// The group that corresponds for `rank` to `group` for `model`, if groups of that form divide all ranks evenly: ranks
/// at a constant distance. Not one of the `n` in `taken`. WEFT_NONE: there is none.
uint32_t weft__chakra_group_like(struct weft__chakra_groups *g, uint32_t group, uint32_t model, uint32_t rank,
                                 const uint32_t *taken, uint32_t n);

// --- dependencies of a trace --------------------------------------------------------------------------------------

struct weft__chakra_reader;
struct weft__chakra_node;

/// Nodes by id, and their dependencies. All zero: empty. It is reused from trace to trace.
struct weft__chakra_graph {
    struct weft__chakra_vertex {
        uint64_t id, at;
        size_t dep0;   ///< the first of its dependencies
        uint32_t data; ///< the number of data dependencies, which come first
    } * vertex;
    uint64_t *dep; ///< ids
    struct weft_schedule_pair *edge;
    uint64_t *row;         ///< for each vertex of a block, bits of those that it waits for
    uint32_t *slot, *list; ///< slot: a hash table of ids, + 1
    size_t vertices, deps, edges, vertices_room, deps_room, edges_room, rows_room, slots, list_room;
    uint64_t implied, absent; ///< over all traces: omitted dependencies
};
void weft__chakra_graph_clear(struct weft__chakra_graph *g);
void weft__chakra_graph_add(struct weft__chakra_graph *g, const struct weft__chakra_node *node, bool ctrl_deps);
/// Computes the edges. It omits dependencies that others imply, and control dependencies on missing nodes, which
/// Chakra's converter removes. Duplicate ids, and data that no node produces, are errors.
enum weft_status weft__chakra_graph_connect(struct weft__chakra_graph *g, const struct weft__chakra_reader *r,
                                            struct weft_error *ret_error);
void weft__chakra_graph_deinit(struct weft__chakra_graph *g);

// --- all of it ----------------------------------------------------------------------------------------------------

struct weft__chakra_conf {
    const char *groups; ///< path of a file with process groups; "": none
    uint64_t ranks;     ///< 0: as many as the traces and groups have
    bool reuse, ctrl_deps, cpu_ops;
    double tflops;
};

/// Facts about the files, for notes.
struct weft__chakra_facts {
    uint32_t traces, groups; ///< groups: those that communicate
    const char *version;     ///< of the first trace; "": not given
    uint64_t nodes, comms, wrappers, cpu_ops, by_ops, memory, unknown_fields;
    uint64_t others;       ///< nodes of a kind outside weft__chakra_type, with a duration
    uint64_t empty, peers; ///< collectives without bytes; messages whose peer is the other rank of a group of two
    uint64_t deps, deps_implied, deps_absent, groups_bad, groups_found;
};

enum weft_status weft__chakra_load(const char *path, const struct weft__chakra_conf *conf, struct weft_place place,
                                   struct weft_arena *arena, struct weft_schedule **ret_schedule,
                                   struct weft__chakra_facts *ret_facts, struct weft_error *ret_error);
