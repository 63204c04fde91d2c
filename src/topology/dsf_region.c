// SPDX-License-Identifier: Apache-2.0
// DSF region: Meta, "Disaggregated Scheduled Fabric: Scaling Meta's AI Journey" (engineering blog, 2025). L2 zones, one
// per building, joined by superspines, which are Ethernet switches that route IP by ECMP. Each building has an edge PoD
// of 40 FDSWs and 128 EDSWs, interface nodes that face the superspines instead of GPUs; each EDSW has 4 links of 800G
// to each of four superspines, 2048 per PoD. The PoD connects to the SDSWs like a fifth L1 zone: 200 lanes of a virtual
// device of an SDSW instead of 160 (FBOSS, VoqConstants.h). Below the PoD there are 7372.8T of NIC ports per plane for
// its 1638.4T: the text's 4.5:1, which shows that every plane has its own PoD. ASSUMED: superspines come in groups,
// each with the same EDSWs of every building; 64 groups give superspines with 40 ports. A second region is linked
// superspine to superspine.
#include "topology/dsf.h"
#include "weft/param.h"

#define T struct weft__dsf_conf
static const struct weft_param_table params = WEFT_PARAM_TABLE_OF(
    "dsf_region", T, WEFT_PARAM_AND(.check = weft__dsf_check, .lists = weft__dsf_lists), WEFT__DSF_L1_ROWS,
    WEFT__DSF_L2_ROWS, WEFT_UINT(T, l2_zones, "l2_zones", "5", "1", "65535", "L2 zones per region, one per building"),
    WEFT_UINT(T, edsws, "edsws", "128", "1", "65535", "EDSWs per edge PoD"),
    WEFT_UINT(T, edge_fdsws, "edge_fdsws", "40", "1", "65535", "FDSWs per edge PoD"),
    WEFT_UINT(T, edsw_superspines, "edsw_superspines", "4", "1", "65535", "superspines linked to an EDSW"),
    WEFT_UINT(T, superspine_parallel, "superspine_links", "4", "1", "4096", "links between an EDSW and a superspine"),
    WEFT_UINT(T, hyperport, "hyperport", "1", "1", "64",
              "number of superspine_links that form one Hyperport: a port with the sum of their rates"),
    WEFT_UINT(T, superspine_groups, "superspine_groups", "64", "1", "65535",
              "groups of edsw_superspines superspines, for equal parts of the EDSWs of all PoDs (assumed)"),
    WEFT_UINT(T, regions, "regions", "1", "1", "2", "one region, or two at distance_km"),
    WEFT_UINT(T, region_parallel, "region_links", "1", "1", "4096",
              "links between superspines of the same number in two regions (assumed)"),
    WEFT_REAL(T, distance_km, "distance_km", "40", "0.001", "20000", "distance between two regions; 5us per kilometre"),
    WEFT_RATE(T, superspine_rate_bps, "superspine_rate", "800Gbps", "10Mbps", "100Tbps",
              "rate of links between EDSW and superspine"),
    WEFT_RATE(T, region_rate_bps, "region_rate", "800Gbps", "10Mbps", "100Tbps", "rate of links between regions"),
    WEFT_TIME(T, superspine_delay_ps, "superspine_delay", "1100ns", "1ps", "1s",
              "delay of links between EDSW and superspine, one way (assumed)"));

const struct weft_model weft__topology_dsf_region =
    WEFT_MODEL_OF(TOPOLOGY, "dsf_region",
                  "DSF L2 zones joined by their edge PoDs and Ethernet superspines; by default 5 of 18432 NIC ports",
                  "Meta, Disaggregated Scheduled Fabric, 2025; counts from FBOSS; groups of superspines, links between "
                  "regions and what dsf_l2_zone assumes are assumed",
                  &params, &(const struct weft_topology_ops){.build = weft__dsf_build, .wiring = weft__dsf_wiring});
