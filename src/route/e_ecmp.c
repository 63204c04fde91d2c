// SPDX-License-Identifier: Apache-2.0
// Enhanced ECMP: the destination queue pair of the BTH joins the hash, as a user-defined field of the switch ASIC, so
// that queue pairs between the same two hosts take different paths. Source: "RDMA over Ethernet for Distributed AI
// Training at Meta Scale", SIGCOMM 2024. It matters if a NIC uses one UDP source port for all its queue pairs to a host
// (`host.source_port: host_pair`). Assumed: each NIC numbers its queue pairs one after another.
#include "route/hash.h"
#include "weft/param.h"

struct e_ecmp_conf {
    struct weft__route_hash_conf hash;
};

static const struct weft_param_table e_ecmp_params =
    WEFT_PARAM_TABLE_OF("e_ecmp", struct e_ecmp_conf, WEFT_PARAM_UNCHECKED, WEFT__ROUTE_HASH_ROW(struct e_ecmp_conf));

static uint32_t e_ecmp_select(const void *conf, const struct weft_route_query *query) {
    return weft_route_index(query, weft__route_hash_qp(query));
}

const struct weft_model weft__route_e_ecmp =
    WEFT_MODEL_OF(ROUTE, "e_ecmp", "one path for a queue pair: ECMP with the destination queue pair in the hash",
                  "Meta, SIGCOMM 2024 (E-ECMP); hash as in ecmp", &e_ecmp_params,
                  &(const struct weft_route_ops){.select = e_ecmp_select, .hash_seed = weft__route_hash_seed});
