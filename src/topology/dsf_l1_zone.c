// SPDX-License-Identifier: Apache-2.0
// DSF L1 zone: RDSWs under one layer of FDSWs, the single-stage fabric of Meta's "Disaggregated Scheduled Fabric:
// Scaling Meta's AI Journey" (engineering blog, 2025). By default one plane of a quarter of the L2 zone: 128 RDSWs and
// 40 FDSWs of 4 virtual devices, as FBOSS has them (VoqConstants.h, DsfConfigUtils.cpp, platform mappings of Meru800bia
// and Meru800bfa).
#include "topology/dsf.h"
#include "weft/param.h"

static const struct weft_param_table params =
    WEFT_PARAM_TABLE_OF("dsf_l1_zone", struct weft__dsf_conf,
                        WEFT_PARAM_AND(.check = weft__dsf_check, .lists = weft__dsf_lists), WEFT__DSF_L1_ROWS);

const struct weft_model weft__topology_dsf_l1_zone =
    WEFT_MODEL_OF(TOPOLOGY, "dsf_l1_zone", "DSF in one stage: RDSWs under FDSWs; by default 4608 NIC ports at 400G",
                  "Meta, Disaggregated Scheduled Fabric, 2025; counts from FBOSS; delays and rails are assumed",
                  &params, &(const struct weft_topology_ops){.build = weft__dsf_build, .wiring = weft__dsf_wiring});
