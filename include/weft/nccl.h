// SPDX-License-Identifier: Apache-2.0
// What NCCL chooses for a collective: algorithm, protocol, channels, threads and chunk, by size and machine, as its
// tuning model does, whose times this is about too. Times are in microseconds and rates in GB/s (1e9 bytes a second),
// as NCCL has them; bytes are those of the call as nccl-tests counts a size (for an all-gather, of the whole array).
// Source: NVIDIA/nccl, versions 2.30.7 and 2.26.2: src/graph/search.cc, src/graph/tuning.cc, src/enqueue.cc. Other
// versions have other tables.
#pragma once

#include <stdbool.h>

#include "weft/types.h"

struct weft_param_table;

enum weft_nccl_algorithm {
    WEFT_NCCL_TREE,
    WEFT_NCCL_RING,
    WEFT_NCCL_NVLS, ///< within a server: its switch reduces and multicasts
    WEFT_NCCL_NVLS_TREE,
    WEFT_NCCL_PAT,
    WEFT_NCCL_ALGORITHMS
};
enum weft_nccl_protocol { WEFT_NCCL_LL, WEFT_NCCL_LL128, WEFT_NCCL_SIMPLE, WEFT_NCCL_PROTOCOLS };
enum weft_nccl_function {
    WEFT_NCCL_BROADCAST,
    WEFT_NCCL_REDUCE,
    WEFT_NCCL_ALL_GATHER,
    WEFT_NCCL_REDUCE_SCATTER,
    WEFT_NCCL_ALL_REDUCE,
    WEFT_NCCL_FUNCTIONS
};
enum weft_nccl_generation { WEFT_NCCL_VOLTA, WEFT_NCCL_AMPERE, WEFT_NCCL_HOPPER, WEFT_NCCL_BLACKWELL };
/// Versions whose tables are known; those between them choose as the older one up to 2.26, and as the newer one
/// from 2.27 on (assumed).
enum weft_nccl_version { WEFT_NCCL_2_30, WEFT_NCCL_2_26 };
/// GPUs of a server that reduce with NVLS at most (NCCL_MAX_NVLS_ARITY).
enum { WEFT_NCCL_HEADS_MAX = 32 };
enum weft_nccl_cpu { WEFT_NCCL_INTEL, WEFT_NCCL_AMD, WEFT_NCCL_ARM };

extern const char *const weft_nccl_algorithm_names[];  ///< as NCCL_ALGO has them; NULL-terminated, as the next ones
extern const char *const weft_nccl_protocol_names[];   ///< as NCCL_PROTO has them
extern const char *const weft_nccl_generation_names[]; ///< "hopper"
extern const char *const weft_nccl_cpu_names[];        ///< "intel"
extern const double weft_nccl_link_GBps[];             ///< of an NVLink, as NCCL counts it; by generation

/// What a call and its steps take beside the wire, at a server: what a log of nccl-tests tells (weft fit). Latencies
/// of a step let the next one begin; steps of a tree and of a ring, by protocol.
struct weft_nccl_costs {
    weft_time_ps ring_ps[WEFT_NCCL_PROTOCOLS], tree_ps[WEFT_NCCL_PROTOCOLS]; ///< over the network
    weft_time_ps inner_ring_ps[WEFT_NCCL_PROTOCOLS], inner_tree_ps[WEFT_NCCL_PROTOCOLS];
    weft_time_ps nvls_ps, nvls_tree_ps;
    weft_time_ps busy_ps;  ///< of inner_ring_ps of Simple: its channel does nothing else
    double hand;           ///< of a latency over the network, the part that passes before the sender's proxy knows
    weft_time_ps proxy_ps; ///< of a message over the network, at each end: one message after another
    weft_rate_bps copy_rate_bps, nvls_rate_bps, nvls_tree_rate_bps; ///< of a channel, with Simple; 0: no limit
    weft_rate_bps ll_rate_bps, ll128_rate_bps; ///< likewise with LL and LL128, of what is on the wire
    double factor;                             ///< of all latencies, a launch among them
};
extern const struct weft_param_table weft_nccl_costs_table;

