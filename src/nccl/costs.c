// SPDX-License-Identifier: Apache-2.0
// What NCCL's steps take at a host. Defaults are NCCL's own figures (src/graph/tuning.cc of 2.30.7). Where a step goes
// over the network, two microseconds of NIC and wire are taken from them, because these are simulated, and a turn of a
// proxy at each end. NCCL_NET_OVERHEAD, 1 us on Intel, is of a step of a ring: four turns, because a NIC has at least
// two channels, on each of which its proxy sends and receives. Where it does not, 600 ns (server.latency). A channel of
// NVLS passes half of 85% of 40 GB/s: the rate of a head on Hopper, which has two channels. One of NVLSTree half
// of 57.7 GB/s, NCCL's most for a head on two servers of Hopper, times 16/30, as a bus of 16 ranks carries each byte
// almost twice.
#include "weft/nccl.h"
#include "weft/param.h"

#define COST(field, key, dflt, help)                                                                                   \
    WEFT_TIME(struct weft_nccl_costs, field, key, dflt, "0ns", "1ms", help " (assumed)")
const struct weft_param_table weft_nccl_costs_table = WEFT_PARAM_TABLE_OF(
    "nccl_costs", struct weft_nccl_costs, WEFT_PARAM_UNCHECKED,
    COST(ring_ps[WEFT_NCCL_LL], "ring_ll", "200ns", "latency of a step of a ring over the network with LL"),
    COST(ring_ps[WEFT_NCCL_LL128], "ring_ll128", "1500ns", "with LL128"),
    COST(ring_ps[WEFT_NCCL_SIMPLE], "ring_simple", "11500ns", "with Simple"),
    COST(tree_ps[WEFT_NCCL_LL], "tree_ll", "2500ns", "latency of a step of a tree over the network with LL"),
    COST(tree_ps[WEFT_NCCL_LL128], "tree_ll128", "6us", "with LL128"),
    COST(tree_ps[WEFT_NCCL_SIMPLE], "tree_simple", "11500ns", "with Simple"),
    COST(inner_ring_ps[WEFT_NCCL_LL], "inner_ring_ll", "0ns",
         "time of a step of a ring beside copying and NVLink's latency, which no other hides, with LL"),
    COST(inner_ring_ps[WEFT_NCCL_LL128], "inner_ring_ll128", "1300ns", "with LL128"),
    COST(inner_ring_ps[WEFT_NCCL_SIMPLE], "inner_ring_simple", "2800ns", "with Simple"),
    COST(inner_tree_ps[WEFT_NCCL_LL], "inner_tree_ll", "0ns", "latency of a step of a tree within a server with LL"),
    COST(inner_tree_ps[WEFT_NCCL_LL128], "inner_tree_ll128", "650ns", "with LL128"),
    COST(inner_tree_ps[WEFT_NCCL_SIMPLE], "inner_tree_simple", "3400ns", "with Simple"),
    COST(nvls_ps, "nvls", "4800ns", "latency of each half of NVLS, in and out of the switch of a server"),
    COST(nvls_tree_ps, "nvls_tree", "10us", "latency of a step of NVLSTree over the network"),
    WEFT_TIME(struct weft_nccl_costs, busy_ps, "busy", "700ns", "0ns", "10us",
              "of a step of a ring with Simple, the time for which its channel does nothing else: another warp fences "
              "and writes the flag (assumed; spcl/atlahs, a GH200: from 32 KiB to 1 MiB within 25% of lines that begin "
              "here)"),
    WEFT_REAL(struct weft_nccl_costs, hand, "hand", "0.5", "0", "1",
              "of a latency over the network, the part in which a GPU tells its proxy; in the rest, after the message, "
              "a proxy tells its GPU (assumed)"),
    COST(proxy_ps, "proxy", "250ns",
         "time of a message over the network at the proxy thread of each end, which serves one after another"),
    WEFT_RATE(
        struct weft_nccl_costs, copy_rate_bps, "copy_rate", "300Gbps", "0bps", "100Tbps",
        "rate at which a channel adds what comes to its own and sends the sum with Simple, from which other steps "
        "differ as they read and write more or less; 0: never the bottleneck (spcl/atlahs, a GH200: 37 GB/s)"),
    WEFT_RATE(struct weft_nccl_costs, ll_rate_bps, "ll_rate", "160Gbps", "0bps", "100Tbps",
              "likewise with LL, of data and flags (assumed)"),
    WEFT_RATE(struct weft_nccl_costs, ll128_rate_bps, "ll128_rate", "160Gbps", "0bps", "100Tbps",
              "likewise with LL128 (assumed)"),
    WEFT_RATE(struct weft_nccl_costs, nvls_rate_bps, "nvls_rate", "136Gbps", "0bps", "100Tbps",
              "rate at which a channel of NVLS passes data; 0: never the bottleneck (assumed)"),
    WEFT_RATE(struct weft_nccl_costs, nvls_tree_rate_bps, "nvls_tree_rate", "123Gbps", "0bps", "100Tbps",
              "rate at which a channel of NVLSTree passes data; 0: never the bottleneck (assumed)"),
    WEFT_REAL(
        struct weft_nccl_costs, factor, "factor", "1", "0", "100",
        "of all latencies, those of a launch and of NVLink among them: how slow this platform is beside those of the "
        "figures above (assumed)"));
