// SPDX-License-Identifier: Apache-2.0
// Codec of the files of ns-3's RDMA simulators: alibaba-edu/High-Precision-Congestion-Control (HPCC) and
// aliyun/ns-3-alibabacloud (SimAI): topology, flows, configuration. Words are separated by blanks or line ends. Lines
// after the last link or flow are not read, as in the simulators: HPCC's own files have explanations there. The first
// line of a topology also has the forms of inet-tub/ns3-datacenter (PowerTCP, Reverie).
#pragma once

#include "base/lines.h"
#include "import/flow_file.h"
#include "import/planes.h"

struct weft__hpcc_link {
    uint32_t src, dst;
    weft_rate_bps rate_bps;
    weft_time_ps delay_ps;
    double error_rate; ///< fraction of packets that are lost
    struct weft_place place;
};

/// Lines after the last link or flow; ns-3 does not read them.
struct weft__hpcc_rest {
    int line;       ///< the first that is not empty; 0: none
    uint32_t alike; ///< how many lines look like further links or flows
};

enum weft__hpcc_role { WEFT__HPCC_HOST, WEFT__HPCC_SWITCH, WEFT__HPCC_NVSWITCH };

struct weft__hpcc_topology {
    uint32_t nodes, switches, nvswitches, links;
    uint32_t gpus_per_server; ///< 0: HPCC's form, without servers
    const char *gpu_type;     ///< of SimAI's form
    bool nvlink_only;         ///< all switches are NVSwitches; they then count as switches
    bool has_tors;            ///< the form of ns3-datacenter, whose first line says how many switches are ToRs
    uint8_t *role;            ///< [nodes], enum weft__hpcc_role
    struct weft__hpcc_link *link;
    weft_rate_bps nvlink_bps, nvlink_most_bps; ///< of the slowest and the fastest GPU to its NVSwitches; 0: none
    weft_time_ps nvlink_delay_ps;              ///< of one of these links
    struct weft__hpcc_rest rest;
    struct weft__planes planes; ///< links without those to NVSwitches
    uint32_t *at;               ///< [planes.links], of `link`
};

/// Whether the link is one of a GPU to an NVSwitch, within a server.
static inline bool weft__hpcc_is_nvlink(const struct weft__hpcc_topology *t, const struct weft__hpcc_link *l) {
    return t->role[l->src] == WEFT__HPCC_NVSWITCH || t->role[l->dst] == WEFT__HPCC_NVSWITCH;
}

/// In the arena. Errors are at `place` if the file cannot be read, else in it.
enum weft_status weft__hpcc_read_topology(const char *path, struct weft_place place, struct weft_arena *arena,
                                          struct weft__hpcc_topology *ret_topology, struct weft_error *ret_error);

/// Fills in `planes`. An error if hosts have different numbers of links, or none.
enum weft_status weft__hpcc_find_planes(struct weft__hpcc_topology *topology, const char *path,
                                        struct weft_arena *arena, struct weft_error *ret_error);

/// Flows one by one; the caller closes its lines.
struct weft__hpcc_flows {
    struct weft__lines lines;
    uint64_t n, read;
    bool portless;               ///< five columns per flow, without the port: ConWeave's form
    struct weft__hpcc_rest rest; ///< known after the last flow
};
enum weft_status weft__hpcc_flows_open(struct weft__hpcc_flows *flows, const char *path, struct weft_place place,
                                       struct weft_error *ret_error);
/// *ret_more false: there are no more.
enum weft_status weft__hpcc_flows_next(struct weft__hpcc_flows *flows, struct weft__file_flow *ret_flow, bool *ret_more,
                                       struct weft_error *ret_error);
