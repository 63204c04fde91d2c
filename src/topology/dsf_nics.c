// SPDX-License-Identifier: Apache-2.0
// L1 zones whose GPUs or NICs differ from the rest:
//
//   topology: {kind: dsf_l2_zone, nics: [{zone: 1, host_rate: 800Gbps, hosts_per_rdsw: 18}]}
#include "topology/dsf.h"
#include "weft/param.h"
#include "weft/param_load.h"

const char *const weft__dsf_lists[] = {"override", "nics", NULL};

struct entry {
    uint64_t zone, hosts;
    weft_rate_bps rate_bps;
    weft_time_ps delay_ps;
};
static const struct weft_param_table table = WEFT_PARAM_TABLE_OF(
    "nics", struct entry, WEFT_PARAM_UNCHECKED,
    WEFT_UINT(struct entry, zone, "zone", NULL, "0", "16777216", "number of an L1 zone, from 0 through all L2 zones"),
    WEFT_UINT(struct entry, hosts, "hosts_per_rdsw", "1", "1", "65535", "unless given: as all others"),
    WEFT_RATE(struct entry, rate_bps, "host_rate", "1Gbps", "10Mbps", "100Tbps", "unless given: as all others"),
    WEFT_TIME(struct entry, delay_ps, "host_delay", "1ps", "1ps", "1s", "unless given: as all others"));

static enum weft_status read_entry(const struct weft_tree *tree, struct weft__dsf_nics *nics, uint64_t zones,
                                   struct weft_arena *arena, struct weft_error *ret_error) {
    struct entry e;
    WEFT_TRY(weft_params_load(&table, tree, &e, arena, ret_error));
    if (e.zone >= zones)
        return WEFT_REFUSE(ret_error, weft_tree_find(tree, "zone")->place, "no L1 zone %llu; expected 0 to %llu",
                           (unsigned long long)e.zone, (unsigned long long)zones - 1);
    if (weft_tree_find(tree, "hosts_per_rdsw")) nics[e.zone].hosts = e.hosts;
    if (weft_tree_find(tree, "host_rate")) nics[e.zone].line.rate_bps = e.rate_bps;
    if (weft_tree_find(tree, "host_delay")) nics[e.zone].line.delay_ps = e.delay_ps;
    return WEFT_OK;
}

enum weft_status weft__dsf_read_nics(const struct weft__dsf_conf *c, const struct weft_tree *tree,
                                     struct weft__dsf_nics *nics, uint64_t zones, struct weft_arena *arena,
                                     struct weft_error *ret_error) {
    for (uint64_t z = 0; z < zones; z++)
        nics[z] = (struct weft__dsf_nics){c->hosts, {c->host_rate_bps, c->host_delay_ps, c->bit_error_rate}};
    const struct weft_tree *list = weft_tree_find(tree, weft__dsf_lists[1]);
    if (!list || list->type == WEFT_TREE_NULL) return WEFT_OK;
    if (list->type != WEFT_TREE_LIST)
        return WEFT_REFUSE(ret_error, list->place,
                           "nics: expected a list, as in [{zone: 1, host_rate: 800Gbps, hosts_per_rdsw: 18}]");
    enum weft_status status = WEFT_OK;
    for (uint32_t i = 0; i < list->n && !status; i++)
        status = read_entry(list->child[i], nics, zones, arena, ret_error);
    return status;
}
