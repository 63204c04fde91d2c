// SPDX-License-Identifier: Apache-2.0
// What NCCL writes of a server: what it found (NCCL_TOPO_DUMP_FILE, <system>), and what it made of it
// (NCCL_GRAPH_DUMP_FILE, <graphs>): for each algorithm channels, each an order of the server's GPUs, and the NICs by
// which a channel enters and leaves. Source: NVIDIA/nccl, src/graph/xml.cc, search.cc, connect.cc, topo.h.
#pragma once

#include "weft/collective.h"
#include "weft/memory.h"
#include "weft/nccl.h"

struct weft__nccl_server {
    uint32_t gpus, nics;
    /// By rank, or by dev where there are no ranks.
    struct weft__nccl_gpu {
        int64_t dev, rank;     ///< rank -1: not said
        uint32_t sm, nvlinks;  ///< nvlinks: or XGMI links
        const char *chip;      ///< of AMD: "gfx942" or "908"; NULL: not AMD's
        double xgmi_gigabytes; ///< per second and XGMI link, each direction
        const char *busid;     ///< of its PCI device, or NULL
        double pci_gbps;       ///< of its own link, each direction; 0: not given
        uint32_t host;         ///< index of its NICs
        uint32_t path[64];     ///< internal: elements that it is in
        uint32_t depth;
    } * gpu;
    struct weft__nccl_nic {
        int64_t dev;
        const char *name;
        double mbps;   ///< 0: not known
        uint32_t host; ///< index; WEFT_NONE: no GPU uses it
        uint32_t path[64];
        uint32_t depth;
    } * nic;
    bool *near; ///< [gpu * nics + nic]: no other NIC is nearer to the GPU
    uint32_t hosts;
    /// NICs that the same GPUs use, as one; by its first GPU. Each GPU has the whole of them while it sends alone.
    struct weft__nccl_host {
        double mbps;      ///< together, those that have a speed
        uint32_t unrated; ///< NICs without a speed; 1 if the file has no NIC
        uint32_t nics, gpus, *gpu;
    } * host;
    bool is_static;        ///< the file has PCI devices alone, neither <gpu> nor links
    bool meshed;           ///< its NVLinks or XGMI links go from GPU to GPU
    uint32_t unlinked;     ///< then: pairs of GPUs without a link
    uint32_t unbelievable; ///< NICs with a speed that is too high, which is not used
    int64_t unbelievable_mbps;
    uint32_t slow; ///< NICs omitted because they are less than half as fast as the fastest
};

struct weft__nccl_graph {
    int64_t pattern;
    uint32_t channels, gpus;
    int64_t *gpu; ///< dev: [channel * gpus + k]
    struct weft__nccl_ends {
        int64_t in, out; ///< dev of the NICs; -1: not given
    } * net;             ///< [channel]
};
enum weft__nccl_algorithm { WEFT__NCCL_RING, WEFT__NCCL_TREE, WEFT__NCCL_ALGORITHMS };

struct weft__nccl_graphs {
    struct weft__nccl_graph of[WEFT__NCCL_ALGORITHMS]; ///< channels 0: missing
    uint32_t others;                                   ///< graphs of other algorithms
};

enum weft_status weft__nccl_server_read(const char *path, struct weft_place place, struct weft_arena *arena,
                                        struct weft__nccl_server *ret_server, struct weft_error *ret_error);
enum weft_status weft__nccl_graphs_read(const char *path, struct weft_place place, struct weft_arena *arena,
                                        struct weft__nccl_graphs *ret_graphs, struct weft_error *ret_error);
/// Servers from several files, with the same number of GPUs each.
struct weft__nccl_servers {
    struct weft__nccl_server *server;
    uint32_t n;
    const char *first; ///< the file of the first one
};
enum weft_status weft__nccl_servers_add(struct weft__nccl_servers *list, const char *path, struct weft_place place,
                                        struct weft_arena *arena, struct weft_error *ret_error);
/// The number of servers: as requested or, for 0, the number of files, but at least 2.
uint32_t weft__nccl_servers_count(const struct weft__nccl_servers *list, uint64_t asked);
/// The rate of a host's link, within weft's bounds; `otherwise`: of a NIC whose speed is not known.
weft_rate_bps weft__nccl_link_rate(const struct weft__nccl_host *host, weft_rate_bps otherwise);
/// The largest number of hosts of a server.
uint32_t weft__nccl_hosts_max(const struct weft__nccl_servers *list);

/// The network between servers.
enum weft__nccl_network { WEFT__NCCL_RAIL, WEFT__NCCL_SINGLE };
extern const char *const weft__nccl_networks[];
/// Rows of T, which has the members `servers` and `network`.
#define WEFT__NCCL_NETWORK_ROWS(T)                                                                                     \
    WEFT_UINT(T, servers, "servers", "0", "0", "65535",                                                                \
              "number of equal servers; 0: one per file, at least 2 (assumed)"),                                       \
        WEFT_CHOICE(T, network, "network", "rail", weft__nccl_networks,                                                \
                    "network between servers (assumed): rail, one leaf for the k-th NIC of every server, and spines; " \
                    "or a single switch")

/// The rate of a GPU within the server, each direction; 0: the file gives neither NVLinks nor the speed of PCI.
double weft__nccl_gpu_gbps(const struct weft__nccl_gpu *gpu);
/// The index of the GPU with that dev in the server; WEFT_NONE: there is none.
uint32_t weft__nccl_gpu_find(const struct weft__nccl_server *server, int64_t dev);
/// The host with that NIC, or the one of a GPU that is near it; WEFT_NONE: there is none.
uint32_t weft__nccl_nic_host(const struct weft__nccl_server *server, int64_t dev);

/// Sends and receives: all to all, or each rank to the next.
struct weft__nccl_exchange {
    bool all;
    bool closed; ///< the last rank sends to the first, as in sendrecv_perf of nccl-tests
    bool pxn;    ///< of all to all
};
/// Sets an operation to what NCCL would do with them on such a machine.
enum weft_status weft__nccl_exchange(const struct weft__nccl_exchange *how, const struct weft_nccl_machine *machine,
                                     struct weft_arena *arena, struct weft_collective_loaded *loaded,
                                     struct weft_error *ret_error);
/// Sets an operation to what NCCL would choose on such a machine.
enum weft_status weft__nccl_choose(enum weft_nccl_function function, const struct weft_nccl_machine *machine,
                                   struct weft_place place, struct weft_arena *arena,
                                   struct weft_collective_loaded *loaded, struct weft_error *ret_error);
