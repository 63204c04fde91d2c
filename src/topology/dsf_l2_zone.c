// SPDX-License-Identifier: Apache-2.0
// DSF L2 zone: L1 zones (clusters) under a second stage of SDSWs, one fabric without oversubscription: Meta,
// "Disaggregated Scheduled Fabric: Scaling Meta's AI Journey" (engineering blog, 2025). By default one plane of its 18K
// GPUs of 800G: 4 zones of 128 RDSWs with 36 NIC ports of 400G. Counts as in FBOSS (VoqConstants.h): a virtual device
// of an FDSW has 128 lanes down and 128 up, that of an SDSW 160 to the FDSWs of the zones and room for 40 to an edge
// PoD. ASSUMED: a lane goes to the virtual device of the same number in an SDSW; the counts allow no simpler wiring.
#include "topology/dsf.h"
#include "weft/param.h"

static const struct weft_param_table params = WEFT_PARAM_TABLE_OF(
    "dsf_l2_zone", struct weft__dsf_conf, WEFT_PARAM_AND(.check = weft__dsf_check, .lists = weft__dsf_lists),
    WEFT__DSF_L1_ROWS, WEFT__DSF_L2_ROWS);

const struct weft_model weft__topology_dsf_l2_zone = WEFT_MODEL_OF(
    TOPOLOGY, "dsf_l2_zone",
    "DSF in two stages: L1 zones of RDSWs and FDSWs under SDSWs; by default 18432 NIC ports at 400G",
    "Meta, Disaggregated Scheduled Fabric, 2025; counts from FBOSS; delays, rails and which virtual device is "
    "linked to which are assumed",
    &params, &(const struct weft_topology_ops){.build = weft__dsf_build, .wiring = weft__dsf_wiring});
