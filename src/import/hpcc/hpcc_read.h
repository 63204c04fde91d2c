// SPDX-License-Identifier: Apache-2.0
// Codec of the files of ns-3's RDMA simulators: alibaba-edu/High-Precision-Congestion-Control (HPCC) and
// aliyun/ns-3-alibabacloud (SimAI): topology, flows, configuration. Words are separated by blanks or line ends. Lines
// after the last link or flow are not read, as in the simulators: HPCC's own files have explanations there. The first
// line of a topology also has the forms of inet-tub/ns3-datacenter (PowerTCP, Reverie).
#pragma once

#include "base/lines.h"
#include "import/flow_file.h"
#include "import/planes.h"
#include "weft/import.h"

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

// The configuration of HPCC's simulator: lines of a key and its values.
enum { WEFT__HPCC_RATES = 16 }; ///< of a map, at most

/// A value that depends on the rate of a port.
struct weft__hpcc_map {
    uint32_t n;
    weft_rate_bps rate_bps[WEFT__HPCC_RATES];
    double value[WEFT__HPCC_RATES];
};

/// CC_MODE values with the same meaning in HPCC's simulator and all forks.
enum weft__hpcc_cc {
    WEFT__HPCC_DCQCN = 1,
    WEFT__HPCC_HPCC = 3,
    WEFT__HPCC_TIMELY = 7,
    WEFT__HPCC_DCTCP = 8,
    WEFT__HPCC_PINT = 10,
};

enum { WEFT__HPCC_ODD = 16 }; ///< keys whose value has no parameter, at most

struct weft__hpcc_config {
    const char *topology, *flows; ///< paths as written; NULL: none
    struct weft_place topology_place, flows_place;
    uint64_t mtu_bytes, cc_mode, buffer_mb;                  ///< 0: not given
    weft_rate_bps ai_bps, hai_bps, min_bps, dctcp_ai_bps;    ///< likewise
    double alpha_us, decrease_us, increase_us, gain, stages; ///< likewise
    double gain_dcqcn, gain_dctcp;                           ///< of one control only, in place of `gain`; likewise
    const char *nak_interval;                                ///< in microseconds; NULL: not given
    double target;                                           ///< U_TARGET; likewise
    uint64_t mi_thresh;
    double error_rate; ///< of packets, on links that have none of their own
    struct weft__hpcc_map kmin_kb, kmax_kb, pmax;
    double until_s;
    bool qcn_off, pfc_off, clamp, has_clamp, has_mi_thresh;
    bool window_off, window_of_pair, window_varies;
    uint64_t down[3]; ///< LINK_DOWN: microseconds after two seconds, 0: never; the link's nodes
    struct weft_place down_place;
    const char *odd[WEFT__HPCC_ODD]; ///< "RATE_BOUND 0: why it matters"
    uint32_t odds;
    const char *unknown; ///< keys, separated by blanks
};

enum weft_status weft__hpcc_read_config(const char *path, struct weft_arena *arena,
                                        struct weft__hpcc_config *ret_config, struct weft_error *ret_error);
/// The value of the map for `rate`, for the greatest rate below it, or for the lowest; NAN: the map is empty.
double weft__hpcc_map_at(const struct weft__hpcc_map *map, weft_rate_bps rate);

// The window and the round trip that HPCC's simulator gives every flow (HAS_WIN, GLOBAL_T).
#define WEFT__HPCC_WINDOW_STEPS UINT64_C(2000000000) ///< more steps than this take too long

struct weft__hpcc_longest {
    weft_bytes window; ///< the greatest bandwidth-delay product of two hosts
    uint64_t rtt_ns;   ///< the longest round trip of two
};
/// All 0 if there are fewer than two hosts, or if the network is too large to search.
struct weft__hpcc_longest weft__hpcc_window(const struct weft__hpcc_topology *topology, weft_bytes mtu,
                                            struct weft_arena *arena);

// The sections of hosts and switches from the configuration of HPCC's simulator.
/// Figures of the topology that the configuration's sections need.
struct weft__hpcc_rates {
    weft_rate_bps host_bps, port_bps;  ///< of hosts, and the greatest of all links
    weft_bytes headroom_bytes;         ///< three times the data in flight on a link
    struct weft__hpcc_longest longest; ///< 0: not known
    unsigned priorities;               ///< of flows, a bit each
};

/// Lossless are the priorities of flows, but for 0, which has neither PFC nor marks there.
void weft__hpcc_say_pfc(struct weft_import *import, enum weft_import_section section,
                        const struct weft__hpcc_config *config, const struct weft__hpcc_rates *rates);
void weft__hpcc_say_host(struct weft_import *import, const struct weft__hpcc_config *config,
                         const struct weft__hpcc_rates *rates);

// What importers of ns-3's RDMA simulators share: the network, with its hosts and switches.
/// "topology", "flows" or "configuration"; NULL: none of them.
const char *weft__hpcc_recognise(const struct weft_import_file *file);

struct weft__hpcc_network {
    uint32_t hosts;     ///< 0: no topology was given
    const char *chosen; ///< those of a workload; NULL: all
    const char *server; ///< the network within servers, of collectives and jobs; NULL: none
};
/// Says the sections of topology, switches, hosts, events and run from a topology and a configuration, each of which
/// may be missing, among the files or named by the configuration. `flows`: whether the files of flows are the workload.
enum weft_status weft__hpcc_make(const struct weft_import_common *common, const struct weft_import_file *file,
                                 uint32_t files, bool flows, struct weft_import *import,
                                 struct weft__hpcc_network *ret_network, struct weft_error *ret_error);