/// The servers of a communicator, all alike.
struct weft_nccl_machine {
    enum weft_nccl_generation generation;
    enum weft_nccl_cpu cpu;
    enum weft_nccl_version version;
    uint32_t nodes, gpus;    ///< gpus: of a server
    uint32_t nics;           ///< of a server
    double nvlink_GBps;      ///< of a GPU, each way, as NCCL counts it (its links times 20.6 on Hopper); 0: PCIe only
    double pcie_GBps;        ///< of a GPU, each way; used without NVLink
    double nic_GBps, nic_us; ///< of a NIC: its rate; its latency as the plug-in reports it (InfiniBand: 0)
    bool nvls;               ///< the NVSwitches reduce and multicast
    bool ll128;              ///< stores of 128 B reach their destination whole (NVLink, or PXN from Hopper on)
    uint32_t min_ctas, max_ctas; ///< bounds of the number of channels; 0: NCCL's
    /// Bit masks of what NCCL_ALGO and NCCL_PROTO leave; weft_nccl_mask reads them.
    uint32_t algorithms[WEFT_NCCL_FUNCTIONS], protocols[WEFT_NCCL_FUNCTIONS];
    struct weft_nccl_costs costs; ///< not in NCCL's model: in a run
    weft_time_ps inner_ps;        ///< likewise: latency between GPUs of a server
};

/// The channels that NCCL finds in a machine for an algorithm: their number before it doubles them as it connects, and
/// the rate of each within a server and between servers. No channels: the algorithm is not possible.
struct weft_nccl_graph {
    uint32_t channels;  ///< of the search
    uint32_t connected; ///< in use
    double intra_GBps, inter_GBps;
};
struct weft_nccl_graph weft_nccl_graph(const struct weft_nccl_machine *machine, enum weft_nccl_algorithm algorithm);

/// What a call does.
struct weft_nccl_choice {
    enum weft_nccl_algorithm algorithm;
    enum weft_nccl_protocol protocol;
    uint32_t channels, threads;
    weft_bytes chunk_bytes, slice_bytes; ///< data: what a channel works on at once, and what is sent as one message
    double time_us;                      ///< by NCCL's model
};
/// The time by NCCL's model; negative: this algorithm and protocol are not possible. Deviations: none known, but for
/// what a tuner plug-in changes.
double weft_nccl_time(const struct weft_nccl_machine *machine, enum weft_nccl_function function,
                      enum weft_nccl_algorithm algorithm, enum weft_nccl_protocol protocol, weft_bytes bytes);
/// The fastest by that model. False: the masks leave nothing that is possible.
bool weft_nccl_choose(const struct weft_nccl_machine *machine, enum weft_nccl_function function, weft_bytes bytes,
                      struct weft_nccl_choice *ret);

/// Sends and receives: how what goes to a peer is divided.
struct weft_nccl_exchange {
    uint32_t channels, peer_channels, at_once; ///< of all; of a peer; peers, or parts of them, of a channel at once
    enum weft_nccl_protocol protocol;
    weft_bytes chunk_bytes; ///< data sent as one message
};
/// For `peers` at once, each of which gets so many bytes.
struct weft_nccl_exchange weft_nccl_exchange(const struct weft_nccl_machine *machine, uint32_t peers, weft_bytes bytes);

/// A value of NCCL_ALGO or NCCL_PROTO: "ring,tree", "^ll128", or by function: "allreduce:tree;allgather:ring". Sets a
/// mask a function over `names`; an empty text leaves all. Returns NULL, or what is wrong, in `text`.
const char *weft_nccl_mask(const char *value, const char *const *names, uint32_t ret_mask[WEFT_NCCL_FUNCTIONS],
                           char *text, size_t size);
