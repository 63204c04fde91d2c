// SPDX-License-Identifier: Apache-2.0
// Codec of InfraGraph, the description of AI clusters as a graph: devices with components and the edges within them,
// instances of devices, and the edges between instances. YAML or JSON.
#pragma once

#include "base/tree.h"
#include "import/file_graph.h"

struct weft__infragraph_conf {
    const char *switches;   ///< names of instances that are switches, with patterns; "": those without xpu and nic
    weft_rate_bps rate_bps; ///< of a link that has none
    weft_time_ps delay_ps;
};

/// The inside of a device, which weft does not simulate as such.
struct weft__infragraph_device {
    const char *name;
    const char *inside;         ///< names of its links, separated by ", "; or ""
    uint64_t xpus;              ///< with those of devices within
    weft_rate_bps nic_rate_bps; ///< the lowest among inner links that end at a nic; 0: none has a rate
    weft_time_ps port_delay_ps; ///< the highest among inner links that end at a port; 0: none has a latency
    struct weft_place place;
};

struct weft__infragraph_instance {
    const char *name;
    const char *absent; ///< its device, which no file defines: no edge ends at it; NULL: it is defined
    const struct weft__infragraph_device *device;
    uint32_t count;
    bool is_switch;
    weft_rate_bps rate_bps; ///< the highest among its links to other instances; 0: it has none
};

struct weft__infragraph {
    struct weft__file_graph graph; ///< hosts are the components of servers at which edges between instances end
    uint32_t instances, unrated, undelayed;
    struct weft__infragraph_instance *instance;
    uint32_t transfers; ///< of the links without a rate, those with one in transfers
    uint32_t unequal;   ///< edges one2one whose two ends have different numbers of components
    uint32_t loops;     ///< links from a switch to itself, omitted
    uint32_t renamed;   ///< nodes whose name is not valid in weft
    uint32_t unnamed;   ///< ports likewise
};

/// The infrastructure that the files form together; at least one file.
enum weft_status weft__infragraph_open(const char *const *path, uint32_t paths, struct weft_place place,
                                       struct weft_arena *arena, const struct weft_tree **ret_root,
                                       struct weft_error *ret_error);

/// The file that would be needed: one beside `given` whose list `key` has an entry with this value of `member`, the
/// first by name; NULL: none has. In the arena.
const char *weft__infragraph_seek(const char *given, const char *key, const char *member, const char *value,
                                  struct weft_arena *arena);

/// In the arena. Errors are at `place` if a file cannot be read, else in it.
enum weft_status weft__infragraph_read(const char *const *path, uint32_t paths, struct weft_place place,
                                       const struct weft__infragraph_conf *conf, struct weft_arena *arena,
                                       struct weft__infragraph *ret_graph, struct weft_error *ret_error);
