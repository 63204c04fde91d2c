// SPDX-License-Identifier: Apache-2.0
// Disaggregated scheduled fabrics of any size: what dsf_l1_zone, dsf_l2_zone and dsf_region share. A kind has rows for
// what the user can choose; what it has no row for is 0 in the conf, and absent from the network.
#pragma once

#include "topology/builder.h"

struct weft__dsf_conf {
    uint64_t planes;
    uint64_t rdsws, fdsws, virtual_devices, hosts, rails, rdsw_parallel; ///< of an L1 zone; hosts: per RDSW
    uint64_t zones, sdsws, sdsw_parallel;                                ///< of an L2 zone; no SDSWs: one stage
    uint64_t edsws, edge_fdsws, edsw_superspines, superspine_parallel;   ///< of an edge PoD
    uint64_t hyperport;                                             ///< links between an EDSW and a superspine that act
                                                                    ///< as one
    uint64_t l2_zones, superspine_groups, regions, region_parallel; ///< superspines: of a region
    weft_rate_bps host_rate_bps, lane_rate_bps, superspine_rate_bps, region_rate_bps;
    double lane_coding, distance_km;
    weft_time_ps host_delay_ps, fdsw_delay_ps, sdsw_delay_ps, superspine_delay_ps;
    double bit_error_rate;
};

/// The NIC ports of an L1 zone, if they differ from the others'.
struct weft__dsf_nics {
    uint64_t hosts; ///< per RDSW
    struct weft__line line;
};

/// Rows of every kind. The source that describes the network, Meta's "Disaggregated Scheduled Fabric", gives the roles
/// and the totals; FBOSS's constants and platform mappings give the counts of lanes and virtual devices.
#define WEFT__DSF_L1_ROWS                                                                                              \
    WEFT_UINT(struct weft__dsf_conf, planes, "planes", "1", "1", "16",                                                 \
              "identical networks side by side, each with a port of every GPU; Meta has 2 for 800G per GPU"),          \
        WEFT_UINT(struct weft__dsf_conf, rdsws, "rdsws", "128", "1", "65535", "RDSWs per L1 zone"),                    \
        WEFT_UINT(struct weft__dsf_conf, hosts, "hosts_per_rdsw", "36", "1", "65535",                                  \
                  "NIC ports per RDSW: 36 of 400G, or 18 of 800G"),                                                    \
        WEFT_UINT(                                                                                                     \
            struct weft__dsf_conf, rails, "rails", "8", "1", "65535",                                                  \
            "RDSWs per scaling unit: GPU k of a server is at the k-th; 1: each server is at one RDSW (assumed)"),      \
        WEFT_UINT(struct weft__dsf_conf, fdsws, "fdsws", "40", "1", "65535", "FDSWs per L1 zone"),                     \
        WEFT_UINT(struct weft__dsf_conf, virtual_devices, "virtual_devices", "4", "1", "64",                           \
                  "nodes that form an FDSW (or SDSW): each forwards by itself, with 256 lanes"),                       \
        WEFT_UINT(struct weft__dsf_conf, rdsw_parallel, "rdsw_lanes", "1", "1", "4096",                                \
                  "lanes between an RDSW and one virtual device of an FDSW"),                                          \
        WEFT_RATE(struct weft__dsf_conf, host_rate_bps, "host_rate", "400Gbps", "10Mbps", "100Tbps",                   \
                  "rate of links to NIC ports"),                                                                       \
        WEFT_RATE(struct weft__dsf_conf, lane_rate_bps, "lane_rate", "106.25Gbps", "10Mbps", "100Tbps",                \
                  "signalling rate of a fabric lane: bits on the wire, FEC included"),                                 \
        WEFT_REAL(struct weft__dsf_conf, lane_coding, "lane_coding", "16/17", "0.1", "1",                              \
                  "share of lane_rate left for cells: 256b/257b and RS(544,514) leave 100G of 106.25G"),               \
        WEFT_TIME(struct weft__dsf_conf, host_delay_ps, "host_delay", "100ns", "1ps", "1s",                            \
                  "delay of links to NIC ports, one way (assumed)"),                                                   \
        WEFT_TIME(struct weft__dsf_conf, fdsw_delay_ps, "fdsw_delay", "350ns", "1ps", "1s",                            \
                  "delay of lanes between RDSW and FDSW, one way (assumed)"),                                          \
        WEFT_REAL(struct weft__dsf_conf, bit_error_rate, "bit_error_rate", "0", "0", "0.1",                            \
                  "bit error rate of every link, after FEC")
#define WEFT__DSF_L2_ROWS                                                                                              \
    WEFT_UINT(struct weft__dsf_conf, zones, "zones", "4", "1", "199", "L1 zones per L2 zone"),                         \
        WEFT_UINT(struct weft__dsf_conf, sdsws, "sdsws", "128", "1", "65535", "SDSWs per L2 zone"),                    \
        WEFT_UINT(struct weft__dsf_conf, sdsw_parallel, "sdsw_lanes", "1", "1", "4096",                                \
                  "lanes between a virtual device of an FDSW and the one of the same number in an SDSW"),              \
        WEFT_TIME(struct weft__dsf_conf, sdsw_delay_ps, "sdsw_delay", "1100ns", "1ps", "1s",                           \
                  "delay of lanes between FDSW and SDSW, one way (assumed)")

/// NULL, or what is wrong.
const char *weft__dsf_check(const void *conf, char *text, size_t size);
/// Keys that no row reads: `override` and `nics`.
extern const char *const weft__dsf_lists[];
/// Reads what `nics:` says for each L1 zone into nics[zones].
enum weft_status weft__dsf_read_nics(const struct weft__dsf_conf *c, const struct weft_tree *tree,
                                     struct weft__dsf_nics *nics, uint64_t zones, struct weft_arena *arena,
                                     struct weft_error *ret_error);
/// The rate that a fabric link carries: that of its cells, headers included.
weft_rate_bps weft__dsf_link_rate(const struct weft__dsf_conf *c);
enum weft_status weft__dsf_build(const void *conf, const struct weft_tree *tree, struct weft_topology_builder *b,
                                 struct weft_error *ret_error);
const char *weft__dsf_wiring(const void *conf, struct weft_arena *arena);

/// Counts that follow from a conf, and node numbers while it is built. A building is an L2 zone with its edge PoD.
struct weft__dsf_plan {
    const struct weft__dsf_conf *conf;
    struct weft__dsf_nics *nics;                                           ///< [all zones]
    uint64_t buildings, zones;                                             ///< in all
    uint64_t zone_fdsws, building_sdsws, edge_fdsws;                       ///< virtual devices: per zone, per building
    uint64_t superspines;                                                  ///< per region
    uint32_t *rdsw, *fdsw, *sdsw, *edsw, *edge_fdsw, *superspine;          ///< node numbers, in order
    uint64_t rdsws_placed, sdsws_placed, superspines_placed, hosts_placed; ///< while nodes are added
    uint64_t interfaces_placed;                                            ///< of this building
};
void weft__dsf_connect(const struct weft__dsf_plan *plan, struct weft_topology_builder *b);
