// SPDX-License-Identifier: Apache-2.0
// Codec of graphs that NetworkX writes as node-link JSON (networkx.node_link_data).
#pragma once

#include <jansson.h>

#include "import/file_graph.h"
#include "weft/tree.h"

/// How attributes are read.
struct weft__networkx_conf {
    const char *rate_key, *delay_key; ///< "": any that is known
    uint32_t rate_unit, delay_unit;   ///< indices into the names below
    weft_rate_bps rate_bps;           ///< of a link that has none
    weft_time_ps delay_ps;
};
extern const char *const weft__networkx_rate_units[], *const weft__networkx_delay_units[];

struct weft__networkx {
    struct weft__file_graph graph; ///< the two directions of a link are one link
    uint32_t guessed;              ///< nodes whose role follows from their number of links
    uint32_t renamed;              ///< nodes whose identifier is not a name
    uint32_t unrated, undelayed;   ///< links of the file without a rate, without a delay
    const char *unread;            ///< attributes without meaning here, the first few, separated by ", "; or ""
};

/// Reads node-link JSON, with the places of its nodes and links; in the arena.
enum weft_status weft__networkx_read_root(const json_t *root, const char *path, const struct weft_place *node_place,
                                          const struct weft_place *link_place, const struct weft__networkx_conf *conf,
                                          struct weft_arena *arena, struct weft__networkx *ret_graph,
                                          struct weft_error *ret_error);
/// A file of GraphML (import/networkx/graphml_read.c), whose attributes are read as those of node-link JSON.
enum weft_status weft__graphml_read(const char *path, struct weft_place place, const struct weft__networkx_conf *conf,
                                    struct weft_arena *arena, struct weft__networkx *ret_graph,
                                    struct weft_error *ret_error);
/// In the arena. Errors are at `place` if the file cannot be read, else in it.
enum weft_status weft__networkx_read(const char *path, struct weft_place place, const struct weft__networkx_conf *conf,
                                     struct weft_arena *arena, struct weft__networkx *ret_graph,
                                     struct weft_error *ret_error);
